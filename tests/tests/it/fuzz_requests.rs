//! Requests that no client would send: the daemon answers each soon, with a word that fits, and lives.
//!
//! `PROPTEST_CASES` says how many requests.

use std::{sync::Arc, time::Duration};

use broker_proto::v1::{self as pb, file_edit::Edit, target::Target};
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::select,
    test_runner::{Config, TestCaseError, TestRunner},
};
use tests::daemon::{Client, Home, base, variable};
use tonic::{Code, Status, Streaming};

/// A request of any kind.
#[derive(Debug, Clone)]
enum Any {
    Open(pb::OpenWorkspaceRequest),
    Close(pb::CloseWorkspaceRequest),
    Fork(pb::ForkBranchRequest),
    Get(pb::GetBranchRequest),
    Branches(pb::ListBranchesRequest),
    Diff(pb::DiffBranchRequest),
    Revisions(pb::ListRevisionsRequest),
    Undo(pb::UndoBranchRequest),
    Rebase(pb::RebaseBranchRequest),
    MergePreview(pb::MergePreviewRequest),
    Tournament(pb::RunTournamentRequest),
    Commit(pb::CommitBranchRequest),
    Discard(pb::DiscardBranchRequest),
    DiscardMerged(pb::DiscardMergedBranchesRequest),
    Read(pb::ReadFileRequest),
    List(pb::ListDirectoryRequest),
    Edit(pb::EditFilesRequest),
    SetBuffer(pb::SetBufferRequest),
    CloseBuffer(pb::CloseBufferRequest),
    WatchWorkspace(pb::WatchWorkspaceRequest),
    Check(pb::CheckRequest),
    Fix(pb::FixFilesRequest),
    Buffers(pb::ListBuffersRequest),
    Watch(pb::WatchRequest),
    Rules(pb::ListRulesRequest),
}

/// Handles that are real, so that not every request ends at the first look.
#[derive(Debug, Clone)]
struct Real {
    workspace: String,
    branch: String,
}

const SOON: Duration = Duration::from_secs(30);

fn hostile() -> impl Strategy<Value = String> {
    let known = select(vec![
        "",
        ".",
        "..",
        "/",
        "//",
        "a/../..",
        "./a",
        "../../etc/passwd",
        "/etc/passwd",
        "a\0b",
        "\0",
        "a//b",
        "a/",
        "\u{202e}x",
        "C:\\x",
        "-",
        "ALL",
        "F401",
        "python/F401",
        "18446744073709551615",
        "-1",
        "missing",
        "%s%n",
    ]);
    prop_oneof![
        4 => known.prop_map(str::to_owned),
        1 => any::<String>(),
        1 => (1..5_000_usize).prop_map(|it| "a/".repeat(it) + "z"),
        1 => (1..2_000_000_usize).prop_map(|it| "x".repeat(it)),
        1 => Just("0".repeat(64)),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let good = select(vec!["a.py", "pkg", "pkg/b.py", "new/c.py", "link", ".broker.toml", "pyproject.toml"]);
    prop_oneof![3 => good.prop_map(str::to_owned), 2 => hostile()]
}

fn workspace(real: &Real) -> impl Strategy<Value = String> + use<> {
    prop_oneof![4 => Just(real.workspace.clone()), 1 => hostile()]
}

fn branch(real: &Real) -> impl Strategy<Value = String> + use<> {
    let near = format!("{}.{}", real.workspace, "0".repeat(32));
    prop_oneof![6 => Just(real.branch.clone()), 1 => Just(near), 1 => hostile()]
}

fn target(real: &Real) -> impl Strategy<Value = Option<pb::Target>> + use<> {
    let target =
        prop_oneof![workspace(real).prop_map(Target::WorkspaceId), branch(real).prop_map(Target::BranchId),];
    option::weighted(0.9, option::weighted(0.9, target).prop_map(|target| pb::Target { target }))
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_u64, Just(u64::MAX), Just(1 << 63), any::<u64>()]
}

fn revision() -> impl Strategy<Value = Option<u64>> {
    option::weighted(0.4, number())
}

fn resolution() -> impl Strategy<Value = pb::ConflictResolution> {
    let (text, all) = (proptest::option::of(hostile()), proptest::option::of(choice()));
    (path(), vec(choice(), 0..3), text, all).prop_map(|(path, sides, text, all)| pb::ConflictResolution {
        path,
        sides,
        text,
        all,
    })
}

