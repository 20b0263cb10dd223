//! The suite that every store must pass, one named test per promise.
//!
//! A backend implements [`Bench`] and calls [`conformance_suite!`](crate::conformance_suite) in a test file of
//! its own; that file needs `tokio` with its multi-thread runtime. Blobs have a suite of their own, see
//! [`blobs`]. No case sleeps, and none depends on how fast a store is.

use std::sync::Arc;

use holdpoint_core::Digest;

use crate::EventLog;

pub mod appends;
pub mod blobs;
pub mod fences;
pub mod folds;
pub mod heads;
pub mod keys;
pub mod kit;
pub mod logs;
pub mod model;
pub mod queries;
pub mod races;
pub mod rebuilds;
pub mod tables;
pub mod work;

/// What a backend offers so that it can be tested.
pub trait Bench: Sized + Send + Sync {
    /// Its handle on a home.
    type Log: EventLog + 'static;

    /// Makes a new empty home, which lasts as long as the bench.
    fn new() -> impl Future<Output = Self> + Send;

    /// Opens a handle on the home: a new owner each time.
    fn open(&self) -> impl Future<Output = Arc<Self::Log>> + Send;

    /// Ends a handle without giving anything back, as a killed process would. The case holds no other copy.
    fn kill(&self, log: Arc<Self::Log>) -> impl Future<Output = ()> + Send;

    /// The bytes of a small blob.
    fn small_blob(&self, log: &Self::Log, digest: Digest) -> impl Future<Output = Option<Vec<u8>>> + Send;

    /// Lets more time pass than a lease lasts without a heartbeat; `false` when the bench cannot.
    fn outlast_leases(&self) -> impl Future<Output = bool> + Send {
        async { false }
    }
}

/// Makes one test of each case for a [`Bench`](crate::conformance::Bench).
#[macro_export]
macro_rules! conformance_suite {
    ($bench:ty) => {
        $crate::conformance_suite! { @in $bench;
            logs: [
                a_row_comes_back_as_it_was_given,
                the_chain_is_kept_as_given,
                an_empty_home_reads_as_empty,
                versions_and_positions_are_dense,
                a_stream_is_read_after_a_version_with_a_limit,
                the_whole_log_is_read_in_order_without_gaps,
                a_read_from_inside_a_row_begins_with_that_row,
                large_and_strange_bytes_survive,
                another_handle_reads_what_was_written,
                a_killed_handle_loses_nothing,
            ];
            appends: [
                a_written_stream_must_stand_where_expected,
                a_stream_that_was_only_read_is_guarded_too,
                a_guard_on_an_empty_stream_holds,
                several_streams_are_written_together,
                a_refused_append_leaves_nothing_behind,
                an_append_without_rows_moves_nothing,
                small_blobs_are_durable_with_the_append,
                a_small_blob_can_come_twice,
                a_refused_append_keeps_no_blob,
            ];
            keys: [
                a_repeated_request_is_answered_with_its_first_receipt,
                another_request_under_the_same_key_is_refused,
                a_refusal_binds_no_key,
                keys_are_told_apart_by_scope,
                a_key_outlives_its_handle,
                a_key_keeps_what_its_sender_was_told,
                a_key_can_be_used_without_events,
                a_key_is_over_after_seven_days,
                blobs_of_replies_are_listed_while_they_are_kept,
            ];
            fences: [
                the_present_epoch_passes,
                a_stale_epoch_is_refused_with_the_present_one,
                another_owner_is_refused,
                a_run_without_work_is_fenced,
                a_released_run_is_fenced,
                a_fenced_append_leaves_nothing_behind,
            ];
            work: [
                taking_gives_a_lease,
                taking_again_keeps_the_epoch,
                a_run_is_not_taken_twice,
                work_can_be_owed_without_taking_it,
                nothing_due_releases_the_run_and_keeps_its_epoch,
                a_claim_says_whether_an_owner_died,
                only_due_work_is_claimed,
                a_claim_takes_the_longest_due_first,
                a_claim_of_one_run_takes_no_other,
                a_claim_leaves_alone_what_is_held,
                a_killed_owners_run_is_taken_over_at_once,
                a_silent_owners_run_is_taken_over,
                a_beating_owner_keeps_its_runs,
                a_beat_lists_what_is_held,
                a_beat_leaves_out_what_was_lost,
                two_claims_never_share_a_run,
            ];
            folds: [
                no_fold_is_there_at_first,
                a_fold_comes_back_as_it_was_saved,
                a_later_fold_replaces_the_one_before,
                another_handle_sees_a_fold,
            ];
            tables: [
                a_row_is_put_once,
                rows_by_position_are_named_by_versions,
                a_patch_sets_only_what_it_names,
                a_patch_by_value_reaches_all_rows_of_its_stream,
                null_is_matched_by_null,
                every_kind_of_value_survives,
                a_unique_value_is_given_once,
                changes_mean_what_the_picture_says,
            ];
            queries: [
                a_row_is_found_by_each_unique_column,
                nothing_is_found_by_an_unknown_value,
                rows_of_a_stream_come_by_ordinal,
                spending_is_added_up,
                a_table_is_listed_newest_first,
                a_table_is_listed_by_each_listed_column,
                a_cursor_stays_right_while_rows_are_added,
                rows_of_one_event_are_not_split_over_pages,
                a_changed_row_keeps_its_place,
                events_are_filtered_by_kind,
                events_are_filtered_by_session_stream_and_actor,
                events_are_filtered_by_time,
                events_of_a_time_are_found_in_a_long_log,
                events_are_paged_newest_first,
                streams_come_in_the_order_in_which_they_began,
                limits_of_none_and_of_everything_hold,
            ];
            rebuilds: [
                right_tables_are_found_right,
                a_wrong_row_is_found_and_left_alone,
                a_missing_and_an_extra_row_are_found,
                a_replacement_repairs,
                other_streams_are_not_touched,
                rows_by_position_are_compared_and_repaired,
            ];
            heads: [
                the_head_begins_at_nothing_and_follows_appends,
                the_head_follows_another_handle,
                a_new_handle_begins_at_the_present_head,
            ];
            races: [
                nothing_is_lost_or_doubled_between_tasks,
                nothing_is_lost_or_doubled_between_handles,
                one_key_is_written_once,
                one_of_two_appends_at_a_version_wins,
                an_abandoned_append_is_whole_or_absent,
            ];
            model: [
                a_long_history_matches,
                another_long_history_matches,
                a_third_long_history_matches,
            ];
        }
    };
    (@in $bench:ty; $($group:ident: [$($case:ident),* $(,)?];)*) => {$(
        mod $group {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let bench = <$bench as $crate::conformance::Bench>::new().await;
                    $crate::conformance::$group::$case(&bench).await;
                }
            )*
        }
    )*};
}
