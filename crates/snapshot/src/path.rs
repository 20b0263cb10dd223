//! Where something is inside a captured folder, as bytes.

use std::ffi::CStr;
use std::fmt;

/// A path below the base folder: names joined by `/`. Names need not be UTF-8; [`fmt::Display`] shows other bytes as `\xNN`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TreePath(Vec<u8>);

impl TreePath {
    /// The exact bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn push(&mut self, name: &CStr) {
        if !self.0.is_empty() {
            self.0.push(b'/');
        }
        self.0.extend(name.to_bytes());
    }

    pub(crate) fn pop(&mut self) {
        let end = self.0.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        self.0.truncate(end);
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_in_bytes_that_are_no_text_are_shown_apart() {
        let mut path = TreePath::default();
        assert_eq!(path.to_string(), ".");
        path.push(c"a");
        path.push(c"b\xff\n");
        assert_eq!(path.to_string(), "a/b\\xff\\n");
        assert_eq!(path.as_bytes(), b"a/b\xff\n");
        path.pop();
        path.push(c"b\xfe");
        assert_eq!(path.to_string(), "a/b\\xfe");
        path.pop();
        path.pop();
        assert_eq!(path, TreePath::default());
    }
}
