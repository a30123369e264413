//! The tools, one file for those of a kind.

mod answered;
mod background;
mod branches;
mod check;
mod edit;
mod grep;
mod history;
mod lines;
mod list;
mod merge_preview;
mod output;
pub(crate) mod plan;
mod query;
mod read;
mod rules;
mod run;
mod search;
mod steps;
mod symbol;

use std::sync::LazyLock;

use crate::{
    reply::ToolError,
    tool::{Effect::*, Tool, ToolInfo},
};

/// Instructions for agents: the way to work with the tools.
pub const INSTRUCTIONS: &str = "\
Broker answers what linters, type checkers and tests would say, before anything is written to the disk. You work on a \
branch of the workspace in memory; your first edit makes it, and every result names it and its revision.\n\
Loop: find (grep_search, codebase_search, query), read_file, then edit_file: old_string and new_string, or a symbol with its new \
code. Each edit answers with what is new: errors that you brought in. Mend them or call apply_fixes. run_terminal_cmd runs \
tests on the branch. An edit that is refused was not applied: send more context, or pick a reading with reapply. When check says \
ok, branch_commit writes all to the disk, or branch_discard drops it. \
To try alternatives, branch_fork and pass `branch`.";

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        Tool::new("read_file", Reads, read::READ_FILE, read::read_file),
        Tool::new("list_dir", Reads, list::LIST_DIR, list::list_dir),
        Tool::new("grep_search", Reads, grep::GREP, grep::grep_search),
        Tool::new("file_search", Reads, search::FILES, search::file_search),
        Tool::new("codebase_search", Reads, search::CODE, search::codebase_search),
        Tool::new("edit_file", Edits, edit::EDIT_FILE, edit::edit_file),
        Tool::new("delete_file", EditsOnce, edit::DELETE_FILE, edit::delete_file),
        Tool::new("reapply", Edits, edit::REAPPLY, edit::reapply),
        Tool::new("diff_history", Reads, history::DIFF_HISTORY, history::diff_history),
        Tool::new("run_terminal_cmd", Runs, run::RUN, run::run_terminal_cmd),
        Tool::new("run_list", Reads, background::LIST, background::list),
        Tool::new("run_output", Reads, background::OUTPUT, background::output),
        Tool::new("run_kill", Destroys, background::KILL, background::kill),
        Tool::new("check", Reads, check::CHECK, check::check),
        Tool::new("query", EditsOnce, query::QUERY, query::query),
        Tool::new("apply_fixes", EditsOnce, check::APPLY_FIXES, check::apply_fixes),
        Tool::new("branch_fork", Edits, branches::FORK, branches::fork),
        Tool::new("branch_list", Reads, branches::LIST, branches::list),
        Tool::new("branch_diff", Reads, branches::DIFF, branches::diff),
        Tool::new("branch_commit", Destroys, branches::COMMIT, branches::commit),
        Tool::new("branch_undo", Edits, history::UNDO, history::branch_undo),
        Tool::new("branch_discard", Destroys, branches::DISCARD, branches::discard),
        Tool::new("branch_rebase", EditsOnce, branches::REBASE, branches::rebase),
        Tool::new("branch_merge_preview", Reads, merge_preview::MERGE_PREVIEW, merge_preview::merge_preview),
        Tool::new("explain_rule", Reads, rules::EXPLAIN, rules::explain_rule),
    ]
});

/// All tools, always in this order.
pub fn list() -> impl Iterator<Item = &'static ToolInfo> {
    TOOLS.iter().map(|it| &it.info)
}

pub(crate) fn find(name: &str) -> Result<&'static Tool, ToolError> {
    let names = || TOOLS.iter().map(|it| &*it.info.name).collect::<Vec<_>>().join(", ");
    let none =
        || ToolError::new(format!("there is no tool `{name}`")).hint(format!("the tools are {}", names()));
    TOOLS.iter().find(|it| it.info.name == name).ok_or_else(none)
}
