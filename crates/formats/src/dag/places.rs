//! Where in a JSON text some values stand.
//!
//! The text is known to be JSON, and is read a second time only when there is something to tell about it. Parts
//! in which nothing is looked for are passed over without a pointer being made of them.

use std::collections::HashMap;

use crate::problem::Place;

/// What is looked for below a value, by the names of its members.
#[derive(Default)]
struct Wanted {
    inside: HashMap<String, Wanted>,
    /// The pointers that end here.
    pointers: Vec<String>,
}

/// The places of pointers: of the name of a member, or of an element itself. A pointer to something that is not
/// there gets the place of the nearest value around it.
pub fn find(text: &str, pointers: &[String]) -> HashMap<String, Place> {
    let mut wanted = Wanted::default();
    for pointer in pointers {
        let mut at = &mut wanted;
        for segment in pointer.split('/').skip(1) {
            at = at.inside.entry(segment.replace("~1", "/").replace("~0", "~")).or_default();
        }
        at.pointers.push(pointer.clone());
    }
    let mut walker = Walker { text, at: 0, line: 1, line_start: 0, found: HashMap::new() };
    walker.space();
    let place = walker.place();
    walker.value(&wanted, place);
    walker.found
}

struct Walker<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
    found: HashMap<String, Place>,
}

impl Walker<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn place(&self) -> Place {
        let before = self.text.get(self.line_start..self.at).unwrap_or_default();
        Place { line: self.line, column: before.chars().count() as u32 + 1 }
    }

    fn space(&mut self) {
        while let Some(byte) = self.byte().filter(u8::is_ascii_whitespace) {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = self.at;
            }
        }
    }

    /// Gives everything below `wanted` this place, until something nearer is found.
    fn settle(&mut self, wanted: &Wanted, place: Place) {
        for pointer in &wanted.pointers {
            self.found.insert(pointer.clone(), place);
        }
        for inner in wanted.inside.values() {
            self.settle(inner, place);
        }
    }

    fn value(&mut self, wanted: &Wanted, place: Place) {
        self.settle(wanted, place);
        match self.byte() {
            Some(b'{') if !wanted.inside.is_empty() => self.object(wanted),
            Some(b'[') if !wanted.inside.is_empty() => self.list(wanted),
            _ => self.skip(),
        }
    }

    fn object(&mut self, wanted: &Wanted) {
        self.at += 1;
        loop {
            self.space();
            if self.byte() != Some(b'"') {
                break;
            }
            let (place, start) = (self.place(), self.at);
            self.string();
            let name: Option<String> =
                self.text.get(start..self.at).and_then(|name| serde_json::from_str(name).ok());
            self.space();
            self.at += 1;
            self.space();
            match name.and_then(|name| wanted.inside.get(&name)) {
                Some(inner) => self.value(inner, place),
                None => self.skip(),
            }
            self.space();
            if self.byte() != Some(b',') {
                break;
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn list(&mut self, wanted: &Wanted) {
        self.at += 1;
        let mut index = 0_usize;
        loop {
            self.space();
            if matches!(self.byte(), None | Some(b']')) {
                break;
            }
            match wanted.inside.get(&index.to_string()) {
                Some(inner) => {
                    let place = self.place();
                    self.value(inner, place);
                }
                None => self.skip(),
            }
            self.space();
            if self.byte() != Some(b',') {
                break;
            }
            self.at += 1;
            index += 1;
        }
        self.at += 1;
    }

    /// Passes over a string, from its first quotation mark.
    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
        }
    }

    /// Passes over a value.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.string();
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                b'\n' => {
                    self.line += 1;
                    self.line_start = self.at + 1;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_elements_are_found_and_what_is_missing_gets_what_is_around_it() {
        let text =
            "{\n  \"é\": 1, \"nodes\": [\n    {\"id\": \"a\\\"]\"},\n    {\"x\": [1, {}], \"id\": 2}\n  ]\n}";
        let all = ["", "/nodes", "/nodes/0", "/nodes/1/id", "/nodes/1/gone", "/nodes/7", "/gone"];
        let pointers = all.map(str::to_owned);
        let found = find(text, &pointers);
        let shown: Vec<_> = pointers.iter().map(|at| (found[at].line, found[at].column)).collect();
        assert_eq!(shown, [(1, 1), (2, 11), (3, 5), (4, 20), (4, 5), (2, 11), (1, 1)]);
    }

    #[test]
    fn columns_go_on_behind_what_was_passed_over() {
        let found = find("{\"a\": [\n1,\n2], \"b\": 3}", &["/b".to_owned()]);
        assert_eq!((found["/b"].line, found["/b"].column), (3, 5));
    }
}
