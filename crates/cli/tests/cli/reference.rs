//! `docs/reference/cli.md`, made from the commands themselves. `UPDATE_EXPECT=1` writes it again.

use std::fmt::Write;

use clap::{Arg, Command};
use expect_test::expect_file;

const OPENING: &str = "\
# Commands

Made from the code by `crates/cli/tests/cli/reference.rs`; `UPDATE_EXPECT=1 cargo test -p holdpoint` writes it again.

Data goes to stdout, talk to stderr. The options of every command stand before or after its name.

An error is two lines on stderr: `error:` what failed and on what, `hint:` what to do. With `--json` it is one object on stdout
instead, `{\"error\": {\"code\": …, \"message\": …, \"hint\": …}}`, where `code` never changes its meaning. Control characters in either are
shown as escapes. An output that nobody reads any more ends a command quietly.

| exit | meaning |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | aborted by the user |
| 3 | waiting for a person |
| 64 | wrong usage |
| 65 | bad input file |
| 70 | must be started again |

| variable | meaning |
|---|---|
| `HOLDPOINT_HOME` | the home, if `--home` is not given |
| `HOLDPOINT_<SECTION>__<NAME>` | a setting, such as `HOLDPOINT_SERVER__LISTEN`; stronger than every file |
| `…_FILE` | for secrets: the file that holds the value |
| `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, and the like of other providers | key and address of a provider |
| `NO_COLOR` | no colours |

Settings come from flags, else the environment, else `<home>/config.toml`, else the nearest `holdpoint.toml` upwards, else
`$XDG_CONFIG_HOME/holdpoint/config.toml`, else they have a default. `holdpoint config show --origin` tells which it was.
";

#[test]
fn the_reference_is_up_to_date() {
    let mut root = holdpoint_cli::command();
    root.build();
    let mut page = OPENING.to_owned();
    page.push_str("\n## Options of every command\n\n");
    page.push_str(&arguments(root.get_arguments().filter(|argument| argument.is_global_set())));
    for command in root.get_subcommands().filter(|command| is_shown(command)) {
        describe("holdpoint", command, &mut page);
    }
    expect_file!["../../../../docs/reference/cli.md"].assert_eq(&page);
}

fn describe(above: &str, command: &Command, page: &mut String) {
    let name = format!("{above} {}", command.get_name());
    let inner: Vec<_> = command.get_subcommands().filter(|inner| is_shown(inner)).collect();
    if inner.is_empty() {
        let usage = command.clone().render_usage().to_string().replace("Usage: ", "");
        let about =
            command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
        write!(page, "\n## `{name}`\n\n{about}\n\n    {usage}\n").expect("a string takes everything");
        let own = arguments(command.get_arguments().filter(|argument| !argument.is_global_set()));
        if !own.is_empty() {
            write!(page, "\n{own}").expect("a string takes everything");
        }
    }
    for command in inner {
        describe(&name, command, page);
    }
}

/// Hidden commands are for tests.
fn is_shown(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

fn arguments<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<_> = arguments
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
        .map(|argument| {
            let shown = argument.to_string().replace('|', "\\|");
            let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let values = argument.get_possible_values();
            if argument.get_action().takes_values() && !values.is_empty() {
                let values: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
                write!(help, ": {}", values.join(", ")).expect("a string takes everything");
            }
            format!("| `{shown}` | {help} |\n")
        })
        .collect();
    if rows.is_empty() { String::new() } else { format!("| | |\n|---|---|\n{}", rows.concat()) }
}
