//! A daemon with one server for each script. Says the process ids of all of them and stays, to be killed.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use language_servers::{
    Client, EditPolicy, Epoch, EventKind, Initialize, Keeper, Launch, Limits, Options, events,
};
use lint::Cancel;
use serde_json::Value;

use crate::family;

pub(crate) fn run(scripts: impl Iterator<Item = String>) {
    let (sink, events) = events(1 << 20);
    let start = |script| Client::start(&options(script), &sink, &Cancel::default()).unwrap();
    let clients: Vec<_> = scripts.map(start).collect();
    let mut pids = Vec::new();
    for client in &clients {
        pids.push(client.pid().to_string());
        let event = events.next(Instant::now() + Duration::from_secs(60), &Cancel::default()).unwrap();
        let EventKind::Other { params: Some(params), .. } = event.kind else { panic!("{event:?}") };
        let family: Vec<i32> = serde_json::from_str(params.get()).unwrap();
        pids.extend(family.iter().map(i32::to_string));
    }
    println!("{}", pids.join(" "));
    family::stay();
}

fn options(script: String) -> Options {
    let program = std::env::current_exe().unwrap();
    let launch = Launch {
        keeper: Keeper::this_program(["keeper"]).unwrap(),
        program,
        args: vec!["fake".into(), script.into()],
        env: Vec::new(),
        cwd: PathBuf::from("/"),
        nice: 0,
    };
    Options {
        launch,
        initialize: Initialize::new(Vec::new()),
        settings: Value::Null,
        edits: EditPolicy::Refuse,
        epoch: Epoch(1),
        limits: Limits::default(),
    }
}
