//! Settings files: TOML with the place of every value.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::layers::Layer;
use super::{Origin, keys};
use crate::problem::Problem;

/// No settings file is larger.
const LARGEST: u64 = 1024 * 1024;

/// The settings of a file, or none if it does not exist.
pub fn read(path: &Path) -> Result<Layer, Problem> {
    match text(path) {
        Ok(Some(text)) => parse(&path.to_string_lossy(), &text),
        Ok(None) => Ok(Layer::default()),
        Err(error) => {
            let message = format!("the settings in `{}` cannot be read: {error}", path.display());
            Err(Problem::bad_input(
                "config_unreadable",
                message,
                "check that it is a text file that you may read",
            ))
        }
    }
}

/// The text of a small file, if it exists.
pub fn text(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("it is larger than {LARGEST} bytes")));
    }
    Ok(Some(text))
}

fn parse(path: &str, text: &str) -> Result<Layer, Problem> {
    let place = |at: usize| place(path, text, at);
    let table = DeTable::parse(text).map_err(|error| {
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        let at = place(error.span().map_or(0, |span| span.start));
        Problem::bad_input(
            "config_syntax",
            format!("{at}: {what}"),
            "correct the file; it is written in TOML",
        )
    })?;
    let mut found = Vec::new();
    flatten("", table.get_ref(), &mut found);
    // In the order of the file, so that the first fault is the one that is told.
    found.sort_by_key(|(_, at, _)| *at);
    let mut layer = Layer::default();
    for (name, at, value) in found {
        let origin = place(at);
        let Some(kind) = keys::find(&name) else { return Err(unknown(&name, &origin)) };
        let value = kind.check(value).map_err(|fault| {
            Problem::bad_input(fault.code, format!("{origin}: {name} {}", fault.what), fault.hint)
        })?;
        layer.set(name, value, origin)?;
    }
    Ok(layer)
}

fn unknown(name: &str, origin: &Origin) -> Problem {
    if keys::is_section(name) {
        let message = format!("{origin}: `{name}` is a section, not a setting");
        return Problem::bad_input("bad_setting", message, format!("begin the section with `[{name}]`"));
    }
    let hint = match keys::meant(name) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if name.strip_prefix("mcp.").is_some_and(|server| !server.contains('.')) => {
            "a server's name has small letters, digits, `-` and single `_`, begins with a letter, and is no built-in tool"
                .to_owned()
        }
        None => "`holdpoint config show` lists every setting".to_owned(),
    };
    Problem::bad_input("unknown_setting", format!("{origin}: there is no setting `{name}`"), hint)
}

/// Every value with its dotted name and its place. A table that is no section is one value.
fn flatten(above: &str, table: &DeTable<'_>, found: &mut Vec<(String, usize, Value)>) {
    for (key, value) in table {
        let name =
            if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        match value.get_ref() {
            DeValue::Table(inner) if keys::is_section(&name) => flatten(&name, inner, found),
            _ => found.push((name, key.span().start, plain(value))),
        }
    }
}

fn plain(value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            // Beyond 64 bits it fits no setting, and the fault repeats it.
            parsed.map_or_else(|_| Value::from(number.as_str()), Value::from)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(values) => values.iter().map(plain).collect(),
        DeValue::Table(_) => Value::Object(serde_json::Map::new()),
    }
}

fn place(path: &str, text: &str, at: usize) -> Origin {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Origin::File { path: path.to_owned(), line, column }
}

