//! Settings from environment variables.
//!
//! `HOLDPOINT_<SECTION>__<NAME>` sets any setting. The variables that providers' own tools read are read as well,
//! and are weaker. A secret may stand in a file that `…_FILE` names. Variables without a double underscore are
//! never settings, so that other programs' names (`HOLDPOINT_HOME`, service links) do no harm.

use std::path::Path;

use super::keys::Kind;
use super::layers::Layer;
use super::{Origin, files, keys};
use crate::problem::Problem;
use crate::surroundings::Surroundings;

/// Providers whose usual variables `<NAME>_API_KEY`, `<NAME>_API_KEY_FILE` and `<NAME>_BASE_URL` are read.
const PROVIDERS: [&str; 9] =
    ["anthropic", "cohere", "deepseek", "gemini", "groq", "mistral", "openai", "openrouter", "xai"];

const PREFIX: &str = "HOLDPOINT_";
const FILE: &str = "_FILE";

/// What the usual variables of the providers say.
pub fn of_providers(surroundings: &Surroundings) -> Result<Layer, Problem> {
    let mut layer = Layer::default();
    for provider in PROVIDERS {
        for key in ["api_key", "base_url"] {
            let name = format!("{}_{}", provider.to_uppercase(), key.to_uppercase());
            let setting = format!("llm.{provider}.{key}");
            for variable in [format!("{name}{FILE}"), name] {
                set(&mut layer, &variable, &setting, surroundings)?;
            }
        }
    }
    Ok(layer)
}

/// What variables that name a setting say.
pub fn of_settings(surroundings: &Surroundings) -> Result<Layer, Problem> {
    let mut layer = Layer::default();
    for variable in surroundings.names() {
        let Some(name) = variable.strip_prefix(PREFIX).filter(|name| name.contains("__")) else { continue };
        let mut name = name.to_lowercase().replace("__", ".");
        // Names of variables keep their capitals.
        if let Some(at) = name.find(".env.").filter(|_| name.starts_with("mcp.")) {
            name = format!("{}{}", &name[..at + 5], name[at + 5..].to_uppercase());
        }
        let setting = match name.strip_suffix("_file").or_else(|| name.strip_suffix(FILE)) {
            Some(secret) if keys::find(secret) == Some(Kind::Secret) => secret,
            _ => &name,
        };
        if keys::find(setting).is_none() {
            return Err(unknown(variable, setting));
        }
        set(&mut layer, variable, setting, surroundings)?;
    }
    Ok(layer)
}

/// Sets a setting from a variable, if there is such a variable.
fn set(layer: &mut Layer, variable: &str, setting: &str, surroundings: &Surroundings) -> Result<(), Problem> {
    let Some(kind) = keys::find(setting) else { return Ok(()) };
    let in_file = variable.ends_with(FILE) && kind == Kind::Secret;
    if variable.ends_with(FILE) && !in_file {
        return Ok(());
    }
    let Some(text) = surroundings.text(variable)? else { return Ok(()) };
    let text = if in_file { secret(variable, Path::new(text))? } else { text.to_owned() };
    let value = kind.parse(&text).map_err(|fault| {
        Problem::usage(fault.code, format!("{variable}: {setting} {}", fault.what), fault.hint)
    })?;
    layer.set(setting.to_owned(), value, Origin::Variable { name: variable.to_owned() })
}

fn secret(variable: &str, path: &Path) -> Result<String, Problem> {
    let unreadable = |why: String| {
        let message = format!("{variable}: the secret in `{}` cannot be read: {why}", path.display());
        Problem::usage("secret_unreadable", message, "name a text file that you may read")
    };
    let text = files::text(path).map_err(|error| unreadable(error.to_string()))?;
    let text = text.ok_or_else(|| unreadable("it does not exist".to_owned()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn unknown(variable: &str, setting: &str) -> Problem {
    let hint = match keys::meant(setting) {
        Some(meant) => format!("did you mean {PREFIX}{}?", meant.to_uppercase().replace('.', "__")),
        None => "`holdpoint config show` lists every setting".to_owned(),
    };
    Problem::usage("unknown_setting", format!("{variable}: there is no setting `{setting}`"), hint)
}
