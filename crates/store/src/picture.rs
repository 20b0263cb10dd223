//! A picture of the tables in memory: what row changes make of empty tables.
//!
//! The in-memory store keeps its tables in one; a store on disk draws one from the log and compares its
//! tables with it. It promises the exact meaning of a [`RowChange`], so that no two stores can differ, and
//! it never fails: a change that does not fit is a mistake of the projection and is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use holdpoint_core::rows::{Cell, Cells, Kind, Op, RowChange, Table};
use holdpoint_core::{Seq, StreamId};

use crate::{Diff, Record};

/// How many differences are put into words.
const MAX_MESSAGES: usize = 100;
/// How much of a long value a message shows.
const MAX_SHOWN: usize = 60;

type Place = (Table, StreamId, u32);

/// Rows of tables, by table, stream and ordinal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    rows: BTreeMap<Place, (Seq, Vec<Cell>)>,
    /// Where each value of a unique column stands.
    unique: BTreeMap<(Table, usize, Cell), Place>,
}

impl Picture {
    /// What the changes of one stream's events make of empty tables.
    pub fn of(stream: StreamId, changes: &[(Seq, Vec<RowChange>)]) -> Self {
        let mut picture = Self::default();
        for (seq, changes) in changes {
            picture.apply(stream, *seq, changes);
        }
        picture
    }

    /// Applies the changes that follow from one event of a stream.
    pub fn apply(&mut self, stream: StreamId, seq: Seq, changes: &[RowChange]) {
        for RowChange { table, op } in changes {
            match op {
                Op::Put(n, cells) => self.put(*table, stream, *n, seq, cells),
                Op::Patch(n, cells) => self.patch(*table, stream, *n, cells),
                Op::PatchWhere(column, value, cells) => {
                    self.patch_where(*table, stream, column, value, cells);
                }
            }
        }
    }

    /// Takes in a row as it is stored somewhere.
    pub fn insert(&mut self, table: Table, record: Record) {
        let place = (table, record.stream, record.n);
        self.forget(place);
        self.rows.insert(place, (record.seq, record.cells));
        self.note(place);
    }

    /// Removes all rows of a stream.
    pub fn clear(&mut self, stream: StreamId) {
        for table in Table::ALL {
            let gone: Vec<Place> = self.range(table, stream).map(|(place, _)| *place).collect();
            for place in gone {
                self.forget(place);
                self.rows.remove(&place);
            }
        }
    }

