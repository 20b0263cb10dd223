//! The hostile script: each row is one thing that a script must not be able to do, at every level.

mod common;

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use common::{Outcome, place, python, run, sandboxes};
use holdpoint_sandbox::{Layers, Level, Sandbox, Status};

/// Tries everything and prints a line for each thing that it could do. `T` holds what lies outside.
const PROBE: &str = r#"
import ctypes, errno, json, os, signal, socket, sys
T = json.load(sys.stdin)
def attempt(name, what):
    try: result = what()
    except BaseException: return
    print(name, result, flush=True)
def connect(family, kind, address):
    s = socket.socket(family, kind); s.settimeout(2)
    if kind == socket.SOCK_DGRAM: s.sendto(b"x", address)
    else: s.connect(address)
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    if getattr(libc, name)(*args) == -1: raise OSError(ctypes.get_errno(), name)
def pids():
    # Itself and the first process of its own namespace.
    seen = [p for p in os.listdir('/proc') if p.isdigit()]
    if len(seen) <= 2: raise OSError
    return seen
for path in ['/etc/shadow', '/etc/passwd', T['secret'], T['database'], '/proc/1/environ', f"/proc/{T['server']}/environ",
             f"/proc/{T['server']}/mem", f"/proc/{T['server']}/root/etc/shadow", '/dev/mem', '/proc/kcore']:
    attempt('read ' + path, lambda: open(path, 'rb').read(1))
for path in ['/root', '/home', '/var/lib', '/var/log', '/boot', T['outer'], T['other']]:
    attempt('list ' + path, lambda: os.listdir(path)[0])
for path in ['/etc/x', '/usr/x', '/x', '/var/tmp/x', '/dev/x', '/run/x', T['outer'] + '/x', T['other'] + '/x', T['input'] + '/x']:
    attempt('create ' + path, lambda: open(path, 'w'))
for path in [T['secret'], T['database'], T['input'] + '/given']:
    attempt('overwrite ' + path, lambda: open(path, 'r+'))
    attempt('truncate ' + path, lambda: os.truncate(path, 0))
    attempt('remove ' + path, lambda: os.remove(path))
    attempt('rename ' + path, lambda: os.rename(path, path + '2'))
    attempt('rename into the workspace ' + path, lambda: os.rename(path, 'mine'))
    attempt('hard link ' + path, lambda: os.link(path, 'linked'))
for path in [T['secret'], T['database']]:
    attempt('chmod ' + path, lambda: os.chmod(path, 0o666))
    attempt('chown ' + path, lambda: os.chown(path, 0, 0))
    attempt('touch ' + path, lambda: os.utime(path, (0, 0)))
    attempt('touch now ' + path, lambda: os.utime(path))
    attempt('attribute ' + path, lambda: os.setxattr(path, 'user.x', b'x'))
    attempt('symlink ' + path, lambda: (os.symlink(path, 'link' + str(len(path))), open('link' + str(len(path))).read())[1])
attempt('tcp', lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', T['tcp'])))
attempt('udp', lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', T['udp'])))
attempt('dns', lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ('192.0.2.1', 53)))
attempt('tcp6', lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ('::1', T['tcp'])))
attempt('listen', lambda: socket.create_server(('127.0.0.1', 0)))
attempt('abstract', lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, '\0' + T['abstract']))
attempt('unix', lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, T['unix']))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('environment', lambda: list({k for k in os.environ if k != 'LC_CTYPE'} - {'PATH', 'LANG', 'HOME', 'TMPDIR'})[0])
attempt('secret in the environment', lambda: [v for v in os.environ.values() if 'hunter2' in v][0])
attempt('pids', pids)
attempt('signal the server', lambda: os.kill(T['server'], 0))
attempt('signal the parent', lambda: os.kill(os.getppid(), 0) if os.getppid() > 1 else 1 / 0)
attempt('ptrace', lambda: call('ptrace', 16, T['server'], 0, 0))
attempt('ptrace the parent', lambda: call('ptrace', 16, os.getppid(), 0, 0))
attempt('user namespace', lambda: call('unshare', 0x10000000))
attempt('mount', lambda: call('mount', b'none', b'/tmp', b'tmpfs', 0, None))
attempt('chroot', lambda: os.chroot('.'))
attempt('root', lambda: os.setuid(0) if os.getuid() else 1 / 0)
attempt('keyctl', lambda: call('syscall', 250, 0, -3, 0))
attempt('bpf', lambda: call('syscall', 321, 0, 0, 0))
attempt('io_uring', lambda: call('syscall', 425, 1, (ctypes.c_byte * 120)()))
attempt('userfaultfd', lambda: call('syscall', 323, 1))
attempt('memfd', lambda: os.memfd_create('x'))
attempt('the other convention', lambda: call('syscall', 0x40000000 | 39))
attempt('open by handle', lambda: call('syscall', 304, -100, (ctypes.c_byte * 64)(), 0) if ctypes.get_errno() != errno.EPERM else 1 / 0)
attempt('device', lambda: os.mknod('device', 0o20666, os.makedev(1, 1)))
attempt('900 MiB', lambda: len(bytearray(900 << 20)))
def large():
    with open('large', 'wb') as f:
        for _ in range(80): f.write(bytes(1 << 20))
