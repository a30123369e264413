//! Tournaments.

use std::time::Duration;

use broker_proto::v1 as pb;
use tonic::Status;
use workspaces::{Candidate, CandidateChange, Criterion, Discard, TestCommand, TournamentRequest};

use super::{edit, some, status, target};

pub(crate) fn tournament(it: pb::RunTournamentRequest) -> Result<TournamentRequest, Status> {
    Ok(TournamentRequest {
        parent: target(it.parent)?,
        candidates: it.candidates.into_iter().map(candidate).collect::<Result<_, _>>()?,
        test: it.test.map(test),
        order: it.order.into_iter().map(criterion).collect::<Result<_, _>>()?,
        discard: discard(it.discard)?,
        base_paths: it.base_paths,
    })
}

fn candidate(it: pb::Candidate) -> Result<Candidate, Status> {
    let change = match (some(it.branch_id), it.edits) {
        (Some(branch), edits) if edits.is_empty() => CandidateChange::Branch(branch),
        (Some(_), _) => return Err(status::invalid("candidates", "a branch has its edits already")),
        (None, edits) => {
            let edits = edits.into_iter().map(edit).collect::<Result<_, _>>();
            CandidateChange::Edits(edits.map_err(status::of)?)
        }
    };
    Ok(Candidate { name: it.name, change, stated_conflict: it.stated_conflict })
}

fn test(it: pb::TestCommand) -> TestCommand {
    let time = (it.timeout_ms > 0).then(|| Duration::from_millis(it.timeout_ms));
    TestCommand { command: it.command, time }
}

fn criterion(it: i32) -> Result<Criterion, Status> {
    match pb::Criterion::try_from(it) {
        Ok(pb::Criterion::Applies) => Ok(Criterion::Applies),
        Ok(pb::Criterion::TestsPass) => Ok(Criterion::TestsPass),
        Ok(pb::Criterion::FewestNewErrors) => Ok(Criterion::FewestNewErrors),
        Ok(pb::Criterion::FewestNewFindings) => Ok(Criterion::FewestNewFindings),
        Ok(pb::Criterion::MostFixed) => Ok(Criterion::MostFixed),
        Ok(pb::Criterion::FewestChangedLines) => Ok(Criterion::FewestChangedLines),
        Ok(pb::Criterion::Unspecified) | Err(_) => {
            Err(status::invalid("order", "there is no such criterion"))
        }
    }
}

fn discard(it: i32) -> Result<Discard, Status> {
    match pb::DiscardedBranches::try_from(it) {
        Ok(pb::DiscardedBranches::Unspecified) => Ok(Discard::Nothing),
        Ok(pb::DiscardedBranches::MadeLosers) => Ok(Discard::MadeLosers),
        Ok(pb::DiscardedBranches::Losers) => Ok(Discard::Losers),
        Ok(pb::DiscardedBranches::Made) => Ok(Discard::Made),
        Err(_) => Err(status::invalid("discard", "there is no such choice")),
    }
}
