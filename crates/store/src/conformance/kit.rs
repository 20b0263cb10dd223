//! Building blocks of the cases: names, rows with a true chain, appends, and short ways to ask.

use std::collections::BTreeMap;

use holdpoint_core::chain::{Header, link};
use holdpoint_core::rows::{Cell, Cells, Kind, Op, RowChange, Table};
use holdpoint_core::{
    Actor, CommandId, Digest, PipelineId, RunId, Seq, SessionId, StreamId, Timestamp, Version,
};
use uuid::Uuid;

use crate::{
    Append, EventLog, KeptBody, KeptReply, Key, NewRow, Page, Query, Receipt, Record, Refused, Row,
    SmallBlob, WorkChange,
};

/// A run by number.
pub fn run_id(n: u128) -> RunId {
    RunId(Uuid::from_u128(n))
}

/// A run's stream by number.
pub fn run(n: u128) -> StreamId {
    StreamId::Run(run_id(n))
}

/// A pipeline's stream by number.
pub fn pipeline(n: u128) -> StreamId {
    StreamId::Pipeline(PipelineId(Uuid::from_u128(n)))
}

/// A session by number.
pub fn session(n: u128) -> SessionId {
    SessionId(Uuid::from_u128(n))
}

/// A row of events without table changes; the first one stands at `first`.
pub fn row(stream: StreamId, first: u64, count: u32) -> NewRow {
    row_of(stream, first, vec![Vec::new(); count as usize])
}

