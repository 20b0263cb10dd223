//! What a caller sees of a program that runs: lines, input, status, limits.

mod common;

use std::time::Duration;

use common::{Outcome, place, python, run, sandboxes};
use holdpoint_sandbox::{Choice, Level, Order, Quota, Sandbox, Status};

#[tokio::test]
async fn output_input_and_code_are_handed_over() {
    for sandbox in sandboxes().await {
        let place = place();
        let mut order = python(
            &place.workspace,
            "import sys; print(sys.stdin.read()); print('e', file=sys.stderr); sys.exit(7)",
        );
        order.stdin = b"given".to_vec();
        let Outcome { stdout, stderr, ended, .. } = run(&sandbox, order).await;
        assert_eq!((stdout.as_str(), stderr.as_str()), ("given\n", "e\n"), "{}", sandbox.level());
        assert_eq!(ended.status, Status::Exited(7));
    }
}

#[tokio::test]
async fn large_input_arrives_whole() {
    for sandbox in sandboxes().await {
        let place = place();
        let mut order = Order::new("/bin/sh", &place.workspace);
        order.args = vec!["-c".into(), "cat /dev/stdin | wc -c".into()];
        order.stdin = vec![b'x'; 3_000_000];
        let outcome = run(&sandbox, order).await;
        assert_eq!(outcome.stdout.trim(), "3000000", "{} {outcome:?}", sandbox.level());
    }
}

#[tokio::test]
async fn lines_arrive_while_it_runs() {
    for sandbox in sandboxes().await {
        let place = place();
        // It goes on only when the test has seen the first line and answered with a file.
        let code = "import os, time\nprint('first', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('second')";
        let mut running = sandbox.run(python(&place.workspace, code)).await.expect("it begins");
        assert_eq!(running.next().await.expect("a line").text, "first");
        std::fs::write(place.workspace.join("go"), "").expect("the workspace is ours");
        assert_eq!(running.next().await.expect("a line").text, "second");
        assert_eq!(running.end().await.status, Status::Exited(0));
    }
}

#[tokio::test]
async fn a_signal_is_told() {
    for sandbox in sandboxes().await {
        let place = place();
        let outcome = run(&sandbox, python(&place.workspace, "import os; os.kill(os.getpid(), 11)")).await;
        assert_eq!(outcome.ended.status, Status::Signalled(11), "{}", sandbox.level());
    }
}

#[tokio::test]
async fn files_stay_in_the_workspace_and_nowhere_else() {
    for sandbox in sandboxes().await {
        let place = place();
        std::fs::write(place.workspace.join("old"), "old").expect("the workspace is ours");
        let code = "import os, tempfile\nopen('old', 'w').write('new')\nos.mkdir('sub')\nopen('sub/a', 'w').write('a')\n\
                    t = tempfile.mkstemp()[1]\nopen(t, 'w').write('t')\nprint(t)";
        let outcome = run(&sandbox, python(&place.workspace, code)).await;
        assert_eq!(outcome.ended.status, Status::Exited(0), "{outcome:?}");
        assert_eq!(std::fs::read_to_string(place.workspace.join("old")).expect("it is there"), "new");
        assert_eq!(std::fs::read_to_string(place.workspace.join("sub/a")).expect("it is there"), "a");
        assert!(!std::path::Path::new(outcome.stdout.trim()).exists(), "temporary files are removed");
    }
}

#[tokio::test]
async fn usual_libraries_work() {
    for sandbox in sandboxes().await {
        let place = place();
        let code = "import ssl, sqlite3, hashlib, subprocess, threading, json, asyncio, decimal\n\
                    sqlite3.connect('db').execute('create table t(a)')\nasyncio.run(asyncio.sleep(0))\n\
                    threading.Thread(target=lambda: None).start()\n\
                    print(subprocess.check_output(['ls'], text=True).strip(), hashlib.sha256(b'').hexdigest()[:4])";
        let outcome = run(&sandbox, python(&place.workspace, code)).await;
        assert_eq!(outcome.stdout.trim(), "db e3b0", "{} {outcome:?}", sandbox.level());
    }
}

#[tokio::test]
async fn output_beyond_the_limit_is_dropped_and_counted() {
    for sandbox in sandboxes().await {
        let place = place();
        let code = "import sys\nfor _ in range(64): sys.stdout.buffer.write(b'\\xff' * 65536)";
        let outcome = run(&sandbox, python(&place.workspace, code)).await;
        assert_eq!(outcome.ended.status, Status::Exited(0));
        assert!(outcome.cut);
        assert!(outcome.stdout.chars().count() <= 1 << 20);
        assert_eq!(outcome.ended.dropped_bytes, 64 * 65536 - 64 * 1024, "one line of 64 KiB is kept");

        let outcome =
            run(&sandbox, python(&place.workspace, "for _ in range(100_000): print('x' * 99)")).await;
        assert_eq!(outcome.stdout.trim_end().len(), (1 << 20), "1 MiB is kept, with the ends of lines");
        assert_eq!(outcome.ended.dropped_bytes, 10_000_000 - (1 << 20));
    }
}