fn choice() -> impl Strategy<Value = i32> {
    prop_oneof![4 => 0..6_i32, 1 => any::<i32>()]
}

fn page() -> impl Strategy<Value = (u32, String)> {
    (prop_oneof![0..5_u32, any::<u32>()], prop_oneof![Just(String::new()), hostile()])
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..200), Just(vec![0xff; 1 << 20]), Just(b"import os\nx = y\n".to_vec())]
}

fn patch() -> impl Strategy<Value = String> {
    let header = "--- a/a.py\n+++ b/a.py\n";
    let git = "diff --git a/a.py b/../x\nsimilarity index 100%\nrename from a.py\nrename to ../x\n";
    prop_oneof![
        hostile(),
        (any::<u64>(), any::<u64>())
            .prop_map(move |(a, b)| format!("{header}@@ -{a},{b} +{b},{a} @@\n-x\n+y\n")),
        Just(format!("{header}@@ -1 +1 @@\n-x = 1\n+x = 2\n")),
        Just(git.to_owned()),
        "(diff --git|---|\\+\\+\\+|@@|\\-|\\+| |rename to|GIT binary patch|literal 9)[ -~]{0,30}\n{0,20}",
    ]
}

fn text_edit() -> impl Strategy<Value = pb::TextEdit> {
    let offset = || prop_oneof![0..20_u32, any::<u32>()];
    let span = (offset(), offset()).prop_map(|(start, end)| pb::Span { start, end });
    (option::weighted(0.9, span), hostile()).prop_map(|(span, replacement)| pb::TextEdit {
        span,
        replacement,
        range: None,
    })
}

fn edit() -> impl Strategy<Value = pb::FileEdit> {
    let hash = || prop_oneof![3 => Just(String::new()), 1 => hostile()];
    let edit = prop_oneof![
        (path(), bytes(), hash()).prop_map(|(path, content, if_content_hash)| {
            Edit::Write(pb::WriteFile { path, content: content.into(), if_content_hash })
        }),
        (path(), vec(text_edit(), 0..4), hash()).prop_map(|(path, edits, if_content_hash)| Edit::Text(
            pb::EditText { path, edits, if_content_hash }
        )),
        patch().prop_map(|patch| Edit::Patch(pb::ApplyPatch { patch })),
        path().prop_map(|path| Edit::Remove(pb::RemovePath { path })),
        (path(), path()).prop_map(|(from_path, to_path)| Edit::Rename(pb::RenamePath { from_path, to_path })),
        path().prop_map(|path| Edit::CreateDirectory(pb::CreateDirectory { path })),
        (path(), hostile())
            .prop_map(|(path, link_target)| Edit::CreateSymlink(pb::CreateSymlink { path, link_target })),
        (path(), any::<bool>())
            .prop_map(|(path, executable)| Edit::SetExecutable(pb::SetExecutable { path, executable })),
    ];
    option::weighted(0.95, edit).prop_map(|edit| pb::FileEdit { edit })
}

fn edits(real: &Real) -> impl Strategy<Value = Any> + use<> {
    let many = Just(vec![pb::FileEdit { edit: None }; 10_001]);
    let edits = prop_oneof![30 => vec(edit(), 0..5), 1 => many];
    (branch(real), edits, revision(), prop_oneof![3 => Just(String::new()), 1 => hostile()]).prop_map(
        |(branch_id, edits, if_revision, request_id)| {
            Any::Edit(pb::EditFilesRequest { branch_id, edits, if_revision, request_id })
        },
    )
}

fn check(real: &Real) -> impl Strategy<Value = pb::CheckRequest> + use<> {
    let paths = || prop_oneof![20 => vec(path(), 0..4), 1 => Just(vec![String::new(); 100_001])];
    let only = prop_oneof![3 => Just(Vec::new()), 1 => paths()];
    let selectors = || prop_oneof![3 => Just(Vec::new()), 1 => vec(hostile(), 0..3)];
    let paths = (paths(), only);
    (target(real), paths, revision(), choice(), any::<[bool; 3]>(), selectors(), selectors()).prop_map(
        |(target, (paths, only_paths), revision, priority, flags, select, ignore)| {
            let [new_only, supersede, dependents] = flags;
            pb::CheckRequest {
                only_paths,
                target,
                paths,
                revision,
                priority,
                new_only,
                select,
                ignore,
                supersede,
                dependents,
                ..Default::default()
            }
        },
    )
}

