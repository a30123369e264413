//! A small project for each server: two files that are asked about and one that is not. Every finding names a
//! marker, so that it tells of which branch it is.

use std::{ffi::OsString, os::unix::fs::symlink, path::Path, sync::Arc, time::Duration};

use language_servers::{Priority, Profile, Server, Setup};
use lint::{Cancel, Completeness, Outcome};
use lsp_client::Limits;
use overlay::{Branch, Disk, View};

use crate::{
    bench::path,
    fixture::{far, options},
};

#[derive(Clone, Copy)]
pub(crate) struct Language {
    /// Files besides the modules.
    project: &'static [(&'static str, &'static str)],
    file: fn(&str) -> String,
    /// A module, by its name, with something of this name in it and a finding that says so.
    module: fn(&str, &str) -> String,
    /// Text of a module that has the same finding for the contents of the module of this name. `None` if no file depends on
    /// another.
    dependent: Option<fn(&str) -> String>,
    /// Text of a module that re-exports the contents of `a`.
    through: &'static str,
}

const PYTHON: Language = Language {
    project: &[],
    file: |it| format!("{it}.py"),
    module: |_, it| format!("class {it}: ...\ndef f() -> {it}: return {it}()\nx: int = f()\n"),
    dependent: Some(|it| format!("from {it} import f\ny: int = f()\n")),
    through: "from a import f\n",
};

