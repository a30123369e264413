//! Parts of a text that stand for themselves: a function, a class, a section.
//!
//! Definitions are found in the syntax tree by what their grammar calls them, so that all languages with a tree are cut
//! alike. A long one is cut into those within it. Texts without a tree, and what lies between definitions, are cut by
//! headings and by length.

use overlay::{ContentHash, WorkspacePath};
use syntax::Tree;

use super::definitions::{Definition, Grammar, MAX_DEPTH, definitions};

/// Lines of a chunk. A definition that is longer is cut.
const MAX_LINES: usize = 80;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Number of the first line, from 0.
    pub(crate) first_line: u32,
    /// The first line that is no part of it.
    pub(crate) end_line: u32,
    /// Offsets in the text, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Definition in the chunk, as `Outer.inner`; empty if there is none.
    pub(crate) symbol: String,
    /// All names that are defined in it.
    pub(crate) defines: String,
}

impl Chunk {
    /// Returns the hash by which the chunk is known: over its text and its definitions.
    pub(crate) fn hash(&self, text: &str) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.symbol, "\0", &self.defines, "\0", &text[self.start..self.end]] {
            hasher.update(part.as_bytes());
        }
        ContentHash::from_bytes(*hasher.finalize().as_bytes())
    }
}

/// The chunks of a text, in their order.
pub(crate) fn chunks(path: &WorkspacePath, text: &str, tree: Option<(&Tree, &Grammar)>) -> Vec<Chunk> {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < text.len()));
    starts.push(text.len());
    let mut cut = Cut { text, starts, chunks: Vec::new(), is_markdown: is_markdown(path) };
    let definitions = tree.map(|(tree, grammar)| definitions(tree, grammar)).unwrap_or_default();
    cut.definitions(&definitions, 0, cut.starts.len() - 1, "", 0);
    cut.chunks
}

fn is_markdown(path: &WorkspacePath) -> bool {
    path.extension().is_some_and(|it| matches!(it, "md" | "markdown" | "mdx" | "rst" | "adoc"))
}

struct Cut<'a> {
    text: &'a str,
    /// Start of each line, and the end of the last one.
    starts: Vec<usize>,
    chunks: Vec<Chunk>,
    is_markdown: bool,
}

impl Cut<'_> {
    fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|it| *it <= byte).saturating_sub(1).min(self.starts.len() - 2)
    }

    fn line(&self, line: usize) -> &str {
        &self.text[self.starts[line]..self.starts[line + 1]]
    }

    /// The lines from `from` to `end`, in which these definitions are.
    fn definitions(
        &mut self,
        definitions: &[Definition],
        from: usize,
        end: usize,
        outer: &str,
        depth: usize,
    ) {
        let mut done = from;
        for definition in definitions {
            let first = self.with_comments(self.line_of(definition.start), done);
            let last = (self.line_of(definition.end.saturating_sub(1).max(definition.start)) + 1).min(end);
            // A second definition in the line of another one.
            if first < done || last <= first {
                continue;
            }
            self.between(done, first, outer);
            let symbol = if outer.is_empty() {
                definition.name.clone()
            } else {
                format!("{outer}.{}", definition.name)
            };
            if last - first > MAX_LINES && !definition.inner.is_empty() && depth < MAX_DEPTH {
                self.definitions(&definition.inner, first, last, &symbol, depth + 1);
            } else {
                let mut defines = String::new();
                names(definition, &mut defines);
                self.pieces(first, last, &symbol, &defines);
            }
            done = last;
        }
        self.between(done, end, outer);
    }

    /// The first of the lines right above a definition that are comments or attributes.
    fn with_comments(&self, mut first: usize, done: usize) -> usize {
        let is_about = |it: &str| {
            let it = it.trim_start();
            ["//", "#", "*", "/*", "--", "@", ";;", "%"].iter().any(|start| it.starts_with(start))
        };
        while first > done && is_about(self.line(first - 1)) {
            first -= 1;
        }
        first
    }

    /// Lines that define nothing, or what the definition around them does.
    fn between(&mut self, from: usize, end: usize, outer: &str) {
        let mut start = from;
        if self.is_markdown {
            for line in from..end {
                if line > start && self.line(line).starts_with('#') {
                    self.section(start, line);
                    start = line;
                }
            }
            return self.section(start, end);
        }
        self.pieces(start, end, outer, outer.rsplit('.').next().unwrap_or_default());
    }

    /// A section, by its heading.
    fn section(&mut self, from: usize, end: usize) {
        if from < end {
            let line = self.line(from);
            let heading = line.strip_prefix('#').map(|it| it.trim_start_matches('#').trim().to_owned());
            let heading = heading.unwrap_or_default();
            self.pieces(from, end, &heading, &heading);
        }
    }

    /// Chunks of at most [`MAX_LINES`] of these lines.
    fn pieces(&mut self, from: usize, end: usize, symbol: &str, defines: &str) {
        let mut start = from;
        while start < end {
            let next = (start + MAX_LINES).min(end);
            let (bytes, end_bytes) = (self.starts[start], self.starts[next]);
            if self.text[bytes..end_bytes].chars().any(char::is_alphanumeric) {
                self.chunks.push(Chunk {
                    first_line: u32::try_from(start).unwrap_or(u32::MAX),
                    end_line: u32::try_from(next).unwrap_or(u32::MAX),
                    start: bytes,
                    end: end_bytes,
                    symbol: symbol.to_owned(),
                    defines: defines.to_owned(),
                });
            }
            start = next;
        }
    }
}

