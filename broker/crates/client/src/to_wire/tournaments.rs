//! Tournaments.

use broker_proto::v1 as pb;
use workspaces::{Candidate, CandidateChange, Criterion, Discard, TestCommand, TournamentRequest};

use super::{edit, target};

pub(crate) fn tournament(it: TournamentRequest) -> pb::RunTournamentRequest {
    let discard = match it.discard {
        Discard::Nothing => pb::DiscardedBranches::Unspecified,
        Discard::MadeLosers => pb::DiscardedBranches::MadeLosers,
        Discard::Losers => pb::DiscardedBranches::Losers,
        Discard::Made => pb::DiscardedBranches::Made,
    };
    pb::RunTournamentRequest {
        parent: Some(target(&it.parent)),
        candidates: it.candidates.into_iter().map(candidate).collect(),
        test: it.test.map(test),
        order: it.order.into_iter().map(|it| criterion(it).into()).collect(),
        discard: discard.into(),
        base_paths: it.base_paths,
    }
}

fn candidate(it: Candidate) -> pb::Candidate {
    let (branch_id, edits) = match it.change {
        CandidateChange::Branch(branch) => (branch, Vec::new()),
        CandidateChange::Edits(edits) => (String::new(), edits),
    };
    let edits = edits.into_iter().map(|it| pb::FileEdit { edit: Some(edit(it)) }).collect();
    pb::Candidate { name: it.name, branch_id, edits, stated_conflict: it.stated_conflict }
}

fn test(it: TestCommand) -> pb::TestCommand {
    let time = it.time.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
    pb::TestCommand { command: it.command, timeout_ms: time.unwrap_or_default() }
}

fn criterion(it: Criterion) -> pb::Criterion {
    match it {
        Criterion::Applies => pb::Criterion::Applies,
        Criterion::TestsPass => pb::Criterion::TestsPass,
        Criterion::FewestNewErrors => pb::Criterion::FewestNewErrors,
        Criterion::FewestNewFindings => pb::Criterion::FewestNewFindings,
        Criterion::MostFixed => pb::Criterion::MostFixed,
        Criterion::FewestChangedLines => pb::Criterion::FewestChangedLines,
    }
}
