//! Parts of a text that stand for themselves: a function, a class, a section.
//!
//! Definitions are those of `syntax`. A long one is cut into those within it. Texts without a tree, and what lies between
//! definitions, are cut by headings and by length. A constant, a field or a re-export of few lines lies between.

use std::ops::Range;

use overlay::{ContentHash, WorkspacePath};
use syntax::{Definition, DefinitionKind, Tree};

/// Lines of a chunk. A definition that is longer is cut.
const MAX_LINES: usize = 80;

/// Definitions within each other that are cut.
const MAX_DEPTH: usize = 12;

/// Lines of a constant, a re-export or a declaration of a module that is a chunk of its own.
const OWN_LINES: usize = 4;

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
    /// Whether it is of a test.
    pub(crate) is_test: bool,
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
pub(crate) fn chunks(path: &WorkspacePath, text: &str, tree: Option<&Tree>) -> Vec<Chunk> {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < text.len()));
    starts.push(text.len());
    let all = tree.map(syntax::definitions).unwrap_or_default();
    let mut cut = Cut {
        text,
        starts,
        inner: inner(&all),
        all: &all,
        chunks: Vec::new(),
        is_markdown: is_markdown(path),
    };
    let top: Vec<_> = (0..all.len()).filter(|at| all[*at].parent.is_none()).collect();
    cut.definitions(&top, 0, cut.starts.len() - 1, &Around::default());
    cut.chunks
}

/// The definitions right within each.
fn inner(all: &[Definition]) -> Vec<Vec<usize>> {
    let mut inner = vec![Vec::new(); all.len()];
    for (at, it) in all.iter().enumerate() {
        it.parent.into_iter().for_each(|parent| inner[parent].push(at));
    }
    inner
}

/// The definitions around lines.
#[derive(Debug, Clone, Default)]
struct Around {
    /// Their names, as `Outer.inner`.
    symbol: String,
    /// Name of the innermost.
    name: String,
    depth: usize,
    is_test: bool,
}

impl Around {
    fn with(&self, it: &Definition) -> Self {
        let name = it.full_name();
        let symbol = match self.symbol.as_str() {
            "" => name,
            outer => format!("{outer}.{name}"),
        };
        let is_test = self.is_test || it.kind == DefinitionKind::Test;
        Self { symbol, name: it.name.clone(), depth: self.depth + 1, is_test }
    }
}

fn is_markdown(path: &WorkspacePath) -> bool {
    path.extension().is_some_and(|it| matches!(it, "md" | "markdown" | "mdx" | "rst" | "adoc"))
}

