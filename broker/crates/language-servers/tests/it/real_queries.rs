//! Real servers, where they are named (see `isolation.rs`; also `BROKER_TEST_GOPLS`, `BROKER_TEST_CLANGD` and
//! `BROKER_TEST_RUST_ANALYZER`), asked about a view whose edits have moved what is on the disk.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use language_servers::{
    ActionChoice, At, File, Goto, Hierarchy, Location, NoAnswer, Priority, Profile, QueryResult, Question,
    Server, Setup, Style, Symbols,
};
use lint::{Cancel, Completeness};
use lsp_client::Limits;
use overlay::{Branch, Disk, View, WorkspacePath};

use crate::{
    bench::path,
    fixture::{far, options},
};

/// A project with a function `greet` in its first file, used in all others.
#[derive(Clone, Copy)]
struct Project {
    files: &'static [(&'static str, &'static str)],
    /// A comment with letters beyond the first plane; the view begins each file with lines of it.
    comment: &'static str,
    /// Old and new text on the line of the second file that uses the name.
    before: (&'static str, &'static str),
}

const PYTHON: Project = Project {
    files: &[
        ("a.py", "def greet(name: str) -> str:\n    return name\n"),
        ("b.py", "from a import greet\n\ns = greet('x')\n"),
        ("c.py", "import a\n\nt: str = a.greet('y')\n"),
    ],
    comment: "# 𐐀 é",
    before: ("s = greet", "e, s = '𐐀😀', greet"),
};

