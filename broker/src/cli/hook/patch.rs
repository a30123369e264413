//! Codex's patches, as seen from after them.
//!
//! What a patch means is in `agent-tools`; here it is only read as far as to turn it around.

const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";

/// Files that a patch names, as they are called after it, and before it.
pub(super) fn paths(patch: &str) -> Vec<&str> {
    let named = |line: &'_ str| -> Option<usize> {
        [ADD, UPDATE, DELETE, MOVE].iter().find(|it| line.starts_with(**it)).map(|it| it.len())
    };
    patch.lines().filter_map(|line| Some(line[named(line)?..].trim_end())).collect()
}

/// The patch that undoes another; `None` if that took a file away, whose text it does not have.
pub(super) fn reversed(patch: &str) -> Option<String> {
    let mut text = String::new();
    let mut lines = patch.lines().peekable();
    let mut is_added = false;
    while let Some(line) = lines.next() {
        if line.starts_with(DELETE) {
            return None;
        }
        if let Some(path) = line.strip_prefix(ADD) {
            is_added = true;
            text.push_str(&format!("{DELETE}{path}\n"));
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            is_added = false;
            match lines.next_if(|it| it.starts_with(MOVE)).map(|it| &it[MOVE.len()..]) {
                Some(to) => text.push_str(&format!("{UPDATE}{to}\n{MOVE}{path}\n")),
                None => text.push_str(&format!("{UPDATE}{path}\n")),
            }
        } else if let Some(line) = line.strip_prefix('+') {
            // The text of a new file has no part in taking it away.
            if !is_added {
                text.push_str(&format!("-{line}\n"));
            }
        } else if let Some(line) = line.strip_prefix('-') {
            text.push_str(&format!("+{line}\n"));
        } else {
            text.push_str(&format!("{line}\n"));
        }
    }
    Some(text)
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
}
