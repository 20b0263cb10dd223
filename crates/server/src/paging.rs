//! Lists on the wire: how much of one is asked for, and the page that answers.

use holdpoint_engine::documents::{self, Bounds, Cursor, Order, Position};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::problem::{Code, Problem};

/// How many items a page has when nothing is said.
pub const DEFAULT_LIMIT: u32 = 50;
/// The most items of a page.
pub const MAX_LIMIT: u32 = 500;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Listed<T> {
    /// The items.
    pub items: Vec<T>,
    /// Hand this in as `cursor` to get the next page; null: this is the last.
    pub next_cursor: Option<String>,
}

/// Checks `limit` and `cursor` as they came in the query.
pub fn bounds(limit: Option<u32>, cursor: Option<&str>) -> Result<Bounds, Problem> {
    let limit = checked(limit)?;
    let after = cursor.map(|cursor| decode(cursor, Order::Oldest)).transpose()?;
    Ok(Bounds { after, limit })
}

fn checked(limit: Option<u32>) -> Result<u32, Problem> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let detail = format!("`limit` is {limit}, and must be between 1 and {MAX_LIMIT}");
        return Err(Problem::new(Code::BadQuery, detail));
    }
    Ok(limit)
}

/// The place that a cursor of a list in this order names.
fn decode(cursor: &str, order: Order) -> Result<Position, Problem> {
    let known = cursor.parse::<Cursor>().ok().filter(|cursor| cursor.order == order);
    let bad = || Problem::new(Code::BadCursor, "the cursor was not made by this server for this list");
    known.map(|cursor| cursor.at).ok_or_else(bad)
}

/// Which part of a list that is read from either end.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Part {
    /// How many at most: 50 when it is not given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// `next_cursor` of the page before, or the cursor that stands beside the last items in the execution. It brings its
    /// order with it.
    cursor: Option<String>,
    /// From which end: `oldest` when it is not given.
    #[param(inline)]
    order: Option<End>,
}

/// The end from which a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// From its beginning on.
    Oldest,
    /// From its end back.
    Newest,
}

impl Part {
    /// The order and the part that are asked for.
    pub fn bounds(&self) -> Result<(Order, Bounds), Problem> {
        let limit = checked(self.limit)?;
        let asked = self.order.map(|order| match order {
            End::Oldest => Order::Oldest,
            End::Newest => Order::Newest,
        });
        let Some(cursor) = self.cursor.as_deref() else {
            return Ok((asked.unwrap_or(Order::Oldest), Bounds { after: None, limit }));
        };
        let order = asked.or_else(|| Some(cursor.parse::<Cursor>().ok()?.order)).unwrap_or(Order::Oldest);
        Ok((order, Bounds { after: Some(decode(cursor, order)?), limit }))
    }
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

    /// A page of a list that is read in this order.
    pub fn part(page: documents::Listed<T>, order: Order) -> Self {
        let next = page.next.map(|at| Cursor { order, at }.to_string());
        Self { items: page.items, next_cursor: next }
    }
}

/// A place in a list that has one direction, as clients hand it back.
pub fn cursor(place: Position) -> String {
    Cursor::on(place).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_its_list() {
        let place = Position { seq: 7, n: 1 };
        let on = Listed::<u8>::new(Vec::new(), Some(place)).next_cursor.expect("a cursor");
        assert_eq!(bounds(None, Some(&on)), Ok(Bounds { limit: DEFAULT_LIMIT, after: Some(place) }));
        let back = Cursor::back(place).to_string();
        for wrong in ["", "x", &back] {
            assert_eq!(bounds(None, Some(wrong)).expect_err("wrong").code(), "bad_cursor", "{wrong}");
        }
        let part =
            |cursor: &str, order| Part { limit: None, cursor: Some(cursor.to_owned()), order }.bounds();
        let at = Bounds { limit: DEFAULT_LIMIT, after: Some(place) };
        assert_eq!(part(&on, None), Ok((Order::Oldest, at)));
        assert_eq!(part(&back, None), Ok((Order::Newest, at)));
        assert_eq!(part(&back, Some(End::Newest)), Ok((Order::Newest, at)));
        assert_eq!(part(&back, Some(End::Oldest)).expect_err("the other way").code(), "bad_cursor");
    }

    #[test]
    fn a_limit_has_limits() {
        let told = |limit| bounds(Some(limit), None).map_or_else(|p| p.code(), |_| "ok");
        assert_eq!([0, 1, 500, 501].map(told), ["bad_query", "ok", "ok", "bad_query"]);
    }
}
