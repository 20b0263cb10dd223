//! Adding up what was spent.

use holdpoint_core::event::Usage;
use holdpoint_core::rows::{Kind, Table};
use holdpoint_store::{DAY, Spent, SpentBy, SpentFilter};
use rusqlite::{Connection, Error, params};

use crate::sql;

/// The sums of every group, the dearest first.
pub(crate) fn spent(conn: &Connection, filter: &SpentFilter) -> rusqlite::Result<Vec<Spent>> {
    let def = Table::Spending.def();
    let (group, kind) = match filter.by {
        SpentBy::All => ("NULL".to_owned(), Kind::Int),
        SpentBy::Day => (format!("at - (at % {DAY} + {DAY}) % {DAY}"), Kind::Time),
        SpentBy::Column(name) => {
            let kind = def.kind(name).ok_or_else(|| Error::InvalidColumnName(name.to_owned()))?;
            (format!("\"{name}\""), kind)
        }
    };
    // A pipeline and a run have an index each; asking only for what is given lets it be used.
    let pipeline = filter.pipeline.map(|id| id.0.as_bytes().to_vec());
    let run = filter.run.map(|id| id.0.as_bytes().to_vec());
    let mut wanted = vec!["at >= ?3 AND at < ?4"];
    wanted.push(if pipeline.is_some() { "pipeline = ?1" } else { "?1 IS NULL" });
    wanted.push(if run.is_some() { "run = ?2" } else { "?2 IS NULL" });
    let text = format!(
        "SELECT {group}, sum(calls), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
                sum(cache_write_tokens), sum(cost_micros), sum(took_ms)
         FROM \"{}\" WHERE {} GROUP BY 1 ORDER BY 7 DESC, 2 DESC, 8 DESC LIMIT ?5",
        def.name,
        wanted.join(" AND ")
    );
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    let until = filter.until.map_or(i64::MAX, |until| until.0);
    let mut statement = conn.prepare_cached(&text)?;
    let mut rows = statement.query(params![pipeline, run, since, until, filter.limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let number = |at| row.get::<_, Option<i64>>(at).map(|n| u64::try_from(n.unwrap_or(0)).unwrap_or(0));
        found.push(Spent {
            group: sql::cell(kind, row.get_ref(0)?)?,
            usage: Usage {
                calls: number(1)?,
                input_tokens: number(2)?,
                output_tokens: number(3)?,
                cache_read_tokens: number(4)?,
                cache_write_tokens: number(5)?,
                cost_micros: number(6)?,
            },
            took_ms: number(7)?,
        });
    }
    Ok(found)
}
