//! The names that exist and what each may be.

use holdpoint_server::{Listen, ListenError};
use serde_json::Value;

use crate::text;

/// What a setting may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Text,
    /// Paths with `:` between them; may be none.
    Paths,
    Flag,
    Whole {
        least: i64,
        most: i64,
    },
    Number {
        least: f64,
        most: f64,
    },
    /// In any case; kept as it is written here.
    Choice(&'static [&'static str]),
    /// A local address to listen on.
    Listen,
    /// Where a provider is: without user, query or fragment, which could hold a secret.
    Url,
    Secret,
    VariableName,
    /// Words, at least one.
    Words,
    /// Names of hosts; may be none.
    Domains,
    /// Names of environment variables.
    VariableNames,
}

/// What is wrong with a value, to be completed with its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub what: String,
    pub hint: String,
}

const fn whole(least: i64, most: i64) -> Kind {
    Kind::Whole { least, most }
}

const KEYS: &[(&str, Kind)] = &[
    ("llm.default_model", Kind::Text),
    ("llm.default_max_tokens", whole(1, 10_000_000)),
    ("llm.default_temperature", Kind::Number { least: 0.0, most: 2.0 }),
    ("llm.max_retries", whole(0, 20)),
    ("llm.call_timeout_seconds", whole(1, 3600)),
    ("llm.search_domains", Kind::Domains),
    ("limits.max_file_size_mb", whole(1, 1_048_576)),
    ("limits.max_context_length", whole(1, 100_000_000)),
    ("limits.max_checkpoint_timeout_minutes", whole(1, 525_600)),
    ("limits.max_retry_attempts", whole(0, 1000)),
    ("limits.tool_calls_per_turn", whole(1, 1000)),
    ("files.base_pipelines_path", Kind::Text),
    ("files.temp_cleanup_on_next_checkpoint", Kind::Flag),
    ("files.archive_retention_days", whole(0, 36_500)),
    ("files.error_retention_days", whole(0, 36_500)),
    ("execution.default_retry_delay_seconds", whole(0, 86_400)),
    ("execution.max_parallel", whole(1, 1_024)),
    ("execution.sandbox", Kind::Choice(&["auto", "restricted", "external"])),
    ("execution.script_folders", Kind::Paths),
    ("logging.log_level", Kind::Choice(&["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "OFF"])),
    ("logging.log_format", Kind::Choice(&["text", "json"])),
    ("logging.log_file_max_size_mb", whole(1, 1_048_576)),
    ("logging.log_backup_count", whole(0, 1000)),
    ("database.db_type", Kind::Choice(&["sqlite"])),
    ("database.db_pool_size", whole(1, 1000)),
    ("database.db_timeout_seconds", whole(1, 86_400)),
    ("server.listen", Kind::Listen),
    ("gates.on_condition_error", Kind::Choice(&["skip", "show"])),
];

const PROVIDER_KEYS: &[(&str, Kind)] =
    &[("base_url", Kind::Url), ("api_key", Kind::Secret), ("api_key_env", Kind::VariableName)];

/// What can be said of a server of tools, in `[mcp.<name>]`.
const TOOL_SERVER_KEYS: &[(&str, Kind)] = &[
    ("command", Kind::Words),
    ("env_from", Kind::VariableNames),
    ("url", Kind::Url),
    ("token", Kind::Secret),
    ("token_env", Kind::VariableName),
    ("enabled", Kind::Flag),
    ("timeout_seconds", whole(1, 3600)),
    ("tools", Kind::Words),
];

/// What a dotted name may be, if it is the name of a setting.
pub fn find(name: &str) -> Option<Kind> {
    let known =
        |keys: &[(&str, Kind)], name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, kind)| *kind);
    let of_server = || {
        let (_, key) = tool_server_key(name)?;
        match key.strip_prefix("env.") {
            // Whatever a server is told in a variable may be a secret.
            Some(variable) => is_variable_name(variable).then_some(Kind::Secret),
            None => known(TOOL_SERVER_KEYS, key),
        }
    };
    known(KEYS, name).or_else(|| known(PROVIDER_KEYS, provider_key(name)?.1)).or_else(of_server)
}

/// Whether a dotted name is that of a table: a section, a provider inside `llm`, or a server inside `mcp`.
pub fn is_section(name: &str) -> bool {
    let section = |key: &&str| key.split_once('.').is_some_and(|(section, _)| section == name);
    let of_server = |rest: &str| is_tool_server(rest.strip_suffix(".env").unwrap_or(rest));
    KEYS.iter().map(|(key, _)| *key).any(|key| section(&key))
        || name.strip_prefix("llm.").is_some_and(|provider| is_provider(provider) && find(name).is_none())
        || name == "mcp"
        || name.strip_prefix("mcp.").is_some_and(of_server)
}

/// Server and key of a name like `mcp.github.command`.
pub fn tool_server_key(name: &str) -> Option<(&str, &str)> {
    let (server, key) = name.strip_prefix("mcp.")?.split_once('.')?;
    is_tool_server(server).then_some((server, key))
}

fn is_tool_server(name: &str) -> bool {
    holdpoint_agents::mcp::legal(name) && !holdpoint_core::definition::TOOLS.contains(&name)
}

/// Provider and key of a name like `llm.anthropic.api_key`.
pub fn provider_key(name: &str) -> Option<(&str, &str)> {
    let (provider, key) = name.strip_prefix("llm.")?.split_once('.')?;
    (is_provider(provider) && find(&name[..4 + provider.len()]).is_none()).then_some((provider, key))
}

fn is_provider(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
}

/// The existing name that somebody probably meant.
pub fn meant(name: &str) -> Option<String> {
    if let Some((provider, key)) = provider_key(name) {
        let key = text::nearest(key, PROVIDER_KEYS.iter().map(|(key, _)| *key))?;
        return Some(format!("llm.{provider}.{key}"));
    }
    if let Some((server, key)) = tool_server_key(name) {
        let key = text::nearest(key, TOOL_SERVER_KEYS.iter().map(|(key, _)| *key))?;
        return Some(format!("mcp.{server}.{key}"));
    }
    let lower = name.to_lowercase();
    if lower != name && (is_section(&lower) || find(&lower).is_some()) {
        return Some(lower);
    }
    let names = || KEYS.iter().map(|(key, _)| *key);
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let own = name.rsplit('.').next().unwrap_or(name);
    let elsewhere = names().find(|key| last(key).eq_ignore_ascii_case(own));
    let section = || text::nearest(name, names().filter_map(|key| key.split('.').next()));
    let guess = || {
        let key = text::nearest(own, names().map(last))?;
        names().find(|name| last(name) == key)
    };
    elsewhere.or_else(section).or_else(|| text::nearest(name, names())).or_else(guess).map(str::to_owned)
}

impl Kind {
    /// Reads a value that can only be written as text.
    pub fn parse(self, text: &str) -> Result<Value, Fault> {
        let value = match self {
            Self::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(Value::Bool(true)),
                "false" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Whole { .. } => text.trim().parse::<i64>().ok().map(Value::from),
            Self::Number { .. } => text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
            Self::Words | Self::VariableNames | Self::Domains => {
                let list = serde_json::from_str(text).ok().filter(Value::is_array);
                list.or_else(|| Some(text.split_whitespace().map(Value::from).collect()))
            }
            _ => None,
        };
        self.check(value.unwrap_or_else(|| Value::from(text)))
    }

    /// Takes a value that fits, in its usual form.
    pub fn check(self, value: Value) -> Result<Value, Fault> {
        match (self, &value) {
            (Self::Text, Value::String(text)) if !text.trim().is_empty() => Ok(value),
            (Self::Paths, Value::String(_)) | (Self::Flag, Value::Bool(_)) => Ok(value),
            (Self::Whole { least, most }, Value::Number(n)) => match n.as_i64() {
                Some(n) if (least..=most).contains(&n) => Ok(value),
                _ => Err(self.fault(&value)),
            },
            (Self::Number { least, most }, Value::Number(n)) => match n.as_f64() {
                Some(n) if (least..=most).contains(&n) => Ok(Value::from(n)),
                _ => Err(self.fault(&value)),
            },
            (Self::Choice(choices), Value::String(text)) => choices
                .iter()
                .find(|choice| choice.eq_ignore_ascii_case(text))
                .map(|choice| Value::from(*choice))
                .ok_or_else(|| self.fault(&value)),
            (Self::Listen, Value::String(text)) => match text.parse::<Listen>() {
                Ok(_) => Ok(value),
                Err(error) => Err(listen_fault(&error)),
            },
            (Self::Url, Value::String(text)) if is_plain_url(text) => Ok(value),
            (Self::Secret, Value::String(text)) if !text.is_empty() && !text.contains(char::is_control) => {
                Ok(value)
            }
            (Self::VariableName, Value::String(text)) if is_variable_name(text) => Ok(value),
            (Self::Words, Value::Array(words)) if !words.is_empty() && words.iter().all(is_word) => Ok(value),
            (Self::Domains, Value::Array(names)) if names.iter().all(is_domain) => Ok(value),
            (Self::VariableNames, Value::Array(names))
                if names.iter().all(|name| name.as_str().is_some_and(is_variable_name)) =>
            {
                Ok(value)
            }
            _ => Err(self.fault(&value)),
        }
    }

    fn fault(self, value: &Value) -> Fault {
        let (wanted, hint) = match self {
            Self::Text | Self::Paths => ("text".to_owned(), "write it in quotes".to_owned()),
            Self::Flag => ("true or false".to_owned(), "write true or false, without quotes".to_owned()),
            Self::Whole { least, most } => {
                (format!("a whole number from {least} to {most}"), number_hint(value))
            }
            Self::Number { least, most } => (format!("a number from {least} to {most}"), number_hint(value)),
            Self::Choice(choices) => {
                let guess = value.as_str().and_then(|word| {
                    let lower: Vec<_> = choices.iter().map(|choice| choice.to_lowercase()).collect();
                    text::nearest(word, lower.iter().map(String::as_str)).map(str::to_owned)
                });
                let all = format!("possible are {}", choices.join(", "));
                (
                    "one of its choices".to_owned(),
                    guess.map_or(all, |guess| format!("did you mean `{guess}`?")),
                )
            }
            Self::Listen => ("an address".to_owned(), "write it as \"127.0.0.1:4180\"".to_owned()),
            Self::Url => (
                "an http or https address without user, query and fragment".to_owned(),
                "write it as \"https://api.example.com\"; the key belongs into api_key".to_owned(),
            ),
            Self::Secret => ("a key".to_owned(), "write it in quotes, on one line".to_owned()),
            Self::VariableName => (
                "the name of an environment variable".to_owned(),
                "write the variable's name, such as \"MY_KEY\", not the key itself".to_owned(),
            ),
            Self::Words => (
                "a list of texts".to_owned(),
                "write it in brackets, such as [\"program\", \"argument\"]".to_owned(),
            ),
            Self::Domains => (
                "a list of names of hosts".to_owned(),
                "write them without `https://`, such as [\"docs.rs\", \"example.com\"]".to_owned(),
            ),
            Self::VariableNames => (
                "a list of names of environment variables".to_owned(),
                "write the variables' names, such as [\"MY_KEY\"], not what they hold".to_owned(),
            ),
        };
        Fault { code: "bad_setting", what: format!("must be {wanted}, not {}", self.shown(value)), hint }
    }

    /// A wrong value, unless it may be a secret.
    fn shown(self, value: &Value) -> String {
        let silent = matches!(self, Self::Secret | Self::VariableName | Self::VariableNames | Self::Url);
        match value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) if !silent => value.to_string(),
            Value::Bool(_) => "true or false".to_owned(),
            Value::Number(_) => "a number".to_owned(),
            Value::String(_) => "this text".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a table".to_owned(),
        }
    }
}

