//! `broker branch tournament --verify`: a tournament, computed again from its receipt.

use std::{collections::BTreeSet, fmt::Write as _, time::Duration};

use lint::printable;
use serde::Serialize;
use serde_json::Value;
use workspaces::{Candidate, CandidateChange, Discard, FileEdit, TestCommand, TournamentRequest};

use super::{
    Args,
    receipt::{Entry, FORMAT, Receipt, Test, criterion},
};
use crate::{CliError, Exit, cli::Session, client::Opened};

/// Characters of a value that are shown.
const SHOWN: usize = 100;

#[derive(Serialize)]
struct Verified {
    differences: Vec<Difference>,
    /// Whether the digests of linters are compared: in another folder these are others.
    digests_compared: bool,
    /// Candidates whose conflict was taken over from the receipt: files on the disk that are not there any more.
    conflicts_taken_over: Vec<String>,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
struct Difference {
    /// `candidates[0].new_errors`.
    at: String,
    receipt: Value,
    now: Value,
}

pub(super) fn run(
    args: &Args,
    receipt: &[u8],
    open: &Opened,
    session: &mut Session,
) -> Result<Exit, CliError> {
    let (then, receipt) = read(receipt)?;
    let request = request(&receipt, args.from.as_deref(), open)?;
    let test = request.test.clone();
    let answer = open.client.wait(open.client.daemon().tournament(request))?;
    let now = Receipt::of(&answer, test.as_ref(), open.workspace.root());
    let is_elsewhere = now.observed.folder != receipt.observed.folder;
    let now = serde_json::to_value(now).unwrap_or_default();
    let conflicts = receipt.candidates.iter().filter(|it| it.conflict.is_some());
    let verified = Verified {
        differences: differences(&then, &now, is_elsewhere),
        digests_compared: !is_elsewhere,
        conflicts_taken_over: conflicts.map(|it| it.name.clone()).collect(),
    };
    args.shape.print(session, &verified, || verified.text())?;
    Ok(if verified.differences.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// The receipt as it stands there, and as what it means.
fn read(bytes: &[u8]) -> Result<(Value, Receipt), CliError> {
    let unusable = |error: serde_json::Error| CliError::usage(format!("this is no receipt: {error}"));
    let value: Value = serde_json::from_slice(bytes).map_err(unusable)?;
    if value["format"].as_u64().is_some_and(|it| it != u64::from(FORMAT)) {
        let error = format!("this is a receipt of format {}", value["format"]);
        return Err(CliError::usage(error).hint(format!("this version knows format {FORMAT}")));
    }
    let receipt = serde_json::from_value(value.clone()).map_err(unusable)?;
    Ok((value, receipt))
}

fn request(receipt: &Receipt, from: Option<&str>, open: &Opened) -> Result<TournamentRequest, CliError> {
    let candidates = receipt.candidates.iter().map(|it| candidate(it, open)).collect::<Result<_, _>>()?;
    let known = |it: &String| {
        criterion(it).ok_or_else(|| CliError::usage(format!("there is no criterion `{}`", printable(it))))
    };
    Ok(TournamentRequest {
        parent: open.target(from)?,
        candidates,
        test: receipt.test.as_ref().map(test),
        order: receipt.order.iter().map(known).collect::<Result<_, _>>()?,
        discard: Discard::Made,
        base_paths: receipt.base.files.keys().cloned().collect(),
    })
}

fn test(it: &Test) -> TestCommand {
    TestCommand { command: it.command.clone(), time: it.timeout_ms.map(Duration::from_millis) }
}

/// The candidate by its patch; one without is looked for among the branches.
fn candidate(it: &Entry, open: &Opened) -> Result<Candidate, CliError> {
    let change = match (&it.patch, &it.refused) {
        (Some(patch), None) if patch.is_empty() => CandidateChange::Edits(Vec::new()),
        (Some(patch), _) => CandidateChange::Edits(vec![FileEdit::Patch(patch.clone())]),
        (None, _) => {
            let branch = open.branch(&it.name).map_err(|error| {
                let name = printable(&it.name);
                error.hint(format!("the receipt has no patch of `{name}`, and needs its branch"))
            })?;
            CandidateChange::Branch(branch.id.to_string())
        }
    };
    Ok(Candidate { name: it.name.clone(), change, stated_conflict: it.conflict.clone() })
}

/// Differences outside of `observed`; of digests in the same folder only.
fn differences(receipt: &Value, now: &Value, is_elsewhere: bool) -> Vec<Difference> {
    let (mut receipt, mut now) = (receipt.clone(), now.clone());
    for it in [&mut receipt, &mut now] {
        it.as_object_mut().map(|it| it.remove("observed"));
        let linters = it.get_mut("linters").filter(|_| is_elsewhere).and_then(Value::as_array_mut);
        let linters = linters.into_iter().flatten().filter_map(Value::as_object_mut);
        linters.for_each(|it| _ = it.remove("digest"));
    }
    let mut found = Vec::new();
    compare("", &receipt, &now, &mut found);
    found
}

fn compare(at: &str, receipt: &Value, now: &Value, found: &mut Vec<Difference>) {
    match (receipt, now) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                compare(&at, &receipt[key], &now[key], found);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for place in 0..a.len().max(b.len()) {
                compare(&format!("{at}[{place}]"), &receipt[place], &now[place], found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(Difference { at: at.to_owned(), receipt: a.clone(), now: b.clone() }),
    }
}

impl Verified {
    fn text(&self) -> String {
        let mut text = String::new();
        for Difference { at, receipt, now } in &self.differences {
            let _to_a_string =
                writeln!(text, "differs  {}: {}, now {}", printable(at), shown(receipt), shown(now));
        }
        for name in &self.conflicts_taken_over {
            let _to_a_string =
                writeln!(text, "note: the conflict of {} is as the receipt has it", printable(name));
        }
        if !self.digests_compared {
            text.push_str("note: in another folder, linters are compared by name and version\n");
        }
        if self.differences.is_empty() {
            text.push_str("everything is as the receipt has it\n");
        }
        text
    }
}

/// The value in one line, cut.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_has_its_place() {
        let receipt = json!({"a": [{"b": 1}, {"c": null}], "d": {"x/y.py": "0"}, "observed": 1});
        let now = json!({"a": [{"b": 2}], "d": {"x/y.py": "0"}, "e": 3, "observed": 2});
        let found: Vec<_> = differences(&receipt, &now, false)
            .into_iter()
            .map(|it| format!("{}: {}, now {}", it.at, it.receipt, it.now))
            .collect();
        assert_eq!(found, ["a[0].b: 1, now 2", "a[1]: {\"c\":null}, now null", "e: null, now 3"]);
        assert!(differences(&receipt, &receipt, false).is_empty());
    }

    #[test]
    fn digests_are_compared_in_the_same_folder() {
        let receipt = |digest| json!({"linters": [{"name": "a", "version": "1", "digest": digest}]});
        assert_eq!(differences(&receipt(1), &receipt(2), false)[0].at, "linters[0].digest");
        assert!(differences(&receipt(1), &receipt(2), true).is_empty());
    }

    #[test]
    fn another_format_is_refused() {
        let error = read(br#"{"format": 2}"#).unwrap_err().to_string();
        assert!(error.contains("format 2"), "{error}");
        let error = read(b"{}").unwrap_err().to_string();
        assert!(error.contains("no receipt"), "{error}");
    }
}
