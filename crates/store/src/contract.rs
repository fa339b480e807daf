//! The contract of a store, as tests that run against every store. A test creates stores only with the given factory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "these are tests, kept in the library so that every store can run them"
)]

mod activity;
mod agents;
mod append;
mod chain;
mod histories;
mod items;
mod keys;
mod one_active;
mod queries;
mod rewrite;
pub mod rows;
mod search;
mod upkeep;
mod views;

use crate::Store;

/// Creates a new, empty store for each case.
pub type Factory<'a> = dyn FnMut() -> Box<dyn Store> + 'a;

pub type Case = (&'static str, fn(&mut Factory<'_>));

macro_rules! cases {
    ($($module:ident :: { $($case:ident),* $(,)? }),* $(,)?) => {
        &[$($((stringify!($case), $module::$case)),*),*]
    };
}

/// All cases of the contract, with their names.
pub const CASES: &[Case] = cases![
    append::{
        a_session_comes_back_as_it_was_given,
        a_later_append_adds_events_and_replaces_line_and_snapshot,
        an_append_without_a_snapshot_leaves_the_stored_one,
        a_wrong_expected_version_changes_nothing,
        a_batch_is_kept_whole_or_not_at_all,
        an_id_is_taken_whatever_its_case,
        a_malformed_batch_changes_nothing,
        an_empty_batch_changes_nothing,
        of_two_definitions_under_one_hash_the_later_counts,
        a_files_content_is_stored_once,
        a_turn_is_taken_and_given_back,
    },
    one_active::{
        a_worktree_has_one_active_session,
        pausing_one_and_starting_another_passes_in_both_orders,
        pausing_one_and_resuming_another_passes_in_both_orders,
        two_active_sessions_in_one_batch_are_refused,
        parallel_sessions_are_free_of_it,
        layouts_that_are_not_exclusive_are_free_of_it,
        worktrees_of_other_machines_are_free_of_it,
        other_worktrees_are_free_of_it,
        a_session_that_ended_leaves_its_place,
    },
    keys::{
        a_key_counts_once,
        a_key_is_recalled_if_it_was_used_after_a_moment,
        a_key_of_a_refused_batch_is_not_kept,
        an_old_key_is_replaced,
        a_key_in_the_way_is_told_before_a_conflict,
    },
    queries::{
        what_is_not_there_is_not_found,
        ids_are_loaded_exactly,
        events_are_read_after_a_version_up_to_a_limit,
        prefixes_find_ids_whatever_the_case,
        numbers_are_given_once,
        a_number_that_is_known_already_is_given_once,
        changes_follow_the_cursor,
        streams_of_one_batch_keep_their_order_in_the_changes,
        lists_begin_with_the_newest_activity,
        lists_are_filtered,
    },
    chain::{
        every_event_is_sealed_when_it_is_kept,
        what_is_rewritten_loses_its_salt_and_keeps_its_link,
        a_history_from_elsewhere_keeps_its_links,
    },
    histories::{
        a_history_from_elsewhere_is_kept_as_it_came,
        a_history_takes_the_place_of_another_after_what_they_share,
        a_history_decided_on_another_version_changes_nothing,
        a_history_that_is_not_whole_is_refused,
        known_definitions_and_contents_stay_as_they_are,
        a_copy_that_is_not_needed_goes_with_all_that_it_had,
        purged_contents_go_and_answers_about_the_session_are_emptied,
    },
    views::{
        a_file_comes_back_as_it_was_given,
        a_file_replaces_what_was_known_of_it,
        only_the_file_that_is_meant_is_confirmed,
        a_file_of_no_session_is_refused,
        a_write_is_noted_of_known_files_alone,
        a_new_row_inherits_the_journal_of_its_file_and_was_not_put_itself,
        the_last_writer_of_a_shared_file_is_found_in_its_worktree,
    },
    search::{
        words_are_found_in_every_field,
        words_are_found_in_notes_alone,
        every_word_must_be_found,
        wildcards_and_quotes_are_plain_text,
    },
    agents::{
        an_agent_is_kept_and_refreshed,
        a_binding_stays_until_it_is_replaced,
        a_batch_binds_agents,
        a_binding_to_no_session_is_refused,
        agents_are_listed_by_worktree_and_forgotten,
    },
    items::{
        an_item_comes_back_as_it_was_given,
        an_item_is_one_whatever_its_case_and_of_its_session_alone,
        a_changed_item_replaces_what_was_kept,
        items_are_listed_by_place_and_filtered,
        the_first_ready_item_is_one_that_nobody_else_holds,
        held_items_are_found_by_their_holder,
        dependents_are_what_the_rows_say,
        all_items_of_a_session_are_replaced,
        items_of_no_session_are_refused,
    },
    activity::{
        the_same_activity_counts_up_and_is_the_newest,
        an_older_report_of_it_keeps_the_newer_time,
        the_oldest_activity_of_a_session_goes_first,
        activity_changes_no_session,
        activity_of_a_session_that_does_not_exist_is_not_kept,
        what_a_hook_saw_is_kept_with_the_agent,
        what_a_hook_saw_twice_counts_once,
        what_a_hook_decided_on_must_still_be_so,
    },
    rewrite::{
        a_rewritten_history_has_other_words_and_one_more_event,
        a_rewrite_reaches_answers_activity_and_items,
        a_rewrite_of_another_version_changes_nothing,
        a_rewrite_of_an_event_that_is_not_there_is_refused,
    },
    upkeep::{
        a_store_tells_how_much_it_holds,
        a_store_in_order_has_no_findings,
        a_backup_never_overwrites,
    },
];

/// Runs all cases. Prints the name of each case before running it, so that the last printed name is that of the failed
/// case.
pub fn run_all(tell: &mut dyn FnMut(&str), make: &mut Factory<'_>) {
    for (name, case) in CASES {
        tell(name);
        case(make);
    }
}
