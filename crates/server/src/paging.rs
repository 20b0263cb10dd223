//! Lists on the wire: how much of one is asked for, and the page that answers.
//!
//! A cursor names a place in a list and nothing else, so it stays right whatever is added meanwhile. It is
//! opaque: clients hand it back as they got it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use holdpoint_engine::documents::{self, Bounds, Position};
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::{Code, Problem};

/// How many items a page has when nothing is said.
pub const DEFAULT_LIMIT: u32 = 50;
/// The most items of a page.
pub const MAX_LIMIT: u32 = 500;

/// The form of cursors. Another form gets another number.
const FORM: u8 = 1;

/// A page of a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Listed<T> {
    /// The items.
    pub items: Vec<T>,
    /// Hand this in as `cursor` to get the next page; null: this is the last.
    pub next_cursor: Option<String>,
}

/// Checks `limit` and `cursor` as they came in the query.
pub fn bounds(limit: Option<u32>, cursor: Option<&str>) -> Result<Bounds, Problem> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let detail = format!("`limit` is {limit}, and must be between 1 and {MAX_LIMIT}");
        return Err(Problem::new(Code::BadQuery, detail));
    }
    let bad = || Problem::new(Code::BadCursor, "the cursor was not made by this server");
    let after = cursor.map(|cursor| decode(cursor).ok_or_else(bad)).transpose()?;
    Ok(Bounds { after, limit })
}

impl<T> From<documents::Listed<T>> for Listed<T> {
    fn from(page: documents::Listed<T>) -> Self {
        Self::new(page.items, page.next)
    }
}

impl<T> Listed<T> {
    /// A page with the place where it ends, if something comes behind it.
    pub fn new(items: Vec<T>, next: Option<Position>) -> Self {
        Self { items, next_cursor: next.map(cursor) }
    }
}

/// A place in a list as clients hand it back.
pub fn cursor(place: Position) -> String {
    let mut bytes = vec![FORM];
    bytes.extend(place.seq.to_be_bytes());
    bytes.extend(place.n.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(cursor: &str) -> Option<Position> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (form, rest) = bytes.split_first()?;
    let (seq, n) = rest.split_first_chunk::<8>()?;
    let seq = u64::from_be_bytes(*seq);
    // A position that no log reaches would overflow on its way to the store.
    let known = *form == FORM && seq < i64::MAX as u64;
    known.then_some(Position { seq, n: u32::from_be_bytes(n.try_into().ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let place = Position { seq: 1_234_567, n: 89 };
        let cursor = Listed::<u8>::new(Vec::new(), Some(place)).next_cursor.expect("a cursor");
        assert_eq!(cursor, "AQAAAAAAEtaHAAAAWQ");
        assert_eq!(bounds(None, Some(&cursor)), Ok(Bounds { limit: DEFAULT_LIMIT, after: Some(place) }));
        for wrong in ["", "x", "AgAAAAAAEtaHAAAAWQ", "AQAAAAAAEtaHAAAAWQ==", "AX__________AAAAWQ", "é"] {
            assert_eq!(bounds(None, Some(wrong)).expect_err("wrong").code(), "bad_cursor", "{wrong}");
        }
    }

    #[test]
    fn a_limit_has_limits() {
        let told = |limit| bounds(Some(limit), None).map_or_else(|p| p.code(), |_| "ok");
        assert_eq!([0, 1, 500, 501].map(told), ["bad_query", "ok", "ok", "bad_query"]);
    }
}