#[cfg(test)]
// Snapshots are written by a tool that always puts them.
#[allow(clippy::needless_raw_string_hashes)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: &Expect) {
        let told = match parse("c.toml", text) {
            Ok(layer) => layer
                .values()
                .map(|(name, value, origin)| format!("{name} = {value} # {origin}"))
                .collect::<Vec<_>>()
                .join("\n"),
            Err(problem) => format!("{}\nerror: {}\nhint: {}\n", problem.code, problem.message, problem.hint),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn values_are_read_with_their_places() {
        check(
            "limits.max_retry_attempts = 0x3\n\n[llm]\ndefault_temperature = 1\n  [llm.anthropic]\n  base_url = 'http://127.0.0.1:9'\n",
            &expect![[r#"
                limits.max_retry_attempts = 3 # c.toml:1:8
                llm.anthropic.base_url = "http://127.0.0.1:9" # c.toml:6:3
                llm.default_temperature = 1.0 # c.toml:4:1"#]],
        );
    }

    #[test]
    fn the_first_fault_is_told_with_its_place() {
        check(
            "[limits]\nmax_retry_attempts = \"3\"\n",
            &expect![[r#"
                bad_setting
                error: c.toml:2:1: limits.max_retry_attempts must be a whole number from 0 to 1000, not "3"
                hint: write it in digits, without quotes
            "#]],
        );
        check(
            "[limits]\nmax_retry_attempts = 1_000_000\n",
            &expect![[r#"
                bad_setting
                error: c.toml:2:1: limits.max_retry_attempts must be a whole number from 0 to 1000, not 1000000
                hint: choose one in that range
            "#]],
        );
        check(
            "[limits]\nmax_retry_attempts = 99999999999999999999\n",
            &expect![[r#"
                bad_setting
                error: c.toml:2:1: limits.max_retry_attempts must be a whole number from 0 to 1000, not "99999999999999999999"
                hint: write it in digits, without quotes
            "#]],
        );
        check(
            "[limits]\nmax_retry_attempts = 2026-01-01\n",
            &expect![[r#"
                bad_setting
                error: c.toml:2:1: limits.max_retry_attempts must be a whole number from 0 to 1000, not "2026-01-01"
                hint: write it in digits, without quotes
            "#]],
        );
        check(
            "[limits]\n  max_retry_attemps = 3\n",
            &expect![[r#"
                unknown_setting
                error: c.toml:2:3: there is no setting `limits.max_retry_attemps`
                hint: did you mean `limits.max_retry_attempts`?
            "#]],
        );
        check(
            "[limts]\nmax_retry_attempts = 3\n[zzz]\n",
            &expect![[r#"
                unknown_setting
                error: c.toml:1:2: there is no setting `limts`
                hint: did you mean `limits`?
            "#]],
        );
        check(
            "limits = 3\n",
            &expect![[r#"
                bad_setting
                error: c.toml:1:1: `limits` is a section, not a setting
                hint: begin the section with `[limits]`
            "#]],
        );
        check(
            "[llm.default_model]\nname = 'x'\n",
            &expect![[r#"
                bad_setting
                error: c.toml:1:6: llm.default_model must be text, not a table
                hint: write it in quotes
            "#]],
        );
        check(
            "[llm.Anthropic]\napi_key = 'x'\n",
            &expect![[r#"
                unknown_setting
                error: c.toml:1:6: there is no setting `llm.Anthropic`
                hint: did you mean `llm.anthropic`?
            "#]],
        );
        check(
            "[llm.anthropic]\napi_key = 'a'\napi_key_env = 'B'\n",
            &expect![[r#"
                setting_conflict
                error: c.toml:3:1: llm.anthropic.api_key_env is set beside llm.anthropic.api_key of c.toml:2:1
                hint: keep one of the two
            "#]],
        );
        check(
            "[llm.anthropic]\napi_key = ['secret']\n",
            &expect![[r#"
                bad_setting
                error: c.toml:2:1: llm.anthropic.api_key must be a key, not a list
                hint: write it in quotes, on one line
            "#]],
        );
        check(
            "[limits\n",
            &expect![[r#"
                config_syntax
                error: c.toml:1:8: unclosed table, expected `]`
                hint: correct the file; it is written in TOML
            "#]],
        );
        check(
            "a = 1\na = 2\n",
            &expect![[r#"
                config_syntax
                error: c.toml:2:1: duplicate key
                hint: correct the file; it is written in TOML
            "#]],
        );
        check(
            "\"a\\u001b[2J\\nb\" = 1\n",
            &expect![[r#"
                unknown_setting
                error: c.toml:1:1: there is no setting `a[2J
                b`
                hint: `holdpoint config show` lists every setting
            "#]],
        );
    }
}
