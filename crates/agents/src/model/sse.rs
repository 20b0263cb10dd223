//! Server-sent events, cut out of a stream whose pieces end anywhere.
//!
//! Each byte is looked at once and kept until its line ends; how many may come is for the caller to say.

use std::str::Utf8Error;

/// The data of events, as they become whole. Names, comments and anything else are passed over.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
}

impl Events {
    /// Takes the next piece, and gives the data of the events that it ends.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<Vec<String>, Utf8Error> {
        let mut events = Vec::new();
        let mut lines = piece.split(|byte| *byte == b'\n');
        // What follows the last end of a line is the beginning of the next, and may be empty.
        let begun = lines.next_back().unwrap_or_default();
        for line in lines {
            self.line.extend_from_slice(line);
            events.extend(self.end_line()?);
        }
        self.line.extend_from_slice(begun);
        Ok(events)
    }

    /// The data of an event whose end is missing, when nothing more comes.
    pub(super) fn rest(&mut self) -> Result<Vec<String>, Utf8Error> {
        let mut events = Vec::from_iter(self.end_line()?);
        events.extend(self.end_line()?);
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<String>, Utf8Error> {
        let line = std::str::from_utf8(&self.line)?.trim_end_matches('\r');
        if line.is_empty() {
            self.line.clear();
            return Ok(Some(std::mem::take(&mut self.data)).filter(|data| !data.is_empty()));
        }
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.trim());
        }
        self.line.clear();
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text in pieces of this size.
    fn read(text: &[u8], size: usize) -> Result<Vec<String>, Utf8Error> {
        let mut events = Events::default();
        let mut all = Vec::new();
        for piece in text.chunks(size) {
            all.extend(events.take(piece)?);
        }
        all.extend(events.rest()?);
        Ok(all)
    }

    #[test]
    fn events_are_the_same_wherever_their_pieces_end() {
        let text = "event: a\ndata: {\"ü\": 1}\n\n: no\n\ndata:2\r\ndata: 3\r\n\r\nid: 7\n\n\ndata: {\"la\": \"st\"}";
        for size in 1..=text.len() {
            let events = read(text.as_bytes(), size).expect("it is text");
            assert_eq!(events, ["{\"ü\": 1}", "2\n3", "{\"la\": \"st\"}"], "{size} bytes at a time");
        }
    }

    #[test]
    fn what_is_not_text_is_no_event() {
        assert!(read(b"data: \xff\n\n", 3).is_err());
        assert!(read(b"data: \xc3", 1).is_err());
    }
}
