//! Planted bugs: mistakes in the product that only tests switch on, to prove that they would be noticed.
//!
//! `HOLDPOINT_BUG=DoubleSettle` switches one on in a debug build, so that one build serves all bugs and the
//! tests without any. In a release build [`planted`] is the constant `false`, and neither the variable nor the
//! mistake is in the program. `cargo xtask bugs` switches each on in turn and expects its tests to fail.

/// Declares the bugs: what is wrong, the name, the crate that has it, and the tests that must fail, each as a
/// nextest filter.
macro_rules! bugs {
    ($($(#[doc = $wrong:literal])+ $name:ident, $krate:literal, $($test:literal),+;)+) => {
        /// A mistake that can be switched on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[doc = $wrong])+ $name,)+
        }

        /// All of them.
        pub const BUGS: &[Declared] = &[
            $(Declared {
                bug: Bug::$name,
                name: stringify!($name),
                wrong: concat!($($wrong),+),
                krate: $krate,
                tests: &[$($test),+],
            },)+
        ];
    };
}

bugs! {
    /// An outcome that is no longer owed counts again.
    DoubleSettle, "core",
        "package(holdpoint-core) & test(an_outcome_counts_once)";
    /// A result is approved although it changed since it was shown.
    UncheckedDigest, "core",
        "package(holdpoint-core) & test(what_changed_since_it_was_shown_cannot_be_approved)";
    /// A choice is taken although the gate shows something else by now, or the answer does not say what it is about.
    ChoiceWithoutDigest, "core",
        "package(holdpoint-core) & test(an_answer_names_what_was_shown)";
    /// An answer counts although it is proved less well than its gate asks for.
    LevelUnchecked, "core",
        "package(holdpoint-core) & test(a_gate_can_ask_for_a_better_proof)";
    /// The gates of a branch that a rollback retires stay open.
    RetiredGateOpen, "core",
        "package(holdpoint-core) & test(a_rollback_retires_open_gates)";
    /// A new node leaves out what earlier commands changed in the front.
    FrontWithoutPending, "core",
        "package(holdpoint-core) & test(changes_by_other_commands_belong_to_the_next_node)";
    /// What a fork changes first is written to the node that it continues from.
    ForkSharesDelta, "core",
        "package(holdpoint-core) & test(what_changes_before_the_first_node_of_a_branch_is_its_own)";
    /// A repeated call of a client counts again.
    AckTwice, "core",
        "package(holdpoint-core) & test(a_call_counts_once)";
    /// The old attempt's work is ended after the new attempt has its number, and so not found.
    WrongFoldOrder, "core",
        "package(holdpoint-core) & test(rules_and_model_agree)";
    /// The store in memory does not check the fencing epoch.
    MemoryDropEpochCheck, "store",
        "binary_id(holdpoint-sim::seeds) & test(=crash_seeds)";
    /// The answer is sent before the commit.
    AnswerBeforeCommit, "store-sqlite",
        "binary_id(holdpoint-store-sqlite::power_cut) & test(crash_power_cuts)",
        "binary_id(holdpoint::crash_kill) & test(crash_kill_)";
    /// `synchronous=OFF`: nothing asks the disk to keep what is committed.
    SkipFsync, "store-sqlite",
        "binary_id(holdpoint-store-sqlite::power_cut) & test(crash_power_cuts)";
    /// SQLite's store does not check the fencing epoch.
    SqliteDropEpochCheck, "store-sqlite",
        "binary_id(holdpoint-store-sqlite::handles) & test(a_stopped_owner_loses_its_work_and_is_fenced)",
        "binary_id(holdpoint::crash_kill) & test(crash_stopped_)";
    /// In a batch of two or more, the last member is acknowledged and not written.
    BatchMemberSkipped, "store-sqlite",
        "binary_id(holdpoint-store-sqlite::batches)";
    /// A large blob is reported as durable before it is written.
    SqliteEventBeforeBlob, "store-sqlite",
        "binary_id(holdpoint-store-sqlite::blobs)";
    /// A file that is captured may be a link by the time it is opened, which is then followed.
    CaptureFollowsLink, "snapshot",
        "package(holdpoint-snapshot) & test(no_link_is_opened)";
    /// A link in the place of a folder is followed, and what it points to is emptied and filled.
    RestoreFollowsLink, "snapshot",
        "binary_id(holdpoint-snapshot::swapped) & test(a_link_in_the_place_of_a_folder_is_replaced_not_followed)";
    /// An event is appended before the blobs that it names are kept.
    EventBeforeBlob, "engine",
        "binary_id(holdpoint-sim::seeds) & test(=crash_seeds)";
    /// An outcome that the store refuses to take for a while is dropped.
    LostOutcome, "engine",
        "binary_id(holdpoint-engine::outcomes) & test(an_outcome_is_recorded_when_the_store_takes_it_again)";
    /// The files of work that has not ended are removed.
    SweepLiveTree, "engine",
        "binary_id(holdpoint-engine::blobs) & test(trees_are_kept_until_their_execution_ends)";
    /// A commit does not check the streams that its rule read and does not write.
    GuardDropped, "engine",
        "package(holdpoint-engine) & test(what_a_rule_read_and_does_not_write_is_expected_to_be_as_it_was)";
    /// A command is refused by a state that another process has changed since.
    StaleRefusal, "engine",
        "binary_id(holdpoint-sim::seeds) & test(=crash_seeds)";
}

/// A bug with what is known about it.
#[derive(Debug)]
pub struct Declared {
    /// As the code asks for it.
    pub bug: Bug,
    /// As `HOLDPOINT_BUG` names it.
    pub name: &'static str,
    /// What is wrong while it is on.
    pub wrong: &'static str,
    /// The folder in `crates` of the crate that has it.
    pub krate: &'static str,
    /// The tests that must fail: nextest filters, each of which selects a test that fails.
    pub tests: &'static [&'static str],
}

