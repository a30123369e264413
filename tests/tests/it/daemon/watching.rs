//! Watches: a round for each change, by whichever client.

use tests::{
    api::{Answered, Event, Events, RefusalExt as _, Round, ask, base, branch, buffer, refusal, write},
    daemon::TEST_TIMEOUT,
};
use tokio_stream::StreamExt as _;
use workspaces::{CheckRequest, ErrorKind, TargetId};

use super::{Fixture, Way, found};

both! {
    a_round_follows_each_change,
    a_watch_outlives_a_broken_configuration,
    a_watch_ends_with_its_branch_even_in_the_middle_of_a_round,
}

struct Rounds(Events<Round>);

impl Rounds {
    async fn of(it: &Fixture, target: TargetId) -> Self {
        Self(it.client.watch(ask(target, &[])).await.unwrap())
    }

    /// The findings of the next round that comes to its end.
    async fn next(&mut self) -> Answered<(u64, Vec<String>)> {
        let mut findings = Vec::new();
        loop {
            let event = tokio::time::timeout(TEST_TIMEOUT, self.0.next()).await.expect("a round");
            match event.expect("a watch ends with an error")? {
                Round::Check(Event::Started { .. }) => findings.clear(),
                Round::Check(Event::Findings(it)) => findings.extend(it),
                Round::Check(Event::Summary(it)) => return Ok((it.revision.0, found(&findings))),
                Round::Check(Event::Incomplete(_) | Event::Excluded) | Round::Superseded(_) => {}
                Round::Refused { reason, message } => return Ok((0, vec![format!("{reason}: {message}")])),
            }
        }
    }

    /// Rounds until one finds this: one change may make several.
    async fn until(&mut self, wanted: &[&str]) {
        while self.next().await.unwrap().1 != wanted {}
    }
}

async fn a_round_follows_each_change(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n")]).await;
    let id = it.fork().await;
    let mut of_branch = Rounds::of(&it, branch(&id)).await;
    let mut of_base = Rounds::of(&it, base(&it.workspace)).await;
    assert_eq!(of_branch.next().await.unwrap(), (0, vec!["a.py:1 F401".to_owned()]));
    of_base.until(&["a.py:1 F401"]).await;
    it.client.edit(&id, vec![write("b.py", "import sys\n")]).await.unwrap();
    of_branch.until(&["a.py:1 F401", "b.py:1 F401"]).await;
    it.write("c.py", "import re\n");
    of_branch.until(&["a.py:1 F401", "b.py:1 F401", "c.py:1 F401"]).await;
    of_base.until(&["a.py:1 F401", "c.py:1 F401"]).await;
    it.client.set_buffer(buffer(&it.workspace, "a.py", "\nimport os\n")).await.unwrap();
    of_base.until(&["a.py:2 F401", "c.py:1 F401"]).await;
    of_branch.until(&["a.py:2 F401", "b.py:1 F401", "c.py:1 F401"]).await;
    it.client.close_buffer(&it.workspace, "a.py", None).await.unwrap();
    of_base.until(&["a.py:1 F401", "c.py:1 F401"]).await;
}

async fn a_watch_outlives_a_broken_configuration(way: Way) {
    let it = Fixture::new(way, &[("a.py", "import os\n"), ("broker.toml", "selct = []\n")]).await;
    let id = it.fork().await;
    let mut rounds = Rounds::of(&it, branch(&id)).await;
    let broken = ["BAD_CONFIGURATION: broker.toml:1:1: unknown key `selct`"];
    assert_eq!(rounds.next().await.unwrap().1, broken);
    it.client.edit(&id, vec![write("broker.toml", "select = [\"F401\"]\n")]).await.unwrap();
    rounds.until(&["a.py:1 F401"]).await;
    it.client.edit(&id, vec![write("broker.toml", "selct = []\n")]).await.unwrap();
    rounds.until(&broken).await;
    // A request that makes no sense itself is refused at once.
    let check = CheckRequest { select: vec!["F4O1".to_owned()], ..ask(base(&it.workspace), &[]) };
    let mut rounds = Rounds(it.client.watch(check).await.unwrap());
    assert_eq!(refusal(rounds.next().await).what(), (ErrorKind::Refused, "BAD_CONFIGURATION"));
}

async fn a_watch_ends_with_its_branch_even_in_the_middle_of_a_round(way: Way) {
    let it = Fixture::with(way, &[tests::guest("guest_misbehaves")], &[("a.py", "import os\n")]).await;
    for text in ["nothing", "spin"] {
        let id = it.fork().await;
        let mut rounds = Rounds::of(&it, branch(&id)).await;
        rounds.next().await.unwrap();
        it.client.edit(&id, vec![write("x.fault", text)]).await.unwrap();
        if text == "nothing" {
            rounds.until(&["a.py:1 F401", "x.fault:1 fault"]).await;
        }
        it.client.discard_branch(&id).await.unwrap();
        let end = loop {
            if let Err(refused) = rounds.next().await {
                break refused;
            }
        };
        assert_eq!(end.what(), (ErrorKind::NotFound, "NOT_FOUND"));
        assert!(id.contains(&*end.facts["resource_name"]), "by the short name of a branch without another");
    }
}
