//! Previews of merges.

use tests::api::{Refusal, branch, write};
use workspaces::{DefinitionChange, MergePreview, MergePreviewRequest};

use super::{Fixture, Way};

both! {
    a_finding_in_neither_branch_is_told_with_both_edits,
    branches_that_cannot_touch_each_other_are_passed_over,
    texts_that_do_not_go_together_are_told_in_both_directions,
    a_use_of_what_the_other_deleted_or_changed_is_a_possible_conflict,
    what_conflicts_lands_after_what_does_not,
    a_request_names_branches_of_one_workspace_once,
}

const SHAPES: &str = "def area(a):\n    return a\n\n\nprint(1)\nprint(2)\nprint(3)\nprint(4)\n";

/// One branch for each list of files.
async fn branches(it: &Fixture, edits: &[&[(&str, &str)]]) -> Vec<String> {
    let mut ids = Vec::new();
    for edits in edits {
        let id = it.fork().await;
        it.client.edit(&id, edits.iter().map(|(path, text)| write(path, *text)).collect()).await.unwrap();
        ids.push(id);
    }
    ids
}

async fn preview(it: &Fixture, ids: &[String]) -> MergePreview {
    it.client.merge_preview(MergePreviewRequest { branches: ids.to_vec(), wait: None }).await.unwrap()
}

async fn a_finding_in_neither_branch_is_told_with_both_edits(way: Way) {
    let it = Fixture::new(way, &[("shapes.py", SHAPES)]).await;
    let renamed = SHAPES.replace("area", "surface");
    let used = format!("{SHAPES}print(area(2))\n");
    let ids = branches(&it, &[&[("shapes.py", &renamed)], &[("shapes.py", &used)]]).await;
    let told = preview(&it, &ids).await;
    let pair = &told.pairs[0];
    assert_eq!((&pair.a, &pair.b, pair.conflicts.len()), (&ids[0], &ids[1], 0), "{told:?}");
    let found: Vec<_> = pair.findings.iter().map(|it| (&*it.rule, it.at.line)).collect();
    assert_eq!(found, [("python/F821", 9)], "{told:?}");
    let edits = pair.findings[0].edits.each_ref().map(|it| it.as_ref().map(|it| (it.line, &*it.text)));
    assert_eq!(edits, [Some((1, "def surface(a):")), Some((9, "print(area(2))"))]);
    assert!(it.client.text(branch(&ids[0]), "shapes.py").await.contains("surface"), "nothing is changed");
}

async fn branches_that_cannot_touch_each_other_are_passed_over(way: Way) {
    let it = Fixture::new(way, &[("a.py", "A = 1\n"), ("b.py", "B = 1\n"), ("c.py", "C = 1\n")]).await;
    let edits: [&[_]; 3] =
        [&[("a.py", "A = 2\n")], &[("b.py", "B = 2\n")], &[("c.py", "import os\nC = 2\n")]];
    let ids = branches(&it, &edits).await;
    let told = preview(&it, &ids).await;
    assert_eq!((told.looked_at, told.skipped, told.pairs.len()), (0, 3, 0), "{told:?}");
    assert!(told.notes.is_empty() && told.order.iter().all(|it| it.after.is_empty()), "{told:?}");
}

async fn texts_that_do_not_go_together_are_told_in_both_directions(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "1\n2\n3\n")]).await;
    let mut ids = branches(&it, &[&[("a.txt", "1\none\n3\n")], &[("a.txt", "1\ntwo\n3\n")]]).await;
    for _ in 0..2 {
        let told = preview(&it, &ids).await;
        let conflicts = &told.pairs[0].conflicts;
        assert_eq!((conflicts.len(), conflicts[0].path.as_str()), (1, "a.txt"), "{told:?}");
        assert!(conflicts[0].reason.contains("one") && conflicts[0].reason.contains("two"), "{told:?}");
        ids.reverse();
    }
}

async fn a_use_of_what_the_other_deleted_or_changed_is_a_possible_conflict(way: Way) {
    let one = "def gone():\n    return 1\n\n\ndef changed(a):\n    return a\n";
    let it = Fixture::new(way, &[("one.py", one), ("two.py", "TWO = 2\n")]).await;
    let used = "from one import changed, gone\n\nTWO = changed(gone())\n";
    let edits: [&[_]; 2] = [&[("one.py", "def changed(a, b):\n    return a + b\n")], &[("two.py", used)]];
    let ids = branches(&it, &edits).await;
    let told = preview(&it, &ids).await;
    let conflicts = told.pairs[0].definitions.iter();
    let conflicts: Vec<_> =
        conflicts.map(|it| (&*it.name, it.change, &it.changed_by, it.used.line)).collect();
    let expected = [("changed", DefinitionChange::Signature, 3), ("gone", DefinitionChange::Gone, 1)];
    assert_eq!(conflicts, expected.map(|(name, change, line)| (name, change, &ids[0], line)), "{told:?}");
}

