//! Codex's patches, as seen from after them.
//!
//! What a patch means is in `agent-tools`; here it is only read as far as to turn it around.

const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";

/// The path that a line is the head of, behind its mark.
fn head(line: &str) -> Option<(&'static str, &str)> {
    let mark = [ADD, UPDATE, DELETE, MOVE].into_iter().find(|it| line.starts_with(it))?;
    Some((mark, line[mark.len()..].trim_end()))
}

/// Files that a patch names, as they are called after it, and before it.
pub(super) fn paths(patch: &str) -> Vec<&str> {
    patch.lines().filter_map(|it| Some(head(it)?.1)).collect()
}

/// The patch with other names of its files, without what it does to those that have none.
pub(super) fn renamed(patch: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let (mut text, mut is_left_out) = (String::new(), false);
    for line in patch.lines() {
        match head(line).map(|(mark, path)| (mark, name(path))) {
            Some((mark, Some(name))) => {
                is_left_out &= mark == MOVE;
                if !is_left_out {
                    text.push_str(&format!("{mark}{name}\n"));
                }
            }
            Some((_, None)) => is_left_out = true,
            None if is_left_out && !line.starts_with("*** End Patch") => {}
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

/// The patch that undoes another; `None` if that took a file away, whose text it does not have, or lines of which it does
/// not say where they were.
pub(super) fn reversed(patch: &str) -> Option<String> {
    let mut text = String::new();
    let mut lines = patch.lines().peekable();
    let (mut is_added, mut chunk) = (false, Chunk::default());
    while let Some(line) = lines.next() {
        match head(line) {
            Some((DELETE, _)) => return None,
            Some((ADD, path)) => {
                is_added = true;
                text.push_str(&format!("{DELETE}{path}\n"));
            }
            Some((_, path)) => {
                is_added = false;
                match lines.next_if(|it| it.starts_with(MOVE)).map(|it| &it[MOVE.len()..]) {
                    Some(to) => text.push_str(&format!("{UPDATE}{to}\n{MOVE}{path}\n")),
                    None => text.push_str(&format!("{UPDATE}{path}\n")),
                }
            }
            None => {
                // The text of a new file has no part in taking it away.
                if !is_added || !line.starts_with('+') {
                    text.push_str(&format!("{}\n", opposite(line)));
                }
            }
        }
        if !chunk.goes_on(line) {
            return None;
        }
    }
    chunk.goes_on("@@").then_some(text)
}

fn opposite(line: &str) -> String {
    match line.as_bytes().first() {
        Some(b'+') => format!("-{}", &line[1..]),
        Some(b'-') => format!("+{}", &line[1..]),
        _ => line.to_owned(),
    }
}

/// Whether lines go, and whether any stay or come that tell where that was.
#[derive(Default)]
struct Chunk {
    removes: bool,
    is_placed: bool,
}

impl Chunk {
    /// Takes in a line; false if it ends a chunk of which the place is not known.
    fn goes_on(&mut self, line: &str) -> bool {
        match line.as_bytes().first() {
            Some(b'-') => self.removes = true,
            Some(b'@' | b'*') => {
                let ended = std::mem::take(self);
                return !ended.removes || ended.is_placed;
            }
            _ => self.is_placed = true,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
*** Begin Patch
*** Add File: new.py
+import os
*** Update File: old.py
*** Move to: moved.py
@@ def f():
 a = 1
-b = 2
+b = 3
*** End Patch
";

    #[test]
    fn a_patch_is_turned_around() {
        insta::assert_snapshot!(reversed(PATCH).unwrap(), @r"
        *** Begin Patch
        *** Delete File: new.py
        *** Update File: moved.py
        *** Move to: old.py
        @@ def f():
         a = 1
        +b = 2
        -b = 3
        *** End Patch
        ");
        assert_eq!(paths(PATCH), ["new.py", "old.py", "moved.py"]);
        assert_eq!(reversed("*** Begin Patch\n*** Delete File: a\n*** End Patch\n"), None);
    }

    #[test]
    fn lines_that_only_go_say_not_where_they_were() {
        let patch = |chunk: &str| format!("*** Begin Patch\n*** Update File: a\n@@\n{chunk}*** End Patch\n");
        assert_eq!(reversed(&patch("-import os\n")), None);
        assert!(reversed(&patch(" x = 1\n-import os\n")).is_some());
        assert!(reversed(&patch("-import os\n+import re\n")).is_some());
    }

    #[test]
    fn files_elsewhere_are_left_out() {
        let name = |path: &str| (path != "old.py").then(|| format!("sub/{path}"));
        insta::assert_snapshot!(renamed(PATCH, name), @r"
        *** Begin Patch
        *** Add File: sub/new.py
        +import os
        *** End Patch
        ");
        insta::assert_snapshot!(renamed(PATCH, |path| Some(format!("sub/{path}"))), @r"
        *** Begin Patch
        *** Add File: sub/new.py
        +import os
        *** Update File: sub/old.py
        *** Move to: sub/moved.py
        @@ def f():
         a = 1
        -b = 2
        +b = 3
        *** End Patch
        ");
    }
}
