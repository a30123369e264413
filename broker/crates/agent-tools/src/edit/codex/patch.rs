//! A codex patch as a whole: its files under other names, and the patch that undoes it.

use std::fmt::{self, Display};

use super::{
    super::block::Sign,
    ADD, BEGIN, DELETE, END, END_OF_FILE, MOVE, UPDATE, read,
    section::{Chunk, Section},
};
use crate::edit::Refused;

/// A patch in the form of codex.
#[derive(Debug, PartialEq, Eq)]
pub struct CodexPatch<'a>(Vec<Section<'a>>);

impl<'a> CodexPatch<'a> {
    /// Reads a patch, which may have other text around it.
    pub fn read(text: &'a str) -> Result<Self, Refused> {
        read(text).map(Self)
    }

    /// Files that the patch names, as they are called before it and after it.
    pub fn paths(&self) -> Vec<&'a str> {
        let paths = self.0.iter().flat_map(|section| match *section {
            Section::Update { path, to, .. } => [Some(path), to],
            Section::Add { path, .. } | Section::Delete { path } => [Some(path), None],
        });
        paths.flatten().collect()
    }

    /// The patch with other names of its files, without what it does to those that have none.
    pub fn renamed(&self, name: impl Fn(&str) -> Option<String>) -> String {
        let named = |section: &Section<'a>| {
            let (path, to) = match *section {
                Section::Update { path, to, .. } => (path, to),
                Section::Add { path, .. } | Section::Delete { path } => (path, None),
            };
            let (path, to) = (name(path)?, to.map(|it| name(it).ok_or(())).transpose().ok()?);
            Some(section.with_paths(&path, to.as_deref()).to_string())
        };
        framed(self.0.iter().filter_map(named))
    }

    /// The patch that undoes this one; `None` if this one deletes a file, whose text it does not have, or lines without saying
    /// where they were.
    pub fn reversed(&self) -> Option<String> {
        let sections = self.0.iter().map(|it| it.reversed().map(|it| it.to_string()));
        Some(framed(sections.collect::<Option<Vec<_>>>()?.into_iter()))
    }
}

fn framed(sections: impl Iterator<Item = String>) -> String {
    format!("{BEGIN}\n{}{END}\n", sections.collect::<String>())
}

impl<'a> Section<'a> {
    fn with_paths<'b>(&self, path: &'b str, to: Option<&'b str>) -> Section<'b>
    where
        'a: 'b,
    {
        match self {
            Self::Add { lines, .. } => Section::Add { path, lines: lines.clone() },
            Self::Delete { .. } => Section::Delete { path },
            Self::Update { chunks, .. } => Section::Update { path, to, chunks: chunks.clone() },
        }
    }

    fn reversed(&self) -> Option<Self> {
        match self {
            Self::Add { path, .. } => Some(Self::Delete { path }),
            Self::Delete { .. } => None,
            Self::Update { path, to, chunks } => {
                let chunks = chunks.iter().map(Chunk::reversed).collect::<Option<_>>()?;
                Some(Self::Update { path: to.unwrap_or(path), to: to.map(|_| *path), chunks })
            }
        }
    }
}

impl Chunk<'_> {
    /// `None` if lines go, and none stays or comes that tells where that was.
    fn reversed(&self) -> Option<Self> {
        let mut chunk = self.clone();
        if !chunk.block.lines.iter().any(|(sign, _)| *sign != Sign::Old) {
            return None;
        }
        for (sign, _) in &mut chunk.block.lines {
            *sign = match sign {
                Sign::Keep => Sign::Keep,
                Sign::Old => Sign::New,
                Sign::New => Sign::Old,
            };
        }
        Some(chunk)
    }
}

impl Display for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { path, lines } => {
                writeln!(f, "{ADD}{path}")?;
                lines.iter().try_for_each(|it| writeln!(f, "+{it}"))
            }
            Self::Delete { path } => writeln!(f, "{DELETE}{path}"),
            Self::Update { path, to, chunks } => {
                writeln!(f, "{UPDATE}{path}")?;
                to.iter().try_for_each(|it| writeln!(f, "{MOVE}{it}"))?;
                chunks.iter().try_for_each(|it| write!(f, "{it}"))
            }
        }
    }
}

impl Display for Chunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.heads.is_empty() {
            true => writeln!(f, "@@")?,
            false => self.heads.iter().try_for_each(|it| writeln!(f, "@@ {it}"))?,
        }
        for (sign, line) in &self.block.lines {
            let sign = match sign {
                Sign::Keep => ' ',
                Sign::Old => '-',
                Sign::New => '+',
            };
            writeln!(f, "{sign}{line}")?;
        }
        if self.is_last { writeln!(f, "{END_OF_FILE}") } else { Ok(()) }
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

    fn reversed(patch: &str) -> Option<String> {
        CodexPatch::read(patch).unwrap().reversed()
    }

    #[test]
    fn a_patch_is_reversed() {
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
        assert_eq!(CodexPatch::read(PATCH).unwrap().paths(), ["new.py", "old.py", "moved.py"]);
        assert_eq!(reversed("*** Begin Patch\n*** Delete File: a\n*** End Patch\n"), None);
    }

    #[test]
    fn lines_that_are_only_removed_do_not_say_where_they_were() {
        let patch = |chunk: &str| format!("*** Begin Patch\n*** Update File: a\n@@\n{chunk}*** End Patch\n");
        assert_eq!(reversed(&patch("-import os\n")), None);
        assert!(reversed(&patch(" x = 1\n-import os\n")).is_some());
        assert!(reversed(&patch("-import os\n+import re\n")).is_some());
        let at_end = patch(" x = 1\n+y = 2\n*** End of File\n");
        assert_eq!(reversed(&at_end).unwrap(), at_end.replace("+y", "-y"));
    }

    #[test]
    fn files_elsewhere_are_left_out() {
        let patch = CodexPatch::read(PATCH).unwrap();
        let name = |path: &str| (path != "old.py").then(|| format!("sub/{path}"));
        insta::assert_snapshot!(patch.renamed(name), @r"
        *** Begin Patch
        *** Add File: sub/new.py
        +import os
        *** End Patch
        ");
        insta::assert_snapshot!(patch.renamed(|path| Some(format!("sub/{path}"))), @r"
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