fn names(definition: &Definition, all: &mut String) {
    if !all.is_empty() {
        all.push(' ');
    }
    all.push_str(&definition.name);
    definition.inner.iter().for_each(|it| names(it, all));
}

#[cfg(test)]
mod tests {
    use syntax::{Language, Trees};

    use super::*;

    fn cut(path: &str, text: &str) -> Vec<String> {
        let path = WorkspacePath::new(path).unwrap();
        let language = Language::of(&path);
        let grammar = language.map(Grammar::of);
        let tree = language.map(|language| {
            let bytes = bytes::Bytes::copy_from_slice(text.as_bytes());
            Trees::new(1 << 20).tree(language, bytes, ContentHash::of(text.as_bytes()), &|| false).unwrap()
        });
        let chunks = chunks(&path, text, tree.as_deref().zip(grammar.as_ref()));
        let mut lines = vec![false; text.lines().count()];
        for chunk in &chunks {
            (chunk.first_line..chunk.end_line)
                .for_each(|it| assert!(!std::mem::replace(&mut lines[it as usize], true), "cut twice"));
        }
        let show =
            |it: &Chunk| format!("{}-{} {} [{}]", it.first_line + 1, it.end_line, it.symbol, it.defines);
        chunks.iter().map(show).collect()
    }

    #[test]
    fn definitions_are_chunks() {
        let rust = "use a;\n\n/// Doc.\n#[test]\nfn one() {}\n\nimpl Two for Three {\n    fn four(&self) {}\n}\nconst X: u8 = 1;\n";
        assert_eq!(cut("a.rs", rust), ["1-2  []", "3-5 one [one]", "7-9 Three [Three four]", "10-10  []"]);
        let python = "import x\n\nclass A:\n    def b(self): pass\n\n@c\ndef d():\n    pass\n";
        assert_eq!(cut("a.py", python), ["1-2  []", "3-4 A [A b]", "6-8 d [d]"]);
        let c = "static int *f(int x)\n{\n}\nstruct s { int a; };\n";
        assert_eq!(cut("a.c", c), ["1-3 f [f]", "4-4 s [s]"]);
        let go = "package p\n\nfunc (t *T) Run() {}\n\ntype T struct{}\n";
        assert_eq!(cut("a.go", go), ["1-2  []", "3-3 Run [Run]", "5-5 T [T]"]);
        let typescript = "export class A {\n  b(): void {}\n}\ninterface C { d: string }\nfunction e() {}\n";
        assert_eq!(cut("a.ts", typescript), ["1-3 A [A b]", "4-4 C [C]", "5-5 e [e]"]);
        let java = "package p;\nclass A {\n  A() {}\n  int b() { return 1; }\n}\n";
        assert_eq!(cut("A.java", java), ["1-1  []", "2-5 A [A A b]"]);
        let ruby = "module M\n  class A\n    def b; end\n  end\nend\n";
        assert_eq!(cut("a.rb", ruby), ["1-5 M [M A b]"]);
    }

    #[test]
    fn long_definitions_are_cut_into_those_within_them() {
        let methods: String =
            (0..30).map(|it| format!("    def m{it}(self):\n        x = {it}\n\n")).collect();
        let found = cut("a.py", &format!("class Long:\n    \"\"\"Doc.\"\"\"\n{methods}"));
        assert_eq!(found[..3], ["1-2 Long [Long]", "3-4 Long.m0 [m0]", "6-7 Long.m1 [m1]"]);
        let long = cut("a.py", &format!("def f():\n{}", "    x = 1\n".repeat(100)));
        assert_eq!(long, ["1-80 f [f]", "81-101 f [f]"]);
    }

    #[test]
    fn other_texts_are_cut_by_headings_and_length() {
        let found = cut("a.md", "intro\n\n# One\ntext\n## Two words\ntext\n");
        assert_eq!(found, ["1-2  []", "3-4 One [One]", "5-6 Two words [Two words]"]);
        assert_eq!(cut("a.txt", &"x\n".repeat(100)), ["1-80  []", "81-100  []"]);
        assert_eq!(cut("a.txt", ""), [""; 0]);
        assert_eq!(cut("a.txt", "\n--\n"), [""; 0]);
        assert_eq!(cut("a.txt", "no end"), ["1-1  []"]);
    }
}
