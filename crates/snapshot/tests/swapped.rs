//! A program that swaps files and folders for links while it is looked at reaches nothing outside.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use common::{Home, write};
use holdpoint_snapshot::{Node, Tree};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// How many captures or restores happen beside the swapping.
const ROUNDS: u32 = 300;

/// Swaps two names for each other, over and over, until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn begin(pairs: Vec<(PathBuf, PathBuf)>) -> Self {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counted) = (stop.clone(), swaps.clone());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for (a, b) in &pairs {
                    // Restoring removes them now and then.
                    if renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok() {
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        Self { stop, swaps, thread: Some(thread) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn outside(home: &Home) -> PathBuf {
    let outside = home.beside("outside");
    write(&outside.join("secret"), b"secret");
    outside
}

/// Every content that a tree names, at any depth.
async fn contents(home: &Home, tree: Tree) -> Vec<Vec<u8>> {
    let (mut found, mut trees) = (Vec::new(), vec![tree]);
    while let Some(tree) = trees.pop() {
        for entry in tree.entries() {
            match entry.node {
                Node::File { content, .. } => found.push(home.bytes(content).await),
                Node::Link { .. } => {}
                Node::Folder { tree, .. } => trees.push(home.tree(tree).await),
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_is_read_while_links_are_swapped() {
    let home = Home::new();
    let outside = outside(&home);
    let mut pairs = Vec::new();
    for n in 0..4 {
        let (file, link) = (home.at(&format!("file-{n}")), home.at(&format!("link-{n}")));
        write(&file, b"mine");
        symlink(outside.join("secret"), &link).expect("linked");
        pairs.push((file, link));
        let (folder, link) = (home.at(&format!("folder-{n}")), home.at(&format!("elsewhere-{n}")));
        write(&folder.join("secret"), b"mine");
        symlink(&outside, &link).expect("linked");
        pairs.push((folder, link));
    }
    let swapper = Swapper::begin(pairs);
    for _ in 0..ROUNDS {
        let captured = home.capture().await;
        for content in contents(&home, home.tree(captured.tree).await).await {
            assert_eq!(content, b"mine");
        }
    }
    assert!(swapper.swaps.load(Ordering::Relaxed) > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_is_written_or_removed_while_links_are_swapped() {
    let home = Home::new();
    let outside = outside(&home);
    write(&home.at("a/b/file"), b"mine");
    write(&home.at("a/file"), b"mine");
    let tree = home.capture().await.tree;
    let mut pairs = Vec::new();
    for (n, name) in ["a", "a/b", "a/file"].into_iter().enumerate() {
        let link = home.beside(&format!("link-{n}"));
        symlink(if name == "a/file" { outside.join("secret") } else { outside.clone() }, &link)
            .expect("linked");
        pairs.push((home.at(name), link));
    }
    let swapper = Swapper::begin(pairs);
    let mut refused = 0;
    for _ in 0..ROUNDS {
        refused += u32::from(home.restore(tree).await.is_err());
        assert_untouched(&outside);
    }
    let swaps = swapper.swaps.load(Ordering::Relaxed);
    drop(swapper);
    assert!(swaps > 0, "{refused} refused");
    home.restore(tree).await.expect("nobody is in the way any more");
    assert_eq!(home.capture().await.tree, tree);
    assert_untouched(&outside);
}

fn assert_untouched(outside: &Path) {
    let names: Vec<_> =
        fs::read_dir(outside).expect("listed").map(|e| e.expect("an entry").file_name()).collect();
    assert_eq!(names, ["secret"]);
    assert_eq!(fs::read(outside.join("secret")).expect("read"), b"secret");
}

#[tokio::test]
async fn a_link_in_the_place_of_a_folder_is_replaced_not_followed() {
    let home = Home::new();
    let outside = outside(&home);
    write(&home.at("a/file"), b"mine");
    let tree = home.capture().await.tree;
    fs::remove_dir_all(home.at("a")).expect("removed");
    symlink(&outside, home.at("a")).expect("linked");
    home.restore(tree).await.expect("restored");
    assert_untouched(&outside);
    assert_eq!(fs::read(home.at("a/file")).expect("read"), b"mine");
    assert!(!home.at("a").is_symlink());
}
