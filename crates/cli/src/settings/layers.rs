//! Layers of settings, put on each other with their origins.

use std::collections::BTreeMap;
use std::path::Path;

use holdpoint_core::Digest;
use serde_json::{Map, Value};

use super::keys::{self, Kind};
use super::model::{MASK, Settings};
use super::trust::{self, Untrusted};
use super::{Origin, files, variables};
use crate::home::{Found, Home};
use crate::problem::Problem;
use crate::surroundings::Surroundings;

/// A command's own flag that stands for a setting.
#[derive(Debug, Clone)]
pub struct Flag {
    pub name: &'static str,
    pub setting: &'static str,
    pub text: String,
}

/// The result: typed, and as a list with origins.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub settings: Settings,
    /// By name.
    pub entries: Vec<Entry>,
    /// Settings of the folder that nobody has trusted; they are not applied.
    pub untrusted: Vec<Untrusted>,
}

/// One setting as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub name: String,
    /// A mask in place of a secret.
    pub value: Value,
    pub origin: Origin,
}

/// Values from one source.
#[derive(Debug, Clone, Default)]
pub struct Layer(BTreeMap<String, (Value, Origin)>);

impl Layer {
    /// Adds a checked value; one source may say each thing once.
    pub fn set(&mut self, name: String, value: Value, origin: Origin) -> Result<(), Problem> {
        let other = rival(&name).filter(|rival| self.0.contains_key(rival));
        if let Some(other) = other.or_else(|| self.0.contains_key(&name).then(|| name.clone())) {
            let message = format!("{origin}: {name} is set beside {other} of {}", self.0[&other].1);
            return Err(conflict(message, &origin));
        }
        self.0.insert(name, (value, origin));
        Ok(())
    }

    /// Takes out what a rule picks.
    pub(super) fn take(&mut self, picks: impl Fn(&str, &Value) -> bool) -> Self {
        let all = std::mem::take(&mut self.0);
        let (taken, rest) = all.into_iter().partition(|(name, (value, _))| picks(name, value));
        self.0 = rest;
        Self(taken)
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|(value, _)| value)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The digest of names and values, wherever in a file they stand.
    pub(super) fn digest(&self) -> Digest {
        let values: BTreeMap<_, _> = self.0.iter().map(|(name, (value, _))| (name, value)).collect();
        Digest::of_json(&values)
    }

    /// What is shown of it.
    pub(super) fn entries(self) -> Vec<Entry> {
        self.0.into_iter().map(entry).collect()
    }

    /// What is shown before it is trusted: also the variables that a program is started with.
    pub(super) fn entries_to_trust(self) -> Vec<Entry> {
        let shown = |(name, (value, origin)): (String, (Value, Origin))| {
            if name.contains(".env.") {
                Entry { name, value, origin }
            } else {
                entry((name, (value, origin)))
            }
        };
        self.0.into_iter().map(shown).collect()
    }

    #[cfg(test)]
    pub fn values(&self) -> impl Iterator<Item = (&String, &Value, &Origin)> {
        self.0.iter().map(|(name, (value, origin))| (name, value, origin))
    }

    /// Puts a stronger layer on top. A key and the name of a key's variable replace each other.
    pub(super) fn put(&mut self, stronger: Self) {
        for (name, value) in stronger.0 {
            if let Some(rival) = rival(&name) {
                self.0.remove(&rival);
            }
            self.0.insert(name, value);
        }
    }
}

fn conflict(message: String, origin: &Origin) -> Problem {
    let hint = "keep one of the two";
    match origin {
        Origin::File { .. } => Problem::bad_input("setting_conflict", message, hint),
        _ => Problem::usage("setting_conflict", message, hint),
    }
}

/// The other way to say the same thing.
fn rival(name: &str) -> Option<String> {
    if let Some((server, key)) = keys::tool_server_key(name) {
        let other = match key {
            "command" => "url",
            "url" => "command",
            "token" => "token_env",
            "token_env" => "token",
            _ => return None,
        };
        return Some(format!("mcp.{server}.{other}"));
    }
    let (provider, key) = keys::provider_key(name)?;
    match key {
        "api_key" => Some(format!("llm.{provider}.api_key_env")),
        "api_key_env" => Some(format!("llm.{provider}.api_key")),
        _ => None,
    }
}

