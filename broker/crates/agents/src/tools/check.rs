//! Tools that say what is wrong with a branch, and mend what can be mended.

use std::time::Instant;

use lint::Applicability;
use overlay::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{CheckOptions, CheckRequest, FixRequest};

use crate::{
    checks,
    context::{Context, path},
    findings::Findings,
    limits::{self, count},
    question::Question,
    reasons,
    reply::{Answer, ToolError},
    wait::Waiting,
};

pub(super) const CHECK: &str = "New findings of linters and type checkers against the parent.";
pub(super) const APPLY_FIXES: &str = "Make the linters' own fixes.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    /// Default: the branch
    #[serde(default)]
    paths: Vec<String>,
    /// Also old ones
    #[serde(default)]
    all: bool,
    /// Seconds
    wait: Option<u64>,
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyFixes {
    /// Default: changed files
    #[serde(default)]
    paths: Vec<String>,
    /// Such as python/F401
    #[serde(default)]
    rules: Vec<String>,
    /// Also ones that may change behaviour
    #[serde(default)]
    unsafe_fixes: bool,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    branch: Option<String>,
    #[serde(flatten)]
    findings: Findings,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Fixed {
    branch: String,
    revision: u64,
    fixed: usize,
    files: Vec<String>,
    diff: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

pub(super) async fn check(context: Context, request: Check) -> Result<Checked, ToolError> {
    let seen = context.seen(request.branch.as_deref()).await?;
    let new_only = !request.all && seen.branch.is_some();
    let paths = paths(&request.paths)?;
    let start = Instant::now();
    let wait = context.wait(Waiting::Check, request.wait).await?;
    // A look at known answers takes the rest.
    context.session.late.join(&seen.target, seen.revision, wait.mul_f64(JOINED)).await;
    let question = Question { target: seen.target, paths, new_only };
    let findings = checks::check(&context, question, wait.saturating_sub(start.elapsed())).await?;
    Ok(Checked { branch: seen.branch, findings })
}

pub(super) async fn apply_fixes(context: Context, request: ApplyFixes) -> Result<Fixed, ToolError> {
    let named = request.branch.as_deref();
    let mut paths = paths(&request.paths)?;
    let branch = match paths.is_empty() {
        true => context.expect_branch(named).await?,
        false => context.branch_to_edit(named).await?,
    };
    if paths.is_empty() {
        paths = super::edit::changed_files(&context, &branch).await?;
    }
    if paths.is_empty() {
        return Err(ToolError::new("the branch changed no file").hint("name what is to be fixed in `paths`"));
    }
    let wait = context.wait(Waiting::Check, None).await?;
    let check = CheckRequest {
        paths: paths.iter().map(|it| it.as_str().to_owned()).collect(),
        select: request.rules,
        options: CheckOptions { wait: Some(wait), ..CheckOptions::default() },
        ..CheckRequest::of(branch.target())
    };
    let least = if request.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
    let request = FixRequest { least, ..FixRequest::of(check) };
    let fixed = context.daemon.fix_files(request).await?;
    let mut notes: Vec<_> = fixed.notes.into_iter().map(|it| it.reason).collect();
    notes.extend(fixed.incomplete.iter().map(|it| format!("not checked: {}", reasons::reason(it))));
    Ok(Fixed {
        branch: branch.name,
        revision: fixed.revision.0,
        fixed: fixed.count,
        files: fixed.paths.iter().map(ToString::to_string).collect(),
        diff: limits::diff(&fixed.patch),
        notes,
    })
}

/// Part of the wait that may pass until checks that are under way have ended.
const JOINED: f64 = 0.8;

fn paths(texts: &[String]) -> Result<Vec<WorkspacePath>, ToolError> {
    texts.iter().map(|it| path("paths", it)).collect()
}

impl Answer for Checked {
    fn text(&self) -> String {
        self.findings.text()
    }
}

impl Answer for Fixed {
    fn text(&self) -> String {
        let files = count(self.files.len(), "file", "files");
        let mut text = match self.fixed {
            0 => "nothing to fix".to_owned(),
            fixed => format!(
                "{} in {files}, revision {}\n{}",
                count(fixed, "fix", "fixes"),
                self.revision,
                self.diff
            ),
        };
        for note in &self.notes {
            text.push_str(&format!("\nnote: {note}"));
        }
        text
    }
}
