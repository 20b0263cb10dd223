//! `holdpoint config show`, and settings that are wrong.

use std::fs;

use expect_test::expect;

use super::Sandbox;

#[test]
fn every_setting_is_shown() {
    Sandbox::new().check(
        &["config", "show"],
        &expect![[r#"
            database.db_pool_size = 5
            database.db_timeout_seconds = 30
            database.db_type = "sqlite"
            execution.default_retry_delay_seconds = 5
            execution.max_parallel = 16
            execution.sandbox = "auto"
            execution.script_folders = ""
            files.archive_retention_days = 365
            files.base_pipelines_path = "./pipelines"
            files.error_retention_days = 90
            files.temp_cleanup_on_next_checkpoint = true
            gates.on_condition_error = "skip"
            limits.max_checkpoint_timeout_minutes = 480
            limits.max_context_length = 200000
            limits.max_file_size_mb = 100
            limits.max_retry_attempts = 5
            limits.tool_calls_per_turn = 50
            llm.call_timeout_seconds = 120
            llm.default_max_tokens = 8000
            llm.default_model = "claude-sonnet-4-5-20250929"
            llm.default_temperature = 0.7
            llm.max_retries = 4
            llm.search_domains = []
            logging.log_backup_count = 5
            logging.log_file_max_size_mb = 50
            logging.log_format = "text"
            logging.log_level = "INFO"
            server.listen = "127.0.0.1:4180"
            ---
            exit 0
        "#]],
    );
}

#[test]
fn origins_are_shown_and_secrets_are_not() {
    let sandbox = Sandbox::new()
        .with_file("user/.config/holdpoint/config.toml", "[llm.openai]\napi_key = \"sk-in-file\"\n")
        .with_file(
            "project/holdpoint.toml",
            "[limits]\nmax_retry_attempts = 2\n[gates]\non_condition_error = \"show\"\n",
        )
        .with_file("home/config.toml", "logging.log_level = \"debug\"\n")
        .with_variable("HOLDPOINT_HOME", "TMP/home")
        .with_variable("ANTHROPIC_API_KEY", "sk-in-variable")
        .with_variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        .with_variable("HOLDPOINT_SERVER__LISTEN", "[::1]:0");
    sandbox.check(
        &["config", "show", "--origin"],
        &expect![[r##"
            # home = "TMP/home"  # HOLDPOINT_HOME
            database.db_pool_size = 5  # default
            database.db_timeout_seconds = 30  # default
            database.db_type = "sqlite"  # default
            execution.default_retry_delay_seconds = 5  # default
            execution.max_parallel = 16  # default
            execution.sandbox = "auto"  # default
            execution.script_folders = ""  # default
            files.archive_retention_days = 365  # default
            files.base_pipelines_path = "./pipelines"  # default
            files.error_retention_days = 90  # default
            files.temp_cleanup_on_next_checkpoint = true  # default
            gates.on_condition_error = "show"  # TMP/project/holdpoint.toml:4:1
            limits.max_checkpoint_timeout_minutes = 480  # default
            limits.max_context_length = 200000  # default
            limits.max_file_size_mb = 100  # default
            limits.max_retry_attempts = 2  # TMP/project/holdpoint.toml:2:1
            limits.tool_calls_per_turn = 50  # default
            llm.anthropic.api_key = "***"  # ANTHROPIC_API_KEY
            llm.anthropic.base_url = "http://127.0.0.1:9"  # ANTHROPIC_BASE_URL
            llm.call_timeout_seconds = 120  # default
            llm.default_max_tokens = 8000  # default
            llm.default_model = "claude-sonnet-4-5-20250929"  # default
            llm.default_temperature = 0.7  # default
            llm.max_retries = 4  # default
            llm.openai.api_key = "***"  # TMP/user/.config/holdpoint/config.toml:2:1
            llm.search_domains = []  # default
            logging.log_backup_count = 5  # default
            logging.log_file_max_size_mb = 50  # default
            logging.log_format = "text"  # default
            logging.log_level = "DEBUG"  # TMP/home/config.toml:1:9
            server.listen = "[::1]:0"  # HOLDPOINT_SERVER__LISTEN
            ---
            exit 0
        "##]],
    );
    sandbox.check(&["config", "show", "--origin", "--json"], &expect![[r#"
        {"settings":{"database.db_pool_size":{"value":5,"origin":{"from":"default"}},"database.db_timeout_seconds":{"value":30,"origin":{"from":"default"}},"database.db_type":{"value":"sqlite","origin":{"from":"default"}},"execution.default_retry_delay_seconds":{"value":5,"origin":{"from":"default"}},"execution.max_parallel":{"value":16,"origin":{"from":"default"}},"execution.sandbox":{"value":"auto","origin":{"from":"default"}},"execution.script_folders":{"value":"","origin":{"from":"default"}},"files.archive_retention_days":{"value":365,"origin":{"from":"default"}},"files.base_pipelines_path":{"value":"./pipelines","origin":{"from":"default"}},"files.error_retention_days":{"value":90,"origin":{"from":"default"}},"files.temp_cleanup_on_next_checkpoint":{"value":true,"origin":{"from":"default"}},"gates.on_condition_error":{"value":"show","origin":{"from":"file","path":"TMP/project/holdpoint.toml","line":4,"column":1}},"limits.max_checkpoint_timeout_minutes":{"value":480,"origin":{"from":"default"}},"limits.max_context_length":{"value":200000,"origin":{"from":"default"}},"limits.max_file_size_mb":{"value":100,"origin":{"from":"default"}},"limits.max_retry_attempts":{"value":2,"origin":{"from":"file","path":"TMP/project/holdpoint.toml","line":2,"column":1}},"limits.tool_calls_per_turn":{"value":50,"origin":{"from":"default"}},"llm.anthropic.api_key":{"value":"***","origin":{"from":"variable","name":"ANTHROPIC_API_KEY"}},"llm.anthropic.base_url":{"value":"http://127.0.0.1:9","origin":{"from":"variable","name":"ANTHROPIC_BASE_URL"}},"llm.call_timeout_seconds":{"value":120,"origin":{"from":"default"}},"llm.default_max_tokens":{"value":8000,"origin":{"from":"default"}},"llm.default_model":{"value":"claude-sonnet-4-5-20250929","origin":{"from":"default"}},"llm.default_temperature":{"value":0.7,"origin":{"from":"default"}},"llm.max_retries":{"value":4,"origin":{"from":"default"}},"llm.openai.api_key":{"value":"***","origin":{"from":"file","path":"TMP/user/.config/holdpoint/config.toml","line":2,"column":1}},"llm.search_domains":{"value":[],"origin":{"from":"default"}},"logging.log_backup_count":{"value":5,"origin":{"from":"default"}},"logging.log_file_max_size_mb":{"value":50,"origin":{"from":"default"}},"logging.log_format":{"value":"text","origin":{"from":"default"}},"logging.log_level":{"value":"DEBUG","origin":{"from":"file","path":"TMP/home/config.toml","line":1,"column":9}},"server.listen":{"value":"[::1]:0","origin":{"from":"variable","name":"HOLDPOINT_SERVER__LISTEN"}}},"home":{"path":"TMP/home","from":"HOLDPOINT_HOME"}}
        ---
        exit 0
    "#]]);
    for arguments in [&["config", "show"][..], &["config", "show", "--json"], &["config", "show", "--origin"]]
    {
        assert!(!sandbox.run(arguments).to_string().contains("sk-"), "{arguments:?}");
    }
}

#[test]
fn what_is_shown_can_be_a_settings_file() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["config", "show", "--origin"]);
    let sandbox = sandbox.with_file("project/.holdpoint/config.toml", &shown.stdout);
    let again = sandbox.run(&["config", "show"]);
    assert_eq!(again.exit, Some(0), "{again}");
    assert_eq!(again, Sandbox::new().run(&["config", "show"]));
}

#[test]
fn a_fault_names_its_place() {
    let of = |text: &str| Sandbox::new().with_file("project/holdpoint.toml", text);
    of("[limits]\nmax_retry_attemps = 3\n").check(
        &["config", "show"],
        &expect![[r#"
            error: TMP/project/holdpoint.toml:2:1: there is no setting `limits.max_retry_attemps`
            hint: did you mean `limits.max_retry_attempts`?
            exit 65
        "#]],
    );
    of("[limits]\nmax_retry_attempts = true\n").check(&["config", "show", "--json"], &expect![[r#"
        {"error":{"code":"bad_setting","message":"TMP/project/holdpoint.toml:2:1: limits.max_retry_attempts must be a whole number from 0 to 1000, not true","hint":"write it in digits, without quotes"}}
        ---
        exit 65
    "#]]);
    of("[server]\nlisten = \"0.0.0.0:80\"\n").check(&["serve"], &expect![[r#"
        error: TMP/project/holdpoint.toml:2:1: server.listen is not possible: 0.0.0.0:80 can be reached from other machines
        hint: listen on 127.0.0.1 or [::1]; others reach it through a tunnel
        exit 65
    "#]]);
    of("= 1").check(&["config", "show"], &expect![[r#"
        error: TMP/project/holdpoint.toml:1:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
        hint: correct the file; it is written in TOML
        exit 65
    "#]]);
    let wrong = Sandbox::new().with_variable("HOLDPOINT_LOGGING__LOG_LEVEL", "loud");
    wrong.check(
        &["config", "show"],
        &expect![[r#"
            error: HOLDPOINT_LOGGING__LOG_LEVEL: logging.log_level must be one of its choices, not "loud"
            hint: possible are TRACE, DEBUG, INFO, WARNING, ERROR, CRITICAL, OFF
            exit 64
        "#]],
    );
    let unreadable = Sandbox::new();
    fs::create_dir_all(unreadable.path("user/.config/holdpoint/config.toml")).expect("folders");
    unreadable.check(&["config", "show"], &expect![[r#"
        error: the settings in `TMP/user/.config/holdpoint/config.toml` cannot be read: Is a directory (os error 21)
        hint: check that it is a text file that you may read
        exit 65
    "#]]);
    let binary = Sandbox::new();
    fs::write(binary.path("project/holdpoint.toml"), b"\xff\xfe").expect("a file");
    binary.check(
        &["config", "show"],
        &expect![[r#"
            error: the settings in `TMP/project/holdpoint.toml` cannot be read: stream did not contain valid UTF-8
            hint: check that it is a text file that you may read
            exit 65
        "#]],
    );
}

#[test]
fn the_home_comes_from_the_first_place_that_names_one() {
    let home = |sandbox: &Sandbox, arguments: &[&str]| {
        let ran = sandbox.run(&[&["config", "show", "--origin"], arguments].concat());
        ran.stdout.lines().next().unwrap_or_default().to_owned()
    };
    let sandbox = Sandbox::new();
    assert_eq!(home(&sandbox, &[]), r#"# home = "TMP/user/.local/share/holdpoint"  # default"#);
    let sandbox = sandbox.with_variable("XDG_DATA_HOME", "TMP/data");
    assert_eq!(home(&sandbox, &[]), r#"# home = "TMP/data/holdpoint"  # default"#);
    let sandbox = sandbox.with_file("project/.holdpoint/config.toml", "");
    assert_eq!(home(&sandbox, &[]), r#"# home = "TMP/project/.holdpoint"  # nearest .holdpoint"#);
    let sandbox = sandbox.with_variable("HOLDPOINT_HOME", "TMP/variable");
    assert_eq!(home(&sandbox, &[]), r#"# home = "TMP/variable"  # HOLDPOINT_HOME"#);
    assert_eq!(home(&sandbox, &["--home", "flag"]), r#"# home = "TMP/project/flag"  # --home"#);
    for made in ["data", "variable", "project/flag", "user"] {
        assert!(!sandbox.path(made).exists(), "looking made {made}");
    }
}

#[test]
fn settings_of_a_folder_that_run_programs_have_to_be_trusted() {
    let sandbox = Sandbox::new()
        .with_file(
            "project/holdpoint.toml",
            "[limits]\nmax_retry_attempts = 2\n[mcp.look]\ncommand = ['./look']\n",
        )
        .with_file("project/.holdpoint/config.toml", "execution.sandbox = 'external'\n");
    let shown = sandbox.run(&["config", "show"]);
    assert!(shown.stdout.contains("execution.sandbox = \"auto\""), "{shown}");
    assert!(
        shown.stdout.contains("limits.max_retry_attempts = 2") && !shown.stdout.contains("mcp.look"),
        "{shown}"
    );
    let warned = "mcp.look.command, execution.sandbox; `holdpoint config trust` shows them";
    assert!(shown.stderr.contains(warned), "{shown}");
    let asked = sandbox.run(&["config", "trust", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&asked.stdout).expect("JSON");
    assert_eq!((asked.exit, &told["trusted"]), (Some(1), &serde_json::json!(false)));
    let digest = told["digest"].as_str().expect("a digest").to_owned();
    let other = format!("sha256:{}", "0".repeat(64));
    assert_eq!(sandbox.run(&["config", "trust", "--digest", &other]).exit, Some(1));
    assert!(!sandbox.run(&["config", "show"]).stdout.contains("mcp.look"));

    assert_eq!(sandbox.run(&["config", "trust", "--digest", &digest]).exit, Some(0));
    let shown = sandbox.run(&["config", "show"]);
    assert!(shown.stdout.contains("execution.sandbox = \"external\""), "{shown}");
    assert!(shown.stdout.contains("mcp.look.command") && shown.stderr.is_empty(), "{shown}");
    assert_eq!(sandbox.run(&["config", "trust"]).exit, Some(0));

    // Another value is another decision; what was trusted of the other file stays so.
    let sandbox = sandbox.with_file("project/holdpoint.toml", "[mcp.look]\ncommand = ['./other']\n");
    let shown = sandbox.run(&["config", "show"]);
    assert!(!shown.stdout.contains("mcp.look") && shown.stdout.contains("\"external\""), "{shown}");
    assert!(shown.stderr.contains("mcp.look.command; `holdpoint config trust`"), "{shown}");
}

#[test]
fn commands_that_look_make_no_home() {
    let sandbox = Sandbox::new();
    let run = "00000000-0000-0000-0000-000000000001";
    for command in [
        &["pipeline", "runs", "x"][..],
        &["pipeline", "run", "x"],
        &["answer", "--approve"],
        &["resume", run],
        &["compare", run, run],
        &["backup", "x.backup"],
        &["audit", "verify"],
    ] {
        let arguments = [&["--home", "none", "--json"], command].concat();
        let ran = sandbox.run(&arguments);
        assert!(ran.exit == Some(1) && ran.stdout.contains("\"home_missing\""), "{command:?}: {ran}");
        assert!(!sandbox.path("project/none").exists(), "{command:?}");
    }
    for command in [&["inbox"][..], &["pipeline", "list"], &["token", "list"], &["rollback", "list"]] {
        let ran = sandbox.run(&[&["--home", "none"], command].concat());
        let told = ran.stderr.starts_with("there is no home with a database in `TMP/project/none`; ");
        assert!(ran.exit == Some(0) && ran.stdout.is_empty() && told, "{command:?}: {ran}");
        let ran = sandbox.run(&[&["--home", "none", "--json"], command].concat());
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), "{\"items\":[]}\n"), "{command:?}");
        assert!(!sandbox.path("project/none").exists(), "{command:?}");
    }
    let made = sandbox.run(&["--home", "other", "init"]);
    assert_eq!(made.exit, Some(0), "{made}");
    assert!(
        sandbox.path("project/other/db/state.db").exists() && !sandbox.path("project/.holdpoint").exists()
    );
    let made = sandbox.run(&["init", "--json"]);
    assert!(made.stdout.contains("\"TMP/project/.holdpoint\""), "{made}");
}
