//! A daemon with a pool of so many servers. Says the process ids of all of them and stays, to be killed.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use language_servers::{LanguageServer, Pool, PoolLimits, Profile, Setup};
use lint::Cancel;
use lsp_client::{Limits, Supervisor};
use overlay::Memory;

use crate::{family, options::launch};

pub(crate) fn run(count: &str) {
    let pool = Pool::new(PoolLimits::default());
    let deadline = Instant::now() + Duration::from_secs(60);
    let start = |it| {
        let linter = LanguageServer::in_pool(&pool, setup(it)).unwrap();
        linter.version(deadline, &Cancel::default()).unwrap();
        linter
    };
    let _linters: Vec<_> = (0..count.parse().unwrap()).map(start).collect();
    let pids: Vec<_> = pool.status().iter().map(|it| it.pid.unwrap().to_string()).collect();
    println!("{}", pids.join(" "));
    family::stay();
}

/// Setup of the workspace with this number.
fn setup(number: u32) -> Setup {
    let mut launch = launch(&std::env::current_exe().unwrap(), ["model"]);
    launch.supervisor = Supervisor::this_program(["supervisor"]).unwrap();
    let profile = Profile::named("ty").unwrap().clone();
    let (root, disk) = (PathBuf::from(format!("/w{number}")), Arc::new(Memory::default()));
    Setup { profile, root, disk, launch, limits: Limits::default(), pause: Duration::from_secs(1) }
}
