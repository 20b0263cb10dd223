//! Wrong usage, help and version, and an output that nobody reads.

use std::fs::File;
use std::process::Stdio;

use expect_test::expect;

use super::{Ran, Sandbox};

#[test]
fn help_and_version_are_data() {
    let sandbox = Sandbox::new();
    sandbox.check(
        &["--version"],
        &expect![[r#"
            holdpoint 0.1.0
            ---
            exit 0
        "#]],
    );
    sandbox.check(
        &["help"],
        &expect![[r#"
            Runs work that agents, scripts and people do together, stops where somebody has to look, and loses
            nothing

            Usage: holdpoint [OPTIONS] <COMMAND>

            Commands:
              serve        Start the server
              demo         Try Holdpoint out: three pipelines, and a run that waits for you
              open         Open the web console, signed in
              init         Make a home for the project in this folder
              run          Run a file or a pipeline, do its work and stay with it
              resume       Go on with a run and stay with it
              pipeline     Define pipelines and run them
              inbox        List what waits for a person
              answer       Answer what waits for you
              rollback     Go back to a checkpoint, or undo that
              compare      Show how two runs, executions or attempts differ
              compile      Compile a node list to a DAG with checkpoints
              inspect      Show a file as its plan: steps, order and questions
              mcp          Look at servers of tools for agents, and accept what they offer
              token        Make, list and withdraw access tokens
              doctor       Check that a home is well
              audit        Check what was recorded
              backup       Write a backup of the home into one file
              restore      Make a home from a backup
              gc           Remove what is older than it has to be kept
              bench        Measure this program on this disk
              config       Look at the settings
              completions  Print completions for your shell
              help         Print this message or the help of the given subcommand(s)

            Options:
              -h, --help     Print help
              -V, --version  Print version

            Options of every command:
                  --home <PATH>   The folder that holds database, blobs, keys and files [default:
                                  `HOLDPOINT_HOME`, else the nearest `.holdpoint/` upwards, else the user's data
                                  folder]
                  --server <URL>  Work on the server at this address instead of on a home
                  --json          Print data, and errors, as JSON on stdout
                  --quiet         Say nothing on stderr but errors
            ---
            exit 0
        "#]],
    );
    assert_eq!(sandbox.run(&["--help"]), sandbox.run(&["help"]));
    sandbox.check(
        &["help", "serve"],
        &expect![[r#"
            Start the server

            It prints its address. SIGTERM or SIGINT stops it: requests and work that have begun come to their
            end for up to ten seconds; a second signal stops it at once. Work that was cut off is taken up by
            the next server.

            Usage: holdpoint serve [OPTIONS]

            Options:
                  --listen <ADDRESS>
                      Where to listen, on this machine only [default: 127.0.0.1:4180]

                  --port <N>
                      Another port at the same address; 0 takes a free one

              -h, --help
                      Print help (see a summary with '-h')

            Options of every command:
                  --home <PATH>
                      The folder that holds database, blobs, keys and files [default: `HOLDPOINT_HOME`, else the
                      nearest `.holdpoint/` upwards, else the user's data folder]

                  --server <URL>
                      Work on the server at this address instead of on a home

                  --json
                      Print data, and errors, as JSON on stdout

                  --quiet
                      Say nothing on stderr but errors
            ---
            exit 0
        "#]],
    );
    sandbox.check(
        &["config", "show", "-h"],
        &expect![[r#"
            Show every setting with its value; secrets are masked

            Usage: holdpoint config show [OPTIONS]

            Options:
                  --origin  Also show where each value comes from
              -h, --help    Print help

            Options of every command:
                  --home <PATH>   The folder that holds database, blobs, keys and files [default:
                                  `HOLDPOINT_HOME`, else the nearest `.holdpoint/` upwards, else the user's data
                                  folder]
                  --server <URL>  Work on the server at this address instead of on a home
                  --json          Print data, and errors, as JSON on stdout
                  --quiet         Say nothing on stderr but errors
            ---
            exit 0
        "#]],
    );
}

#[test]
fn wrong_usage_is_two_lines_with_a_suggestion() {
    let sandbox = Sandbox::new();
    sandbox.check(
        &[],
        &expect![[r#"
            error: `holdpoint` needs the name of a command
            hint: `holdpoint --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["config"],
        &expect![[r#"
            error: `holdpoint config` needs the name of a command
            hint: `holdpoint config --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["serv"],
        &expect![[r#"
            error: there is no command `serv`
            hint: did you mean `serve`?
            exit 64
        "#]],
    );
    sandbox.check(
        &["zzz"],
        &expect![[r#"
            error: there is no command `zzz`
            hint: `holdpoint --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["config", "shwo"],
        &expect![[r#"
            error: there is no command `shwo`
            hint: did you mean `show`?
            exit 64
        "#]],
    );
    sandbox.check(
        &["config", "show", "--orign"],
        &expect![[r#"
            error: `--orign` is not an option here
            hint: did you mean `--origin`?
            exit 64
        "#]],
    );
    sandbox.check(
        &["serve", "--zzz"],
        &expect![[r#"
            error: `--zzz` is not an option here
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["serve", "zzz"],
        &expect![[r#"
            error: `zzz` is not an argument here
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["serve", "--port"],
        &expect![[r#"
            error: --port <N> needs a value
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["serve", "--port", "99999"],
        &expect![[r#"
            error: `99999` is not possible for --port <N>: 99999 is not in 0..=65535
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["serve", "--port", "1", "--port", "2"],
        &expect![[r#"
            error: the argument '--port <N>' cannot be used multiple times
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["completions"],
        &expect![[r#"
            error: <SHELL> is missing
            hint: `holdpoint completions --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["completions", "bsh"],
        &expect![[r#"
            error: `bsh` is not possible for <SHELL>
            hint: did you mean `bash`?
            exit 64
        "#]],
    );
    sandbox.check(
        &["completions", "tcsh"],
        &expect![[r#"
            error: `tcsh` is not possible for <SHELL>
            hint: did you mean `zsh`?
            exit 64
        "#]],
    );
    sandbox.check(
        &["--json=1", "serve"],
        &expect![[r#"
            error: unexpected value '1' for '--json' found; no more were expected
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
    sandbox.check(
        &["config", "show", "--server", "http://127.0.0.1:1"],
        &expect![[r#"
            error: `holdpoint config` does not work on a server
            hint: leave --server out
            exit 64
        "#]],
    );
    sandbox.check(
        &["config", "show", "--home", ""],
        &expect![[r#"
            error: --home <PATH> needs a value
            hint: `holdpoint config show --help` shows what is possible
            exit 64
        "#]],
    );
}

#[test]
fn what_was_typed_cannot_command_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.check(
        &["a\u{1b}[2J\nerror: fake\r\u{202e}"],
        &expect![[r#"
            error: there is no command `a\u{1b}[2J\nerror: fake\r\u{202e}`
            hint: `holdpoint --help` shows what is possible
            exit 64
        "#]],
    );
    let ran = sandbox.run(&["serve", &format!("--{}", "x".repeat(100_000))]);
    assert_eq!((ran.exit, ran.stderr.lines().count()), (Some(64), 2));
    assert!(ran.stderr.len() < 5000);
}

#[test]
fn with_json_an_error_is_one_object_on_stdout() {
    let sandbox = Sandbox::new();
    sandbox.check(
        &["--json", "serv"],
        &expect![[r#"
            {"error":{"code":"usage","message":"there is no command `serv`","hint":"did you mean `serve`?"}}
            ---
            exit 64
        "#]],
    );
    sandbox.check(&["serve", "--json", "--port", "x\u{1b}"], &expect![[r#"
        {"error":{"code":"usage","message":"`x\\u{1b}` is not possible for --port <N>: invalid digit found in string","hint":"`holdpoint serve --help` shows what is possible"}}
        ---
        exit 64
    "#]]);
    // Behind `--` it is no option.
    sandbox.check(
        &["serve", "--", "--json"],
        &expect![[r#"
            error: `--json` is not an option here
            hint: `holdpoint serve --help` shows what is possible
            exit 64
        "#]],
    );
}

#[test]
fn options_of_every_command_stand_before_or_after_its_name() {
    let sandbox = Sandbox::new();
    let home = sandbox.path("elsewhere").to_string_lossy().into_owned();
    let after = sandbox.run(&["config", "show", "--origin", "--json", "--quiet", "--home", &home]);
    assert_eq!(sandbox.run(&["--json", "--quiet", "--home", &home, "config", "show", "--origin"]), after);
    assert_eq!(sandbox.run(&["config", "--json", "--home", &home, "show", "--quiet", "--origin"]), after);
    assert!(after.stdout.contains(r#""home":{"path":"TMP/elsewhere","from":"--home"}"#), "{after}");
}

#[test]
fn completions_are_printed_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = sandbox.run(&["completions", shell]);
        assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["serve", "config", "completions", "home"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn nobody_reading_is_no_error() {
    let sandbox = Sandbox::new();
    for arguments in
        [&["completions", "bash"][..], &["help"], &["config", "show"], &["config", "show", "--json"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = sandbox.command(arguments).stdout(writer).output().expect("the binary runs");
        let ran = Ran::new(&output, &sandbox.path(""));
        assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_fails_is_an_error() {
    let sandbox = Sandbox::new();
    let full = File::options().write(true).open("/dev/full").expect("a full device");
    let output =
        sandbox.command(&["config", "show"]).stdout(Stdio::from(full)).output().expect("the binary runs");
    expect![[r#"
        error: the output cannot be written: No space left on device (os error 28)
        hint: look where stdout leads, and at the space there
        exit 1
    "#]]
    .assert_eq(&Ran::new(&output, &sandbox.path("")).to_string());
}
