//! Cursors: places in lists as clients hand them back.
//!
//! A cursor names a place in a list and the direction that its pages go, so it stays right whatever is added meanwhile.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Serialize, Serializer};

use super::Position;
use super::lists::Order;

/// The form of cursors of lists that have one direction, or that go from their beginning on.
const ON: u8 = 1;
/// The form of cursors of lists that go from their end back, where the same list also goes on.
const BACK: u8 = 2;

/// A place in a list. It is opaque: clients hand it back as they got it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The direction of the pages that it leads to.
    pub order: Order,
    /// The last item of the page before.
    pub at: Position,
}

/// Text that is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCursor;

impl Cursor {
    /// Goes on in a list that has one direction, or that goes from its beginning on.
    pub fn on(at: Position) -> Self {
        Self { order: Order::Oldest, at }
    }

    /// Goes back in a list that also goes on.
    pub fn back(at: Position) -> Self {
        Self { order: Order::Newest, at }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![match self.order {
            Order::Oldest => ON,
            Order::Newest => BACK,
        }];
        bytes.extend(self.at.seq.to_be_bytes());
        bytes.extend(self.at.n.to_be_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NoCursor)?;
        let (form, rest) = bytes.split_first().ok_or(NoCursor)?;
        let (seq, n) = rest.split_first_chunk::<8>().ok_or(NoCursor)?;
        let seq = u64::from_be_bytes(*seq);
        let n = u32::from_be_bytes(n.try_into().map_err(|_| NoCursor)?);
        let order = match *form {
            ON => Order::Oldest,
            BACK => Order::Newest,
            _ => return Err(NoCursor),
        };
        // A position that no log reaches would overflow on its way to the store.
        if seq >= i64::MAX as u64 {
            return Err(NoCursor);
        }
        Ok(Self { order, at: Position { seq, n } })
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let at = Position { seq: 1_234_567, n: 89 };
        for (cursor, text) in
            [(Cursor::on(at), "AQAAAAAAEtaHAAAAWQ"), (Cursor::back(at), "AgAAAAAAEtaHAAAAWQ")]
        {
            assert_eq!((cursor.to_string().as_str(), text.parse()), (text, Ok(cursor)));
        }
        for wrong in ["", "x", "AwAAAAAAEtaHAAAAWQ", "AQAAAAAAEtaHAAAAWQ==", "AX__________AAAAWQ", "é"] {
            assert_eq!(wrong.parse::<Cursor>(), Err(NoCursor), "{wrong}");
        }
    }
}
