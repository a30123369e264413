//! Watches: a round for each change, by whichever client.

use broker_proto::v1::{self as pb, watch_response::Event};
use tests::daemon::{PATIENCE, ask, base, branch, refusal, write};
use tonic::{Code, Status, Streaming};

use super::{Fixture, found};

struct Rounds(Streaming<pb::WatchResponse>);

impl Rounds {
    async fn of(it: &Fixture, target: pb::Target) -> Self {
        let request = pb::WatchRequest { check: Some(ask(target, &[])) };
        Self(it.client.checks().watch(request).await.unwrap().into_inner())
    }

    /// The findings of the next round that comes to its end.
    async fn next(&mut self) -> Result<(u64, Vec<String>), Status> {
        let mut findings = Vec::new();
        loop {
            let event = tokio::time::timeout(PATIENCE, self.0.message()).await.expect("a round");
            match event?.expect("a watch ends with an error").event.unwrap() {
                Event::Started(_) => findings.clear(),
                Event::Findings(it) => findings.extend(it.findings),
                Event::Summary(it) => return Ok((it.revision, found(&findings))),
                Event::Incomplete(_) | Event::Excluded(_) | Event::Superseded(_) => {}
                Event::Refused(it) => return Ok((0, vec![format!("{}: {}", it.reason, it.message)])),
            }
        }
    }

    /// Rounds until one finds this: one change may make several.
    async fn until(&mut self, wanted: &[&str]) {
        while self.next().await.unwrap().1 != wanted {}
    }
}

#[tokio::test]
async fn a_round_follows_each_change() {
    let it = Fixture::new(&[("a.py", "import os\n")]).await;
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
    let (workspace_id, path) = (it.workspace.clone(), "a.py".to_owned());
    let buffer = pb::SetBufferRequest { workspace_id, path, content: b"\nimport os\n".to_vec().into() };
    it.client.files().set_buffer(buffer).await.unwrap();
    of_base.until(&["a.py:2 F401", "c.py:1 F401"]).await;
    of_branch.until(&["a.py:2 F401", "b.py:1 F401", "c.py:1 F401"]).await;
    let close = pb::CloseBufferRequest { workspace_id: it.workspace.clone(), path: "a.py".to_owned() };
    it.client.files().close_buffer(close).await.unwrap();
    of_base.until(&["a.py:1 F401", "c.py:1 F401"]).await;
}

#[tokio::test]
async fn a_watch_outlives_a_broken_configuration() {
    let it = Fixture::new(&[("a.py", "import os\n"), ("broker.toml", "selct = []\n")]).await;
    let id = it.fork().await;
    let mut rounds = Rounds::of(&it, branch(&id)).await;
    let broken = ["BAD_CONFIGURATION: broker.toml:1:1: unknown key `selct`"];
    assert_eq!(rounds.next().await.unwrap().1, broken);
    it.client.edit(&id, vec![write("broker.toml", "select = [\"F401\"]\n")]).await.unwrap();
    rounds.until(&["a.py:1 F401"]).await;
    it.client.edit(&id, vec![write("broker.toml", "selct = []\n")]).await.unwrap();
    rounds.until(&broken).await;
    // A request that makes no sense itself is refused at once.
    let check = pb::CheckRequest { select: vec!["F4O1".to_owned()], ..ask(base(&it.workspace), &[]) };
    let watch = it.client.checks().watch(pb::WatchRequest { check: Some(check) }).await;
    let (code, reason, _) = refusal(Rounds(watch.unwrap().into_inner()).next().await);
    assert_eq!((code, reason.as_str()), (Code::FailedPrecondition, "BAD_CONFIGURATION"));
}

#[tokio::test]
async fn a_watch_ends_with_its_branch_even_in_the_middle_of_a_round() {
    let plugin = tests::guest("guest_misbehaves");
    let files = [("a.py", "import os\n")];
    let it = Fixture::with(&["--plugin", plugin.to_str().unwrap()], &files).await;
    for text in ["nothing", "spin"] {
        let id = it.fork().await;
        let mut rounds = Rounds::of(&it, branch(&id)).await;
        rounds.next().await.unwrap();
        it.client.edit(&id, vec![write("x.fault", text)]).await.unwrap();
        if text == "nothing" {
            rounds.until(&["a.py:1 F401", "x.fault:1 fault"]).await;
        }
        it.client.discard(&id).await.unwrap();
        let end = loop {
            if let Err(status) = rounds.next().await {
                break status;
            }
        };
        let (code, reason, details) = refusal::<()>(Err(end));
        assert_eq!((code, reason.as_str()), (Code::NotFound, "NOT_FOUND"));
        assert_eq!(details.resource_info().unwrap().resource_name, id);
    }
}
