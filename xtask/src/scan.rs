//! Just enough reading of Rust to tell code from comments and text, and to name the paths that code uses.
//!
//! It is no parser. It promises only that every byte keeps its line, and that what stands in a comment or
//! in a literal is never taken for code.

/// The source with comments and the insides of literals blanked out; line breaks stay where they are.
pub fn code(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = skipped(bytes, at);
        if end == at {
            out.push(if bytes[at].is_ascii() { bytes[at] } else { b' ' });
            at += 1;
        } else {
            out.extend(bytes[at..end].iter().map(|&b| if b == b'\n' { b'\n' } else { b' ' }));
            at = end;
        }
    }
    String::from_utf8(out).expect("only ASCII was written")
}

/// Where the comment or literal that begins at `at` ends; `at` itself when none begins there.
fn skipped(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return block_comment(bytes, at);
    }
    let begins_word = at == 0 || !is_word(bytes[at - 1]);
    if begins_word && let Some(end) = raw_string(bytes, at) {
        return end;
    }
    match rest[0] {
        b'"' => quoted(bytes, at, b'"'),
        // A lifetime has no closing quote right after its first character.
        b'\'' if rest.get(1) == Some(&b'\\') => quoted(bytes, at, b'\''),
        b'\'' => {
            let len = rest.get(1).map_or(1, |&lead| char_len(lead));
            if rest.get(1 + len) == Some(&b'\'') { at + len + 2 } else { at }
        }
        _ => at,
    }
}

fn block_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// `r"…"`, `r#"…"#` and their byte and C kin.
fn raw_string(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let prefix = [&b"r"[..], b"br", b"cr"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix) && matches!(rest.get(prefix.len()), Some(b'"' | b'#')))?;
    let hashes = rest[prefix.len()..].iter().take_while(|&&b| b == b'#').count();
    let open = prefix.len() + hashes;
    // `r#type` is a name, not a string.
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = &rest[open + 1..];
    let len = body.windows(close.len()).position(|window| window == close);
    Some(len.map_or(bytes.len(), |len| at + open + 1 + len + close.len()))
}