#[tokio::test]
async fn too_many_files_and_bytes_end_it() {
    for sandbox in sandboxes().await {
        let place = place();
        let many = "i = 0\nwhile True:\n  open(f'f{i}', 'w').close()\n  i += 1";
        let mut order = python(&place.workspace, many);
        order.limits.workspace_files = 500;
        assert_eq!(run(&sandbox, order).await.ended.status, Status::Quota(Quota::WorkspaceFiles));

        let place = common::place();
        let large = "i = 0\nwhile True:\n  open(f'f{i % 8}', 'w').write('x' * 1_000_000)\n  i += 1";
        let mut order = python(&place.workspace, large);
        order.limits.workspace_bytes = 4_000_000;
        assert_eq!(run(&sandbox, order).await.ended.status, Status::Quota(Quota::WorkspaceBytes));
    }
}

#[tokio::test]
async fn time_on_the_processor_is_limited() {
    for sandbox in sandboxes().await {
        let place = place();
        let mut order = python(&place.workspace, "while True: pass");
        order.limits.cpu = Duration::from_secs(1);
        assert_eq!(run(&sandbox, order).await.ended.status, Status::Quota(Quota::Cpu), "{}", sandbox.level());
    }
}

#[tokio::test]
async fn a_bad_order_is_refused_with_a_code() {
    let sandbox = Sandbox::probe(common::helper(), common::scratch(), Choice::Auto).await;
    let place = place();
    let refused = async |order: Order| sandbox.run(order).await.expect_err("it is refused").code();
    assert_eq!(refused(Order::new("/usr/bin/no-such-program", &place.workspace)).await, "program_missing");
    assert_eq!(refused(Order::new("true", &place.workspace)).await, "program_missing");
    assert_eq!(refused(Order::new("/etc/ld.so.cache", &place.workspace)).await, "program_not_executable");
    assert_eq!(refused(Order::new("/bin/true", place.outer.path().join("none"))).await, "sandbox_folder");
    assert_eq!(refused(Order::new("/bin/true", "/")).await, "sandbox_folder");
    let mut elsewhere = Order::new("/bin/true", &place.workspace);
    elsewhere.cwd = place.outer.path().into();
    assert_eq!(refused(elsewhere).await, "sandbox_folder");
    let mut variable = Order::new("/bin/true", &place.workspace);
    variable.env = vec![("A=B".into(), String::new())];
    assert_eq!(refused(variable).await, "sandbox_variable");
}

#[tokio::test]
async fn without_a_helper_nothing_holds_and_nothing_runs() {
    let sandbox = Sandbox::probe("/bin/false".into(), common::scratch(), Choice::Auto).await;
    assert_eq!(sandbox.level(), Level::None);
    let place = place();
    let error = sandbox.run(Order::new("/bin/true", &place.workspace)).await.expect_err("it is refused");
    assert_eq!(error.code(), "sandbox_unavailable");
    assert!(!error.hint().is_empty());
}

#[tokio::test]
async fn external_is_chosen_and_said() {
    let sandbox = Sandbox::probe(common::helper(), common::scratch(), Choice::External).await;
    assert_eq!(sandbox.level(), Level::External);
    let place = place();
    let outcome = run(&sandbox, python(&place.workspace, "import os; print(sorted(os.environ))")).await;
    assert_eq!(outcome.ended.status, Status::Exited(0), "{outcome:?}");
    assert!(outcome.stdout.contains("'HOME', "), "{}", outcome.stdout);
}

#[tokio::test]
async fn a_library_named_in_a_variable_is_not_loaded_before_confinement() {
    for sandbox in sandboxes().await {
        let place = place();
        let mut order = Order::new("/bin/true", &place.workspace);
        order.env = vec![("LD_PRELOAD".into(), "/nonexistent.so".into())];
        let outcome = run(&sandbox, order).await;
        // The loader complains once for each program that sees the variable: only the last one does.
        assert_eq!(outcome.stderr.matches("nonexistent.so").count(), 1, "{outcome:?}");
    }
}

/// Files of an earlier run and of the server can be worked on as if they were the program's own.
#[tokio::test]
async fn files_of_others_in_the_workspace_can_be_replaced() {
    for sandbox in sandboxes().await {
        let place = place();
        std::fs::write(place.workspace.join("server"), "1").expect("the workspace is ours");
        let first = "open('first', 'w').write('1')";
        assert_eq!(run(&sandbox, python(&place.workspace, first)).await.ended.status, Status::Exited(0));
        let second = "import os, pathlib, shutil\nshutil.copyfile('first', 'copy')\nos.rename('copy', 'server')\n\
                      open('first', 'a').write('2')\npathlib.Path('first').touch()\nos.remove('first')";
        let outcome = run(&sandbox, python(&place.workspace, second)).await;
        assert_eq!(outcome.ended.status, Status::Exited(0), "{} {outcome:?}", sandbox.level());
    }
}

/// How long it takes until a program that does nothing has ended. To be read with
/// `--no-capture`: a number on a busy machine says little, so none is demanded.
#[tokio::test]
#[expect(clippy::print_stdout, reason = "the result")]
async fn measure_the_start() {
    for sandbox in sandboxes().await {
        let place = place();
        let mut times = Vec::new();
        for _ in 0..20 {
            let began = std::time::Instant::now();
            let outcome = run(&sandbox, Order::new("/bin/true", &place.workspace)).await;
            assert_eq!(outcome.ended.status, Status::Exited(0), "{}", sandbox.level());
            times.push(began.elapsed());
        }
        times.sort();
        println!("{}: p50 {:?}, longest {:?}", sandbox.level(), times[10], times[19]);
    }
}