const TYPESCRIPT: Language = Language {
    project: &[("tsconfig.json", r#"{"compilerOptions": {"strict": true}}"#)],
    file: |it| format!("{it}.ts"),
    module: |_, it| {
        let class = format!("export class {it} {{ own = 1 }}\n");
        format!("{class}export function f(): {it} {{ return new {it}() }}\nexport const x: number = f();\n")
    },
    dependent: Some(|it| format!("import {{ f }} from './{it}';\nexport const y: number = f();\n")),
    through: "export { f } from './a';\n",
};

const RUST: Language = Language {
    project: &[
        ("Cargo.toml", "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\nmod mid;\nmod deep;\nmod fresh;\n"),
    ],
    file: |it| format!("src/{it}.rs"),
    module: |_, it| {
        let item = format!("#[allow(non_camel_case_types)]\npub struct {it};\n");
        format!("{item}pub fn f() -> {it} {{ {it} }}\npub fn x() -> i32 {{ f() }}\n")
    },
    dependent: Some(|it| format!("pub fn y() -> i32 {{ crate::{it}::f() }}\n")),
    through: "pub use crate::a::f;\n",
};

/// All in one package, so that a copy beside a file would be noticed.
const GO: Language = Language {
    project: &[("go.mod", "module m\n\ngo 1.21\n")],
    file: |it| format!("{it}.go"),
    module: |module, it| {
        let item = format!("package m\n\ntype {it} struct{{}}\n\n");
        format!("{item}func f_{module}() {it} {{ return {it}{{}} }}\n\nvar x_{module} int = f_{module}()\n")
    },
    dependent: Some(|it| format!("package m\n\nvar y_{it} int = f_{it}()\n")),
    through: "package m\n\nvar f_mid = f_a\n",
};

const C: Language = Language {
    project: &[],
    file: |it| if it == "b" || it == "deep" { "b.c".to_owned() } else { format!("{it}.h") },
    module: |_, it| {
        let item = format!("struct {it} {{ int own; }};\n");
        let give = format!("static struct {it} f(void) {{ struct {it} it = {{0}}; return it; }}\n");
        format!("{item}{give}static inline int x(void) {{ return f(); }}\n")
    },
    dependent: Some(|it| format!("#include \"{it}.h\"\nint y(void) {{ return f(); }}\n")),
    through: "#include \"a.h\"\n",
};

const SHELL: Language = Language {
    project: &[],
    file: |it| format!("{it}.sh"),
    module: |_, it| format!("#!/bin/bash\necho \"${it}\"\n"),
    dependent: None,
    through: "",
};

const YAML: Language = Language {
    project: &[],
    file: |it| format!("{it}.yaml"),
    module: |_, it| format!("a: *{it}\n"),
    dependent: None,
    through: "",
};

const JSON: Language = Language {
    project: &[("schema.json", r#"{"properties": {"$schema": {}}, "additionalProperties": false}"#)],
    file: |it| format!("{it}.json"),
    module: |_, it| format!("{{\"$schema\": \"./schema.json\", \"{it}\": 1}}\n"),
    dependent: None,
    through: "",
};

const CSS: Language = Language {
    project: &[],
    file: |it| format!("{it}.css"),
    module: |_, it| format!("a {{ {it}: red }}\n"),
    dependent: None,
    through: "",
};

const HTML: Language = Language {
    project: &[],
    file: |it| format!("{it}.html"),
    module: |_, it| format!("<style>a {{ {it}: red }}</style>\n"),
    dependent: None,
    through: "",
};

const DOCKERFILE: Language = Language {
    project: &[],
    file: |it| format!("{it}.dockerfile"),
    module: |_, it| format!("FROM a\n{it} b\n"),
    dependent: None,
    through: "",
};

/// For linters that are told to look for what is not defined.
const JAVASCRIPT: Language = Language {
    project: &[
        ("eslint.config.mjs", "export default [{ rules: { 'no-undef': 'error' } }];\n"),
        (".oxlintrc.json", r#"{"rules": {"no-undef": "error"}}"#),
        ("biome.json", r#"{"linter": {"rules": {"correctness": {"noUndeclaredVariables": "error"}}}}"#),
    ],
    file: |it| format!("{it}.js"),
    module: |_, it| format!("{it}();\n"),
    dependent: None,
    through: "",
};

const TOML: Language = Language {
    project: &[],
    file: |it| format!("{it}.toml"),
    module: |_, it| format!("{it} = 1\n{it} = 2\n"),
    dependent: None,
    through: "",
};

/// Returns the language of a profile's server.
pub(crate) fn language(profile: &str) -> Language {
    match profile {
        "ty" | "pyright" | "basedpyright" => PYTHON,
        "typescript" | "typescript-language-server" => TYPESCRIPT,
        "rust-analyzer" => RUST,
        "gopls" => GO,
        "clangd" => C,
        "bash-language-server" => SHELL,
        "yaml-language-server" => YAML,
        "json-language-server" => JSON,
        "css-language-server" => CSS,
        "html-language-server" => HTML,
        "dockerfile-language-server" => DOCKERFILE,
        "eslint" | "oxlint" | "biome" => JAVASCRIPT,
        "tombi" => TOML,
        other => panic!("no language for {other}"),
    }
}

/// The program that the environment names for a profile. A server that is required has to be there.
pub(crate) fn program(profile: &str) -> Option<OsString> {
    let variable = format!("BROKER_TEST_{}", profile.to_uppercase().replace('-', "_"));
    let required = std::env::var("BROKER_TEST_SERVERS_REQUIRED").unwrap_or_default();
    let program = std::env::var_os(&variable).filter(|it| !it.is_empty());
    match &program {
        Some(it) => assert!(Path::new(it).is_file(), "{variable} names {it:?}, which is not there"),
        None => {
            assert!(!required.split(',').any(|it| it == profile), "{profile} is required: set {variable}");
            println!("skipped: {variable} does not name a server");
        }
    }
    program
}

impl Language {
    pub(crate) fn depends(self) -> bool {
        self.dependent.is_some()
    }

    pub(crate) fn file(self, module: &str) -> String {
        (self.file)(module)
    }

    pub(crate) fn text(self, module: &str, marker: usize) -> String {
        (self.module)(module, &format!("Marker{marker}_{module}"))
    }

    /// Text of `b` if it depends on that module.
    pub(crate) fn dependent(self, module: &str) -> Option<String> {
        self.dependent.map(|it| it(module))
    }

    pub(crate) fn edit(self, branch: &mut Branch, module: &str, text: String) {
        branch.write(&path(&self.file(module)), text.into()).unwrap();
    }

    /// Edits a branch so that both of the modules that are asked about have this marker. Every other branch has edits
    /// that are not asked about.
    pub(crate) fn mark(self, branch: &mut Branch, marker: usize) {
        self.edit(branch, "a", self.text("a", marker));
        if self.dependent.is_none() {
            self.edit(branch, "b", self.text("b", marker));
        }
        if marker % 2 == 1 {
            self.edit(branch, "c", self.text("c", marker));
        }
    }

    pub(crate) fn view(self, disk: &Arc<dyn View>, edit: impl FnOnce(&mut Branch)) -> Arc<dyn View> {
        let mut branch = Branch::new(Arc::clone(disk));
        edit(&mut branch);
        Arc::new(branch.snapshot())
    }

    pub(crate) fn ask(self, server: &Server, view: &Arc<dyn View>, modules: &[&str]) -> Vec<Outcome> {
        self.ask_until(server, view, modules, &Cancel::default())
    }

    pub(crate) fn ask_until(
        self,
        server: &Server,
        view: &Arc<dyn View>,
        modules: &[&str],
        cancel: &Cancel,
    ) -> Vec<Outcome> {
        let mut outcomes = vec![None; modules.len()];
        let units = modules.iter().map(|it| path(&self.file(it))).collect();
        server.ask(Arc::clone(view), units, Priority::Background, far(), cancel, &mut |index, it| {
            outcomes[index] = Some(it)
        });
        outcomes.into_iter().map(Option::unwrap).collect()
    }

    /// A project in this folder, with a server for it.
    pub(crate) fn setup(self, name: &str, program: OsString, folder: &Path) -> Setup {
        self.write(folder);
        link_modules(Path::new(&program), folder);
        let disk: Arc<dyn View> = Arc::new(Disk::new(folder).unwrap());
        let profile = Profile::named(name).unwrap().clone();
        let mut launch = options("").launch;
        launch.program = program.into();
        launch.args = profile.tool.arguments().iter().map(Into::into).collect();
        let filled = |it: &String| Some(it.replace("${root}", folder.to_str().unwrap()).into());
        launch.env = profile.tool.env.iter().map(|(key, it)| (key.into(), filled(it))).collect();
        launch.own_folder = profile.own_folder_variables();
        launch.cwd = folder.to_owned();
        let (root, pause) = (folder.to_owned(), Duration::from_millis(100));
        Setup { profile, root, disk, launch, limits: Limits::default(), pause }
    }

    fn write(self, folder: &Path) {
        let write = |name: &str, text: &str| {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        self.project.iter().for_each(|(name, text)| write(name, text));
        for module in ["a", "b", "c"] {
            let text = self.dependent("a").filter(|_| module == "b");
            write(&self.file(module), &text.unwrap_or_else(|| self.text(module, 0)));
        }
        if let Some(text) = self.dependent("mid") {
            write(&self.file("mid"), self.through);
            write(&self.file("deep"), &text);
        }
    }
}

/// A server of `node_modules` has what it needs beside it.
fn link_modules(program: &Path, folder: &Path) {
    let modules = program.ancestors().find(|it| it.ends_with("node_modules"));
    if let (Some(modules), false) = (modules, program.ends_with("tsc")) {
        symlink(modules, folder.join("node_modules")).unwrap();
    }
}

/// Whether each outcome has findings of this branch and of no other, and is complete, or partial where
/// `is_whole` is false.
pub(crate) fn is_right(outcomes: &[Outcome], marker: usize, is_whole: bool) -> bool {
    let is_own = |it: &Outcome| {
        let text: String = it.diagnostics.iter().map(|it| it.message.as_str()).collect();
        let own = text.matches(&format!("Marker{marker}_")).count();
        let is_whole_here = it.completeness == Completeness::Complete;
        let is_known = is_whole_here || !is_whole && matches!(it.completeness, Completeness::Partial(_));
        is_known && own > 0 && own == text.matches("Marker").count() && !text.contains("redeclared")
    };
    outcomes.iter().all(is_own)
}