    /// Whether no row is there.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All rows of one stream, by table and ordinal.
    pub fn rows_of(&self, stream: StreamId) -> impl Iterator<Item = (Table, Record)> + '_ {
        Table::ALL.into_iter().flat_map(move |table| self.range(table, stream)).map(|(place, row)| {
            let (table, stream, n) = *place;
            (table, Record { stream, n, seq: row.0, cells: row.1.clone() })
        })
    }

    /// All rows of one table, by stream and ordinal.
    pub fn rows_in(&self, table: Table) -> impl Iterator<Item = (StreamId, u32, Seq, &[Cell])> {
        let first = (table, StreamId::Home, 0);
        self.rows
            .range(first..)
            .take_while(move |((of, ..), _)| *of == table)
            .map(|((_, stream, n), (seq, cells))| (*stream, *n, *seq, cells.as_slice()))
    }

    /// The row with a value in a unique column; null finds nothing.
    pub fn find(&self, table: Table, column: &str, value: &Cell) -> Option<Record> {
        let key = (table, column_at(table, column)?, value.clone());
        let (_, stream, n) = self.unique.get(&key)?;
        let (seq, cells) = self.rows.get(&(table, *stream, *n))?;
        Some(Record { stream: *stream, n: *n, seq: *seq, cells: cells.clone() })
    }

    /// The first of these puts and patches that would write a row over another one, or give a unique value to a second
    /// row, in words.
    pub fn clash<'a>(&self, changes: impl IntoIterator<Item = (StreamId, &'a RowChange)>) -> Option<String> {
        let mut given = BTreeMap::new();
        let mut made = BTreeSet::new();
        for (stream, RowChange { table, op }) in changes {
            let (Op::Put(n, cells) | Op::Patch(n, cells)) = op else { continue };
            let place = (*table, stream, *n);
            if matches!(op, Op::Put(..)) && (self.rows.contains_key(&place) || !made.insert(place)) {
                return Some(format!("{} is there already", name(&place)));
            }
            for (at, column) in unique_columns(*table) {
                let value = cells.iter().find(|(name, value)| *name == column && *value != Cell::Null);
                let Some((_, value)) = value else { continue };
                let key = (*table, at, value.clone());
                let holder = given.get(&key).or_else(|| self.unique.get(&key)).copied();
                if let Some(holder) = holder.filter(|holder| *holder != place) {
                    return Some(format!("{} has the {column} of {}", name(&place), name(&holder)));
                }
                given.insert(key, place);
            }
        }
        None
    }

    /// Compares rows found elsewhere with this picture, which is taken to be right.
    pub fn diff(&self, found: impl IntoIterator<Item = (Table, Record)>) -> Diff {
        let found: BTreeMap<Place, (Seq, Vec<Cell>)> = found
            .into_iter()
            .map(|(table, record)| ((table, record.stream, record.n), (record.seq, record.cells)))
            .collect();
        let mut diff = Diff::default();
        for (place, right) in &self.rows {
            diff.rows += 1;
            match found.get(place) {
                None => say(&mut diff, || format!("{}: is missing", name(place))),
                Some(row) if row != right => {
                    say(&mut diff, || format!("{}: {}", name(place), differences(place.0, row, right)));
                }
                Some(_) => {}
            }
        }
        for place in found.keys().filter(|place| !self.rows.contains_key(place)) {
            diff.rows += 1;
            say(&mut diff, || format!("{}: should not be there", name(place)));
        }
        diff
    }

    fn range(&self, table: Table, stream: StreamId) -> impl Iterator<Item = (&Place, &(Seq, Vec<Cell>))> {
        self.rows.range((table, stream, 0)..=(table, stream, u32::MAX))
    }

    fn put(&mut self, table: Table, stream: StreamId, n: u32, seq: Seq, cells: &Cells) {
        let place = (table, stream, n);
        let mut row = vec![Cell::Null; table.def().columns.len()];
        set(table, &mut row, cells);
        self.forget(place);
        self.rows.insert(place, (seq, row));
        self.note(place);
    }

    fn patch(&mut self, table: Table, stream: StreamId, n: u32, cells: &Cells) {
        let place = (table, stream, n);
        self.forget(place);
        if let Some((_, row)) = self.rows.get_mut(&place) {
            set(table, row, cells);
        }
        self.note(place);
    }

    fn patch_where(&mut self, table: Table, stream: StreamId, column: &str, value: &Cell, cells: &Cells) {
        let Some(at) = column_at(table, column) else { return };
        let rows = self.range(table, stream).filter(|(_, (_, row))| row.get(at) == Some(value));
        let ordinals: Vec<u32> = rows.map(|((.., n), _)| *n).collect();
        for n in ordinals {
            self.patch(table, stream, n, cells);
        }
    }

    /// Takes a row's unique values out of the index, before it changes.
    fn forget(&mut self, place: Place) {
        for key in self.keys(place) {
            if self.unique.get(&key) == Some(&place) {
                self.unique.remove(&key);
            }
        }
    }

    /// Puts a row's unique values into the index, after it changed.
    fn note(&mut self, place: Place) {
        for key in self.keys(place) {
            self.unique.insert(key, place);
        }
    }

    fn keys(&self, place: Place) -> Vec<(Table, usize, Cell)> {
        let Some((_, row)) = self.rows.get(&place) else { return Vec::new() };
        unique_columns(place.0)
            .filter_map(|(at, _)| {
                Some((place.0, at, row.get(at).filter(|cell| **cell != Cell::Null)?.clone()))
            })
            .collect()
    }
}

/// The unique columns of a table: where they stand, and their names.
fn unique_columns(table: Table) -> impl Iterator<Item = (usize, &'static str)> {
    let def = table.def();
    let columns = def.columns.iter().enumerate().map(|(at, (name, _))| (at, *name));
    columns.filter(|(_, name)| def.unique.contains(name))
}

/// Where a column stands in a row; an unknown name is a mistake of the projection.
pub(crate) fn column_at(table: Table, column: &str) -> Option<usize> {
    let at = table.def().columns.iter().position(|(name, _)| *name == column);
    debug_assert!(at.is_some(), "{} has no column {column}", table.def().name);
    at
}

