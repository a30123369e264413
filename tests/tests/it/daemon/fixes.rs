//! `FixFiles`: fixes are one edit of the branch, and what does harm is taken back.

use lint::Applicability;
use linters::LinterKind;
use overlay::{ContentHash, Revision};
use tests::api::{RefusalExt as _, ask, base, branch, buffer, fix, next, refusal, write};
use workspaces::{CheckRequest, ErrorKind, FixRequest, Side};

use super::{Fixture, Way};

both! {
    fixes_are_one_edit_which_a_dry_run_only_shows,
    a_fix_that_breaks_a_file_is_not_made,
    the_parents_side_of_a_branch_can_be_read,
    edits_of_other_files_do_not_matter_and_those_of_fixed_ones_do,
    what_would_be_fixed_in_the_base_is_shown,
    only_linters_of_some_kinds_fix,
}

const FIXABLE: &str = "import os\nimport re\nx = 1\n";

async fn fixes_are_one_edit_which_a_dry_run_only_shows(way: Way) {
    let it = Fixture::new(way, &[("disk.py", FIXABLE)]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", FIXABLE), write("b.py", FIXABLE)]).await.unwrap();
    let request = fix(&id, &["a.py", "b.py"]);
    let make = async |request: &FixRequest| it.client.fix_files(request.clone()).await.unwrap();
    let text = async |path: &str| it.client.text(branch(&id), path).await;
    let dry = make(&FixRequest { dry_run: true, ..request.clone() }).await;
    assert_eq!((dry.revision.0, dry.count, dry.paths), (1, 4, ["a.py", "b.py"].map(String::from).to_vec()));
    assert_eq!(text("a.py").await, FIXABLE);
    let if_revision = Some(Revision(1));
    let once = FixRequest { request_id: Some("once".to_owned()), if_revision, ..request.clone() };
    let fixed = make(&once).await;
    assert_eq!((fixed.revision.0, fixed.count, &fixed.patch), (2, 4, &dry.patch));
    assert!(fixed.patch.contains("-import os\n-import re\n x = 1\n"), "{}", fixed.patch);
    assert_eq!([text("a.py").await, text("b.py").await], ["x = 1\n"; 2]);
    assert_eq!(make(&once).await.revision.0, 2, "it is done once");
    assert_eq!(it.text("disk.py"), FIXABLE);

    let again = FixRequest { request_id: None, ..once };
    let refused = refusal(it.client.fix_files(again).await);
    assert_eq!(refused.what(), (ErrorKind::Aborted, "STALE_REVISION"), "the branch is at another revision");
    let nothing = make(&request).await;
    assert_eq!((nothing.revision.0, nothing.count, nothing.patch.as_str()), (2, 0, ""));
    let display = FixRequest { least: Applicability::DisplayOnly, ..request };
    let refused = refusal(it.client.fix_files(display).await);
    assert_eq!(
        (refused.reason.as_str(), refused.facts["field"].as_str()),
        ("INVALID_FIELD", "applicability")
    );
}

async fn what_would_be_fixed_in_the_base_is_shown(way: Way) {
    let it = Fixture::new(way, &[("a.py", "x = 1\n"), ("b.py", "x = 1\n")]).await;
    std::os::unix::fs::symlink("a.py", it.path("link.py")).unwrap();
    it.client.set_buffer(buffer(&it.workspace, "a.py", FIXABLE)).await.unwrap();
    let of = |target| FixRequest { with_contents: true, ..FixRequest::of(CheckRequest::of(target)) };
    let of_base = of(base(&it.workspace));
    let dry = FixRequest { dry_run: true, ..of_base.clone() };
    let fixed = it.client.fix_files(dry.clone()).await.unwrap();
    assert_eq!((fixed.revision.0, fixed.count), (0, 2));
    let file = ("a.py".to_owned(), ContentHash::of(FIXABLE.as_bytes()), "x = 1\n".to_owned());
    assert_eq!(fixed.files, [file]);
    assert_eq!(it.client.text(base(&it.workspace), "a.py").await, FIXABLE);

    let field = async |request| refusal(it.client.fix_files(request).await).facts["field"].clone();
    assert_eq!(field(of_base).await, "dry_run");
    assert_eq!(field(FixRequest { if_revision: Some(Revision(0)), ..dry.clone() }).await, "if_revision");
    assert_eq!(field(FixRequest { dry_run: true, ..of(branch("")) }).await, "branch_id");

    let id = it.fork().await;
    it.client.edit(&id, vec![write("b.py", FIXABLE)]).await.unwrap();
    let made = FixRequest { with_contents: true, ..fix(&id, &["b.py"]) };
    let made = it.client.fix_files(made).await.unwrap();
    let file = ("b.py".to_owned(), ContentHash::of(FIXABLE.as_bytes()), "x = 1\n".to_owned());
    assert_eq!((made.revision.0, made.files), (2, vec![file]));
    assert_eq!(it.client.fix_files(fix(&id, &["a.py"])).await.unwrap().files, []);
}

async fn only_linters_of_some_kinds_fix(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", FIXABLE)]).await.unwrap();
    let of = |kind| {
        let check = CheckRequest { kinds: vec![kind], ..ask(branch(&id), &["a.py"]) };
        FixRequest { dry_run: true, ..FixRequest::of(check) }
    };
    assert_eq!(it.client.fix_files(of(LinterKind::Command)).await.unwrap().count, 0);
    assert_eq!(it.client.fix_files(of(LinterKind::Plugin)).await.unwrap().count, 2);
}

async fn a_fix_that_breaks_a_file_is_not_made(way: Way) {
    let rule = "id: breaks\nlanguage: python\nmessage: m\nrule: { pattern: breakme }\nfix: (\n";
    let it = Fixture::new(way, &[(".broker/rules/a.yml", rule)]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", "import os\nbreakme = 1\n")]).await.unwrap();
    let request = FixRequest { least: Applicability::Unsafe, ..fix(&id, &["a.py"]) };
    let fixed = it.client.fix_files(request).await.unwrap();
    assert_eq!(it.client.text(branch(&id), "a.py").await, "breakme = 1\n");
    let [(path, rule, reason)] = fixed.notes.as_slice() else { panic!("{fixed:?}") };
    assert_eq!((path.as_str(), rule.as_str()), ("a.py", "pattern/breaks"));
    assert!(reason.contains("could not be parsed any more"), "{reason}");
}

async fn the_parents_side_of_a_branch_can_be_read(way: Way) {
    let it = Fixture::new(way, &[("a", "base"), ("folder/b", "base")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a", "branch"), write("c", "branch")]).await.unwrap();
    let parent = async |path: &str| it.client.read_file(&branch(&id), path, Side::Parent, None).await;
    assert_eq!(&parent("a").await.unwrap().bytes[..], b"base");
    assert_eq!(refusal(parent("c").await).kind, ErrorKind::NotFound);
    let listed = it.client.list_directory(&branch(&id), "", &next(0, ""), Side::Parent).await.unwrap();
    let names: Vec<_> = listed.items.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "folder"]);
    let of_base = it.client.read_file(&base(&it.workspace), "a", Side::Parent, None).await;
    assert_eq!(refusal(of_base).facts["field"], "of_parent");
}

async fn edits_of_other_files_do_not_matter_and_those_of_fixed_ones_do(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let files: Vec<_> = (0..40).map(|it| write(&format!("f{it}.py"), FIXABLE)).collect();
    it.client.edit(&id, files).await.unwrap();
    for round in 0..5 {
        let edits = async {
            for number in 0..10 {
                it.client.edit(&id, vec![write(&format!("other{round}-{number}"), "x\n")]).await.unwrap();
            }
        };
        let (fixed, ()) = tokio::join!(it.client.fix_files(fix(&id, &[])), edits);
        assert_eq!(fixed.unwrap().count, 80, "round {round}");
        let again: Vec<_> = (0..40).map(|it| write(&format!("f{it}.py"), FIXABLE)).collect();
        it.client.edit(&id, again).await.unwrap();
    }
}
