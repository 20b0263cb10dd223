//! What the reference says is what the server does: its pages are written from the code.
//!
//! `UPDATE_EXPECT=1` writes them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use holdpoint_server::Code;

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = reference().join("errors");
    let mut known = BTreeSet::from(["README.md".to_owned()]);
    let mut index = "# Error codes\n\nEvery refusal is `application/problem+json` with one of these codes, which never \
                     change their meaning.\nThe pages are written from the code's own list.\n\n| code | status | when |\n|---|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        let about = code.about();
        let page = format!(
            "# `{}`\n\n{} ({})\n\n**When.** {}\n\n**What to do.** {}\n",
            about.code, about.title, about.status, about.when, about.remedy
        );
        let file = format!("{}.md", about.code);
        expect_file![folder.join(&file)].assert_eq(&page);
        writeln!(index, "| [`{}`]({file}) | {} | {} |", about.code, about.status.as_u16(), about.when)
            .expect("text grows");
        known.insert(file);
    }
    expect_file![folder.join("README.md")].assert_eq(&index);
    let found = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").file_name());
    let found: BTreeSet<String> = found.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(found, known);
}
