//! Turns a stream of bytes into lines, up to a limit. What is beyond is read all the same, counted and dropped, so
//! that a program never waits for a reader.

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc::Sender;

use crate::{Limits, Line, Stream};

/// Reads to the end. Gives how many bytes were dropped.
pub(crate) async fn capture(
    mut from: impl AsyncRead + Unpin,
    stream: Stream,
    limits: &Limits,
    to: Sender<Line>,
) -> u64 {
    let mut splitter = Splitter::new(stream, limits);
    let mut buffer = vec![0; 16 * 1024];
    // A stream that fails has nothing more to say.
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        for line in splitter.push(&buffer[..read]) {
            // Nobody listens any more; the rest is still read.
            drop(to.send(line).await);
        }
    }
    if let Some(line) = splitter.rest() {
        drop(to.send(line).await);
    }
    splitter.dropped
}

struct Splitter {
    stream: Stream,
    room: usize,
    line_bytes: usize,
    line: Vec<u8>,
    cut: bool,
    dropped: u64,
}

impl Splitter {
    fn new(stream: Stream, limits: &Limits) -> Self {
        Self {
            stream,
            room: limits.output_bytes,
            line_bytes: limits.line_bytes,
            line: Vec::new(),
            cut: false,
            dropped: 0,
        }
    }

    /// The lines that are complete now.
    fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            self.keep(text);
            if ends {
                // The end of a line counts, or a stream of empty lines would have none.
                if self.room > 0 {
                    self.room -= 1;
                    lines.push(self.take());
                } else {
                    self.dropped += 1;
                    lines.extend(self.rest());
                }
            }
        }
        lines
    }

    fn keep(&mut self, text: &[u8]) {
        let kept = text.len().min(self.line_bytes.saturating_sub(self.line.len())).min(self.room);
        self.line.extend_from_slice(&text[..kept]);
        self.room -= kept;
        self.dropped += (text.len() - kept) as u64;
        self.cut |= kept < text.len();
    }

    /// What came after the last end of a line.
    fn rest(&mut self) -> Option<Line> {
        (!self.line.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> Line {
        let text = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        Line { stream: self.stream, text, cut: std::mem::take(&mut self.cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(output_bytes: usize, line_bytes: usize, chunks: &[&[u8]]) -> (Vec<(String, bool)>, u64) {
        let limits = Limits { output_bytes, line_bytes, ..Limits::default() };
        let mut splitter = Splitter::new(Stream::Stdout, &limits);
        let mut lines: Vec<Line> = chunks.iter().flat_map(|chunk| splitter.push(chunk)).collect();
        lines.extend(splitter.rest());
        (lines.into_iter().map(|line| (line.text, line.cut)).collect(), splitter.dropped)
    }

    #[test]
    fn lines_are_put_together_from_chunks() {
        let (lines, dropped) = split(100, 100, &[b"a", b"b\n\nc"]);
        assert_eq!(lines, [("ab".into(), false), (String::new(), false), ("c".into(), false)]);
        assert_eq!(dropped, 0);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let (lines, dropped) = split(100, 3, &[b"abcdef\nxy\n"]);
        assert_eq!(lines, [("abc".into(), true), ("xy".into(), false)]);
        assert_eq!(dropped, 3);
    }

    #[test]
    fn output_beyond_the_limit_is_counted() {
        let (lines, dropped) = split(4, 100, &[b"ab\ncdef\ngh\n"]);
        assert_eq!(lines, [("ab".into(), false), ("c".into(), true)]);
        assert_eq!(dropped, 7);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let (lines, _) = split(100, 100, &[b"\xff\x00z\n"]);
        assert_eq!(lines, [("\u{fffd}\0z".into(), false)]);
    }
}
