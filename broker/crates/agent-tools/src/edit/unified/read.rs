//! A diff in an edit, and what is around it.

use patch::{Error, FilePatch, Mode, Patch};

use super::{
    super::{
        outcome::{Reason, Refused},
        text::lines_of,
        wrapping::Found,
    },
    file_diff::{FileDiff, named},
};

/// The files of a diff.
pub(in super::super) fn read(edit: &str) -> Result<Vec<FileDiff<'_>>, Refused> {
    let lines = lines_of(edit);
    let patch = Patch::read(&lines, Mode::Lenient);
    let broken = patch.error.as_ref().and(patch.files.last()).and_then(|it| named(it).ok());
    let several = patch.files.len() > 1 || lines.iter().filter(|it| it.starts_with("+++ ")).count() > 1;
    let of_file = |it: Refused| match broken.filter(|_| several) {
        Some(named) => it.in_file(named.shown()),
        None => it,
    };
    let files = patch.files().map_err(|it| of_file(refused(it)))?;
    files.into_iter().map(FileDiff::new).collect()
}

/// A diff in an edit, and what is around it.
pub(in super::super) fn find<'a>(lines: &[&'a str]) -> Option<Found<'a>> {
    let Patch { first, files, outside, .. } = Patch::read(lines, Mode::Lenient);
    let named = |it: &FilePatch<'_>| named(it).ok();
    Some(Found { first: first?, named: files.iter().filter_map(named).collect(), outside })
}

pub(super) fn refused(error: Error) -> Refused {
    Reason::Malformed { line: error.line, message: error.problem.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::{super::super::names::Named, *};

    fn named(edit: &str) -> Result<Named, Refused> {
        let files = read(edit)?;
        assert_eq!(files.len(), 1, "{edit}");
        Ok(files[0].named.clone())
    }

    #[test]
    fn heads_that_contradict_themselves_are_refused() {
        for edit in [
            "diff --git a/x b/x\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/y\nrename from x\n",
            "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            "diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/y\nindex 1..2\n",
            "diff --cc x\n--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n--a\n++b\n",
            "--- a/x\n\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
        ] {
            assert!(matches!(read(edit), Err(Refused { reason: Reason::Malformed { .. }, .. })), "{edit}");
        }
    }

    #[test]
    fn gits_first_line_names_the_file_where_nothing_else_does() {
        let one = |name: &str| Ok(Named::One(name.to_owned()));
        assert_eq!(named("diff --git a/x y b/x y\nnew file mode 100644\n"), one("x y"));
        assert_eq!(named("diff --git x x\nnew file mode 100644\n"), one("x"));
        let quoted = r#""a/caf\303\251" "b/caf\303\251""#;
        assert_eq!(named(&format!("diff --git {quoted}\nnew file mode 100644\n")), one("café"));
        let edit =
            "diff --git a/b/x b/b/x\nnew file mode 100644\n--- /dev/null\n+++ b/b/x\n@@ -0,0 +1 @@\n+a\n";
        assert_eq!(named(edit), one("b/x"));
    }
}
