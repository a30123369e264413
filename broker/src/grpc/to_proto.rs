//! From the daemon's own types to messages.

mod events;
mod merges;
#[cfg(target_os = "linux")]
mod runs;
mod tournaments;

use broker_proto::{
    v1 as pb,
    v1::{check_response::Event as Answer, watch_response::Event as Watched},
};
use check_engine::{
    AnswerTime, Finding, Incomplete, Level, ListedFile, RuleRef, Subject, Unavailable,
    pipeline::{Change, LinterSummary},
};
use language_servers::{Counts, ServerLog};
use lint::{Applicability, FixAvailability, Identity, Severity};
use overlay::{ChangeKind, Entry, FileKind, TextEdit, WorkspacePath};
use workspaces::{
    BranchInfo, CacheStatus, CheckSummary, ClassStatus, DaemonStatus, Event, FileChange, FileContent,
    FileFindings, FixedFile, FixedFiles, JudgedBranch, LinterRule, ListedFiles, PluginInfo, PluginList,
    RequestError, ResolvedConflict, RevisionEntry, SchedulerStatus, ServerEnding, ServerInfo, ServerPhase,
    ServersStatus, UnfixedFinding, UnusablePlugin, UpdatedBaseline, WatchEvent, WorkspaceInfo,
};

#[cfg(target_os = "linux")]
pub(super) use self::runs::{log_event, run, run_event, run_result};
pub(super) use self::{events::workspace_event, merges::merge_preview, tournaments::tournament};

/// Number of findings in a message, so that it stays below gRPC's usual limit of 4 MiB.
const FINDINGS: usize = 500;

/// Counts beyond u32 are shown as u32::MAX.
pub(super) fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn workspace(it: WorkspaceInfo) -> pb::Workspace {
    pb::Workspace {
        workspace_id: it.id.to_string(),
        root: it.root.to_string_lossy().into_owned(),
        branches: count(it.branches),
        buffers: count(it.buffers),
        degraded: it.degraded.unwrap_or_default(),
    }
}

pub(super) fn server(it: ServerInfo) -> pb::Server {
    let (state, ending) = server_state(it.state);
    let Counts { questions, switches, starts, crashes } = it.counts;
    pb::Server {
        server_id: it.id,
        name: it.name,
        root: it.root.to_string_lossy().into_owned(),
        version: it.version.unwrap_or_default(),
        pid: it.pid.unwrap_or_default(),
        resident_bytes: it.memory.unwrap_or_default(),
        state: state.into(),
        ending: ending.into(),
        waiting: count(it.waiting),
        counts: Some(pb::ServerCounts { questions, switches, starts, crashes }),
        idle_ms: it.idle_for.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
        last_error: it.last_error.unwrap_or_default(),
        unwell: it.unwell.unwrap_or_default(),
        server_pid: it.server_pid.unwrap_or_default(),
    }
}

fn server_state(it: ServerPhase) -> (pb::ServerState, pb::ServerEnding) {
    let ending = match it {
        ServerPhase::Ended(why) => match why {
            ServerEnding::Idleness => pb::ServerEnding::Idleness,
            ServerEnding::Memory => pb::ServerEnding::Memory,
            ServerEnding::Worn => pb::ServerEnding::Worn,
            ServerEnding::Outdated => pb::ServerEnding::Outdated,
            ServerEnding::Shutdown => pb::ServerEnding::Shutdown,
        },
        _ => pb::ServerEnding::Unspecified,
    };
    let state = match it {
        ServerPhase::Unused => pb::ServerState::Unused,
        ServerPhase::WaitingForMemory => pb::ServerState::WaitingForMemory,
        ServerPhase::Starting => pb::ServerState::Starting,
        ServerPhase::Idle => pb::ServerState::Idle,
        ServerPhase::Busy => pb::ServerState::Busy,
        ServerPhase::NotAnswering => pb::ServerState::NotAnswering,
        ServerPhase::Pausing => pb::ServerState::Pausing,
        ServerPhase::Ended(_) => pb::ServerState::Ended,
    };
    (state, ending)
}

