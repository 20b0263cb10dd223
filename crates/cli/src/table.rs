//! Columns of text for a terminal.

use std::fmt;

use serde_json::Value;

use crate::text;

/// The widest column.
const WIDEST: usize = 60;

/// Rows under headings.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|&heading| heading.to_owned()).collect()] }
    }

    /// Adds a row; whatever a terminal would obey is taken out of it.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| cut(&text::line(&cell))).collect());
    }
}

fn cut(cell: &str) -> String {
    if cell.chars().count() <= WIDEST {
        return cell.to_owned();
    }
    cell.chars().take(WIDEST - 1).chain(['…']).collect()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let last = row.len().saturating_sub(1);
            for (at, cell) in row.iter().enumerate() {
                if at == last {
                    writeln!(f, "{cell}")?;
                } else {
                    let gap = widths[at] - cell.chars().count() + 2;
                    write!(f, "{cell}{:gap$}", "")?;
                }
            }
        }
        Ok(())
    }
}

/// A JSON value as people read it; nothing for null.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["ID", "NAME"]);
        table.row(["1".to_owned(), "a\u{1b}[31m".to_owned()]);
        table.row(["100".to_owned(), "x".repeat(80)]);
        let shown = table.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "ID   NAME");
        assert_eq!(lines[1], "1    a\\u{1b}[31m");
        assert_eq!(lines[2].chars().count(), 5 + WIDEST);
    }
}