/// Reads every source, from the weakest to the strongest.
pub fn load(home: &Home, surroundings: &Surroundings, flags: &[Flag]) -> Result<Loaded, Problem> {
    let users = surroundings
        .user_folder("XDG_CONFIG_HOME", ".config")
        .map(|folder| folder.join("holdpoint/config.toml"));
    let project = surroundings.upwards("holdpoint.toml", Path::is_file);
    let (mut all, mut untrusted) = (defaults(), Vec::new());
    let homes = (Some(home.config_file()), home.found() != Found::Nearest);
    for (file, trusted) in [(users, true), (project, false), homes] {
        let Some(file) = file else { continue };
        let mut layer = files::read(&file)?;
        if !trusted {
            let held;
            (layer, held) = trust::sift(&file, layer, &defaults(), surroundings)?;
            untrusted.extend(held);
        }
        all.put(layer);
    }
    all.put(variables::of_providers(surroundings)?);
    all.put(variables::of_settings(surroundings)?);
    all.put(of_flags(flags)?);
    check_tool_servers(&all)?;
    Ok(Loaded { settings: typed(&all), entries: all.entries(), untrusted })
}

/// Whether it is said of each server where it is, and nothing that could have no effect there.
fn check_tool_servers(all: &Layer) -> Result<(), Problem> {
    for (name, (_, origin)) in &all.0 {
        let Some((server, key)) = keys::tool_server_key(name) else { continue };
        let has = |key: &str| all.0.contains_key(&format!("mcp.{server}.{key}"));
        let fault = match key {
            _ if !has("command") && !has("url") => Some((
                format!("the server `{server}` has neither a `command` nor a `url`"),
                "write command = [\"program\"] for a program, or url = \"https://…\" for an address",
            )),
            "token" | "token_env" if !has("url") => Some((
                format!("{name} needs a `url`"),
                "a program is told its secrets with `env` or `env_from`",
            )),
            key if (key == "env_from" || key.starts_with("env.")) && !has("command") => {
                Some((format!("{name} needs a `command`"), "an address is told who asks with `token`"))
            }
            _ => None,
        };
        if let Some((what, hint)) = fault {
            return Err(Problem::bad_input("bad_setting", format!("{origin}: {what}"), hint));
        }
    }
    Ok(())
}

fn defaults() -> Layer {
    let settings = serde_json::to_value(Settings::default()).expect("settings are plain data");
    let mut layer = BTreeMap::new();
    for (section, values) in settings.as_object().into_iter().flatten() {
        for (name, value) in values.as_object().into_iter().flatten() {
            layer.insert(format!("{section}.{name}"), (value.clone(), Origin::Default));
        }
    }
    Layer(layer)
}

fn of_flags(flags: &[Flag]) -> Result<Layer, Problem> {
    let mut layer = Layer::default();
    for Flag { name, setting, text } in flags {
        let kind = keys::find(setting).expect("flags stand for settings that exist");
        let value = kind
            .parse(text)
            .map_err(|fault| Problem::usage(fault.code, format!("{name} {}", fault.what), fault.hint))?;
        layer.set((*setting).to_owned(), value, Origin::Flag { name })?;
    }
    Ok(layer)
}

fn typed(layer: &Layer) -> Settings {
    let mut root = Map::new();
    for (name, (value, _)) in &layer.0 {
        let (sections, last) = name.rsplit_once('.').expect("every name has a section");
        let table = sections.split('.').fold(&mut root, |table, section| {
            let inner = table.entry(section).or_insert_with(|| Value::Object(Map::new()));
            inner.as_object_mut().expect("sections and settings have different names")
        });
        table.insert(last.to_owned(), value.clone());
    }
    serde_json::from_value(Value::Object(root)).expect("every value was checked when it was read")
}