fn set(table: Table, row: &mut [Cell], cells: &Cells) {
    for (column, value) in cells {
        if let Some(cell) = column_at(table, column).and_then(|at| row.get_mut(at)) {
            cell.clone_from(value);
        }
    }
}

fn say(diff: &mut Diff, message: impl FnOnce() -> String) {
    if diff.wrong.len() < MAX_MESSAGES {
        diff.wrong.push(message());
    }
}

fn name((table, stream, n): &Place) -> String {
    format!("{} {n} of {stream}", table.def().name)
}

fn differences(table: Table, row: &(Seq, Vec<Cell>), right: &(Seq, Vec<Cell>)) -> String {
    let mut words = Vec::new();
    if row.0 != right.0 {
        words.push(format!("seq is {}, should be {}", row.0.0, right.0.0));
    }
    for (at, (column, kind)) in table.def().columns.iter().enumerate() {
        let (is, should) = (row.1.get(at), right.1.get(at));
        if is != should {
            words.push(format!("{column} is {}, should be {}", shown(is, *kind), shown(should, *kind)));
        }
    }
    if row.1.len() > right.1.len() {
        words.push("it has too many columns".to_owned());
    }
    words.join("; ")
}

fn shown(cell: Option<&Cell>, kind: Kind) -> String {
    match cell {
        None => "absent".to_owned(),
        Some(Cell::Null) => "null".to_owned(),
        Some(Cell::Int(number)) => number.to_string(),
        Some(Cell::Text(text)) => match text.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("'{}…'", &text[..end]),
            None => format!("'{text}'"),
        },
        Some(Cell::Bytes(bytes)) => match (kind, uuid::Uuid::from_slice(bytes)) {
            (Kind::Uuid, Ok(id)) => id.hyphenated().to_string(),
            _ => bytes.iter().take(MAX_SHOWN / 2).fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_core::RunId;
    use uuid::Uuid;

    use super::*;

    fn run(n: u128) -> StreamId {
        StreamId::Run(RunId(Uuid::from_u128(n)))
    }

    fn put(n: u32, cells: Cells) -> RowChange {
        RowChange { table: Table::Execution, op: Op::Put(n, cells) }
    }

    fn gate(n: u32, cells: Cells) -> RowChange {
        RowChange { table: Table::Gate, op: Op::Put(n, cells) }
    }

    fn cell(picture: &Picture, stream: StreamId, n: u32, column: &str) -> Option<Cell> {
        let at = column_at(Table::Execution, column)?;
        picture.rows_of(stream).find(|(_, record)| record.n == n).map(|(_, record)| record.cells[at].clone())
    }

    #[test]
    fn a_row_that_is_there_is_not_put_again() {
        let mut picture = Picture::default();
        let first = put(3, vec![("step", "a".into())]);
        picture.apply(run(1), Seq(4), std::slice::from_ref(&first));
        let words = picture.clash([(run(1), &first)]).expect("it is there");
        assert!(words.ends_with("is there already"), "{words}");
        assert!(picture.clash([(run(2), &first), (run(2), &first)]).is_some());
        assert_eq!(picture.clash([(run(2), &first)]), None);
    }

    #[test]
    fn a_patch_of_no_row_does_nothing() {
        let mut picture = Picture::default();
        let patch = RowChange { table: Table::Execution, op: Op::Patch(1, vec![("step", "a".into())]) };
        picture.apply(run(1), Seq(1), std::slice::from_ref(&patch));
        assert!(picture.is_empty());
        picture.apply(run(1), Seq(2), &[put(1, vec![("status", "pending".into())]), patch]);
        assert_eq!(cell(&picture, run(1), 1, "step"), Some("a".into()));
        assert_eq!(cell(&picture, run(1), 1, "status"), Some("pending".into()));
    }

    #[test]
    fn a_patch_by_value_stays_inside_its_stream_and_table() {
        let mut picture = Picture::default();
        for stream in [run(1), run(2)] {
            let rows = [put(1, vec![("step", "a".into())]), put(2, vec![("step", "b".into())])];
            picture.apply(stream, Seq(1), &rows);
        }
        let op = Op::PatchWhere("step", "a".into(), vec![("status", "failed".into())]);
        picture.apply(run(1), Seq(3), &[RowChange { table: Table::Execution, op }]);
        assert_eq!(cell(&picture, run(1), 1, "status"), Some("failed".into()));
        assert_eq!(cell(&picture, run(1), 2, "status"), Some(Cell::Null));
        assert_eq!(cell(&picture, run(2), 1, "status"), Some(Cell::Null));
    }

    #[test]
    fn differences_are_told_in_words() {
        let right = Picture::of(
            run(7),
            &[(Seq(1), vec![put(1, vec![]), put(2, vec![]), put(3, vec![("status", "completed".into())])])],
        );
        let found = Picture::of(
            run(7),
            &[(Seq(1), vec![put(1, vec![]), put(3, vec![("status", "failed".into())]), put(4, vec![])])],
        );
        let diff = right.diff(found.rows_of(run(7)));
        let of = "of run 00000000-0000-0000-0000-000000000007";
        assert_eq!(diff.rows, 4);
        assert_eq!(
            diff.wrong,
            [
                format!("execution 2 {of}: is missing"),
                format!("execution 3 {of}: status is 'failed', should be 'completed'"),
                format!("execution 4 {of}: should not be there"),
            ]
        );
        assert_eq!(right.diff(right.rows_of(run(7))).wrong, Vec::<String>::new());
    }

    #[test]
    fn messages_are_counted_off_and_values_are_cut() {
        let many: Vec<RowChange> =
            (0..150).map(|n| put(n, vec![("step", "é".repeat(90).as_str().into())])).collect();
        let right = Picture::of(run(1), &[(Seq(1), many)]);
        let diff = right.diff([]);
        assert_eq!((diff.rows, diff.wrong.len()), (150, 100));
        let blank = Picture::of(run(1), &[(Seq(1), (0..150).map(|n| put(n, vec![])).collect())]);
        let diff = right.diff(blank.rows_of(run(1)));
        assert!(diff.wrong[0].ends_with(&format!("should be '{}…'", "é".repeat(60))), "{}", diff.wrong[0]);
    }

    #[test]
    fn a_row_is_found_by_its_present_unique_value() {
        let id = |n| Cell::from(Uuid::from_u128(n));
        let find = |picture: &Picture, n| picture.find(Table::Gate, "id", &id(n)).map(|record| record.n);
        let mut picture = Picture::default();
        picture.apply(run(1), Seq(1), &[gate(1, vec![("id", id(1))]), gate(2, vec![("id", id(2))])]);
        assert_eq!((find(&picture, 1), find(&picture, 2), find(&picture, 3)), (Some(1), Some(2), None));
        let patch = RowChange { table: Table::Gate, op: Op::Patch(2, vec![("id", id(3))]) };
        let unnamed = RowChange { table: Table::Gate, op: Op::Patch(1, vec![("id", Cell::Null)]) };
        picture.apply(run(1), Seq(2), &[unnamed, patch]);
        assert_eq!((find(&picture, 1), find(&picture, 2), find(&picture, 3)), (None, None, Some(2)));
        picture.clear(run(1));
        assert_eq!(find(&picture, 3), None);
        assert_eq!(picture, Picture::default());
    }

    #[test]
    fn a_value_that_would_be_given_twice_is_told() {
        let id = |n| vec![("id", Cell::from(Uuid::from_u128(n)))];
        let mut picture = Picture::default();
        picture.apply(run(1), Seq(1), &[gate(1, id(1))]);
        let again = RowChange { table: Table::Gate, op: Op::Patch(1, id(1)) };
        assert_eq!(picture.clash([(run(1), &again), (run(1), &gate(2, id(2)))]), None);
        assert_eq!(picture.clash([(run(1), &gate(2, vec![])), (run(1), &gate(3, vec![]))]), None);
        let words = picture.clash([(run(2), &gate(1, id(1)))]).expect("run 1 has it");
        assert!(
            words.ends_with("has the id of gate 1 of run 00000000-0000-0000-0000-000000000001"),
            "{words}"
        );
        assert!(picture.clash([(run(2), &gate(1, id(5))), (run(2), &gate(2, id(5)))]).is_some());
    }

    #[test]
    fn clearing_a_stream_leaves_the_others() {
        let mut picture = Picture::default();
        picture.apply(run(1), Seq(1), &[put(1, vec![])]);
        picture.apply(run(2), Seq(2), &[put(1, vec![])]);
        picture.clear(run(1));
        assert_eq!(picture.rows_of(run(1)).count(), 0);
        assert_eq!(picture.rows_in(Table::Execution).map(|row| row.0).collect::<Vec<_>>(), [run(2)]);
    }
}