/// The variable that names the bug to switch on.
pub const VARIABLE: &str = "HOLDPOINT_BUG";

/// Whether this bug is switched on.
#[cfg(debug_assertions)]
pub fn planted(bug: Bug) -> bool {
    static CHOSEN: std::sync::LazyLock<Option<Bug>> = std::sync::LazyLock::new(|| {
        let name = std::env::var_os(VARIABLE)?;
        let declared = BUGS.iter().find(|declared| *declared.name == *name);
        // Ignored, it would look like a bug that no test notices.
        Some(declared.unwrap_or_else(|| panic!("{VARIABLE} names no planted bug: {}", name.display())).bug)
    });
    *CHOSEN == Some(bug)
}

/// Never: a release build has no planted bug.
#[cfg(not(debug_assertions))]
#[inline]
pub const fn planted(_: Bug) -> bool {
    false
}

/// A moment at which a process can be made to die, to prove that nothing depends on it living on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A script has ended, and nobody has looked at what it made.
    ScriptEnded,
    /// Its outputs were taken in, and nothing of its end is written.
    OutputsCollected,
}

impl Moment {
    /// As `HOLDPOINT_DIE_AT` names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ScriptEnded => "ScriptEnded",
            Self::OutputsCollected => "OutputsCollected",
        }
    }
}

/// The variable that names a moment and a file, with `:` between them. The file is made by the process that dies; while it is
/// there nobody else does.
pub const DIE_AT: &str = "HOLDPOINT_DIE_AT";

/// Ends the process without a warning, if it was told to die at this moment and nobody has.
#[cfg(debug_assertions)]
pub fn dies_at(moment: Moment) {
    let Ok(told) = std::env::var(DIE_AT) else { return };
    let Some((name, file)) = told.split_once(':') else { return };
    if name == moment.name() && std::fs::File::create_new(file).is_ok() {
        std::process::abort();
    }
}

/// Never: a release build dies at no moment.
#[cfg(not(debug_assertions))]
#[inline]
pub const fn dies_at(_: Moment) {}

/// Compiles only where the answer is a constant: a release build that could read the variable does not build.
#[cfg(not(debug_assertions))]
const _: () = assert!(!planted(Bug::SkipFsync));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_sentences_whole() {
        for (at, declared) in BUGS.iter().enumerate() {
            assert!(BUGS[at + 1..].iter().all(|other| other.name != declared.name), "{}", declared.name);
            assert!(declared.wrong.ends_with('.'), "{}", declared.wrong);
            assert_eq!(BUGS[declared.bug as usize].name, declared.name);
        }
    }
}