fn entry((name, (value, origin)): (String, (Value, Origin))) -> Entry {
    let value = if keys::find(&name) == Some(Kind::Secret) { Value::from(MASK) } else { value };
    Entry { name, value, origin }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The value of a setting and its origin, with the files `user`, `project` and `home` as given.
    fn check(files: [&str; 3], variables: &[(&str, &str)], flags: &[Flag], name: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let paths = ["user/holdpoint/config.toml", "project/holdpoint.toml", "home/config.toml"];
        for (path, text) in paths.iter().zip(files).filter(|(_, text)| !text.is_empty()) {
            fs::create_dir_all(at(path).parent().expect("a parent")).expect("folders");
            fs::write(at(path), text).expect("a file");
        }
        fs::write(at("key"), "sk-file\n").expect("a file");
        fs::create_dir_all(at("project/inside")).expect("folders");
        let user = at("user").to_string_lossy().into_owned();
        let root = folder.path().to_string_lossy().into_owned();
        let mut all = vec![("XDG_CONFIG_HOME", user.as_str())];
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, value.replace("ROOT", &root))).collect();
        all.extend(variables.iter().map(|(name, value)| (*name, value.as_str())));
        let surroundings = Surroundings::of(&all, &at("project/inside"));
        let home = Home::find(Some(Path::new(&at("home"))), &surroundings).expect("a home");
        let told = match load(&home, &surroundings, flags) {
            Ok(loaded) => match loaded.entries.iter().find(|entry| entry.name == name) {
                Some(Entry { value, origin, .. }) => format!("{value} {origin}"),
                None => "not set".to_owned(),
            },
            Err(problem) => {
                format!("{} {}: {}; {}", problem.exit.code(), problem.code, problem.message, problem.hint)
            }
        };
        told.replace(&root, "ROOT")
    }

    const NONE: [&str; 3] = ["", "", ""];

    #[test]
    fn the_strongest_source_counts() {
        let [a, b, c] = [1, 2, 3].map(|port| format!("server.listen = '127.0.0.1:{port}'"));
        let variable = [("HOLDPOINT_SERVER__LISTEN", "127.0.0.1:4")];
        let flag = [Flag { name: "--listen", setting: "server.listen", text: "127.0.0.1:5".into() }];
        let listen = |files, variables, flags| check(files, variables, flags, "server.listen");
        assert_eq!(listen(NONE, &[], &[]), "\"127.0.0.1:4180\" default");
        assert_eq!(listen([&a, "", ""], &[], &[]), "\"127.0.0.1:1\" ROOT/user/holdpoint/config.toml:1:8");
        assert_eq!(listen([&a, &b, ""], &[], &[]), "\"127.0.0.1:2\" ROOT/project/holdpoint.toml:1:8");
        assert_eq!(listen([&a, &b, &c], &[], &[]), "\"127.0.0.1:3\" ROOT/home/config.toml:1:8");
        assert_eq!(listen([&a, &b, &c], &variable, &[]), "\"127.0.0.1:4\" HOLDPOINT_SERVER__LISTEN");
        assert_eq!(listen([&a, &b, &c], &variable, &flag), "\"127.0.0.1:5\" --listen");
        // A weaker source may still not say nonsense.
        assert!(listen(["x = 1", &b, &c], &variable, &flag).starts_with("65 unknown_setting"));
    }

    #[test]
    fn variables_name_settings() {
        let of = |name, value, setting| check(NONE, &[(name, value)], &[], setting);
        let attempts = "limits.max_retry_attempts";
        assert_eq!(
            of("HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS", "7", attempts),
            "7 HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS"
        );
        assert_eq!(of("HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS", "", attempts), "5 default");
        assert_eq!(of("HOLDPOINT_SERVICE_HOST", "x", attempts), "5 default");
        assert_eq!(
            of("HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS", "many", attempts),
            "64 bad_setting: HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS: limits.max_retry_attempts must be a whole number from 0 to 1000, not \"many\"; write it in digits, without quotes"
        );
        assert_eq!(
            of("HOLDPOINT_LIMITS__MAX_RETRIES_ATTEMPTS", "1", attempts),
            "64 unknown_setting: HOLDPOINT_LIMITS__MAX_RETRIES_ATTEMPTS: there is no setting `limits.max_retries_attempts`; did you mean HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS?"
        );
    }

    #[test]
    fn keys_come_from_several_places_and_are_masked() {
        let key = |variables: &[_]| check(NONE, variables, &[], "llm.anthropic.api_key");
        let usual = ("ANTHROPIC_API_KEY", "sk-usual");
        assert_eq!(key(&[]), "not set");
        assert_eq!(key(&[usual]), "\"***\" ANTHROPIC_API_KEY");
        assert_eq!(key(&[("ANTHROPIC_API_KEY_FILE", "ROOT/key")]), "\"***\" ANTHROPIC_API_KEY_FILE");
        let own = ("HOLDPOINT_LLM__ANTHROPIC__API_KEY", "sk-own");
        assert_eq!(key(&[usual, own]), "\"***\" HOLDPOINT_LLM__ANTHROPIC__API_KEY");
        let own_file = ("HOLDPOINT_LLM__ANTHROPIC__API_KEY_FILE", "ROOT/key");
        assert_eq!(key(&[own_file]), "\"***\" HOLDPOINT_LLM__ANTHROPIC__API_KEY_FILE");
        assert_eq!(
            key(&[own, own_file]),
            "64 setting_conflict: HOLDPOINT_LLM__ANTHROPIC__API_KEY_FILE: llm.anthropic.api_key is set beside llm.anthropic.api_key of HOLDPOINT_LLM__ANTHROPIC__API_KEY; keep one of the two"
        );
        assert_eq!(
            key(&[("ANTHROPIC_API_KEY_FILE", "ROOT/gone")]),
            "64 secret_unreadable: ANTHROPIC_API_KEY_FILE: the secret in `ROOT/gone` cannot be read: it does not exist; name a text file that you may read"
        );
    }

    #[test]
    fn a_stronger_way_to_name_a_key_replaces_a_weaker_one() {
        let files = ["llm.openai.api_key = 'sk-user'", "", "llm.openai.api_key_env = 'MY_KEY'"];
        assert_eq!(check(files, &[], &[], "llm.openai.api_key"), "not set");
        assert_eq!(check(files, &[], &[], "llm.openai.api_key_env"), "\"MY_KEY\" ROOT/home/config.toml:1:12");
        let usual = [("OPENAI_API_KEY", "sk-usual")];
        assert_eq!(check(files, &usual, &[], "llm.openai.api_key_env"), "not set");
    }

    #[test]
    fn what_servers_of_tools_are_told_is_masked_and_must_have_an_effect() {
        let text = "[mcp.github]\ncommand = ['npx', '-y']\nenv = {TOKEN = 'ghp-x'}\n[mcp.far]\nurl = 'http://a/mcp'\ntoken = 't'";
        let of = |name| check(["", "", text], &[], &[], name);
        assert_eq!(of("mcp.github.env.TOKEN"), "\"***\" ROOT/home/config.toml:3:8");
        assert_eq!(of("mcp.github.command"), "[\"npx\",\"-y\"] ROOT/home/config.toml:2:1");
        assert_eq!(of("mcp.far.token"), "\"***\" ROOT/home/config.toml:6:1");
        let variable = [("HOLDPOINT_MCP__GITHUB__ENV__TOKEN", "ghp-y")];
        let told = check(["", "", text], &variable, &[], "mcp.github.env.TOKEN");
        assert_eq!(told, "\"***\" HOLDPOINT_MCP__GITHUB__ENV__TOKEN");
        let wrong = |text| check(["", "", text], &[], &[], "x");
        assert_eq!(
            wrong("[mcp.a]\nenabled = true"),
            "65 bad_setting: ROOT/home/config.toml:2:1: the server `a` has neither a `command` nor a `url`; write command = [\"program\"] for a program, or url = \"https://…\" for an address"
        );
        assert!(
            wrong("[mcp.a]\nurl = 'http://a'\nenv = {X = '1'}").contains("mcp.a.env.X needs a `command`")
        );
        assert!(wrong("[mcp.a]\ncommand = ['a']\ntoken = 'secret'").contains("mcp.a.token needs a `url`"));
        assert!(wrong("[mcp.a]\ncommand = ['a']\nurl = 'http://a'").starts_with("65 setting_conflict"));
        let secret = wrong("[mcp.a]\nurl = 'http://u:hidden@a'");
        assert!(secret.starts_with("65 bad_setting") && !secret.contains("hidden"), "{secret}");
        assert!(wrong("[mcp.Bad]\nurl = 'http://a'").contains("did you mean `mcp.bad`?"));
        assert!(wrong("[mcp.web_search]\nurl = 'http://a'").contains("is no built-in tool"));
    }

    #[test]
    fn the_address_of_a_provider_is_read_from_its_usual_variable() {
        let variables = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
        let told = check(NONE, &variables, &[], "llm.anthropic.base_url");
        assert_eq!(told, "\"http://127.0.0.1:9\" ANTHROPIC_BASE_URL");
    }
}