attempt('80 MiB', large)
attempt('64 MiB is the limit', lambda: os.path.getsize('large') > 64 << 20 or 1 / 0)
def forks():
    import time
    made = []
    try:
        for _ in range(400):
            pid = os.fork()
            if pid == 0: time.sleep(60); os._exit(0)
            made.append(pid)
    finally:
        for pid in made: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
    return len(made)
attempt('400 forks', forks)
print('done')
"#;

/// Lays out what lies outside, lets the script loose, and gives what it could do.
async fn escapes(sandbox: &Sandbox) -> Vec<String> {
    let place = place();
    let outer = place.outer.path();
    for folder in ["other", "input"] {
        std::fs::create_dir(outer.join(folder)).expect("a new folder");
    }
    for file in ["other/secret", "holdpoint.db", "input/given"] {
        std::fs::write(outer.join(file), "secret").expect("a new file");
    }
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let name = format!("holdpoint-test-{}", outer.display());
    let address = SocketAddr::from_abstract_name(&name).expect("a short name");
    let _abstract = UnixListener::bind_addr(&address).expect("a new name");
    let _unix = UnixListener::bind(outer.join("other/socket")).expect("a new socket");

    let mut order = python(&place.workspace, PROBE);
    order.read_only.push(outer.join("input"));
    order.stdin = serde_json::to_vec(&serde_json::json!({
        "outer": outer, "other": outer.join("other"), "input": outer.join("input"),
        "secret": outer.join("other/secret"), "database": outer.join("holdpoint.db"), "unix": outer.join("other/socket"),
        "tcp": tcp.local_addr().expect("bound").port(), "udp": udp.local_addr().expect("bound").port(),
        "abstract": name, "server": std::process::id(),
    }))
    .expect("it is JSON");
    order.limits.memory_bytes = 780 << 20;
    order.limits.file_bytes = 64 << 20;
    order.limits.processes = 64;
    let Outcome { stdout, stderr, ended, .. } = run(sandbox, order).await;
    assert_eq!(ended.status, Status::Exited(0), "{stdout}{stderr}");
    let mut lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some("done"), "{stdout}{stderr}");
    lines
}

#[tokio::test]
async fn a_hostile_script_gets_nothing() {
    for sandbox in sandboxes().await {
        assert_eq!(escapes(&sandbox).await, Vec::<String>::new(), "{}", sandbox.level());
    }
}

/// A layer, how to take it away, and what the script can do then.
type Without = (&'static str, fn(&mut Layers), &'static str);

#[tokio::test]
async fn each_layer_is_worth_something() {
    let without: [Without; 4] = [
        ("landlock", |layers| layers.landlock = false, "overwrite "),
        ("seccomp", |layers| layers.seccomp = false, "memfd "),
        ("limits", |layers| layers.limits = false, "900 MiB "),
        ("user", |layers| layers.user = false, "400 forks "),
    ];
    for sandbox in sandboxes().await {
        for (name, switch, expected) in without {
            let mut layers = Layers::default();
            switch(&mut layers);
            if name == "user" && !rustix::process::geteuid().is_root() {
                continue;
            }
            // With namespaces, what Landlock refuses is not even there.
            layers.namespaces &= name != "landlock";
            let got = escapes(&sandbox.with_layers(layers)).await;
            assert!(
                got.iter().any(|line| line.starts_with(expected)),
                "{} without {name}: {got:?}",
                sandbox.level()
            );
        }
    }
}

#[tokio::test]
async fn the_probe_says_what_it_tried() {
    for sandbox in sandboxes().await {
        let findings = sandbox.findings();
        assert!(findings.checks.len() >= 10, "{findings:#?}");
        assert!(findings.missing().next().is_none(), "{findings:#?}");
        assert!(serde_json::to_string(findings).expect("it is plain data").contains("read_outside"));
    }
}

#[tokio::test]
async fn the_server_s_variables_are_not_seen() {
    // Cargo sets variables for tests, so there is something to be seen.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    for sandbox in sandboxes().await {
        let place = place();
        let mut order = python(&place.workspace, "import os; print(sorted(os.environ))");
        order.env = vec![("HOLDPOINT_STAGING".into(), "here".into())];
        let outcome = run(&sandbox, order).await;
        let seen = outcome.stdout.trim().replace("'LC_CTYPE', ", "");
        assert_eq!(seen, "['HOLDPOINT_STAGING', 'HOME', 'LANG', 'PATH', 'TMPDIR']");
    }
}

#[tokio::test]
async fn the_network_is_there_when_it_is_asked_for() {
    for sandbox in sandboxes().await {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let answering =
            std::thread::spawn(move || listener.accept().map(|(mut peer, _)| peer.write_all(b"hello")));
        let place = place();
        let code =
            format!("import socket; print(socket.create_connection(('127.0.0.1', {port})).recv(5).decode())");
        let mut order = python(&place.workspace, &code);
        order.network = true;
        order.limits.wall = Duration::from_secs(20);
        let outcome = run(&sandbox, order).await;
        assert_eq!(outcome.stdout.trim(), "hello", "{} {outcome:?}", sandbox.level());
        answering.join().expect("no panic").expect("someone came").expect("it was sent");
    }
}

#[tokio::test]
async fn the_best_level_needs_bubblewrap() {
    let sandbox = &sandboxes().await[0];
    let bubblewrap = std::path::Path::new("/usr/bin/bwrap").exists();
    assert!(sandbox.level() != Level::Full || bubblewrap);
}
