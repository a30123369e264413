//! A change as a patch or as blocks.

use similar::DiffOp;

use super::{Case, Maker, Span};

impl Maker<'_> {
    fn signed(&self, span: &Span) -> String {
        let mut text = String::new();
        let mut push = |sign: char, line: &str| text.extend([&*sign.to_string(), line, "\n"]);
        let mut at = span.old.0;
        for op in self.ops.iter().filter(|it| !matches!(it, DiffOp::Equal { .. })) {
            let (old, new) = (op.old_range(), op.new_range());
            if old.start < span.old.0 || old.end > span.old.1 {
                continue;
            }
            self.before[at..old.start].iter().for_each(|it| push(' ', it));
            self.before[old.clone()].iter().for_each(|it| push('-', it));
            self.after[new].iter().for_each(|it| push('+', it));
            at = old.end;
        }
        self.before[at..span.old.1].iter().for_each(|it| push(' ', it));
        text
    }

    pub(super) fn diff(&self, shape: &'static str, head: &str) -> Case {
        let hunks: String =
            self.spans(3, 3).iter().map(|it| format!("{head}\n{}", self.signed(it))).collect();
        self.case(shape, format!("--- a/{0}\n+++ b/{0}\n{hunks}", self.change.path))
    }

    pub(super) fn codex(&self) -> Case {
        let open = !self.change.before.ends_with('\n');
        let chunks: String = self.spans(3, 3).iter().map(|it| format!("@@\n{}", self.signed(it))).collect();
        let edit = format!("*** Begin Patch\n*** Update File: {}\n{chunks}*** End Patch\n", self.change.path);
        self.case("codex patch", if open { String::new() } else { edit })
    }

    pub(super) fn blocks(&self) -> Case {
        let block = |it: &Span| {
            let (old, new) =
                (self.before[it.old.0..it.old.1].join("\n"), self.after[it.new.0..it.new.1].join("\n"));
            format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
        };
        let spans = self.spans(3, 3);
        let is_empty = |it: &Span| it.old.0 == it.old.1 || it.new.0 == it.new.1;
        let edit = if spans.iter().any(is_empty) { String::new() } else { spans.iter().map(block).collect() };
        self.case("SEARCH/REPLACE blocks", edit)
    }
}
