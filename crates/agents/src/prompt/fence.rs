//! Quoting text so that nothing in it can end the quotation.

/// Text in a code fence that is longer than any run of backticks inside.
pub fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("md", "x"), "```md\nx\n```");
        assert_eq!(fenced("", "a ```` b\n"), "`````\na ```` b\n`````");
    }

    proptest! {
        #[test]
        fn nothing_inside_closes_a_fence(text in "[`=\n a-z]{0,200}") {
            let quoted = fenced("txt", &text);
            let mut lines = quoted.lines();
            let opening = lines.next().expect("a line").trim_end_matches("txt").to_owned();
            let closing = lines.position(|line| line.trim_start().starts_with(&opening));
            // The first line that could close it is its last.
            prop_assert_eq!(closing, Some(quoted.lines().count() - 2));
        }
    }
}