fn fix(real: &Real) -> impl Strategy<Value = pb::FixFilesRequest> + use<> {
    (branch(real), check(real), choice(), any::<bool>(), hostile()).prop_map(
        |(branch_id, check, applicability, dry_run, request_id)| pb::FixFilesRequest {
            branch_id,
            paths: check.paths,
            only_paths: check.only_paths,
            select: check.select,
            ignore: check.ignore,
            applicability,
            dry_run,
            if_revision: check.revision,
            request_id,
            priority: check.priority,
            ..Default::default()
        },
    )
}

/// A folder of the machine that is large would be a fair request, but a slow test.
fn root() -> impl Strategy<Value = String> {
    let known =
        ["", ".", "..", "a", "/nowhere", "/dev/null", "/etc/passwd", "/etc/passwd/x", "\0", "/tmp\0x"];
    let long = (1..9_000_usize).prop_map(|it| "/x".repeat(it));
    prop_oneof![3 => select(known.to_vec()).prop_map(str::to_owned), 1 => long]
}

fn of_branch(real: &Real) -> impl Strategy<Value = Any> + use<> {
    let near = format!("{}.x", real.workspace);
    prop_oneof![
        (branch(real), workspace(real), any::<bool>(), any::<bool>()).prop_map(
            |(branch_id, workspace_id, with_tree_hash, without_conflicts)| {
                Any::Get(pb::GetBranchRequest { branch_id, workspace_id, with_tree_hash, without_conflicts })
            }
        ),
        (branch(real), choice(), revision(), option::of(any::<u32>()), any::<bool>()).prop_map(
            |(branch_id, against, since_revision, context_lines, changes_only)| {
                let of =
                    pb::DiffBranchRequest { branch_id, against, since_revision, context_lines, changes_only };
                Any::Diff(of)
            }
        ),
        (branch(real), page()).prop_map(|(branch_id, (page_size, page_token))| {
            Any::Revisions(pb::ListRevisionsRequest { branch_id, page_size, page_token })
        }),
        (branch(real), number(), revision()).prop_map(|(branch_id, to_revision, if_revision)| {
            let step_back = to_revision == 0 && if_revision.is_none();
            Any::Undo(pb::UndoBranchRequest { branch_id, to_revision, if_revision, step_back })
        }),
        (vec(branch(real), 0..4), number()).prop_map(|(branch_ids, wait_ms)| Any::MergePreview(
            pb::MergePreviewRequest { branch_ids, wait_ms }
        )),
        tournament(real).prop_map(Any::Tournament),
        (branch(real), choice(), revision(), vec(resolution(), 0..3)).prop_map(
            |(branch_id, on_conflict, if_revision, resolutions)| {
                Any::Rebase(pb::RebaseBranchRequest { branch_id, on_conflict, if_revision, resolutions })
            }
        ),
        (branch(real), revision(), vec(path(), 0..3), any::<[bool; 3]>(), hostile()).prop_map(
            |(branch_id, if_revision, force_paths, [rebase, if_clean, dry_run], request_id)| {
                Any::Commit(pb::CommitBranchRequest {
                    branch_id,
                    if_revision,
                    force_paths,
                    rebase,
                    if_clean,
                    dry_run,
                    request_id,
                })
            }
        ),
        prop_oneof![hostile(), Just(near)]
            .prop_map(|branch_id| Any::Discard(pb::DiscardBranchRequest { branch_id })),
        (workspace(real), branch(real)).prop_map(|(workspace_id, branch_id)| {
            // The real branch is of use to other requests.
            let of = pb::DiscardMergedBranchesRequest { workspace_id, branch_id, dry_run: true };
            Any::DiscardMerged(of)
        }),
    ]
}

