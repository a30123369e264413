//! Answers of the program as tests look at them.

use check_engine::Subject;
use overlay::ContentHash;
use workspaces::{
    BranchChangeKind, CheckSummary, FileChange, FixedFile, FixedFiles, UnfixedFinding, WatchEvent,
    WorkspaceEvent,
};

use super::{BranchChange, Change, Changed, Event, Finding, Fixed, Incomplete, Round, Summary};

pub(super) fn changes(all: Vec<FileChange>) -> Vec<Changed> {
    all.into_iter().map(|it| (it.path.to_string(), it.kind)).collect()
}

pub(super) fn texts(paths: &[overlay::WorkspacePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

pub(super) fn round(event: WatchEvent) -> Round {
    match event {
        WatchEvent::Check(it) => Round::Check(self::event(it)),
        WatchEvent::Superseded(revision) => Round::Superseded(revision),
        WatchEvent::Refused(error) => {
            Round::Refused { message: error.message().to_owned(), reason: error.reason }
        }
    }
}

pub(super) fn event(event: workspaces::Event) -> Event {
    use workspaces::Event as It;
    match event {
        It::Started(it) => Event::Started { revision: it.revision, files: it.files },
        It::Files(files) => Event::Findings(files.iter().flat_map(findings).collect()),
        It::Incomplete(all) => Event::Incomplete(all.into_iter().map(incomplete).collect()),
        It::Excluded(_) => Event::Excluded,
        It::Summary(it) => Event::Summary(summary(&it)),
    }
}

fn findings(file: &workspaces::FileFindings) -> impl Iterator<Item = Finding> {
    file.findings.iter().map(|it| Finding {
        path: it.0.file.path.to_string(),
        line: it.0.range.start.line,
        code: it.0.rule.code.clone(),
        content: it.0.file.content,
        change: file.change,
        tags: tags(&it.0.rule),
    })
}

fn tags(it: &check_engine::RuleRef) -> Vec<String> {
    let all = [
        (it.is_unnecessary, "Unnecessary"),
        (it.is_deprecated, "Deprecated"),
        (it.is_syntax_error, "SyntaxError"),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, tag)| tag.to_owned()).collect()
}

fn fixed_file(it: &FixedFile) -> (String, ContentHash, String) {
    let text = String::from_utf8(it.content.to_vec()).unwrap();
    (it.path.to_string(), it.checked, text)
}

pub(super) fn changed(event: WorkspaceEvent) -> Change {
    match event {
        WorkspaceEvent::Started(editor) => Change::Started(editor.0.to_string()),
        WorkspaceEvent::BaseChanged => Change::Base,
        WorkspaceEvent::Branch(it) => Change::Branch(branch_change(&it)),
        WorkspaceEvent::Buffer(it) => {
            let (name, hash) =
                it.shown.map(|it| (it.client_name, it.content.to_string())).unwrap_or_default();
            Change::Buffer(it.path.to_string(), name, hash)
        }
    }
}

pub(super) fn fixed(it: FixedFiles) -> Fixed {
    let note =
        |it: UnfixedFinding| (it.path.map(|it| it.to_string()).unwrap_or_default(), it.rule, it.reason);
    Fixed {
        revision: it.revision,
        count: it.count,
        paths: texts(&it.paths),
        patch: it.patch,
        files: it.files.iter().map(fixed_file).collect(),
        notes: it.notes.into_iter().map(note).collect(),
    }
}

fn branch_change(it: &workspaces::BranchChange) -> BranchChange {
    let (kind, changed, unsaved, left) = match it.kind.clone() {
        BranchChangeKind::Forked => ("forked", Vec::new(), Vec::new(), Vec::new()),
        BranchChangeKind::Edited => ("edited", Vec::new(), Vec::new(), Vec::new()),
        BranchChangeKind::Committed { changes, unsaved, left } => ("committed", changes, unsaved, left),
        BranchChangeKind::Discarded => ("discarded", Vec::new(), Vec::new(), Vec::new()),
    };
    BranchChange {
        kind,
        branch: it.branch.id.to_string(),
        revision: it.branch.revision.0,
        changes: changes(changed),
        unsaved: texts(&unsaved),
        left: texts(&left),
    }
}

fn incomplete(it: check_engine::Incomplete) -> Incomplete {
    let path = match it.subject {
        Subject::Everything => String::new(),
        Subject::Argument(given) => given,
        Subject::Path(path) => path.to_string(),
    };
    Incomplete { path, reason: it.reason }
}

fn summary(it: &CheckSummary) -> Summary {
    Summary {
        revision: it.revision,
        content: it.content,
        level: it.level,
        files: it.files,
        findings: it.findings,
        fixed: it.fixed,
        cached: it.linters.iter().map(|it| (it.linter.name.clone(), it.cached)).collect(),
    }
}
