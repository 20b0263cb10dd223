//! Writes a tree as YAML that people like to read and every reader of YAML 1.2 understands alike.
//!
//! Text of several lines stands as a block. What could be taken for something else, or cannot be seen, is
//! quoted and escaped.

use std::fmt::Write as _;

use serde_json::Value;

use crate::tree::{Node, Plain};

/// Writes it.
pub fn write(tree: &Plain) -> String {
    let mut text = String::new();
    block(&mut text, tree, 0);
    text
}

/// What stands on lines of its own, each indented.
fn block(text: &mut String, tree: &Plain, indent: usize) {
    match &tree.0 {
        Node::Map(members) if !members.is_empty() => {
            for (key, member) in members {
                let _ = write!(text, "{:indent$}{}:", "", scalar(key));
                behind(text, member, indent);
            }
        }
        Node::List(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(text, "{:indent$}-", "");
                match &item.0 {
                    // The first member stands behind the dash.
                    Node::Map(members) if !members.is_empty() => {
                        let mut inner = String::new();
                        block(&mut inner, item, indent + 2);
                        text.push(' ');
                        text.push_str(inner.trim_start_matches(' '));
                    }
                    Node::Leaf(_) | Node::List(_) | Node::Map(_) => behind(text, item, indent),
                }
            }
        }
        Node::Leaf(_) | Node::List(_) | Node::Map(_) => {
            let _ = write!(text, "{:indent$}", "");
            behind(text, tree, indent);
        }
    }
}

/// What stands behind a key or a dash.
fn behind(text: &mut String, tree: &Plain, indent: usize) {
    match &tree.0 {
        Node::Map(members) if members.is_empty() => text.push_str(" {}\n"),
        Node::List(items) if items.is_empty() => text.push_str(" []\n"),
        Node::Map(_) | Node::List(_) => {
            text.push('\n');
            block(text, tree, indent + 2);
        }
        Node::Leaf(Value::String(value)) if is_block(value) => {
            text.push_str(if value.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in value.strip_suffix('\n').unwrap_or(value).split('\n') {
                let indent = if line.is_empty() { 0 } else { indent + 2 };
                let _ = writeln!(text, "{:indent$}{line}", "");
            }
        }
        Node::Leaf(Value::String(value)) => {
            let _ = writeln!(text, " {}", scalar(value));
        }
        Node::Leaf(value) => {
            let _ = writeln!(text, " {value}");
        }
    }
}

/// Whether text reads the same when it stands as a block.
fn is_block(value: &str) -> bool {
    let lines = || value.split('\n');
    value.trim_end_matches('\n').contains('\n')
        && !value.starts_with([' ', '\n', '\t'])
        && !value.ends_with("\n\n")
        && !value.chars().any(|c| c != '\n' && c != '\t' && is_hidden(c))
        && lines().all(|line| !line.starts_with('\t') && (line.is_empty() || !line.trim().is_empty()))
}

/// Text on one line: as it is where it cannot be taken for anything else, else quoted.
fn scalar(value: &str) -> String {
    if is_plain(value) { value.to_owned() } else { quoted(value) }
}

fn is_plain(value: &str) -> bool {
    const WORDS: [&str; 11] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    value.starts_with(|c: char| c.is_ascii_alphabetic())
        && !value.ends_with(' ')
        && value.chars().all(|c| c.is_ascii_alphanumeric() || " _-./()".contains(c))
        && !WORDS.contains(&value.to_ascii_lowercase().as_str())
}

fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if is_hidden(c) => {
                let code = u32::from(c);
                let _ =
                    if code > 0xffff { write!(text, "\\U{code:08x}") } else { write!(text, "\\u{code:04x}") };
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// What cannot be seen, breaks lines, turns text round or is no character.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || u32::from(c) & 0xfffe == 0xfffe
}