/// Without a command that would be run.
fn tournament(real: &Real) -> impl Strategy<Value = pb::RunTournamentRequest> + use<> {
    let none = vec![pb::TestCommand { command: Vec::new(), timeout_ms: u64::MAX }];
    let of_branch = (hostile(), branch(real)).prop_map(|(name, branch_id)| pb::Candidate {
        name,
        branch_id,
        ..Default::default()
    });
    let of_edits =
        (hostile(), vec(edit(), 0..3), option::of(hostile())).prop_map(|(name, edits, stated_conflict)| {
            pb::Candidate { name, edits, stated_conflict, ..Default::default() }
        });
    (
        target(real),
        vec(prop_oneof![of_branch, of_edits], 0..4),
        option::weighted(0.1, select(none)),
        vec(choice(), 0..3),
        // The real branch is needed by other requests.
        select(vec![0, 1, 3, 4, -1]),
        vec(path(), 0..3),
    )
        .prop_map(|(parent, candidates, test, order, discard, base_paths)| pb::RunTournamentRequest {
            parent,
            candidates,
            test,
            order,
            discard,
            base_paths,
        })
}

fn of_workspace(real: &Real) -> impl Strategy<Value = Any> + use<> {
    let labels = prop_oneof![
        9 => proptest::collection::hash_map(hostile(), hostile(), 0..3),
        1 => Just((0..65).map(|it| (it.to_string(), String::new())).collect()),
    ];
    prop_oneof![
        root().prop_map(|root| Any::Open(pb::OpenWorkspaceRequest { root, environment: None })),
        hostile().prop_map(|workspace_id| Any::Close(pb::CloseWorkspaceRequest { workspace_id })),
        (target(real), hostile(), labels, hostile()).prop_map(|(parent, name, labels, request_id)| {
            Any::Fork(pb::ForkBranchRequest { parent, name, labels, request_id })
        }),
        (workspace(real), page()).prop_map(|(workspace_id, (page_size, page_token))| {
            Any::Branches(pb::ListBranchesRequest { workspace_id, page_size, page_token })
        }),
        (target(real), hostile(), page()).prop_map(|(target, linter, (page_size, page_token))| {
            Any::Rules(pb::ListRulesRequest { linter, page_size, page_token, target })
        }),
    ]
}

fn editor() -> impl Strategy<Value = String> {
    prop_oneof![3 => Just(String::new()), 1 => hostile()]
}

fn of_file(real: &Real) -> impl Strategy<Value = Any> + use<> {
    prop_oneof![
        (target(real), path(), revision(), any::<bool>()).prop_map(|(target, path, revision, of_parent)| {
            Any::Read(pb::ReadFileRequest { target, path, revision, of_parent })
        }),
        (target(real), path(), page(), any::<bool>()).prop_map(
            |(target, path, (page_size, page_token), of_parent)| {
                Any::List(pb::ListDirectoryRequest { target, path, page_size, page_token, of_parent })
            }
        ),
        workspace(real).prop_map(|workspace_id| Any::Buffers(pb::ListBuffersRequest { workspace_id })),
        (workspace(real), path(), bytes(), editor(), any::<bool>()).prop_map(
            |(workspace_id, path, content, editor_id, opened)| {
                let content = content.into();
                Any::SetBuffer(pb::SetBufferRequest { workspace_id, path, content, editor_id, opened })
            }
        ),
        (workspace(real), path(), editor()).prop_map(|(workspace_id, path, editor_id)| {
            Any::CloseBuffer(pb::CloseBufferRequest { workspace_id, path, editor_id })
        }),
        (workspace(real), hostile(), any::<bool>()).prop_map(|(workspace_id, client_name, takes_commits)| {
            Any::WatchWorkspace(pb::WatchWorkspaceRequest { workspace_id, client_name, takes_commits })
        }),
    ]
}

fn anything(real: &Real) -> impl Strategy<Value = Any> + use<> {
    prop_oneof![
        2 => of_branch(real),
        1 => of_workspace(real),
        2 => of_file(real),
        2 => edits(real),
        1 => check(real).prop_map(Any::Check),
        1 => fix(real).prop_map(Any::Fix),
        1 => option::weighted(0.9, check(real)).prop_map(|check| Any::Watch(pb::WatchRequest { check })),
    ]
}

/// Takes all of a stream that ends, and of one that does not the first parts.
async fn all<T>(mut parts: Streaming<T>, most: usize) -> Result<(), Status> {
    for _ in 0..most {
        if parts.message().await?.is_none() {
            break;
        }
    }
    Ok(())
}

