//! The daemon's own folders when they are full, closed or damaged: clear errors, and nothing lost.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use broker_proto::v1 as pb;
use tests::daemon::{Client, Home, ask, base, branch, refusal, write};
use tonic::Code;

use super::{Process, write_all};

/// A small file system of its own.
struct Mounted(PathBuf);

impl Mounted {
    /// `None`, with the reason told, where that is not allowed.
    fn new(folder: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&folder).unwrap();
        let options = format!("size={size},mode=700");
        let made = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder).output();
        match made {
            Ok(output) if output.status.success() => Some(Self(folder)),
            other => {
                #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
                {
                    println!("skipped: cannot mount a small file system: {other:?}");
                }
                None
            }
        }
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Bytes that do not get smaller.
fn noise(seed: u64) -> Vec<u8> {
    let mut random = tests::daemon::Random(seed);
    (0..200_000).map(|_| random.below(256) as u8).collect()
}

#[tokio::test]
async fn a_full_disk_is_told_and_loses_nothing() {
    let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
    let Some(mounted) = Mounted::new(home.state(), "12m") else { return };
    let mut daemon = home.start(&[]);
    let client = daemon.client().await;
    let workspace = client.open(folder.path()).await;
    let id = client.fork(base(&workspace), "").await.unwrap();
    let mut revision = 0;
    let refused = loop {
        match client.edit(&id, vec![write("noise.bin", noise(revision + 1))]).await {
            Ok(it) => revision = it,
            refused => break refusal(refused),
        }
        assert!(revision < 200, "the disk is full at some time");
    };
    assert_eq!((refused.0, refused.1.as_str()), (Code::ResourceExhausted, "STATE_FOLDER_FULL"));
    assert!(revision > 0);
    assert_eq!(client.read(branch(&id), "noise.bin").await.unwrap().1, noise(revision));
    daemon.kill();
    mounted.remount("size=64m");
    let daemon = home.start(&[]);
    let client = daemon.client().await;
    client.open(folder.path()).await;
    let (info, read) = client.read(branch(&id), "noise.bin").await.unwrap();
    assert_eq!(info.revision, revision);
    assert!(read == noise(revision));
    assert_eq!(client.edit(&id, vec![write("noise.bin", "x")]).await.unwrap(), revision + 1);
}

#[tokio::test]
async fn a_file_that_reaches_the_limit_of_the_shell_is_an_error_and_not_the_end() {
    let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
    // In blocks of 512 or 1024 bytes.
    let mut daemon = home.start_within("-f 8000");
    let client = daemon.client().await;
    let workspace = client.open(folder.path()).await;
    let id = client.fork(base(&workspace), "").await.unwrap();
    let mut revision = 0;
    let refused = loop {
        match client.edit(&id, vec![write("noise.bin", noise(revision + 1))]).await {
            Ok(it) => revision = it,
            refused => break refusal(refused),
        }
        assert!(revision < 200, "the limit is reached at some time");
    };
    assert_eq!((refused.0, refused.1.as_str()), (Code::ResourceExhausted, "STATE_FOLDER_FULL"));
    assert_eq!(client.read(branch(&id), "noise.bin").await.unwrap().1, noise(revision));
    assert!(daemon.runs());
}

#[tokio::test]
async fn a_state_folder_that_cannot_be_written_is_told() {
    let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
    let Some(mounted) = Mounted::new(home.state(), "12m") else { return };
    mounted.remount("ro");
    let daemon = home.start(&[]);
    let client = daemon.client().await;
    let status = client.try_open(folder.path()).await;
    let message = status.as_ref().unwrap_err().message().to_owned();
    let (code, reason, _) = refusal(status);
    assert_eq!((code, reason.as_str()), (Code::FailedPrecondition, "STATE_UNUSABLE"), "{message}");
    assert!(message.contains(home.state().to_str().unwrap()), "{message}");
    mounted.remount("rw");
    client.open(folder.path()).await;
}

fn store_of(home: &Home) -> PathBuf {
    let workspace = fs::read_dir(home.state().join("workspaces")).unwrap().next().unwrap().unwrap();
    workspace.path().join("branches.redb")
}

#[tokio::test]
async fn a_damaged_store_is_told_and_left_alone() {
    let mut it = Process::new(&[("a.txt", "1\n")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "2\n")]).await.unwrap();
    it.daemon.kill();
    let store = store_of(&it.home);
    let good = fs::read(&store).unwrap();
    let half = good[..good.len() / 2].to_vec();
    let garbage: Vec<u8> = noise(1).into_iter().cycle().take(good.len()).collect();
    for bad in [garbage, half, b"no store at all".to_vec()] {
        fs::write(&store, &bad).unwrap();
        it.restart().await;
        let refused = it.client.try_open(it.folder.path()).await;
        let (code, reason, _) = refusal(refused);
        assert_eq!((code, reason.as_str()), (Code::DataLoss, "STATE_CORRUPT"));
        it.daemon.kill();
        assert!(fs::read(&store).unwrap() == bad, "it is left as it was");
    }
    fs::write(&store, &good).unwrap();
    it.restart().await;
    it.client.open(it.folder.path()).await;
    assert_eq!(it.client.read(branch(&id), "a.txt").await.unwrap().1, b"2\n");
}

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().map(Result::unwrap) {
            let list = if entry.file_type().unwrap().is_dir() { &mut folders } else { &mut found };
            list.push(entry.path());
        }
    }
    found
}

async fn answers(client: &Client, workspace: &str) -> (Vec<pb::Finding>, pb::CheckSummary) {
    let answer = client.check(ask(base(workspace), &[])).await.unwrap();
    assert_eq!(answer.incomplete, []);
    let summary = pb::CheckSummary { duration_us: 0, queued_us: 0, linters: Vec::new(), ..answer.summary };
    let mut findings = answer.findings;
    findings.sort_by(|a, b| (&a.path, &a.code).cmp(&(&b.path, &b.code)));
    (findings, summary)
}

#[tokio::test]
async fn a_damaged_cache_changes_no_answer() {
    let mut it = Process::new(&[("a.py", "import os\n"), ("b.txt", "<<<<<<< x\n=======\n>>>>>>> y\n")]).await;
    let good = answers(&it.client, &it.workspace).await;
    it.client.daemon().shutdown(pb::ShutdownRequest {}).await.unwrap();
    tests::daemon::until("the daemon ends", async || !it.home.socket().exists()).await;
    let cached = files(&it.home.path("cache"));
    assert!(!cached.is_empty());
    for damage in [0, 1, 2] {
        for file in &cached {
            let mut bytes = fs::read(file).unwrap_or_default();
            let middle = bytes.len() / 2;
            match damage {
                0 => bytes.truncate(middle),
                1 => bytes[..middle].reverse(),
                _ => bytes = noise(7),
            }
            fs::write(file, bytes).unwrap();
        }
        write_all(it.home.path("cache"), &[("answers/none/of.yours", "x")]);
        it.restart().await;
        it.client.open(it.folder.path()).await;
        assert_eq!(answers(&it.client, &it.workspace).await, good);
    }
}
