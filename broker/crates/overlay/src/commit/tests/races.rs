//! Savers that really race with commits. `BROKER_RACES` says how often; the default is 300 times. From 1000
//! on, some of the files are large (`BROKER_RACE_MIB`, 200 if it is not set). `BROKER_RACE_DIR` says where.

use std::{
    hash::{BuildHasher as _, RandomState},
    io::Write as _,
    time::{Duration, Instant},
};

use super::*;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}

/// Waits without giving the processor away: to hit another moment each time, not to wait for anything.
fn spin(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

#[derive(Debug, Default)]
struct Tally {
    committed: usize,
    refused: usize,
    kept: usize,
    lost: Vec<String>,
}

/// Measures the duration of a commit while no other program saves.
fn undisturbed(folder: &Path, old: &str) -> Duration {
    let root = folder.join("work");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("file"), old).unwrap();
    let committer = Committer::new(&root, &folder.join("journal")).unwrap();
    let begin = Instant::now();
    committer.commit(&[write("file", "new", file(old))]).unwrap();
    begin.elapsed()
}

/// Runs a round: a commit that writes or removes a file, and another program that saves it.
fn race(folder: &Path, old: &str, at_most: Duration, tally: &mut Tally) {
    let root = folder.join("work");
    fs::create_dir_all(&root).unwrap();
    let target = root.join("file");
    fs::write(&target, old).unwrap();
    let committer = Committer::new(&root, &folder.join("journal")).unwrap();
    let (is_removal, is_in_place) = (random(2) == 0, random(2) == 0);
    let op = if is_removal { remove("file", file(old)) } else { write("file", "new", file(old)) };
    let saved = format!("saved {}", random(u64::MAX));
    let delay = Duration::from_micros(random(at_most.as_micros() as u64));
    let temporary = folder.join("temporary");
    fs::write(&temporary, &saved).unwrap();
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            spin(delay);
            if is_in_place {
                let mut file = File::options().write(true).create(true).truncate(true).open(&target).unwrap();
                spin(Duration::from_micros(random(50)));
                file.write_all(saved.as_bytes()).unwrap();
            } else {
                fs::rename(&temporary, &target).unwrap();
            }
        });
        committer.commit(&[op])
    });
    let leftovers = match &done {
        Ok(committed) => &*committed.leftovers,
        Err(error) => error.leftovers(),
    };
    let told = format!("removal {is_removal}, in place {is_in_place}: {done:?}");
    assert!(done.is_ok() || done.as_ref().unwrap_err().conflicts().is_some(), "{told}");
    let is_kept = |it: &Leftover| it.kept.as_ref().is_some_and(|it| fs::read_to_string(it).unwrap() == saved);
    match fs::read_to_string(&target) {
        Ok(text) if text == saved => {}
        _ if leftovers.iter().any(is_kept) => tally.kept += 1,
        now => tally.lost.push(format!("{told}: {now:?}")),
    }
    *if done.is_ok() { &mut tally.committed } else { &mut tally.refused } += 1;
    let names: Vec<_> = fs::read_dir(&root).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(names.iter().all(|it| it == "file"), "{told}: {names:?}");
}

#[test]
fn a_save_that_races_with_a_commit_is_not_lost() {
    let given = std::env::var_os("BROKER_RACE_DIR").unwrap_or_else(|| "/dev/shm".into());
    let folder = TempDir::new_in(given).or_else(|_| TempDir::new()).unwrap();
    let rounds = number("BROKER_RACES", 300);
    let (mut tally, old) = (Tally::default(), "old ".repeat(512));
    let time = undisturbed(folder.path(), &old) * 3 / 2;
    for _ in 0..rounds {
        race(folder.path(), &old, time, &mut tally);
    }
    println!("{rounds} rounds: {tally:?}");
    assert!(tally.lost.is_empty(), "{tally:#?}");
    if rounds >= 1000 {
        let old = "x".repeat(number("BROKER_RACE_MIB", 200) << 20);
        let (mut tally, time) = (Tally::default(), undisturbed(folder.path(), &old) * 3 / 2);
        for _ in 0..rounds / 250 {
            race(folder.path(), &old, time, &mut tally);
        }
        println!("large: {tally:?}");
        assert!(tally.lost.is_empty(), "{tally:#?}");
    }
}