/// The beginning of a watch: a second part comes unless the configuration has to be mended first.
async fn begin(mut parts: Streaming<pb::WatchResponse>) -> Result<(), Status> {
    let first = parts.message().await?.and_then(|it| it.event);
    match first {
        Some(pb::watch_response::Event::Refused(_)) => Ok(()),
        _ => all(parts, 1).await,
    }
}

async fn send(client: &Client, request: Any) -> Result<(), Status> {
    let (mut workspaces, mut branches) = (client.workspaces(), client.branches());
    let (mut files, mut checks, mut rules) = (client.files(), client.checks(), client.rules());
    match request {
        Any::Open(it) => workspaces.open_workspace(it).await.map(drop),
        Any::Close(it) => workspaces.close_workspace(it).await.map(drop),
        Any::Fork(it) => branches.fork_branch(it).await.map(drop),
        Any::Get(it) => branches.get_branch(it).await.map(drop),
        Any::Branches(it) => branches.list_branches(it).await.map(drop),
        Any::Diff(it) => all(branches.diff_branch(it).await?.into_inner(), usize::MAX).await,
        Any::Revisions(it) => branches.list_revisions(it).await.map(drop),
        Any::Undo(it) => branches.undo_branch(it).await.map(drop),
        Any::Rebase(it) => branches.rebase_branch(it).await.map(drop),
        Any::MergePreview(it) => branches.merge_preview(it).await.map(drop),
        Any::Tournament(it) => branches.run_tournament(it).await.map(drop),
        Any::Commit(it) => branches.commit_branch(it).await.map(drop),
        Any::Discard(it) => branches.discard_branch(it).await.map(drop),
        Any::DiscardMerged(it) => branches.discard_merged_branches(it).await.map(drop),
        Any::Read(it) => all(files.read_file(it).await?.into_inner(), usize::MAX).await,
        Any::List(it) => files.list_directory(it).await.map(drop),
        Any::Edit(it) => files.edit_files(it).await.map(drop),
        Any::SetBuffer(it) => files.set_buffer(it).await.map(drop),
        Any::CloseBuffer(it) => files.close_buffer(it).await.map(drop),
        Any::WatchWorkspace(it) => all(workspaces.watch_workspace(it).await?.into_inner(), 1).await,
        Any::Check(it) => all(checks.check(it).await?.into_inner(), usize::MAX).await,
        Any::Fix(it) => checks.fix_files(it).await.map(drop),
        Any::Buffers(it) => files.list_buffers(it).await.map(drop),
        Any::Watch(it) => begin(checks.watch(it).await?.into_inner()).await,
        Any::Rules(it) => rules.list_rules(it).await.map(drop),
    }
}

#[test]
fn every_request_is_answered_and_none_is_fatal() {
    // The strategies are deep, and tests are compiled without optimisation.
    const STACK: usize = 64 << 20;
    let run = std::thread::Builder::new().stack_size(STACK).spawn(send_anything).unwrap().join();
    if let Err(panic) = run {
        std::panic::resume_unwind(panic);
    }
}

fn send_anything() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
    std::fs::create_dir(folder.path().join("pkg")).unwrap();
    std::fs::write(folder.path().join("a.py"), "x = 1\n").unwrap();
    std::fs::write(folder.path().join("pkg/b.py"), "y = 1\n").unwrap();
    let mut daemon = home.start(&[]);
    let client = Arc::new(runtime.block_on(daemon.client()));
    let workspace = runtime.block_on(client.open(folder.path()));
    let branch = runtime.block_on(client.fork(base(&workspace), "fuzzed")).unwrap();
    let real = Real { workspace, branch };
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 20,
        ..Config::with_cases(variable("PROPTEST_CASES", 2000) as u32)
    };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&anything(&real), |request| {
        let answer = runtime.block_on(async { tokio::time::timeout(SOON, send(&client, request)).await });
        match answer {
            Err(_) => Err(TestCaseError::fail("no answer")),
            Ok(Err(status))
                if [Code::Internal, Code::Unknown, Code::Unavailable].contains(&status.code()) =>
            {
                Err(TestCaseError::fail(format!("{status:?}")))
            }
            Ok(_) => Ok(()),
        }
    });
    if let Err(error) = result {
        let told: String = error.to_string().chars().take(4_000).collect();
        panic!("{told}\n{}", home.log());
    }
    runtime.block_on(client.status());
    assert!(daemon.runs());
}