struct Cut<'a> {
    text: &'a str,
    /// Start of each line, and the end of the last one.
    starts: Vec<usize>,
    all: &'a [Definition],
    inner: Vec<Vec<usize>>,
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

    /// The lines of a definition.
    fn lines(&self, at: usize) -> Range<usize> {
        let whole = &self.all[at].whole;
        self.line_of(whole.start)..self.line_of(whole.end.saturating_sub(1).max(whole.start)) + 1
    }

    /// Whether a definition is a chunk of its own.
    fn is_own(&self, at: usize) -> bool {
        let kind = self.all[at].kind;
        let is_small =
            matches!(kind, DefinitionKind::Constant | DefinitionKind::ReExport | DefinitionKind::Module);
        !kind.is_part() && (!is_small || self.lines(at).len() >= OWN_LINES)
    }

    /// The lines from `from` to `end`, in which these definitions are.
    fn definitions(&mut self, definitions: &[usize], from: usize, end: usize, around: &Around) {
        let (mut done, mut small) = (from, Vec::new());
        for at in definitions {
            let Range { start: first, end: last } = self.lines(*at);
            let last = last.min(end);
            // A second definition in the line of another one is no chunk.
            if first < done || last <= first || !self.is_own(*at) {
                small.push(*at);
                continue;
            }
            self.between(done, first, &std::mem::take(&mut small), around);
            let inside = around.with(&self.all[*at]);
            let inner = std::mem::take(&mut self.inner[*at]);
            let is_long = last - first > MAX_LINES && inside.depth <= MAX_DEPTH;
            if is_long && inner.iter().any(|it| self.is_own(*it)) {
                self.definitions(&inner, first, last, &inside);
            } else {
                self.pieces(first, last, &inside, &self.names(*at));
            }
            done = last;
        }
        self.between(done, end, &small, around);
    }

    /// The names of a definition and of those within it.
    fn names(&self, at: usize) -> String {
        let end = self.all[at].whole.end;
        let within = self.all[at + 1..].iter().take_while(|it| it.whole.start < end);
        let names = std::iter::once(&self.all[at]).chain(within).map(|it| it.name.as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    /// Lines that have no chunk of a definition: they are about the one around them, and define small ones.
    fn between(&mut self, from: usize, end: usize, small: &[usize], around: &Around) {
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
        let mut names: Vec<_> = small.iter().map(|it| self.all[*it].name.as_str()).collect();
        names.insert(0, &around.name);
        let defines = names.join(" ");
        self.pieces(start, end, around, defines.trim());
    }

    /// A section, by its heading.
    fn section(&mut self, from: usize, end: usize) {
        if from < end {
            let line = self.line(from);
            let heading = line.strip_prefix('#').map(|it| it.trim_start_matches('#').trim().to_owned());
            let heading = heading.unwrap_or_default();
            let around = Around { symbol: heading.clone(), ..Around::default() };
            self.pieces(from, end, &around, &heading);
        }
    }

    /// Chunks of at most [`MAX_LINES`] of these lines.
    fn pieces(&mut self, from: usize, end: usize, around: &Around, defines: &str) {
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
                    symbol: around.symbol.clone(),
                    defines: defines.to_owned(),
                    is_test: around.is_test,
                });
            }
            start = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use syntax::Trees;

    use super::*;

    fn cut(path: &str, text: &str) -> Vec<String> {
        let path = WorkspacePath::new(path).unwrap();
        let bytes = bytes::Bytes::copy_from_slice(text.as_bytes());
        let tree = Trees::new(1 << 20).of_file(&path, &bytes, ContentHash::of(&bytes), &|| false);
        let chunks = chunks(&path, text, tree.as_deref());
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
        assert_eq!(
            cut("a.rs", rust),
            ["1-2  []", "3-5 one [one]", "7-9 Two for Three [Two for Three four]", "10-10  [X]"]
        );
        let python = "import x\n\nclass A:\n    def b(self): pass\n\n@c\ndef d():\n    pass\n";
        assert_eq!(cut("a.py", python), ["1-2  []", "3-4 A [A b]", "6-8 d [d]"]);
        let c = "static int *f(int x)\n{\n}\nstruct s { int a; };\n";
        assert_eq!(cut("a.c", c), ["1-3 f [f]", "4-4 s [s]"]);
        let go = "package p\n\nfunc (t *T) Run() {}\n\ntype T struct{}\n";
        assert_eq!(cut("a.go", go), ["1-2  []", "3-3 T.Run [Run]", "5-5 T [T]"]);
        let typescript = "export class A {\n  b(): void {}\n}\ninterface C { d: string }\nfunction e() {}\n";
        assert_eq!(cut("a.ts", typescript), ["1-3 A [A b]", "4-4 C [C d]", "5-5 e [e]"]);
        let java = "package p;\nclass A {\n  A() {}\n  int b() { return 1; }\n}\n";
        assert_eq!(cut("A.java", java), ["1-1  []", "2-5 A [A A b]"]);
        let ruby = "module M\n  class A\n    def b; end\n  end\nend\n";
        assert_eq!(cut("a.rb", ruby), ["1-5 M [M A b]"]);
    }

    #[test]
    fn functions_of_scripts_and_members_are_chunks() {
        let typescript = "export * from './a';\nexport const MAX = 1;\n\n// Adds.\nexport const add = (a: number) => {\n  return a;\n};\nexport const View = memo(() => <div/>);\n";
        let cut_lines = ["1-3  [* from './a' MAX]", "4-7 add [add]", "8-8 View [View]"];
        assert_eq!(cut("a.tsx", typescript), cut_lines);
        let vue = "<template>\n  <p/>\n</template>\n<script lang=\"ts\">\nconst run = () => 1;\n</script>\n";
        assert_eq!(cut("a.vue", vue), ["1-4  []", "5-5 run [run]", "6-6  []"]);
        let members: String = (0..90).map(|it| format!("  m{it}: string;\n")).collect();
        let interface = cut("a.ts", &format!("interface Wide {{\n{members}}}\n"));
        let lines: Vec<_> = interface.iter().map(|it| it.split(" [").next().unwrap()).collect();
        assert_eq!(lines, ["1-80 Wide", "81-92 Wide"]);
        let modules = "mod a;\nmod b;\npub use a::C;\n\nfn d() {}\n";
        assert_eq!(cut("lib.rs", modules), ["1-4  [a b a::C]", "5-5 d [d]"]);
    }

    #[test]
    fn chunks_of_tests_are_marked() {
        let text = "fn run() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n";
        let (path, bytes) = (WorkspacePath::new("a.rs").unwrap(), bytes::Bytes::from(text));
        let tree = Trees::new(1 << 20).of_file(&path, &bytes, ContentHash::of(&bytes), &|| false);
        let chunks = chunks(&path, text, tree.as_deref());
        let marked: Vec<_> = chunks.iter().map(|it| (it.symbol.as_str(), it.is_test)).collect();
        assert_eq!(marked, [("run", false), ("tests", true)]);
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
