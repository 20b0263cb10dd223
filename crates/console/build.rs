//! Lists the files of the built console, so that the compiler puts their bytes into the binary.
//!
//! Nothing is built here: `make console` does that. Without a built console the list is empty.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let built = manifest.join("../../console/built");
    println!("cargo:rerun-if-changed=build.rs");
    // The folder is always there, so its site is noticed when it comes.
    println!("cargo:rerun-if-changed={}", built.display());

    let site = built.join("site");
    let mut files = Vec::new();
    collect(&site, &mut files);
    files.sort();
    let mut list = String::from("&[\n");
    for path in &files {
        let name = path.strip_prefix(&site).expect("it was found there").to_string_lossy().replace('\\', "/");
        let packed = PathBuf::from(format!("{}.br", path.display()));
        let brotli = if packed.is_file() { include(&packed, "Some(", ")") } else { "None".to_owned() };
        let bytes = include(path, "", "");
        writeln!(list, "    Embedded {{ path: {name:?}, bytes: {bytes}, brotli: {brotli} }},")
            .expect("a string takes all text");
    }
    list.push(']');
    fs::write(out.join("files.rs"), list).expect("cargo's own folder can be written");
}

fn include(path: &Path, before: &str, after: &str) -> String {
    let path = path.canonicalize().expect("the file was just found");
    format!("{before}include_bytes!({:?}){after}", path.display().to_string())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_none_or(|extension| extension != "br") {
            files.push(path);
        }
    }
}
