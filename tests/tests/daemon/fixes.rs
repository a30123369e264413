//! `FixFiles`: fixes are one edit of the branch, and what does harm is taken back.

use broker_proto::v1 as pb;
use tests::daemon::{branch, refusal, write};
use tonic::Code;

use super::Fixture;

const FIXABLE: &str = "import os\nimport re\nx = 1\n";

async fn fix(it: &Fixture, request: pb::FixFilesRequest) -> pb::FixFilesResponse {
    it.client.checks().fix_files(request).await.unwrap().into_inner()
}

async fn text(it: &Fixture, id: &str, path: &str) -> String {
    String::from_utf8(it.client.read(branch(id), path).await.unwrap().1).unwrap()
}

#[tokio::test]
async fn fixes_are_one_edit_which_a_dry_run_only_shows() {
    let it = Fixture::new(&[("disk.py", FIXABLE)]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", FIXABLE), write("b.py", FIXABLE)]).await.unwrap();
    let request = pb::FixFilesRequest {
        branch_id: id.clone(),
        paths: vec!["a.py".to_owned(), "b.py".to_owned()],
        ..pb::FixFilesRequest::default()
    };
    let dry = fix(&it, pb::FixFilesRequest { dry_run: true, ..request.clone() }).await;
    assert_eq!(
        (dry.revision, dry.fixes, dry.paths.as_slice()),
        (1, 4, ["a.py", "b.py"].map(String::from).as_slice())
    );
    assert_eq!(text(&it, &id, "a.py").await, FIXABLE);
    let once = pb::FixFilesRequest { request_id: "once".to_owned(), if_revision: Some(1), ..request.clone() };
    let fixed = fix(&it, once.clone()).await;
    assert_eq!((fixed.revision, fixed.fixes, &fixed.patch), (2, 4, &dry.patch));
    assert!(fixed.patch.contains("-import os\n-import re\n x = 1\n"), "{}", fixed.patch);
    assert_eq!([text(&it, &id, "a.py").await, text(&it, &id, "b.py").await], ["x = 1\n"; 2]);
    assert_eq!(fix(&it, once.clone()).await.revision, 2, "it is done once");
    assert_eq!(it.text("disk.py"), FIXABLE);

    let again = pb::FixFilesRequest { request_id: String::new(), ..once };
    let refused = it.client.checks().fix_files(again).await;
    assert_eq!(refusal(refused).0, Code::Aborted, "the branch is at another revision");
    let nothing = fix(&it, request.clone()).await;
    assert_eq!((nothing.revision, nothing.fixes, nothing.patch.as_str()), (2, 0, ""));
    let display = pb::FixFilesRequest { applicability: pb::Applicability::DisplayOnly.into(), ..request };
    assert_eq!(refusal(it.client.checks().fix_files(display).await).0, Code::InvalidArgument);
}

#[tokio::test]
async fn a_fix_that_breaks_a_file_is_not_made() {
    let rule = "id: breaks\nlanguage: python\nmessage: m\nrule: { pattern: breakme }\nfix: (\n";
    let it = Fixture::new(&[(".broker/rules/a.yml", rule)]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.py", "import os\nbreakme = 1\n")]).await.unwrap();
    let request = pb::FixFilesRequest {
        branch_id: id.clone(),
        paths: vec!["a.py".to_owned()],
        applicability: pb::Applicability::Unsafe.into(),
        ..pb::FixFilesRequest::default()
    };
    let fixed = fix(&it, request).await;
    assert_eq!(text(&it, &id, "a.py").await, "breakme = 1\n");
    let [unfixed] = fixed.unfixed.as_slice() else { panic!("{fixed:?}") };
    assert_eq!((unfixed.path.as_str(), unfixed.rule.as_str()), ("a.py", "pattern/breaks"));
    assert!(unfixed.reason.contains("could not be parsed any more"), "{unfixed:?}");
}

#[tokio::test]
async fn the_parents_side_of_a_branch_can_be_read() {
    let it = Fixture::new(&[("a", "base"), ("folder/b", "base")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a", "branch"), write("c", "branch")]).await.unwrap();
    let read = |path: &str| pb::ReadFileRequest {
        target: Some(branch(&id)),
        path: path.to_owned(),
        of_parent: true,
        ..pb::ReadFileRequest::default()
    };
    let mut parts = it.client.files().read_file(read("a")).await.unwrap().into_inner();
    let mut content = Vec::new();
    while let Some(part) = parts.message().await.unwrap() {
        if let Some(pb::read_file_response::Part::Content(piece)) = part.part {
            content.extend_from_slice(&piece);
        }
    }
    assert_eq!(content, b"base");
    assert_eq!(refusal(it.client.files().read_file(read("c")).await).0, Code::NotFound);
    let list = pb::ListDirectoryRequest {
        target: Some(branch(&id)),
        of_parent: true,
        ..pb::ListDirectoryRequest::default()
    };
    let entries = it.client.files().list_directory(list).await.unwrap().into_inner().entries;
    let names: Vec<_> = entries.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "folder"]);
}

#[tokio::test]
async fn edits_of_other_files_do_not_matter_and_those_of_fixed_ones_do() {
    let it = Fixture::new(&[]).await;
    let id = it.fork().await;
    let files: Vec<_> = (0..40).map(|it| write(&format!("f{it}.py"), FIXABLE)).collect();
    it.client.edit(&id, files).await.unwrap();
    for round in 0..5 {
        let request = pb::FixFilesRequest { branch_id: id.clone(), ..pb::FixFilesRequest::default() };
        let edits = async {
            for number in 0..10 {
                it.client.edit(&id, vec![write(&format!("other{round}-{number}"), "x\n")]).await.unwrap();
            }
        };
        let mut checks = it.client.checks();
        let (fixed, ()) = tokio::join!(checks.fix_files(request), edits);
        assert_eq!(fixed.unwrap().into_inner().fixes, 80, "round {round}");
        let again: Vec<_> = (0..40).map(|it| write(&format!("f{it}.py"), FIXABLE)).collect();
        it.client.edit(&id, again).await.unwrap();
    }
}