#[tokio::test]
async fn pairs_that_there_is_no_time_for_are_counted() {
    let it = Fixture::new(Way::InProcess, &[("a.txt", "1\n2\n3\n")]).await;
    let ids = branches(&it, &[&[("a.txt", "0\n2\n3\n")], &[("a.txt", "1\n2\n4\n")]]).await;
    let request = MergePreviewRequest { branches: ids.clone(), wait: Some(std::time::Duration::ZERO) };
    let told = it.client.merge_preview(request).await.unwrap();
    assert_eq!((told.looked_at, told.skipped, told.not_looked_at), (0, 0, 1), "{told:?}");
    assert!(
        !told.is_complete() && told.notes[0].starts_with("not looked at within 0 s: 1 pair;"),
        "{told:?}"
    );
    let after: Vec<_> = told.order.iter().map(|it| it.after.clone()).collect();
    assert_eq!(after, [vec![], vec![ids[0].clone()]], "nothing is known of the pair");
}

async fn what_conflicts_lands_after_what_does_not(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n"), ("b.txt", "b\n")]).await;
    let edits: [&[_]; 3] = [&[("a.txt", "0\n"), ("b.txt", "0\n")], &[("a.txt", "1\n")], &[("b.txt", "2\n")]];
    let ids = branches(&it, &edits).await;
    let told = preview(&it, &ids).await;
    let order: Vec<_> = told.order.iter().map(|it| (it.branch.clone(), it.after.clone())).collect();
    let now = |place: usize| (ids[place].clone(), Vec::new());
    assert_eq!(order, [now(1), now(2), (ids[0].clone(), vec![ids[1].clone(), ids[2].clone()])]);
    assert_eq!((told.looked_at, told.skipped), (2, 1));
}

async fn a_request_names_branches_of_one_workspace_once(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let id = it.fork().await;
    let refused = async |branches: Vec<String>| -> Refusal {
        it.client.merge_preview(MergePreviewRequest { branches, wait: None }).await.unwrap_err()
    };
    for branches in [vec![], vec![id.clone()], vec![id.clone(), id.clone()]] {
        assert_eq!(refused(branches).await.fact("field"), Some("branches"));
    }
    assert_eq!(refused(vec![id, "1.gone".to_owned()]).await.reason, "NOT_FOUND");
}

/// Branches of the measurement: pairs of them write one file, every tenth writes one that all of those share.
const MEASURED: usize = 200;

#[tokio::test]
#[ignore = "a measurement, to be run alone with --nocapture"]
async fn time_of_two_hundred_branches_in_pairs() {
    let texts: Vec<_> = (0..MEASURED).map(|it| (format!("f{it}.py"), format!("V{it} = 1\n"))).collect();
    let shared: String = (0..MEASURED).map(|it| format!("S{it} = 1\n\n\n")).collect();
    let mut files: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("shared.py", &shared));
    let it = Fixture::new(Way::InProcess, &files).await;
    let mut ids = Vec::new();
    for place in 0..MEASURED {
        let own = place / 2 * 2;
        let lines = if place % 2 == 0 { format!("V{own} = 2\n") } else { format!("V{own} = 1\nW = 1\n") };
        let mut edits = vec![write(&format!("f{own}.py"), lines)];
        if place % 10 == 0 {
            let line = format!("S{place} = 1\n");
            edits.push(write("shared.py", shared.replace(&line, &line.replace('1', "2"))));
        }
        let id = it.fork().await;
        it.client.edit(&id, edits).await.unwrap();
        ids.push(id);
    }
    let start = std::time::Instant::now();
    let told = preview(&it, &ids).await;
    let (first, time) = (told.looked_at, start.elapsed());
    let start = std::time::Instant::now();
    preview(&it, &ids).await;
    let conflicts = told.pairs.len();
    let again = start.elapsed();
    println!("{first} looked at, {} skipped, {conflicts} told: {time:?}, again {again:?}", told.skipped);
}
