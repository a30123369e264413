//! A daemon with one server for each script. Says the process ids of all of them and stays, to be killed.

use std::time::{Duration, Instant};

use lint::Cancel;
use lsp_client::{Client, EventKind, Supervisor, events};

use crate::{family, options::options};

pub(crate) fn run(scripts: impl Iterator<Item = String>) {
    let (sink, events) = events(1 << 20);
    let program = std::env::current_exe().unwrap();
    let start = |script: String| {
        let mut options = options(&program, &script);
        options.launch.supervisor = Supervisor::this_program(["supervisor"]).unwrap();
        Client::start(&options, &sink, &Cancel::default()).unwrap()
    };
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