/// A row with one event per list of table changes.
pub fn row_of(stream: StreamId, first: u64, changes: Vec<Vec<RowChange>>) -> NewRow {
    let count = changes.len() as u32;
    NewRow {
        stream,
        session: session(stream.uuid().as_u128()),
        first: Version(first),
        count,
        at: Timestamp(1_700_000_000_000_000 + first as i64),
        actor: Actor::person("ada"),
        command: CommandId(Uuid::from_u128((stream.uuid().as_u128() << 64) | u128::from(first))),
        shape: vec!["happened"; count as usize].join(","),
        bytes: format!(r#"[{{"in":"{stream}","from":{first}}}]"#).into_bytes(),
        prev: Digest::ZERO,
        hash: Digest::of(format!("{stream} {first}").as_bytes()),
        changes,
    }
}

/// Links a row to the one before it in its stream.
#[must_use]
pub fn chained(mut row: NewRow, prev: Digest) -> NewRow {
    let header = Header {
        stream: row.stream,
        first: row.first,
        count: row.count,
        at: row.at,
        actor: &row.actor,
        command: row.command,
    };
    row.hash = link(prev, &header, &row.bytes);
    row.prev = prev;
    row
}

/// What a row should read back as.
pub fn as_stored(row: &NewRow, seq: Seq) -> Row {
    Row {
        seq,
        stream: row.stream,
        session: row.session,
        first: row.first,
        count: row.count,
        at: row.at,
        actor: row.actor.clone(),
        command: row.command,
        shape: row.shape.clone(),
        bytes: row.bytes.clone(),
        prev: row.prev,
        hash: row.hash,
    }
}

/// An append of rows, each expected where its first version says.
pub fn append(rows: Vec<NewRow>) -> Append {
    let expect = rows.iter().map(|row| (row.stream, Version(row.first.0 - 1))).collect();
    Append { expect, rows, ..Append::default() }
}

/// An append of one event to a stream that stands at `after`.
pub fn one(stream: StreamId, after: u64) -> Append {
    append(vec![row(stream, after + 1, 1)])
}

/// The same append under a key.
#[must_use]
pub fn keyed(append: Append, scope: &str, request: &str) -> Append {
    told(append, scope, request, Timestamp(1_000), reply(b"told"))
}

/// The same append under a key, with a reply.
#[must_use]
pub fn told(append: Append, scope: &str, request: &str, at: Timestamp, reply: KeptReply) -> Append {
    let (scope, request) = (Digest::of(scope.as_bytes()), Digest::of(request.as_bytes()));
    Append { key: Some(Key { scope, request, at, reply }), ..append }
}

/// A reply that stands with its key.
pub fn reply(body: &[u8]) -> KeptReply {
    KeptReply { status: 200, body: KeptBody::Inline(body.into()) }
}

/// An append that only changes work.
pub fn owing(run: u128, due: Option<i64>, take: bool) -> Append {
    let change = WorkChange { run: run_id(run), due: due.map(Timestamp), take };
    Append { work: vec![change], ..Append::default() }
}

/// An append of one event at a time that carries a small blob; each goes to a stream of its own.
pub fn carrying(blob: SmallBlob, at: Timestamp) -> Append {
    let digest = blob.digest.0.iter().take(8).fold(0, |all, byte| (all << 8) | u128::from(*byte));
    let mut row = row(run((digest << 64) | u128::from(at.0.unsigned_abs())), 1, 1);
    row.at = at;
    Append { blobs: vec![blob], ..append(vec![row]) }
}

/// Appends and answers the receipt.
///
/// # Panics
/// When the append is refused.
pub async fn write(log: &impl EventLog, append: Append) -> Receipt {
    match log.append(append).await {
        Ok(receipt) => receipt,
        Err(refused) => panic!("the append was refused: {refused}"),
    }
}

/// Appends one event per list of changes to a stream that stands at `after`.
pub async fn project(
    log: &impl EventLog,
    stream: StreamId,
    after: u64,
    changes: Vec<Vec<RowChange>>,
) -> Receipt {
    write(log, append(vec![row_of(stream, after + 1, changes)])).await
}

/// Appends and answers why that was refused.
///
/// # Panics
/// When the append is not refused.
pub async fn refused(log: &impl EventLog, append: Append) -> Refused {
    match log.append(append).await {
        Ok(receipt) => panic!("the append was not refused but stands at {receipt:?}"),
        Err(refused) => refused,
    }
}

/// All rows of a stream.
pub async fn all_of(log: &impl EventLog, stream: StreamId) -> Vec<Row> {
    log.read(stream, Version(0), u32::MAX).await.expect("the stream can be read")
}

/// All rows of the log.
pub async fn all(log: &impl EventLog) -> Vec<Row> {
    log.read_all(Seq(0), u32::MAX).await.expect("the log can be read")
}

/// Asks and answers the whole page.
pub async fn ask(log: &impl EventLog, query: Query) -> Page {
    log.query(query).await.expect("the query can be answered")
}

/// All rows of a stream in one table.
pub async fn rows_of(log: &impl EventLog, table: Table, stream: StreamId) -> Vec<Record> {
    ask(log, Query::Of { table, stream, after: None, limit: u32::MAX }).await.records
}

/// Lists a table.
pub async fn list(
    log: &impl EventLog,
    table: Table,
    by: Option<(&'static str, Cell)>,
    before: Option<Seq>,
    limit: u32,
) -> Vec<Record> {
    ask(log, Query::List { table, by, before, limit }).await.records
}

/// The ordinals of records.
pub fn ordinals(records: &[Record]) -> Vec<u32> {
    records.iter().map(|record| record.n).collect()
}

/// A put.
pub fn put(table: Table, n: u32, cells: Cells) -> RowChange {
    RowChange { table, op: Op::Put(n, cells) }
}

/// A patch.
pub fn patch(table: Table, n: u32, cells: Cells) -> RowChange {
    RowChange { table, op: Op::Patch(n, cells) }
}

/// A patch by value.
pub fn patch_where(table: Table, column: &'static str, value: Cell, cells: Cells) -> RowChange {
    RowChange { table, op: Op::PatchWhere(column, value, cells) }
}

/// A record's value in a column.
///
/// # Panics
/// When the table has no such column.
pub fn cell(table: Table, record: &Record, column: &str) -> Cell {
    let at = table.def().columns.iter().position(|(name, _)| *name == column).expect("a column of the table");
    record.cells[at].clone()
}

/// A value of a kind, by number.
pub fn value(kind: Kind, n: u128) -> Cell {
    match kind {
        Kind::Int | Kind::Time => Cell::Int(n as i64),
        Kind::Text => Cell::from(format!("text {n}").as_str()),
        Kind::Json => Cell::from(format!(r#"{{"n":{n}}}"#).as_str()),
        Kind::Uuid => Uuid::from_u128(n).into(),
        Kind::Digest => Digest::of(&n.to_be_bytes()).into(),
    }
}

/// A column's value by number.
///
/// # Panics
/// When the table has no such column.
pub fn value_in(table: Table, column: &str, n: u128) -> Cell {
    value(table.def().kind(column).expect("a column of the table"), n)
}

/// Checks that a log is whole: positions and the versions of every stream count from 1 without gaps.
///
/// # Panics
/// When it is not.
pub fn check_dense(rows: &[Row]) {
    let mut next = 1;
    let mut versions: BTreeMap<StreamId, u64> = BTreeMap::new();
    for row in rows {
        assert_eq!(row.seq, Seq(next), "a gap before {row:?}");
        next += u64::from(row.count);
        let version = versions.entry(row.stream).or_default();
        assert_eq!(row.first, Version(*version + 1), "a gap in {}", row.stream);
        *version += u64::from(row.count);
    }
}

/// A fixed sequence of numbers from a seed (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }
}