pub(super) fn server_log(it: ServerLog) -> pb::ServerLog {
    let line = |(epoch, text): (language_servers::Epoch, String)| pb::ServerLogLine { epoch: epoch.0, text };
    pb::ServerLog {
        server_id: it.id,
        name: it.name,
        root: it.root.to_string_lossy().into_owned(),
        lines: it.lines.into_iter().map(line).collect(),
    }
}

pub(super) fn branch(it: BranchInfo) -> pb::Branch {
    pb::Branch {
        branch_id: it.id.to_string(),
        name: it.name,
        workspace_id: it.workspace.to_string(),
        parent_branch_id: it.parent.unwrap_or_default(),
        revision: it.revision.0,
        created_ms: it.created_ms,
        labels: it.labels.into_iter().collect(),
        changed_paths: count(it.changed_paths),
    }
}

pub(super) fn judged_branch(it: JudgedBranch) -> pb::JudgedBranch {
    pb::JudgedBranch { branch_id: it.id.to_string(), name: it.name, kept: it.kept }
}

pub(super) fn file_info(it: &FileContent) -> pb::FileInfo {
    pb::FileInfo {
        size: it.bytes.len() as u64,
        executable: it.executable,
        content_hash: it.content_hash.to_string(),
        revision: it.revision.0,
    }
}

pub(super) fn entry((it, link_target): (Entry, Option<String>)) -> pb::DirectoryEntry {
    let kind = match it.kind {
        FileKind::File => pb::FileKind::File,
        FileKind::Directory => pb::FileKind::Directory,
        FileKind::Symlink => pb::FileKind::Symlink,
        FileKind::Other => pb::FileKind::Other,
    };
    pb::DirectoryEntry { name: it.name, kind: kind.into(), link_target: link_target.unwrap_or_default() }
}

pub(super) fn revision(it: &RevisionEntry) -> pb::RevisionEntry {
    pb::RevisionEntry {
        revision: it.revision.0,
        time_ms: it.at_ms,
        description: it.what.to_string(),
        paths: it.paths.iter().map(ToString::to_string).collect(),
    }
}

pub(super) fn change(it: &FileChange) -> pb::FileChange {
    let (kind, from) = match &it.kind {
        ChangeKind::Added => (pb::ChangeKind::Added, None),
        ChangeKind::Deleted => (pb::ChangeKind::Deleted, None),
        ChangeKind::Modified | ChangeKind::TypeChanged => (pb::ChangeKind::Modified, None),
        ChangeKind::ModeChanged => (pb::ChangeKind::Mode, None),
        ChangeKind::Renamed { from } => (pb::ChangeKind::Renamed, Some(from)),
    };
    pb::FileChange {
        path: it.path.to_string(),
        kind: kind.into(),
        from_path: from.map(ToString::to_string).unwrap_or_default(),
        is_directory: it.is_directory,
    }
}