fn number_hint(value: &Value) -> String {
    let hint =
        if value.is_number() { "choose one in that range" } else { "write it in digits, without quotes" };
    hint.to_owned()
}

fn listen_fault(error: &ListenError) -> Fault {
    Fault { code: error.code(), what: format!("is not possible: {error}"), hint: error.hint().to_owned() }
}

fn is_plain_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && rest.chars().all(|c| c.is_ascii_graphic() && !"@?#\"\\".contains(c))
    })
}

/// As a provider's search takes them: `example.com`, which its subdomains belong to, or a path below it.
fn is_domain(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let is_label = |label: &str| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        host.len() <= 253 && host.split('.').all(is_label) && path.bytes().all(|b| b.is_ascii_graphic())
    })
}

fn is_word(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty() && !text.contains(char::is_control))
}

fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::model::Settings;
    use super::*;

    #[test]
    fn every_name_has_a_default_that_fits_and_the_other_way_round() {
        let defaults = serde_json::to_value(Settings::default()).expect("serializable");
        let mut names = Vec::new();
        for (section, values) in defaults.as_object().expect("sections") {
            for (name, value) in values.as_object().expect("a section") {
                let name = format!("{section}.{name}");
                let kind = find(&name).unwrap_or_else(|| panic!("{name} is not in KEYS"));
                assert_eq!(kind.check(value.clone()).as_ref(), Ok(value), "{name}");
                names.push(name);
            }
        }
        let mut known: Vec<_> = KEYS.iter().map(|(name, _)| *name).collect();
        known.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, known);
    }

    #[test]
    fn a_wrong_name_leads_to_the_right_one() {
        let meant = |name| meant(name).unwrap_or_default();
        assert_eq!(meant("limits.max_file_size"), "limits.max_file_size_mb");
        assert_eq!(meant("limits.max_retry_attemps"), "limits.max_retry_attempts");
        assert_eq!(meant("default_model"), "llm.default_model");
        assert_eq!(meant("server.log_level"), "logging.log_level");
        assert_eq!(meant("limts"), "limits");
        assert_eq!(meant("llm.anthropic.apikey"), "llm.anthropic.api_key");
        assert_eq!(meant("llm.default_modl"), "llm.default_model");
        assert_eq!(meant("llm.Anthropic"), "llm.anthropic");
        assert_eq!(meant("colours"), "");
    }

    #[test]
    fn providers_are_sections_with_any_name_that_is_not_a_setting() {
        assert!(is_section("llm.anthropic") && is_section("llm.my-proxy_2") && is_section("limits"));
        assert!(!is_section("llm.default_model") && !is_section("llm.A") && !is_section("limits.x"));
        assert_eq!(find("llm.anthropic.api_key"), Some(Kind::Secret));
        assert_eq!(find("llm.default_model.api_key"), None);
        assert_eq!(find("llm.anthropic.api_key.x"), None);
    }

    #[test]
    fn servers_of_tools_are_sections_and_what_they_are_told_is_secret() {
        assert!(is_section("mcp") && is_section("mcp.github") && is_section("mcp.my-server.env"));
        for name in ["mcp.A", "mcp.a__b", "mcp.web_search", "mcp.github.command", "mcp.github.env.X"] {
            assert!(!is_section(name), "{name}");
        }
        assert_eq!(find("mcp.github.command"), Some(Kind::Words));
        assert_eq!(find("mcp.github.env.TOKEN"), Some(Kind::Secret));
        assert_eq!(find("mcp.github.token"), Some(Kind::Secret));
        assert_eq!(find("mcp.github.env.A-B"), None);
        assert_eq!(meant("mcp.github.comand").as_deref(), Some("mcp.github.command"));
        assert_eq!(Kind::Words.parse("npx -y x"), Ok(json!(["npx", "-y", "x"])));
        assert_eq!(Kind::Words.parse(r#"["a b"]"#), Ok(json!(["a b"])));
        assert!(Kind::Words.check(json!([])).is_err() && Kind::Words.check(json!("npx")).is_err());
        assert!(Kind::VariableNames.check(json!(["sk-secret value"])).is_err());
        assert_eq!(Kind::Domains.parse("docs.rs example.com/a"), Ok(json!(["docs.rs", "example.com/a"])));
        assert_eq!(Kind::Domains.check(json!([])), Ok(json!([])));
        for wrong in ["https://docs.rs", "", "a..b", "-a.com", "docs.rs:80", "do cs.rs"] {
            assert!(Kind::Domains.check(json!([wrong])).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_taken_as_they_are_meant_or_refused() {
        let level = Kind::Choice(&["INFO", "WARNING"]);
        assert_eq!(level.parse("warning"), Ok(json!("WARNING")));
        assert_eq!(level.parse("warnin").expect_err("wrong").hint, "did you mean `warning`?");
        assert_eq!(Kind::Flag.parse("1"), Ok(json!(true)));
        assert_eq!(Kind::Flag.parse("yes").expect_err("wrong").what, r#"must be true or false, not "yes""#);
        assert_eq!(whole(0, 5).parse("5"), Ok(json!(5)));
        assert_eq!(
            whole(0, 5).parse("6").expect_err("wrong").what,
            "must be a whole number from 0 to 5, not 6"
        );
        assert!(whole(0, 5).check(json!(1.5)).is_err() && whole(0, 5).check(json!("1")).is_err());
        let number = Kind::Number { least: 0.0, most: 2.0 };
        assert_eq!(number.check(json!(1)), Ok(json!(1.0)));
        assert!(number.parse("nan").is_err() && number.parse("-0.1").is_err());
        assert_eq!(Kind::Listen.parse("0.0.0.0:80").expect_err("wrong").code, "unsafe_bind");
        assert_eq!(Kind::Listen.parse("nowhere").expect_err("wrong").code, "bad_address");
        for url in ["http://127.0.0.1:9", "https://api.example.com/v2", "http://[::1]:80"] {
            assert!(Kind::Url.parse(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "api.example.com",
            "ftp://a",
            "http://",
            "http:///x",
            "http://u:p@a",
            "http://a?key=1",
            "http://a b",
        ] {
            assert!(Kind::Url.parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_fault_never_repeats_what_may_be_a_secret() {
        let key = "sk-ant-secret";
        for kind in [Kind::VariableName, Kind::Url] {
            let fault = kind.parse(key).expect_err("wrong");
            assert!(!format!("{fault:?}").contains(key), "{fault:?}");
        }
        let fault = Kind::Secret.parse("sk-\u{7}-secret").expect_err("wrong");
        assert!(!format!("{fault:?}").contains("secret\""), "{fault:?}");
    }
}
