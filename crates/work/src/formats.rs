//! Whether bytes are what their format says: told for certain, and cheap.

use std::iter::once;

use holdpoint_core::definition::Format;
use serde_json::Value;

/// The kinds of diagram that Mermaid knows, some of them with `-beta` or `-v2` behind.
const DIAGRAMS: &[&str] = &[
    "architecture",
    "block",
    "c4component",
    "c4container",
    "c4context",
    "c4deployment",
    "c4dynamic",
    "classdiagram",
    "erdiagram",
    "flowchart",
    "flowchart-elk",
    "gantt",
    "gitgraph",
    "graph",
    "info",
    "journey",
    "kanban",
    "mindmap",
    "packet",
    "pie",
    "quadrantchart",
    "radar",
    "requirement",
    "requirementdiagram",
    "sankey",
    "sequencediagram",
    "statediagram",
    "timeline",
    "treemap",
    "xychart",
    "zenuml",
];

/// Whether bytes are of a format; if not, what is wrong with them.
pub(crate) fn parses(format: Format, bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|cause| format!("is not text in UTF-8 (byte {})", cause.valid_up_to()))?;
    match format {
        Format::Json => {
            serde_json::from_str::<Value>(text).map(drop).map_err(|cause| match cause.to_string() {
                why if why.contains("recursion limit") => "is nested more than 127 deep".to_owned(),
                why => format!("is not JSON: {why}"),
            })
        }
        Format::Csv => csv(text).map_err(|why| format!("is not CSV: {why}")),
        Format::Mmd => mermaid(text).map_err(|why| format!("is not Mermaid: {why}")),
        // Every text is one of these. Whether a program runs is for a check to say.
        Format::Md | Format::Txt | Format::Py | Format::Html => Ok(()),
    }
}

/// Quotes are closed, and every row has as many fields as the first.
fn csv(text: &str) -> Result<(), String> {
    let head = text.lines().next().unwrap_or_default();
    let often = |separator: &char| head.chars().filter(|c| c == separator).count();
    // The comma, where none of them is there.
    let separator = ['\t', ';', ','].into_iter().max_by_key(often).unwrap_or(',');
    let mut first = None;
    let (mut line, mut row, mut fields) = (1, 1, 1_usize);
    let (mut is_blank, mut at_start, mut quoted_since) = (true, true, None);
    let mut chars = text.strip_suffix('\n').unwrap_or(text).chars().chain(once('\n')).peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted_since.is_some() => {
                // Two of them are one.
                if chars.next_if_eq(&'"').is_none() {
                    quoted_since = None;
                }
            }
            '"' if at_start => (quoted_since, at_start, is_blank) = (Some(line), false, false),
            '\n' if quoted_since.is_none() => {
                let wanted = *first.get_or_insert(fields);
                if !is_blank && fields != wanted {
                    return Err(format!("line {row} has {fields} fields and the first {wanted}"));
                }
                (line, row, fields) = (line + 1, line + 1, 1);
                (at_start, is_blank) = (true, true);
            }
            '\n' => line += 1,
            c if c == separator && quoted_since.is_none() => {
                (fields, at_start, is_blank) = (fields + 1, true, false);
            }
            c => {
                at_start = false;
                is_blank &= c.is_whitespace();
            }
        }
    }
    quoted_since.map_or(Ok(()), |line| Err(format!("the quote that begins in line {line} is not closed")))
}

/// It begins with a kind of diagram.
fn mermaid(text: &str) -> Result<(), String> {
    let text = text.trim_start();
    let body =
        text.strip_prefix("---").and_then(|rest| rest.split_once("\n---")).map_or(text, |(_, body)| body);
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("%%"));
    let word = lines.next().and_then(|line| line.split([' ', '\t', ':', ';']).next()).unwrap_or_default();
    let kind = word.to_ascii_lowercase();
    let kind = kind.strip_suffix("-beta").or_else(|| kind.strip_suffix("-v2")).unwrap_or(&kind);
    if DIAGRAMS.contains(&kind) {
        return Ok(());
    }
    let shown: String = word.chars().take(40).collect();
    Err(format!("it begins with `{shown}`, which is no kind of diagram"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(format: Format, text: &str) -> String {
        parses(format, text.as_bytes()).map_or_else(|why| why, |()| "ok".to_owned())
    }

    #[test]
    fn tables_have_rows_of_one_length_and_closed_quotes() {
        for good in [
            "",
            "a,b\n1,2\n",
            "a,b\r\n1,2\r\n\r\n",
            "a;b\n1,5;2\n3;4",
            "name,text\nx,\"two\nlines, \"\"quoted\"\"\"\n",
            "size,what\n5\" pipe,x\n",
            "one\ntwo\n",
        ] {
            assert_eq!(told(Format::Csv, good), "ok", "{good:?}");
        }
        assert_eq!(told(Format::Csv, "a,b\n1,2,3\n"), "is not CSV: line 2 has 3 fields and the first 2");
        let open = "is not CSV: the quote that begins in line 2 is not closed";
        assert_eq!(told(Format::Csv, "a,b\n1,\"2\n3,4\n"), open);
    }

    #[test]
    fn diagrams_are_of_a_kind() {
        for good in [
            "graph TD\n  A --> B",
            "%% a note\n\nsequenceDiagram\n  A->>B: hi",
            "---\ntitle: x\n---\nstateDiagram-v2\n",
            "xychart-beta\n",
            "pie title Pets",
        ] {
            assert_eq!(told(Format::Mmd, good), "ok", "{good:?}");
        }
        let bad = "is not Mermaid: it begins with `this`, which is no kind of diagram";
        assert_eq!(told(Format::Mmd, "this is not a diagram"), bad);
        assert_eq!(told(Format::Mmd, ""), "is not Mermaid: it begins with ``, which is no kind of diagram");
    }

    #[test]
    fn depth_has_a_limit_that_is_told() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(told(Format::Json, &deep), "is nested more than 127 deep");
        assert_eq!(told(Format::Json, "{bad"), "is not JSON: key must be a string at line 1 column 2");
    }
}
