//! Tests of rules, in ast-grep's format: code that a rule must find, and code that it must not.
//!
//! Adds to the format that an entry under `invalid` may contain the result of the rule's fix. Leaves out ast-grep's snapshots,
//! and, as it does, the rules' globs and comments that suppress findings.

use std::ops::Range;

use ast_grep_config::{Fixer, RuleConfig};
use ast_grep_core::source::Edit;
use broker_plugin_sdk::Diagnostic;
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::{
    languages::Lang,
    rule_file::Rule,
    source::Source,
    workspace::Workspace,
    yaml::{Document, documents},
};

/// The code of a test that fails.
pub(crate) const RULE_TEST: &str = "rule-test";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    id: Spanned<String>,
    #[serde(default)]
    valid: Vec<Spanned<String>>,
    #[serde(default)]
    invalid: Vec<Spanned<Invalid>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Invalid {
    Found(String),
    Fixed { code: String, fixed: String },
}

/// Returns the failures of the tests in a file.
pub(crate) fn run(text: &str, workspace: &Workspace) -> Vec<Diagnostic> {
    let mut failures = Vec::new();
    for document in documents(text) {
        match document.read::<Test>() {
            Ok(Some(test)) => failures.extend(failures_of(&test, &document, workspace)),
            Ok(None) => {}
            Err(flaw) => failures.push(failure(flaw.span, flaw.message)),
        }
    }
    failures
}

fn failures_of(test: &Test, document: &Document<'_>, workspace: &Workspace) -> Vec<Diagnostic> {
    let id = &test.id.value;
    let place = |at| document.lines(at).unwrap_or_else(|| document.key("id"));
    let Some(rule) = workspace.rule(id) else {
        return vec![failure(place(test.id.referenced), unknown(id, workspace))];
    };
    let valid = test.valid.iter().map(|it| (it.referenced, valid(rule, &it.value)));
    let invalid = test.invalid.iter().map(|it| (it.referenced, invalid(rule, &it.value)));
    let failed = valid.chain(invalid).filter_map(|(at, told)| Some((at, told.err()?)));
    failed.map(|(at, told)| failure(place(at), format!("rule `{id}`: {told}"))).collect()
}

fn failure(span: Range<usize>, message: String) -> Diagnostic {
    Diagnostic::error(RULE_TEST, message, span)
}

fn unknown(id: &str, workspace: &Workspace) -> String {
    let broken = workspace.broken();
    match broken.first() {
        None => format!("there is no rule `{id}`"),
        Some(path) => format!("there is no rule `{id}` that could be used; `{path}` has mistakes"),
    }
}

fn valid(rule: &Rule, code: &str) -> Result<(), String> {
    match edits(rule, code)?.is_empty() {
        true => Ok(()),
        false => Err("finds something in this, which is said to be valid".to_owned()),
    }
}

fn invalid(rule: &Rule, test: &Invalid) -> Result<(), String> {
    let (Invalid::Found(code) | Invalid::Fixed { code, .. }) = test;
    let edits = edits(rule, code)?;
    if edits.is_empty() {
        return Err("finds nothing in this, which is said to be invalid".to_owned());
    }
    let Invalid::Fixed { fixed, .. } = test else { return Ok(()) };
    let edits = edits.into_iter().collect::<Option<Vec<_>>>().ok_or("has no fix")?;
    let made = applied(code, &edits);
    if made == *fixed { Ok(()) } else { Err(format!("the fix makes `{made}` of this, and not `{fixed}`")) }
}

/// Returns the edit of the rule's first fix, if there is one, for each of its findings. Offsets are in `code`.
fn edits(rule: &Rule, code: &str) -> Result<Vec<Option<Edit<String>>>, String> {
    let config = rule.config().ok_or("cannot be used")?;
    let source = Source::snippet(code, rule.lang())?;
    let grep = source.grep();
    let root = grep.root();
    let hidden = source.hidden();
    let edit = |it: &Fixer, found: &ast_grep_core::NodeMatch<'_, Source>, config: &RuleConfig<Lang>| {
        let edit = found.make_edit(&config.matcher, it);
        Edit { position: edit.position.saturating_sub(hidden), ..edit }
    };
    let found = root.find_all(&config.matcher);
    Ok(found.map(|found| config.fixer.first().map(|it| edit(it, &found, config))).collect())
}

/// The code with all changes; of two that overlap, the one that begins first.
fn applied(code: &str, edits: &[Edit<String>]) -> String {
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|it| it.position);
    let (mut made, mut at) = (Vec::new(), 0);
    let code = code.as_bytes();
    for edit in edits {
        let end = edit.position + edit.deleted_length;
        if edit.position < at || end > code.len() {
            continue;
        }
        made.extend_from_slice(&code[at..edit.position]);
        made.extend_from_slice(&edit.inserted_text);
        at = end;
    }
    made.extend_from_slice(&code[at..]);
    String::from_utf8_lossy(&made).into_owned()
}
