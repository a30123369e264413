//! Tests of harvests: what programs wrote, as entries.

use std::path::Path;

use shadow::{Backend, EntryKind};

use crate::fixture::{World, run};

#[test]
fn what_was_written_is_told() {
    for world in
        World::each(&[("a.txt", "a"), ("b.txt", "b"), ("d/c.txt", "c"), ("e/f.txt", "f"), ("stays.txt", "s")])
    {
        let shadow = world.open(|_| ());
        let script = "echo new > a.txt; rm b.txt; echo x > d/n.sh; chmod +x d/n.sh; rm -r e; mkdir e; echo g > e/g.txt; \
                  ln -s a.txt link; cat stays.txt > /dev/null; t=$(mktemp); echo t > $t; rm $t";
        let ran = run(&shadow, &world.root(), script);
        let shown: Vec<_> = shadow
            .harvest()
            .unwrap()
            .into_iter()
            .map(|it| {
                let what = match it.kind {
                    EntryKind::Removed => "removed".to_owned(),
                    EntryKind::Directory => "directory".to_owned(),
                    EntryKind::Link(to) => format!("-> {to}"),
                    EntryKind::File { bytes, executable } => {
                        format!(
                            "{}{}",
                            String::from_utf8_lossy(&bytes).trim(),
                            if executable { " *" } else { "" }
                        )
                    }
                };
                format!("{}: {what}", it.path)
            })
            .collect();
        // A comparison cannot tell a folder that was made anew.
        let is_compared = shadow.choice().backend == Backend::Copy;
        let folder = if is_compared { "e/f.txt: removed" } else { "e: directory" };
        let want = ["a.txt: new", "b.txt: removed", "d/n.sh: x *", folder, "e/g.txt: g", "link: -> a.txt"];
        assert_eq!(shown, want, "{ran:?}");
    }
}

#[test]
fn files_that_are_not_wanted_are_not_told() {
    for world in World::each(&[("a.txt", "a")]) {
        let shadow = world.open(|_| ());
        run(
            &shadow,
            &world.root(),
            "echo new > a.txt; mkdir d; head -c 1000 /dev/zero > d/large; ln -s a.txt link",
        );
        let (mut asked, mut told) = (Vec::new(), Vec::new());
        let wants = |path: &Path, size| {
            asked.push((path.display().to_string(), size));
            size < 1000
        };
        shadow.harvest_some(wants, |it| told.push(it.path.to_string())).unwrap();
        assert_eq!(asked, [("a.txt".to_owned(), 4), ("d/large".to_owned(), 1000)]);
        // A new folder may be told, too.
        told.retain(|it| it != "d");
        assert_eq!(told, ["a.txt", "link"]);
    }
}
