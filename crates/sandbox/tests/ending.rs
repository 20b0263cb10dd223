//! Everything is dead soon after a deadline, a cancel or the server's own death, whatever the program does.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{place, python, run, sandboxes};
use holdpoint_sandbox::{Sandbox, Status};
use tokio_util::sync::CancellationToken;

/// Ignores what can be ignored and leaves a process that left group, session and parent. Both hold a lock on a
/// file, so that the test can tell whether they live. The second line says that all is in place.
const LINGER: &str = "
import fcntl, os, signal, sys, time
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
def hold(name):
    f = open(name, 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(name, flush=True); return f
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        f = hold('grandchild')
        while True: time.sleep(60)
    os._exit(0)
f = hold('parent')
END
";

fn linger(workspace: &Path, then: &str) -> holdpoint_sandbox::Order {
    python(workspace, &LINGER.replace("END", then))
}

/// Whether someone holds the lock.
fn alive(workspace: &Path, name: &str) -> bool {
    let file = std::fs::File::open(workspace.join(name)).expect("the program made it");
    file.try_lock().is_err()
}

async fn check(sandbox: &Sandbox, ends_by: fn(&CancellationToken), wall: Duration, expected: &Status) {
    let place = place();
    let mut order = linger(&place.workspace, "while True: time.sleep(60)");
    order.limits.wall = wall;
    let cancel = order.cancel.clone();
    let mut running = sandbox.run(order).await.expect("it begins");
    for _ in 0..2 {
        running.next().await.expect("both say that they hold their lock");
    }
    assert!(alive(&place.workspace, "grandchild"));
    ends_by(&cancel);
    let began = Instant::now();
    let ended = running.end().await;
    assert_eq!(&ended.status, expected, "{}", sandbox.level());
    assert!(began.elapsed() < wall + Duration::from_secs(2), "{:?}", began.elapsed());
    for name in ["parent", "grandchild"] {
        assert!(!alive(&place.workspace, name), "{name} lives, {}", sandbox.level());
    }
}

#[tokio::test]
async fn cancel_ends_all() {
    for sandbox in sandboxes().await {
        check(&sandbox, CancellationToken::cancel, Duration::from_mins(1), &Status::Cancelled).await;
    }
}

#[tokio::test]
async fn the_deadline_ends_all() {
    for sandbox in sandboxes().await {
        check(&sandbox, |_| {}, Duration::from_secs(3), &Status::TimedOut).await;
    }
}

#[tokio::test]
async fn the_program_s_own_end_ends_all() {
    for sandbox in sandboxes().await {
        let place = place();
        // The grandchild has its lock before the parent goes.
        let wait = "while not os.path.exists('grandchild'): time.sleep(0.01)";
        let outcome = run(&sandbox, linger(&place.workspace, wait)).await;
        assert_eq!(outcome.ended.status, Status::Exited(0), "{outcome:?}");
        assert!(!alive(&place.workspace, "grandchild"), "{}", sandbox.level());
    }
}

#[tokio::test]
async fn dropping_ends_all() {
    for sandbox in sandboxes().await {
        let place = place();
        let mut running =
            sandbox.run(linger(&place.workspace, "while True: time.sleep(60)")).await.expect("it begins");
        for _ in 0..2 {
            running.next().await.expect("both say that they hold their lock");
        }
        drop(running);
        wait_dead(&place.workspace, "grandchild").await;
    }
}

#[tokio::test]
async fn a_fork_bomb_ends() {
    for sandbox in sandboxes().await {
        let place = place();
        let code =
            "import os\nprint('on', flush=True)\nwhile True:\n  try: os.fork()\n  except OSError: pass";
        let mut order = python(&place.workspace, code);
        order.limits.processes = 100;
        let cancel = order.cancel.clone();
        let mut running = sandbox.run(order).await.expect("it begins");
        running.next().await.expect("it says that it is on");
        cancel.cancel();
        let began = Instant::now();
        assert_eq!(running.end().await.status, Status::Cancelled);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?} {}", began.elapsed(), sandbox.level());
    }
}

/// A server that is killed: this test runs itself as that server.
#[tokio::test]
async fn the_server_s_death_ends_all() {
    for level in ["auto", "restricted"] {
        let place = place();
        let mut server = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "as_the_server", "--nocapture"])
            .env("WORKSPACE", &place.workspace)
            .env("LEVEL", level)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test runs");
        let lines =
            std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().expect("it is piped")));
        let said = lines.map_while(Result::ok).filter(|line| line.contains("holds")).take(2).count();
        assert_eq!(said, 2, "both hold their lock");
        assert!(alive(&place.workspace, "grandchild"));
        server.kill().expect("it still runs");
        server.wait().expect("it ends");
        wait_dead(&place.workspace, "parent").await;
        wait_dead(&place.workspace, "grandchild").await;
    }
}

/// Does nothing unless the other test asks.
#[tokio::test]
#[expect(clippy::print_stdout, reason = "the other test listens")]
async fn as_the_server() {
    let Some(workspace) = std::env::var_os("WORKSPACE") else { return };
    let sandboxes = sandboxes().await;
    let at = if std::env::var("LEVEL").as_deref() == Ok("restricted") {
        sandboxes.last()
    } else {
        sandboxes.first()
    };
    let order = linger(Path::new(&workspace), "while True: time.sleep(60)");
    let mut running = at.expect("there is one").run(order).await.expect("it begins");
    while let Some(line) = running.next().await {
        println!("holds {}", line.text);
    }
}

async fn wait_dead(workspace: &Path, name: &str) {
    let (workspace, name) = (workspace.to_path_buf(), name.to_owned());
    let waited = tokio::task::spawn_blocking(move || {
        // Taking the lock waits until the last holder is gone.
        std::fs::File::open(workspace.join(name)).expect("the program made it").lock()
    });
    let waited = tokio::time::timeout(Duration::from_secs(2), waited).await;
    waited.expect("it is dead within two seconds").expect("no panic").expect("it can be locked");
}