const TYPESCRIPT: Project = Project {
    files: &[
        ("a.ts", "export function greet(name: string): string {\n  return name;\n}\n"),
        ("b.ts", "import { greet } from './a';\n\nexport const s = greet('x');\n"),
        ("c.ts", "import * as a from './a';\n\nexport const t: string = a.greet('y');\n"),
        ("tsconfig.json", r#"{"compilerOptions": {"strict": true}}"#),
    ],
    comment: "// 𐐀 é",
    before: ("s = greet", "s = '𐐀😀' + greet"),
};

const GO: Project = Project {
    files: &[
        ("a/a.go", "package a\n\nfunc Greet(name string) string { return name }\n"),
        ("b/b.go", "package b\n\nimport \"example.com/m/a\"\n\nvar S = a.Greet(\"x\")\n"),
        ("a/c.go", "package a\n\nvar T = Greet(\"y\")\n"),
        ("go.mod", "module example.com/m\n\ngo 1.21\n"),
    ],
    comment: "// 𐐀 é",
    before: ("S = a.", "S = \"𐐀😀\" + a."),
};

const C: Project = Project {
    files: &[
        ("a.h", "#ifndef A_H\n#define A_H\nint greet(int name);\n#endif\n"),
        ("a.c", "#include \"a.h\"\nint greet(int name) { return name; }\n"),
        ("b.c", "#include \"a.h\"\nint s(void) { return greet(1); }\n"),
        ("compile_flags.txt", "-xc\n-std=c17\n"),
    ],
    comment: "// 𐐀 é",
    before: ("return name", "return /* 𐐀😀 */ name"),
};

const RUST: Project = Project {
    files: &[
        ("src/a.rs", "pub fn greet(name: u32) -> u32 {\n    name\n}\n"),
        ("src/b.rs", "use crate::a::greet;\n\npub fn s() -> u32 {\n    greet(1)\n}\n"),
        ("src/lib.rs", "pub mod a;\npub mod b;\n\npub fn t() -> u32 {\n    a::greet(2)\n}\n"),
        ("Cargo.toml", "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ],
    comment: "// 𐐀 é",
    before: ("    greet(1)", "    /* 𐐀😀 */ greet(1)"),
};

struct Bench {
    name: &'static str,
    project: Project,
    disk: Arc<dyn View>,
    server: Server,
    _folder: tempfile::TempDir,
}

impl Project {
    /// Files that the server checks.
    fn sources(&self) -> impl Iterator<Item = &'static str> {
        self.files[..3].iter().map(|it| it.0)
    }

    fn name(&self) -> &'static str {
        if self.files[0].1.contains("Greet") { "Greet" } else { "greet" }
    }
}

impl Bench {
    fn new(name: &'static str, program: OsString, project: Project) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in project.files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let setup = setup(name, program, folder.path());
        let disk = Arc::clone(&setup.disk);
        Self { name, project, disk, server: Server::new(setup), _folder: folder }
    }

    /// A branch that moves every line, and on one line also what is asked about.
    fn branch(&self) -> Branch {
        let mut branch = Branch::new(Arc::clone(&self.disk));
        let (from, to) = self.project.before;
        for (index, name) in self.project.sources().enumerate() {
            let text = text(&*self.disk, &path(name));
            let text = if index == 1 { text.replace(from, to) } else { text };
            let moved = format!("{0}\n{0}\n{0}\n{text}", self.project.comment);
            branch.write(&path(name), moved.into()).unwrap();
        }
        branch
    }

    fn ask(&self, view: &Arc<dyn View>, question: Question) -> Result<QueryResult, NoAnswer> {
        let of_open_files = Profile::named(self.name).unwrap().symbols == Symbols::OpenFiles;
        let is_partial = of_open_files && matches!(question, Question::FindSymbols { .. });
        let reply = self.server.query(Arc::clone(view), question, Priority::Agent, far(), &Cancel::default());
        let found = reply.answer?;
        assert_eq!(found.partial.is_some(), is_partial, "{}: {:?}", self.name, found.partial);
        Ok(found.result)
    }

    /// The last place of the name in a file.
    fn last(&self, view: &dyn View, file: &str) -> (WorkspacePath, At) {
        let offset = text(view, &path(file)).rfind(self.project.name()).unwrap();
        (path(file), At::Offset(u32::try_from(offset).unwrap()))
    }

    fn findings(&self, view: &Arc<dyn View>) -> Vec<String> {
        let units = self.project.sources().map(path).collect();
        let mut found = Vec::new();
        self.server.ask(
            Arc::clone(view),
            units,
            Priority::Background,
            far(),
            &Cancel::default(),
            &mut |_, it| {
                found.extend(it.diagnostics.iter().map(|it| it.message.clone()));
                if it.completeness != Completeness::Complete {
                    found.push(format!("{:?}", it.completeness));
                }
            },
        );
        found
    }
}

pub(crate) fn setup(name: &str, program: OsString, folder: &Path) -> Setup {
    let disk: Arc<dyn View> = Arc::new(Disk::new(folder).unwrap());
    let profile = Profile::named(name).unwrap().clone();
    let mut launch = options("").launch;
    launch.program = program.into();
    launch.args = profile.tool.arguments().iter().map(Into::into).collect();
    launch.env = profile.tool.env.iter().map(|(key, value)| (key.into(), Some(value.into()))).collect();
    launch.own_folder = profile.own_folder_variables();
    launch.cwd = folder.to_owned();
    let (root, pause) = (folder.to_owned(), Duration::from_millis(100));
    Setup { profile, root, disk, launch, limits: Limits::default(), pause }
}

fn text(view: &dyn View, path: &WorkspacePath) -> String {
    String::from_utf8(view.read(path).unwrap().to_vec()).unwrap()
}

/// Text of the view at a place.
fn at(view: &dyn View, place: &Location) -> String {
    let File::Workspace(path) = &place.file else { panic!("{place:?}") };
    let range = place.range.unwrap();
    let text = text(view, path);
    let line = text.lines().nth(range.start.line as usize - 1).unwrap();
    let start: String = line.chars().skip(range.start.column as usize - 1).collect();
    let found = &text[range.span.start as usize..range.span.end as usize];
    assert!(start.starts_with(found), "{place:?}: {start:?}");
    found.to_owned()
}

/// Number of times that each file contains the name.
fn uses(view: &dyn View, project: &Project, name: &str) -> BTreeMap<String, usize> {
    let count = |file: &str| (file.to_owned(), text(view, &path(file)).matches(name).count());
    project.sources().map(count).filter(|it| it.1 > 0).collect()
}

fn check(name: &'static str, variable: &str, project: Project) {
    let Some(program) = std::env::var_os(variable) else {
        println!("skipped: {variable} does not name a server");
        return;
    };
    let bench = Bench::new(name, program.clone(), project);
    let disk = Arc::clone(&bench.disk);
    let view: Arc<dyn View> = Arc::new(bench.branch().snapshot());
    [&disk, &view, &disk].into_iter().for_each(|it| check_places(&bench, it));

    // Names in documents that were opened first and closed again are found all the same.
    let bench = Bench::new(name, program, project);
    let disk = Arc::clone(&bench.disk);
    let view: Arc<dyn View> = Arc::new(bench.branch().snapshot());
    check_places(&bench, &view);
    check_rename(&bench, &view);
    check_all(&bench, &view);
    check_places(&bench, &disk);
}

/// A definition and its uses are where this view has them.
fn check_places(bench: &Bench, view: &Arc<dyn View>) {
    let name = bench.project.name();
    let files: Vec<_> = bench.project.sources().collect();
    let (path, place) = bench.last(&**view, files[1]);
    let question = Question::Goto { to: Goto::Definition, path: path.clone(), at: place };
    let Ok(QueryResult::Links(links)) = bench.ask(view, question) else {
        panic!("{}: no definition", bench.name)
    };
    assert!(!links.is_empty() && links.iter().all(|it| at(&**view, &it.target) == name), "{links:?}");

    let question = Question::References { path, at: place, with_declaration: true };
    let found = bench.ask(view, question).unwrap();
    let QueryResult::References(places) = found else { panic!("{found:?}") };
    let mut counted = BTreeMap::new();
    for place in &places {
        assert_eq!(at(&**view, place), name);
        let File::Workspace(path) = &place.file else { panic!("{place:?}") };
        *counted.entry(path.as_str().to_owned()).or_insert(0) += 1;
    }
    assert_eq!(counted, uses(&**view, &bench.project, name), "{}: {places:?}", bench.name);
    println!("{}: {} uses in {} files", bench.name, places.len(), counted.len());
}

/// Renamed everywhere, in the branch and nowhere else; and then there is nothing to find.
fn check_rename(bench: &Bench, view: &Arc<dyn View>) {
    let (path, place) = bench.last(&**view, bench.project.files[1].0);
    let new_name = if bench.project.name() == "Greet" { "Welcome" } else { "welcome" };
    let prepare = bench.ask(view, Question::PrepareRename { path: path.clone(), at: place });
    assert!(!matches!(prepare, Ok(QueryResult::Renamable(None))), "{prepare:?}");
    let question = Question::Rename { path, at: place, new_name: new_name.to_owned() };
    let found = bench.ask(view, question).unwrap();
    let QueryResult::Edits(edits) = found else { panic!("{found:?}") };
    let mut branch = bench.branch();
    edits.apply(&mut branch).unwrap();
    let renamed: Arc<dyn View> = Arc::new(branch.snapshot());
    let before = uses(&**view, &bench.project, bench.project.name());
    assert_eq!(uses(&*renamed, &bench.project, new_name), before, "{}: {edits:?}", bench.name);
    assert_eq!(uses(&*renamed, &bench.project, bench.project.name()), BTreeMap::new());
    assert_eq!(bench.findings(&renamed), Vec::<String>::new(), "{}", bench.name);
    // With the old definition of the name, the others do not fit; and that is not remembered.
    let first = self::path(bench.project.files[0].0);
    branch.write(&first, text(&**view, &first).into()).unwrap();
    let halved: Arc<dyn View> = Arc::new(branch.snapshot());
    assert_ne!(bench.findings(&halved), Vec::<String>::new(), "{}", bench.name);
    assert_eq!(bench.findings(&renamed), Vec::<String>::new(), "{}", bench.name);
    println!("{}: renamed in {} files, and nothing is found", bench.name, before.len());
}

/// Each question is answered, or the server does not have it; or it says why it cannot be asked here.
fn check_all(bench: &Bench, view: &Arc<dyn View>) {
    let (path, at) = bench.last(&**view, bench.project.files[1].0);
    let document = || path.clone();
    let part = || At::Offset(0)..at;
    let goto = |to| Question::Goto { to, path: document(), at };
    let step = |step| Question::Hierarchy { step, path: document(), at };
    let params = serde_json::json!({});
    let questions = [
        ("declaration", goto(Goto::Declaration)),
        ("type definition", goto(Goto::TypeDefinition)),
        ("implementation", goto(Goto::Implementation)),
        ("highlights", Question::Highlights { path: document(), at }),
        ("hover", Question::Hover { path: document(), at }),
        ("completions", Question::Completions { path: document(), at }),
        ("signatures", Question::Signatures { path: document(), at }),
        ("symbols", Question::Symbols { path: document() }),
        (
            "found symbols",
            Question::FindSymbols { query: bench.project.name().to_owned(), near: Some(document()) },
        ),
        ("actions", Question::Actions { path: document(), part: part(), only: Vec::new() }),
        ("format", Question::Format { path: document(), part: None, style: Style::default() }),
        ("format a part", Question::Format { path: document(), part: Some(part()), style: Style::default() }),
        ("calls", step(Hierarchy::Calls)),
        ("incoming calls", step(Hierarchy::IncomingCalls)),
        ("outgoing calls", step(Hierarchy::OutgoingCalls)),
        ("types", step(Hierarchy::Types)),
        ("tokens", Question::Tokens { path: document(), part: None }),
        ("hints", Question::Hints { path: document(), part: None }),
        ("folds", Question::Folds { path: document() }),
        ("unknown", Question::Raw { method: "broker/unknown".to_owned(), params }),
    ];
    for (what, question) in questions {
        let said = match bench.ask(view, question) {
            Ok(answer) => format!("{answer:?}").chars().take(160).collect(),
            Err(NoAnswer::Unsupported(_)) => "unsupported".to_owned(),
            Err(NoAnswer::Failed(reason)) if reason.starts_with("the server refused") => reason,
            Err(error) => panic!("{}: {what}: {error:?}", bench.name),
        };
        println!("{}: {what}: {said}", bench.name);
    }
}

/// Asked about many branches in turn, some of them in vain: each answer is of its own branch.
fn check_turns(name: &'static str, variable: &str, project: Project) {
    const BRANCHES: usize = 8;
    let Some(program) = std::env::var_os(variable) else {
        println!("skipped: {variable} does not name a server");
        return;
    };
    let bench = Bench::new(name, program, project);
    let view = |n_lines: usize| -> Arc<dyn View> {
        let mut branch = Branch::new(Arc::clone(&bench.disk));
        for name in bench.project.sources() {
            let comments = format!("{}\n", bench.project.comment).repeat(n_lines);
            let moved = format!("{comments}{}", text(&*bench.disk, &path(name)));
            branch.write(&path(name), moved.into()).unwrap();
        }
        Arc::new(branch.snapshot())
    };
    let views: Vec<_> = (0..BRANCHES).map(view).collect();
    for turn in 0..3 * BRANCHES {
        let abandoned = &views[turn * 5 % BRANCHES];
        let (path, at) = bench.last(&**abandoned, bench.project.files[1].0);
        let question = Question::References { path, at, with_declaration: true };
        let soon = Instant::now() + Duration::from_millis(turn as u64 % 4);
        drop(bench.server.query(Arc::clone(abandoned), question, Priority::Agent, soon, &Cancel::default()));
        check_places(&bench, &views[turn * 3 % BRANCHES]);
    }
}

#[test]
fn ty_answers_in_turns() {
    check_turns("ty", "BROKER_TEST_TY", PYTHON);
}

#[test]
fn pyright_answers_in_turns() {
    check_turns("pyright", "BROKER_TEST_PYRIGHT", PYTHON);
}

#[test]
fn typescript_answers_in_turns() {
    check_turns("typescript", "BROKER_TEST_TYPESCRIPT", TYPESCRIPT);
}

#[test]
fn gopls_answers_in_turns() {
    check_turns("gopls", "BROKER_TEST_GOPLS", GO);
}

#[test]
fn clangd_answers_in_turns() {
    check_turns("clangd", "BROKER_TEST_CLANGD", C);
}

#[test]
fn rust_analyzer_answers_in_turns() {
    check_turns("rust-analyzer", "BROKER_TEST_RUST_ANALYZER", RUST);
}

/// Checks the result of the action of this title in a file with this text, of which a part is selected.
fn check_action(name: &'static str, variable: &str, project: Project, text: &str, title: &str, want: &str) {
    let Some(program) = std::env::var_os(variable) else {
        println!("skipped: {variable} does not name a server");
        return;
    };
    let bench = Bench::new(name, program, project);
    let file = path(bench.project.files[1].0);
    let (before, rest) = text.split_once('<').unwrap();
    let (selected, after) = rest.split_once('>').unwrap();
    let offset = |it: usize| At::Offset(u32::try_from(it).unwrap());
    let part = offset(before.len())..offset(before.len() + selected.len());
    let mut branch = Branch::new(Arc::clone(&bench.disk));
    branch.write(&file, format!("{before}{selected}{after}").into()).unwrap();
    let view: Arc<dyn View> = Arc::new(branch.snapshot());

    let question = Question::Actions { path: file.clone(), part: part.clone(), only: Vec::new() };
    let offered = bench.ask(&view, question).unwrap();
    println!("{name}: {offered:?}");
    let chosen = ActionChoice { title: title.to_owned(), kind: None };
    let question = Question::Action { path: file.clone(), part, only: Vec::new(), chosen };
    let found = bench.ask(&view, question).unwrap();
    let QueryResult::Edits(edits) = found else { panic!("{found:?}") };
    edits.apply(&mut branch).unwrap();
    assert_eq!(self::text(&branch.snapshot(), &file), want);
    assert_eq!(self::text(&*bench.disk, &file), bench.project.files[1].1, "the disk is as it was");
}

/// A quick fix is for what the server finds, which it has to be told again.
#[test]
fn clangd_mends_what_it_finds() {
    let text = "#include \"a.h\"\n/* 𐐀 */ int s(void) { <return greet(1) }>\n";
    let want = "#include \"a.h\"\n/* 𐐀 */ int s(void) { return greet(1); }\n";
    check_action("clangd", "BROKER_TEST_CLANGD", C, text, "insert ';'", want);
}

/// Runs an action that is a command, which asks for the edits.
#[test]
fn clangd_does_what_it_offers() {
    let text = "#include \"a.h\"\n/* 𐐀 */ int s(void) { return <greet(1)> + 2; }\n";
    let want = "#include \"a.h\"\n/* 𐐀 */ int s(void) {\n  int placeholder = greet(1);\n  return placeholder + 2;\n}\n";
    check_action("clangd", "BROKER_TEST_CLANGD", C, text, "Extract subexpression to variable", want);
}

#[test]
fn rust_analyzer_does_what_it_offers() {
    let text = "pub fn s() -> u32 {\n    /* 𐐀 */ <1 + 2>\n}\n";
    let want = "pub fn s() -> u32 {\n    /* 𐐀 */ let var_name = 1 + 2; var_name\n}\n";
    check_action("rust-analyzer", "BROKER_TEST_RUST_ANALYZER", RUST, text, "Extract into variable", want);
}

#[test]
fn gopls_does_what_it_offers() {
    let text = "package b\n\nvar S = 1\n\nfunc f() int {\n\treturn /* 𐐀 */ <S + 2> + 3\n}\n";
    let want =
        "package b\n\nvar S = 1\n\nfunc f() int {\n\tnewVar := S + 2\n\treturn /* 𐐀 */ newVar + 3\n}\n";
    check_action("gopls", "BROKER_TEST_GOPLS", GO, text, "Extract variable", want);
}

#[test]
fn typescript_does_what_it_offers() {
    let text = "/* 𐐀 */ export const s = <greet>('x');\n";
    let want = "import { greet } from \"./a\";\n\n/* 𐐀 */ export const s = greet('x');\n";
    check_action("typescript", "BROKER_TEST_TYPESCRIPT", TYPESCRIPT, text, "Add import from \"./a\"", want);
}

#[test]
fn ty_does_what_it_offers() {
    let text = "s = '𐐀' + <greet>('x')\n";
    let want = "from a import greet\ns = '𐐀' + greet('x')\n";
    check_action("ty", "BROKER_TEST_TY", PYTHON, text, "import a.greet", want);
}

#[test]
fn ty_answers_about_a_view() {
    check("ty", "BROKER_TEST_TY", PYTHON);
}

#[test]
fn pyright_answers_about_a_view() {
    check("pyright", "BROKER_TEST_PYRIGHT", PYTHON);
}

#[test]
fn basedpyright_answers_about_a_view() {
    check("basedpyright", "BROKER_TEST_BASEDPYRIGHT", PYTHON);
}

#[test]
fn typescript_answers_about_a_view() {
    check("typescript", "BROKER_TEST_TYPESCRIPT", TYPESCRIPT);
}

#[test]
fn gopls_answers_about_a_view() {
    check("gopls", "BROKER_TEST_GOPLS", GO);
}

#[test]
fn clangd_answers_about_a_view() {
    check("clangd", "BROKER_TEST_CLANGD", C);
}

#[test]
fn rust_analyzer_answers_about_a_view() {
    check("rust-analyzer", "BROKER_TEST_RUST_ANALYZER", RUST);
}
