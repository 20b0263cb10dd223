//! Drawings of a compiled graph. Names come from files, so every drawing shows them as text and as nothing else.

mod dot;
mod mermaid;
mod svg;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::{MOST_DRAWN, svg};
pub use text::{Drawing, text};

/// A name on one line, of at most so many characters. What cannot be seen or turns text round becomes `�`.
fn plain(name: &str, longest: usize) -> String {
    let seen = |c: char| {
        let hidden = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if hidden { '\u{fffd}' } else { c }
    };
    let mut shown: String = name.chars().take(longest).map(seen).collect();
    if name.chars().nth(longest).is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}
