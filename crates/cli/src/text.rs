//! Text from outside, made fit for a terminal, guesses at what somebody meant, and numbers as people say them.

use std::fmt::Write;

/// Nobody reads further in one line.
const LONGEST: usize = 2000;

/// One line without anything that a terminal obeys: control characters and marks that turn the direction of
/// writing become escapes.
pub fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            line.push('…');
            break;
        }
        if is_harmful(c) {
            write!(line, "{}", c.escape_default()).expect("a string takes everything");
        } else {
            line.push(c);
        }
    }
    line
}

pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The candidate that is most like the word, if one is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let close =
        |candidate: &&str| strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    let allowed = (word.chars().count() / 3).clamp(1, 4);
    candidates.into_iter().min_by_key(close).filter(|best| close(best) <= allowed)
}

/// A word as a shell wants it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | '…');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Bytes as people say them.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A count with its noun in the right number.
pub fn many(count: u64, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        assert_eq!(line("plain – text"), "plain – text");
        assert_eq!(line("a\u{1b}[2Jb\r\nc\u{7}"), r"a\u{1b}[2Jb\r\nc\u{7}");
        assert_eq!(line("a\u{9b}b\u{202e}c\u{2028}d"), r"a\u{9b}b\u{202e}c\u{2028}d");
        assert_eq!(line(&"x".repeat(3000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn sizes_read_as_people_say_them() {
        let said = [0, 1023, 1024, 1_500_000, u64::MAX].map(size);
        assert_eq!(said, ["0 B", "1023 B", "1.0 KiB", "1.4 MiB", "16777216.0 TiB"]);
        assert_eq!([many(0, "run", "runs"), many(1, "run", "runs")], ["0 runs", "1 run"]);
    }

    #[test]
    fn a_shell_reads_one_word() {
        assert_eq!(["a=b", "a b", "it's", ""].map(quoted), ["a=b", "'a b'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn a_guess_is_near_or_not_made() {
        let names = ["listen", "log_level", "max_file_size_mb"];
        assert_eq!(nearest("lisen", names), Some("listen"));
        assert_eq!(nearest("LOG_LEVLE", names), Some("log_level"));
        assert_eq!(nearest("max_filesize", names), Some("max_file_size_mb"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("x", []), None);
    }
}