fn quoted(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b if b == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

fn char_len(lead: u8) -> usize {
    match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// The number of the line, from 1, in which a byte stands.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// For each line of blanked-out code, whether it belongs to something under `#[cfg(test)]`.
pub fn test_lines(code: &str) -> Vec<bool> {
    let mut lines = vec![false; code.lines().count() + 1];
    for (at, opening) in code.match_indices("#[cfg(") {
        let Some(len) = code[at..].find(']') else { continue };
        let condition = &code[at + opening.len()..at + len];
        if condition.contains("not(") || !words(condition).any(|(_, word)| word == "test") {
            continue;
        }
        let end = item_end(code, at + len + 1);
        for line in line_of(code, at)..=line_of(code, end) {
            lines[line - 1] = true;
        }
    }
    lines
}

/// Where the item that begins at `at` ends: at its `;`, or at the brace that closes its first one.
fn item_end(code: &str, at: usize) -> usize {
    let mut depth = 0usize;
    for (offset, b) in code.bytes().enumerate().skip(at) {
        match b {
            b';' if depth == 0 => return offset,
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return offset;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// The words of a text, each with its place.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// A path that code names, such as `std::fs::read`.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    pub line: usize,
    pub parts: Vec<String>,
    /// Whether it stands in a `use`.
    pub imported: bool,
}

/// All paths in blanked-out code; the trees of `use` are written out leaf by leaf.
pub fn paths(code: &str) -> Vec<Path> {
    let mut tokens = Tokens { all: tokens(code), at: 0 };
    let mut found = Vec::new();
    while let Some((line, token)) = tokens.next() {
        if token == "use" {
            tokens.tree(&[], &mut found);
        } else if is_name(token) {
            let mut parts = vec![token.to_owned()];
            while tokens.peek() == Some("::") && tokens.peek_second().is_some_and(is_name) {
                tokens.next();
                parts.extend(tokens.next().map(|(_, name)| name.to_owned()));
            }
            found.push(Path { line, parts, imported: false });
        }
    }
    found
}

fn is_name(token: &str) -> bool {
    token.bytes().next().is_some_and(|b| is_word(b) && !b.is_ascii_digit())
}

fn tokens(code: &str) -> Vec<(usize, &str)> {
    let bytes = code.as_bytes();
    let (mut found, mut line, mut at) = (Vec::new(), 1, 0);
    while at < bytes.len() {
        let len = match bytes[at] {
            b if is_word(b) => bytes[at..].iter().take_while(|&&b| is_word(b)).count(),
            b':' if bytes.get(at + 1) == Some(&b':') => 2,
            _ => 1,
        };
        if bytes[at] == b'\n' {
            line += 1;
        }
        if !bytes[at].is_ascii_whitespace() {
            found.push((line, &code[at..at + len]));
        }
        at += len;
    }
    found
}

struct Tokens<'a> {
    all: Vec<(usize, &'a str)>,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        self.at += 1;
        self.all.get(self.at - 1).copied()
    }

    fn peek(&self) -> Option<&'a str> {
        self.all.get(self.at).map(|(_, token)| *token)
    }

    fn peek_second(&self) -> Option<&'a str> {
        self.all.get(self.at + 1).map(|(_, token)| *token)
    }

    /// One branch of a `use`, up to the `,`, `}` or `;` after it, which stays.
    fn tree(&mut self, before: &[String], found: &mut Vec<Path>) {
        let mut parts = before.to_vec();
        let mut place = self.all.get(self.at).map_or(0, |(line, _)| *line);
        let mut whole = true;
        while let Some(token) = self.peek() {
            match token {
                "," | "}" | ";" => break,
                "{" => {
                    whole = false;
                    self.next();
                    while self.peek().is_some_and(|token| token != "}" && token != ";") {
                        self.tree(&parts, found);
                        if self.peek() == Some(",") {
                            self.next();
                        }
                    }
                }
                "as" => {
                    self.next();
                }
                name if is_name(name) || name == "*" => {
                    place = self.all[self.at].0;
                    parts.push(name.to_owned());
                }
                _ => {}
            }
            self.next();
        }
        if whole && parts.len() > before.len() {
            found.push(Path { line: place, parts, imported: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(source: &str) -> Vec<String> {
        paths(&code(source))
            .into_iter()
            .map(|path| format!("{} {}", path.line, path.parts.join("::")))
            .collect()
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        let source = "a // b\n/* c /* d */ e */ f \"g \\\" h\" i r#\"j \" k\"# l 'm' '\\n' b\"o\" p";
        let left: Vec<_> = code(source).split_whitespace().map(str::to_owned).collect();
        assert_eq!(left, ["a", "f", "i", "l", "b", "p"]);
        assert_eq!(code(source).len(), source.len());
    }

    #[test]
    fn lifetimes_and_raw_names_stay() {
        assert_eq!(code("fn f<'a>(x: &'a str, r#type: u8)"), "fn f<'a>(x: &'a str, r#type: u8)");
        assert_eq!(code("'é' x").trim(), "x");
    }

    #[test]
    fn the_lines_of_a_test_module_are_known() {
        let source =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { {} }\n}\nfn c() {}\n#[cfg(test)]\nmod d;\n";
        assert_eq!(test_lines(source)[..8], [false, true, true, true, true, false, true, true]);
        assert!(!test_lines("#[cfg(not(test))]\nfn a() {}\n").contains(&true));
    }

    #[test]
    fn use_trees_are_written_out() {
        assert_eq!(
            named("use std::{fs, io::{self, Read as _},\n time::*};\nlet x = std::env::var(y);"),
            [
                "1 std::fs",
                "1 std::io::self",
                "1 std::io::Read",
                "2 std::time::*",
                "3 let",
                "3 x",
                "3 std::env::var",
                "3 y"
            ]
        );
    }
}