pub(super) fn paths(all: &[WorkspacePath]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

pub(super) fn conflict(it: ResolvedConflict) -> pb::Conflict {
    pb::Conflict { path: it.path.to_string(), reason: it.reason }
}

pub(super) fn events(event: Event) -> Vec<Answer> {
    match event {
        Event::Started(it) => {
            vec![Answer::Started(pb::CheckStarted { revision: it.revision.0, files: count(it.files) })]
        }
        Event::Files(files) => {
            let mut all = files.iter().flat_map(findings);
            let some = || Some(all.by_ref().take(FINDINGS).collect()).filter(|it: &Vec<_>| !it.is_empty());
            std::iter::from_fn(some).map(|findings| Answer::Findings(pb::Findings { findings })).collect()
        }
        Event::Incomplete(all) => all.iter().map(|it| Answer::Incomplete(incomplete(it))).collect(),
        Event::Excluded(all) => all.iter().map(|it| Answer::Excluded(excluded(it))).collect(),
        Event::Summary(it) => vec![Answer::Summary(summary(&it))],
    }
}

/// A round of a watch has the same parts as a check.
pub(super) fn watch_events(event: WatchEvent) -> Vec<Watched> {
    let watched = |it| match it {
        Answer::Started(it) => Watched::Started(it),
        Answer::Findings(it) => Watched::Findings(it),
        Answer::Incomplete(it) => Watched::Incomplete(it),
        Answer::Summary(it) => Watched::Summary(it),
        Answer::Excluded(it) => Watched::Excluded(it),
    };
    match event {
        WatchEvent::Check(event) => events(event).into_iter().map(watched).collect(),
        WatchEvent::Superseded(revision) => {
            vec![Watched::Superseded(pb::Superseded { revision: revision.0 })]
        }
        WatchEvent::Refused(error) => vec![Watched::Refused(refused(error))],
    }
}

fn refused(error: RequestError) -> pb::RoundRefused {
    let message = error.message().to_owned();
    pb::RoundRefused { message, reason: error.reason, hint: error.hint.unwrap_or_default() }
}

fn findings(file: &FileFindings) -> impl Iterator<Item = pb::Finding> {
    let change = match file.change {
        None => pb::FindingChange::Unspecified,
        Some(Change::New) => pb::FindingChange::New,
        Some(Change::Fixed) => pb::FindingChange::Fixed,
    };
    file.findings.iter().map(move |it| {
        let (it, fingerprint) = &**it;
        let mut message = finding(it);
        message.fingerprint = fingerprint.to_string();
        message.change = change.into();
        message
    })
}

fn finding(it: &Finding) -> pb::Finding {
    pb::Finding {
        path: it.file.path.to_string(),
        linter: it.rule.linter.to_string(),
        code: it.rule.code.clone(),
        name: it.rule.name.clone().unwrap_or_default(),
        message: it.message.to_string(),
        severity: severity(it.severity).into(),
        span: Some(span(it.span)),
        range: Some(range(it.range)),
        cell: it.cell.as_ref().map(|cell| cell.index + 1),
        url: it.rule.url.clone().unwrap_or_default(),
        fixes: it.fixes.iter().map(fix).collect(),
        related: it.related.iter().map(related).collect(),
        content_hash: it.file.content.map(|it| it.to_string()).unwrap_or_default(),
        fingerprint: String::new(),
        change: pb::FindingChange::Unspecified.into(),
        tags: tags(&it.rule),
    }
}

fn tags(it: &RuleRef) -> Vec<i32> {
    let tags = [
        (it.is_unnecessary, pb::FindingTag::Unnecessary),
        (it.is_deprecated, pb::FindingTag::Deprecated),
        (it.is_syntax_error, pb::FindingTag::SyntaxError),
    ];
    tags.into_iter().filter(|(is_so, _)| *is_so).map(|(_, tag)| tag.into()).collect()
}

fn fix(it: &check_engine::Fix) -> pb::Fix {
    let applicability = match it.applicability {
        Applicability::DisplayOnly => pb::Applicability::DisplayOnly,
        Applicability::Unsafe => pb::Applicability::Unsafe,
        Applicability::Safe => pb::Applicability::Safe,
    };
    let edit = |it: &check_engine::Edit| pb::TextEdit {
        span: Some(span(it.span)),
        replacement: it.replacement.to_string(),
        range: Some(range(it.range)),
    };
    pb::Fix {
        message: it.message.as_deref().unwrap_or_default().to_owned(),
        applicability: applicability.into(),
        edits: it.edits.iter().map(edit).collect(),
    }
}

fn related(it: &check_engine::Related) -> pb::RelatedPlace {
    pb::RelatedPlace {
        path: it.path.as_ref().map(ToString::to_string).unwrap_or_default(),
        span: Some(span(it.span)),
        range: it.range.map(range),
        message: it.message.to_string(),
    }
}

pub(super) fn span(it: lint::Span) -> pb::Span {
    pb::Span { start: it.start, end: it.end }
}

pub(super) fn range(it: check_engine::Range) -> pb::Range {
    pb::Range { start: Some(position(it.start)), end: Some(position(it.end)) }
}

pub(super) fn position(it: lint::LineColumn) -> pb::Position {
    pb::Position { line: it.line, column: it.column }
}

fn severity(it: Severity) -> pb::Severity {
    match it {
        Severity::Hint => pb::Severity::Hint,
        Severity::Info => pb::Severity::Info,
        Severity::Warning => pb::Severity::Warning,
        Severity::Error => pb::Severity::Error,
    }
}

pub(super) fn fixed_files(it: FixedFiles) -> pb::FixFilesResponse {
    pb::FixFilesResponse {
        revision: it.revision.0,
        fixes: count(it.count),
        paths: it.paths.iter().map(ToString::to_string).collect(),
        patch: it.patch,
        unfixed: it.notes.into_iter().map(unfixed).collect(),
        incomplete: it.incomplete.iter().map(incomplete).collect(),
        files: it.files.into_iter().map(fixed_file).collect(),
    }
}

fn fixed_file(it: FixedFile) -> pb::FixedFile {
    pb::FixedFile { path: it.path.to_string(), content_hash: it.checked.to_string(), content: it.content }
}

fn unfixed(it: UnfixedFinding) -> pb::UnfixedFinding {
    let path = it.path.map(|it| it.to_string()).unwrap_or_default();
    pb::UnfixedFinding { path, rule: it.rule, reason: it.reason }
}

fn incomplete(it: &Incomplete) -> pb::Incomplete {
    let path = match &it.subject {
        Subject::Everything => String::new(),
        Subject::Argument(given) => given.clone(),
        Subject::Path(path) => path.to_string(),
    };
    pb::Incomplete {
        path,
        linter: it.linter.as_deref().unwrap_or_default().to_owned(),
        completeness: level(it.level).into(),
        reason: it.reason.clone(),
    }
}

fn excluded(it: &check_engine::Excluded) -> pb::ExcludedFile {
    pb::ExcludedFile {
        path: it.path.to_string(),
        linter: it.linter.to_string(),
        reason: it.reason.to_string(),
        in_part: it.in_part,
    }
}

fn level(it: Level) -> pb::Completeness {
    match it {
        Level::Complete => pb::Completeness::Complete,
        Level::Partial => pb::Completeness::Partial,
        Level::Pending => pb::Completeness::Pending,
        Level::Failed => pb::Completeness::Failed,
    }
}

fn summary(it: &CheckSummary) -> pb::CheckSummary {
    let micros = |it: std::time::Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
    pb::CheckSummary {
        revision: it.revision.0,
        content_hash: it.content.to_string(),
        completeness: level(it.level).into(),
        files: count(it.files),
        findings: count(it.findings),
        new_findings: count(it.new),
        fixed_findings: count(it.fixed),
        suppressed: count(it.suppressed),
        baselined: count(it.baselined),
        linters: it.linters.iter().map(linter_summary).collect(),
        duration_us: micros(it.duration),
        queued_us: micros(it.queued),
        skipped: it.skipped,
        unavailable: it.unavailable.iter().map(unavailable).collect(),
        timings: it.timings.iter().map(answer_time).collect(),
    }
}

fn answer_time(it: &AnswerTime) -> pb::AnswerTime {
    let duration_us = u64::try_from(it.duration.as_micros()).unwrap_or(u64::MAX);
    pb::AnswerTime { linter: it.linter.clone(), path: it.path.to_string(), duration_us }
}

pub(super) fn listed_files(it: ListedFiles) -> pb::ListCheckedFilesResponse {
    let file = |it: ListedFile| pb::ListedFile { path: it.path.to_string(), linters: it.linters };
    pb::ListCheckedFilesResponse {
        files: it.files.into_iter().map(file).collect(),
        incomplete: it.incomplete.iter().map(incomplete).collect(),
    }
}

pub(super) fn baseline(it: UpdatedBaseline) -> pb::UpdateBaselineResponse {
    let path = it.path.map(|it| it.to_string()).unwrap_or_default();
    let incomplete = it.incomplete.iter().map(incomplete).collect();
    pb::UpdateBaselineResponse { path, content: it.content, findings: it.findings, incomplete }
}

fn unavailable(it: &Unavailable) -> pb::UnavailableLinter {
    pb::UnavailableLinter { linter: it.linter.clone(), reason: it.reason.clone(), marker: it.marker.clone() }
}

fn linter_summary(it: &LinterSummary) -> pb::LinterSummary {
    pb::LinterSummary {
        linter: Some(linter(&it.linter)),
        completeness: level(it.level()).into(),
        complete: it.complete,
        excluded: it.excluded,
        partial: it.partial,
        pending: it.pending,
        failed: it.failed,
        cached: it.cached,
    }
}

fn linter(it: &Identity) -> pb::Linter {
    pb::Linter { name: it.name.clone(), version: it.version.clone(), digest: it.digest.to_string() }
}

pub(super) fn plugins(it: PluginList) -> pb::ListPluginsResponse {
    pb::ListPluginsResponse {
        plugins: it.plugins.into_iter().map(plugin).collect(),
        unusable: it.unusable.into_iter().map(unusable).collect(),
    }
}

fn plugin(it: PluginInfo) -> pb::Plugin {
    pb::Plugin {
        linter: Some(pb::Linter { name: it.name, version: it.version, digest: it.digest }),
        description: it.description,
        languages: it.languages,
        globs: it.globs,
        interpreters: it.interpreters,
    }
}

fn unusable(it: UnusablePlugin) -> pb::UnusablePlugin {
    pb::UnusablePlugin { name: it.name, reason: it.reason }
}

pub(super) fn rule(LinterRule { linter, rule: it }: LinterRule) -> pb::Rule {
    let fix = match it.fix {
        FixAvailability::None => pb::FixAvailability::None,
        FixAvailability::Sometimes => pb::FixAvailability::Sometimes,
        FixAvailability::Always => pb::FixAvailability::Always,
    };
    pb::Rule {
        linter,
        code: it.code,
        name: it.name,
        summary: it.summary,
        explanation: it.explanation,
        url: it.url.unwrap_or_default(),
        default_on: it.default,
        fix_availability: fix.into(),
    }
}

pub(super) fn status(it: DaemonStatus) -> pb::GetStatusResponse {
    let CacheStatus { entries, bytes, hits, misses, evicted } = it.cache;
    let ServersStatus { running, resident_bytes } = it.servers;
    pb::GetStatusResponse {
        version: it.version,
        pid: it.pid,
        started_ms: it.started_ms,
        resident_bytes: it.resident_bytes,
        workspaces: count(it.workspaces),
        branches: count(it.branches),
        scheduler: Some(scheduler(it.scheduler)),
        cache: Some(pb::CacheStatus { entries, bytes, hits, misses, evicted }),
        idle_exit_seconds: it.idle_exit.map_or(0, |it| it.as_secs()),
        tcp_address: it.tcp_address.map(|it| it.to_string()).unwrap_or_default(),
        servers: Some(pb::ServersStatus { running: count(running), resident_bytes }),
    }
}

fn scheduler(it: SchedulerStatus) -> pb::SchedulerStatus {
    let class = |it: ClassStatus| pb::ClassStatus {
        name: it.name,
        queued: count(it.queued),
        running: count(it.running),
        mean_queue_us: it.mean_queue_micros,
        mean_run_us: it.mean_run_micros,
    };
    pb::SchedulerStatus {
        classes: it.classes.into_iter().map(class).collect(),
        done: it.done,
        joined: it.joined,
        superseded: it.superseded,
        cancelled: it.cancelled,
        rejected: it.rejected,
    }
}

/// An edit that a language server proposes.
pub(super) fn text_edit(it: TextEdit) -> pb::TextEdit {
    let span = span(lint::Span { start: it.start, end: it.end });
    pb::TextEdit { span: Some(span), replacement: it.replacement, range: None }
}
