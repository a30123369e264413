//! The contexts of expressions and their properties, as GitHub documents them and as its runner fills them.
//!
//! Left out: what depends on the event (`github.event`), on other files (`inputs`, `secrets`, `vars`), or on outputs.

use std::collections::BTreeSet;

use broker_plugin_sdk::Severity;
use broker_schemas::did_you_mean;
use broker_yaml_tree::github;
use github_actions_expressions::context::Context;
use github_actions_expressions::literal::Literal;
use github_actions_expressions::{Expr, SpannedExpr};

use super::jobs;
use super::matrix::Matrix;
use crate::tree::{Document, Id};

/// Everything that can be asked anywhere.
const CONTEXTS: [&str; 12] = [
    "env", "github", "inputs", "job", "jobs", "matrix", "needs", "runner", "secrets", "steps", "strategy",
    "vars",
];

/// Properties of `github`, those that are not documented included.
const GITHUB: [&str; 49] = [
    "action",
    "action_path",
    "action_ref",
    "action_repository",
    "action_status",
    "actor",
    "actor_id",
    "api_url",
    "artifact_cache_size_limit",
    "artifacts",
    "artifacts_list",
    "base_ref",
    "enterprise-managed-business-id",
    "env",
    "event",
    "event_name",
    "event_path",
    "graphql_url",
    "head_ref",
    "job",
    "job_workflow_sha",
    "output",
    "path",
    "ref",
    "ref_name",
    "ref_protected",
    "ref_type",
    "repo-self-hosted-runners-disabled",
    "repository",
    "repository_id",
    "repository_owner",
    "repository_owner_id",
    "repository_visibility",
    "repositoryurl",
    "retention_days",
    "run_attempt",
    "run_id",
    "run_number",
    "secret_source",
    "server_url",
    "sha",
    "state",
    "step_summary",
    "token",
    "triggering_actor",
    "workflow",
    "workflow_ref",
    "workflow_sha",
    "workspace",
];

const JOB: [&str; 8] = [
    "check_run_id",
    "container",
    "services",
    "status",
    "workflow_file_path",
    "workflow_ref",
    "workflow_repository",
    "workflow_sha",
];

const RUNNER: [&str; 8] = ["arch", "debug", "environment", "name", "os", "temp", "tool_cache", "workspace"];

const STRATEGY: [&str; 4] = ["fail-fast", "job-index", "job-total", "max-parallel"];

/// Properties of each of `steps` and of `needs`.
const STEP: [&str; 3] = ["conclusion", "outcome", "outputs"];
const NEED: [&str; 2] = ["outputs", "result"];

/// Names that are known at the place of an expression; none are known outside of jobs.
#[derive(Default)]
pub(crate) struct Scope {
    needs: Option<BTreeSet<String>>,
    steps: Option<BTreeSet<String>>,
    matrix: Matrix,
}

impl Scope {
    pub(crate) fn of_job(document: &Document<'_>, job: Id) -> Self {
        let needs =
            jobs::needs(document, job).into_iter().filter_map(|it| jobs::name(document, it)).collect();
        let matrix = Matrix::of(document, job);
        Self { needs: Some(needs), steps: Some(step_ids(document, job)), matrix }
    }

    pub(crate) fn of_action(document: &Document<'_>, runs: Id) -> Self {
        Self { steps: Some(step_ids(document, runs)), ..Self::default() }
    }
}

fn step_ids(document: &Document<'_>, of: Id) -> BTreeSet<String> {
    let steps = github::steps(document, of);
    steps.iter().filter_map(|it| jobs::name(document, document.get(*it, "id")?)).collect()
}

/// Returns the error that a part of a context does not exist.
pub(crate) fn unknown(context: &Context<'_>, scope: &Scope) -> Option<(Severity, String)> {
    let first = name(context.parts.first()?)?;
    if !CONTEXTS.contains(&first.as_str()) {
        let message = format!("there is no context `{first}`; a text in an expression needs single quotes");
        return Some((Severity::Error, message));
    }
    if first == "matrix" && context.parts.len() > 1 && scope.matrix == Matrix::Missing {
        return Some((Severity::Warning, "this job has no matrix".to_owned()));
    }
    let second = name(context.parts.get(1)?)?;
    let message = missing(&first, &second, scope)
        .or_else(|| unknown_part(&first, &second, name(context.parts.get(2)?)?.as_str()))?;
    Some((Severity::Warning, message))
}

/// Returns the error that a context lacks a part.
fn missing(context: &str, part: &str, scope: &Scope) -> Option<String> {
    match (context, &scope.needs, &scope.steps, &scope.matrix) {
        ("needs", Some(known), ..) if !known.contains(part) => {
            Some(format!("this job does not wait for `{part}`: it is not in `needs`"))
        }
        ("steps", _, Some(known), _) if !known.contains(part) => {
            Some(format!("no step of this job has the id `{part}`"))
        }
        ("matrix", .., Matrix::Names(known)) => unknown_property("the matrix of this job", part, known),
        ("github", ..) => unknown_property("`github`", part, GITHUB),
        ("job", ..) => unknown_property("`job`", part, JOB),
        ("runner", ..) => unknown_property("`runner`", part, RUNNER),
        ("strategy", ..) => unknown_property("`strategy`", part, STRATEGY),
        _ => None,
    }
}

fn unknown_part(context: &str, second: &str, part: &str) -> Option<String> {
    match context {
        "needs" => unknown_property(&format!("`needs.{second}`"), part, NEED),
        "steps" => unknown_property(&format!("`steps.{second}`"), part, STEP),
        _ => None,
    }
}

fn unknown_property<T: AsRef<str>>(
    of: &str,
    part: &str,
    known: impl IntoIterator<Item = T>,
) -> Option<String> {
    let known: Vec<String> = known.into_iter().map(|it| it.as_ref().to_owned()).collect();
    let is_known = known.iter().any(|it| it == part);
    (!is_known).then(|| format!("{of} has no `{part}`{}", did_you_mean(part, &known)))
}

/// A part of a context that is a plain name, in small letters.
fn name(part: &SpannedExpr<'_>) -> Option<String> {
    match &part.inner {
        Expr::Identifier(it) => Some(it.as_str().to_ascii_lowercase()),
        Expr::Index(it) => match &it.inner {
            Expr::Literal(Literal::String(it)) => Some(it.to_ascii_lowercase()),
            _ => None,
        },
        _ => None,
    }
}
