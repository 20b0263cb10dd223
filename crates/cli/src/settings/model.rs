//! The settings as types, with their defaults.
//!
//! The names of the first six sections are those of the documented `config.py`, in lower case. `keys` says what
//! each may be; a test holds the two together.

// The documented names repeat their section.
#![allow(clippy::struct_field_names)]

use std::collections::BTreeMap;
use std::fmt;

use holdpoint_sandbox::Choice;
use holdpoint_server::Listen;
use serde::{Deserialize, Serialize, Serializer};

/// Everything that can be set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub llm: Llm,
    pub limits: Limits,
    pub files: Files,
    pub execution: Execution,
    pub logging: Logging,
    pub database: Database,
    pub server: Server,
    pub gates: Gates,
    /// `[mcp.<name>]`.
    #[serde(default)]
    pub mcp: BTreeMap<String, ToolServer>,
}

/// A server of tools for agents: a program, or an address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolServer {
    pub command: Option<Vec<String>>,
    /// What the program is told in variables.
    #[serde(default)]
    pub env: BTreeMap<String, Secret>,
    /// Variables of this process that are handed on.
    #[serde(default)]
    pub env_from: Vec<String>,
    pub url: Option<String>,
    pub token: Option<Secret>,
    /// The environment variable that holds the token.
    pub token_env: Option<String>,
    #[serde(default = "yes")]
    pub enabled: bool,
    #[serde(default = "a_minute")]
    pub timeout_seconds: u64,
    /// The tools that may be used; all, where none are named.
    pub tools: Option<Vec<String>>,
}

fn yes() -> bool {
    true
}

fn a_minute() -> u64 {
    60
}

/// Models and their providers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Llm {
    pub default_model: String,
    pub default_max_tokens: u64,
    pub default_temperature: f64,
    pub max_retries: u64,
    pub call_timeout_seconds: u64,
    /// Where models may search the web; everywhere, where none is named.
    pub search_domains: Vec<String>,
    /// `[llm.<name>]`.
    #[serde(flatten)]
    pub providers: BTreeMap<String, Provider>,
}

/// How to reach one provider.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Limits {
    pub max_file_size_mb: u64,
    pub max_context_length: u64,
    pub max_checkpoint_timeout_minutes: u64,
    pub max_retry_attempts: u64,
    pub tool_calls_per_turn: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Files {
    /// Relative to the home.
    pub base_pipelines_path: String,
    pub temp_cleanup_on_next_checkpoint: bool,
    pub archive_retention_days: u64,
    pub error_retention_days: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Execution {
    pub default_retry_delay_seconds: u64,
    /// How many pieces of work a process does at once.
    pub max_parallel: u64,
    pub sandbox: Choice,
    /// Where scripts may stand beside the pipelines' own, separated by `:`; none at first.
    pub script_folders: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Logging {
    pub log_level: LogLevel,
    pub log_format: LogFormat,
    pub log_file_max_size_mb: u64,
    pub log_backup_count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
    Critical,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Database {
    pub db_type: DbType,
    pub db_pool_size: u64,
    pub db_timeout_seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DbType {
    Sqlite,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Server {
    pub listen: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Gates {
    pub on_condition_error: OnConditionError,
}

/// What becomes of a decision point whose condition throws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnConditionError {
    Skip,
    Show,
}

/// A value that is never printed.
#[derive(Clone, Deserialize)]
pub struct Secret(String);

impl Secret {
    /// Hands the value to whoever may have it.
    pub fn hand_over(self) -> String {
        self.0
    }
}

/// What stands in place of a secret.
pub const MASK: &str = "***";

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            default_model: "claude-sonnet-4-5-20250929".to_owned(),
            default_max_tokens: 8000,
            default_temperature: 0.7,
            max_retries: 4,
            call_timeout_seconds: 120,
            search_domains: Vec::new(),
            providers: BTreeMap::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_size_mb: 100,
            max_context_length: 200_000,
            max_checkpoint_timeout_minutes: 480,
            max_retry_attempts: 5,
            tool_calls_per_turn: 50,
        }
    }
}

impl Default for Files {
    fn default() -> Self {
        Self {
            base_pipelines_path: "./pipelines".to_owned(),
            temp_cleanup_on_next_checkpoint: true,
            archive_retention_days: 365,
            error_retention_days: 90,
        }
    }
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            default_retry_delay_seconds: 5,
            max_parallel: holdpoint_engine::MAX_PARALLEL as u64,
            sandbox: Choice::Auto,
            script_folders: String::new(),
        }
    }
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            log_level: LogLevel::Info,
            log_format: LogFormat::Text,
            log_file_max_size_mb: 50,
            log_backup_count: 5,
        }
    }
}

impl Default for Database {
    fn default() -> Self {
        Self { db_type: DbType::Sqlite, db_pool_size: 5, db_timeout_seconds: 30 }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self { listen: Listen::DEFAULT.to_string() }
    }
}

impl Default for Gates {
    fn default() -> Self {
        Self { on_condition_error: OnConditionError::Skip }
    }
}
