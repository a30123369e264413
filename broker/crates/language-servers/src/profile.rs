//! Profiles of language servers, as data: how each is started, what it can see of a branch, and what proves that an
//! answer is for the state it was asked about. Contains no process and no message handling.

mod define;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use external_tools::{Tool, Variables, in_folders_of_path, names_package, version_of_package};
use lsp_client::uri;
use overlay::WorkspacePath;
use serde::Deserialize;
use serde_json::{Map, Value};

pub use self::define::profiles;

use crate::Environment;

/// Profile of one kind of server. In its strings, `${root}` is the workspace's folder and `${root-uri}` its URI.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Profile {
    /// Definition that all external linters have. Its `globs` are names, or `*` and the end of names.
    pub tool: Tool,
    pub checks: Checks,
    /// Markers in the workspace's root of a project that has chosen this server.
    #[serde(default)]
    pub configured_by: Vec<String>,
    /// Markers of a project that it can be used for.
    #[serde(default)]
    pub projects: Vec<String>,
    /// LSP's name of the language, by extension, or by name where that has a dot, with `*` for any letters.
    pub language_ids: BTreeMap<String, String>,
    /// Files that it reads from the disk, whatever a branch has in their place: names, with `*` for any letters.
    /// Names that begin with `*` are read only where another file names them.
    #[serde(default)]
    pub config_files: Vec<String>,
    /// Files that configure it, too, if its configuration names them, directly or through others. They are read from
    /// the disk and remembered.
    #[serde(default)]
    pub config_names: Vec<String>,
    /// Files that the server sees as they are open, though it does not check them.
    #[serde(default)]
    pub opens: Vec<String>,
    /// Codes of what says that a file cannot be parsed, with `*` for any letters.
    #[serde(default)]
    pub syntax_errors: Vec<String>,
    /// A file with none of these words in it depends on no other file. Without words, any may.
    #[serde(default)]
    pub refers_by: Vec<String>,
    /// Whether findings in a file that depends on others may be for an earlier state of those others.
    #[serde(default)]
    pub refers_late: bool,
    /// Words of which one must be in the server's configuration for a file to depend on another. Without words, any
    /// may.
    #[serde(default)]
    pub refers_if: Vec<String>,
    /// A native program that runs in place of the script of an npm package.
    #[serde(default)]
    pub native: Option<NativePackage>,
    /// Variables of its environment that are to name a folder of the process's own, in which it would otherwise
    /// meet others; `TMPDIR` does so for every server.
    #[serde(default)]
    pub own_folder: Vec<String>,
    /// `initializationOptions`.
    #[serde(default)]
    pub options: Value,
    /// Settings from which `workspace/configuration` is answered.
    #[serde(default)]
    pub settings: Value,
    /// Capabilities in addition to those that the client announces anyway.
    #[serde(default)]
    pub capabilities: Value,
    pub barrier: Barrier,
    pub sees: Sees,
    /// Document with a known finding, for a server that answers before it is ready.
    #[serde(default)]
    pub canary: Option<Canary>,
    /// Whether `$/cancelRequest` may be sent to the server.
    #[serde(default = "yes")]
    pub cancels: bool,
    /// Names of checkers that report the same: where one is asked, this server is for navigation only.
    #[serde(default)]
    pub replaced_by: Vec<String>,
    /// Parts of messages by which it says that it does not look at a file, which are no findings.
    #[serde(default)]
    pub left_out_by: Vec<String>,
    #[serde(default)]
    pub searches: Searches,
    #[serde(default)]
    pub symbols: Symbols,
    /// Log messages that mark the end of the listing of the workspace's files, with `*` for any letters. Before, the
    /// server finds no symbols of files that are not open.
    #[serde(default)]
    pub lists_files: Vec<String>,
    /// Whether import statements determine the files that a new or deleted file matters to.
    #[serde(default)]
    pub imports_tell: bool,
    /// Codes of findings that something imported is not there.
    #[serde(default)]
    pub unfound_imports: Vec<String>,
    /// Sources of the findings without which the rest of it runs, in all files of a folder.
    #[serde(default)]
    pub analyzes_after: Vec<String>,
    /// Codes that say nothing; what the server tells as the source of the finding is its code then.
    #[serde(default)]
    pub vague_codes: Vec<String>,
    /// Advice for the user when the server reports a problem with itself.
    #[serde(default)]
    pub when_unwell: Option<String>,
    /// Commands of the server that do nothing but to ask for edits. No others are run.
    #[serde(default)]
    pub commands: Vec<String>,
    /// A method that the server registers when it is ready.
    #[serde(default)]
    pub registers: Option<String>,
    /// Log message before the answer to `initialize`, with `*` for the version, if that answer does not contain it.
    #[serde(default)]
    pub greeting: Option<String>,
    /// Whether other files see the text of an opened document only after a change to it.
    #[serde(default)]
    pub opens_silently: bool,
    /// Whether the server reads the disk at a time of its own after a document was closed or a file has changed. To
    /// avoid that, such files stay open.
    #[serde(default)]
    pub reads_late: bool,
    /// Whether the server cannot find a file on the disk that it had open before the file was created there. The server
    /// is then started again.
    #[serde(default)]
    pub loses_new_files: bool,
    /// Whether the server does not know the module of a file that is not on the disk, so that it finds none of its relative imports.
    #[serde(default)]
    pub new_files_have_no_module: bool,
    pub memory: MemoryClass,
}

/// Kind of checks that a server is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checks {
    /// A project needs one such server for each language.
    Types,
    Lints,
}

/// An npm package with native programs, of which a script of the same name runs one.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NativePackage {
    pub package: String,
    /// Paths of the native programs, each relative to a `node_modules` folder in which node would look; the first that is there
    /// counts. A package without one, such as another version, is not the server.
    pub modules: Vec<String>,
}

/// Proof that an answer is for the state that the server was switched to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// The response to a `textDocument/diagnostic` that was sent after the switch.
    Pull,
    /// Response as for `Pull`, of a server that reports whether it has finished loading.
    PullWhenQuiescent,
    /// The response to a command that hands a question on to `tsserver`, sent after the switch.
    Tsserver,
    /// Diagnostics published with the version that was sent. Not final with every server.
    Version,
    /// First diagnostics that are published about a document after it was sent. For a server that publishes no
    /// versions, and publishes exactly once about each document that it is sent.
    NextPublish,
    /// Diagnostics published with the version of a document that was closed, and opened again after all that differs.
    /// For a server that first publishes, with the same version, the results of an earlier build.
    Reopen,
}

impl Barrier {
    /// Whether the proof is the answer to a request; otherwise diagnostics are published at the server's own time.
    pub fn is_pull(self) -> bool {
        matches!(self, Self::Pull | Self::PullWhenQuiescent | Self::Tsserver)
    }
}

/// Parts of a branch that a server sees besides the documents that are opened.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sees {
    /// Whether one file sees another's open document; otherwise it sees the file on the disk.
    pub edited_files: bool,
    /// Whether one file sees another that is open and not on the disk.
    pub new_files: bool,
    /// Whether one file sees another that is open and not on the disk, where its folder is not on the disk either.
    #[serde(default = "yes")]
    pub new_folders: bool,
    pub deletes: Deletes,
    /// Whether the dependents of an open document need not be open.
    pub unopened_dependents: bool,
}

/// Files in which a server looks for the uses of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Searches {
    #[default]
    Workspace,
    /// Open files only.
    OpenFiles,
}

/// Symbols that a server finds by a part of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symbols {
    #[default]
    Workspace,
    /// Symbols of the packages that the server has loaded: those of which each file that differs from the disk was
    /// checked, and at least one file was.
    Loaded,
    /// Symbols of open files only.
    OpenFiles,
}

/// Treatment of a file that is on the disk and not in the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deletes {
    /// Deleted for the server by a watched-files event.
    Watched,
    /// Opened as an empty document.
    Emulated,
    /// The server sees it still.
    Ignored,
    /// Irrelevant, since no file's answer depends on another file.
    Irrelevant,
}

/// A document in which any server that is ready finds something.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Canary {
    pub path: String,
    pub text: String,
}

/// Megabytes of one process on a small project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryClass {
    Tens,
    Hundreds,
    Gigabytes,
}

/// Time for which answers are given again that may rest on anything outside of the workspace.
const UNKNOWN_OUTSIDE: Duration = Duration::from_secs(60);

fn yes() -> bool {
    true
}

impl Profile {
    /// Variables that name a folder which is a process's own. A server that is killed leaves what it has in a folder for temporary
    /// files.
    pub fn own_folder_variables(&self) -> Vec<String> {
        let temporary = "TMPDIR".to_owned();
        std::iter::once(temporary).chain(self.own_folder.iter().cloned()).collect()
    }

    /// The built-in one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        profiles().iter().find(|it| it.tool.name == name)
    }

    /// Whether the server checks this file.
    pub fn covers(&self, path: &WorkspacePath) -> bool {
        is_one_of(&self.tool.globs, path)
    }

    pub fn is_config(&self, path: &WorkspacePath) -> bool {
        is_one_of(&self.config_files, path)
    }

    /// Whether this file is opened where it differs from the disk.
    pub(crate) fn shows(&self, path: &WorkspacePath) -> bool {
        self.covers(path) || is_one_of(&self.opens, path) && !self.is_config(path)
    }

    /// Whether the server reads this file at all.
    pub(crate) fn reads(&self, path: &WorkspacePath) -> bool {
        self.shows(path) || self.is_config(path)
    }

    /// Whether the answer about every file may depend on this one. Configuration that is named only by its extension
    /// counts only if another file refers to it.
    pub(crate) fn is_config_of_all(&self, path: &WorkspacePath) -> bool {
        let mut named = self.config_files.iter().filter(|it| !it.starts_with('*'));
        path.file_name().is_some_and(|name| named.any(|it| matches(it, name)))
    }

    /// Whether this file configures the server if other configuration names it.
    pub(crate) fn is_config_if_named(&self, path: &WorkspacePath) -> bool {
        !self.is_config(path) && is_one_of(&self.config_names, path)
    }

    /// Whether the answer about a file with this text may depend on another file.
    pub(crate) fn may_refer(&self, text: &[u8]) -> bool {
        let has = |word: &String| text.windows(word.len()).any(|it| it == word.as_bytes());
        self.refers_by.is_empty() || self.refers_by.iter().any(has)
    }

    /// Longest time for which its answers are given again, where it is not known what they rest on outside.
    pub(crate) fn longest_reuse(&self) -> Option<Duration> {
        self.tool.outside.is_none().then_some(UNKNOWN_OUTSIDE)
    }

    pub fn language_id(&self, path: &WorkspacePath) -> &str {
        let name = path.file_name().unwrap_or_default();
        let named = self.language_ids.iter().filter(|it| it.0.contains('.')).find(|it| matches(it.0, name));
        let by_extension = || path.extension().and_then(|it| self.language_ids.get(it));
        let known = named.map(|it| it.1).or_else(by_extension);
        known.or(self.tool.languages.first()).map_or("", String::as_str)
    }

    /// Returns the one of the server's languages that a file is in. A language with several identifiers in LSP is found
    /// by their common beginning.
    pub fn language(&self, path: &WorkspacePath) -> &str {
        let id = self.language_id(path);
        let exact = self.tool.languages.iter().find(|it| *it == id);
        let begins = || self.tool.languages.iter().find(|it| id.starts_with(it.as_str()));
        exact.or_else(begins).or(self.tool.languages.first()).map_or("", String::as_str)
    }

    /// Whether a finding with this code means that the file cannot be parsed.
    pub(crate) fn is_syntax_error(&self, code: &str) -> bool {
        self.syntax_errors.iter().any(|it| matches(it, code))
    }

    /// Name and version of the server, from the first of these messages that contains them.
    pub(crate) fn version_in(&self, messages: &[String]) -> Option<String> {
        let (start, end) = self.greeting.as_ref()?.split_once('*')?;
        let version = |it: &String| Some(it.strip_prefix(start)?.strip_suffix(end)?.to_owned());
        Some(format!("{} {}", self.tool.name, messages.iter().find_map(version)?))
    }

    /// Whether one of these messages marks the end of the listing of files. Also true if the profile has no such
    /// message.
    pub(crate) fn has_listed_files(&self, messages: &[String]) -> bool {
        let says = |glob: &String| {
            let (start, end) = glob.split_once('*').unwrap_or((glob, ""));
            messages.iter().any(|it| it.split_once(start).is_some_and(|it| it.1.contains(end)))
        };
        self.lists_files.is_empty() || self.lists_files.iter().any(says)
    }

    /// The same for a workspace whose programs are not run.
    #[must_use]
    pub fn without_programs_of_workspace(&self) -> Self {
        Self { tool: self.tool.without_programs_of_workspace(), ..self.clone() }
    }

    /// Path of the program that `PATH` has for it, whatever the workspace has.
    pub fn find_in_path(&self, environment: &Environment) -> Option<PathBuf> {
        let name = self.tool.command.first()?;
        let found = in_folders_of_path(name, &|it| environment.get(it).map(ToOwned::to_owned))?;
        self.native.as_ref().map_or(Some(found.clone()), |it| it.module_of(&found))
    }

    /// Path of its program in this workspace.
    pub fn find(&self, root: &Path, environment: &Environment) -> Option<PathBuf> {
        let variable = |name: &str| environment.get(name).map(ToOwned::to_owned);
        match &self.native {
            Some(native) => native.find(&self.tool, root, &variable),
            None => self.tool.find(root, root, &variable),
        }
    }
}

fn matches(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|it| it.ends_with(end)),
        None => name == glob,
    }
}

fn is_one_of(globs: &[String], path: &WorkspacePath) -> bool {
    path.file_name().is_some_and(|name| globs.iter().any(|it| matches(it, name)))
}

impl NativePackage {
    /// The workspace's own program, or else, where it has no version of the package, the one of the package whose script is in
    /// `PATH`.
    fn find(&self, tool: &Tool, root: &Path, variable: Variables<'_>) -> Option<PathBuf> {
        let installed = root.join("node_modules");
        let own = installed.join(&self.package);
        let is_own = names_package(root, root, &self.package);
        let direct = || {
            let mut all = self.modules.iter().map(|it| installed.join(it));
            all.find(|it| it.is_file() && is_of(&own, it))
        };
        let of_script = || self.module_of(&own.join("bin").join(tool.command.first()?));
        let of_project = is_own.then(|| direct().or_else(of_script)).flatten();
        of_project.or_else(|| {
            let script = tool.find(root, root, variable).filter(|_| !(is_own && own.exists()))?;
            self.module_of(&script)
        })
    }

    /// Returns the first of the modules that the package of this script contains.
    fn module_of(&self, script: &Path) -> Option<PathBuf> {
        let own = script.canonicalize().ok()?;
        let package = own.ancestors().nth(2)?;
        let folders = own.ancestors().map(|it| it.join("node_modules"));
        let mut all = folders.flat_map(|it| self.modules.iter().map(move |module| it.join(module)));
        all.find(|it| it.is_file() && is_of(package, it))
    }
}

/// Whether a program belongs to a package, which has the same version: one that a dependency brought has another one.
fn is_of(package: &Path, program: &Path) -> bool {
    let module = program.ancestors().nth(2).and_then(version_of_package);
    version_of_package(package).zip(module).is_none_or(|(package, module)| package == module)
}

/// The value with what stands for the workspace replaced in all its strings.
pub(crate) fn fill(value: &Value, root: &Path) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, root)),
        Value::Array(items) => items.iter().map(|it| fill(it, root)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, it)| (key.clone(), fill(it, root))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

pub(crate) fn fill_text(text: &str, root: &Path) -> String {
    let uri = uri::of_folder(root);
    text.replace("${root}", &root.to_string_lossy()).replace("${root-uri}", &uri)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{fs, os::unix::fs::symlink};

    use external_tools::Executes;

    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    #[test]
    fn every_server_has_temporary_files_of_its_own() {
        let variables = |name: &str| Profile::named(name).unwrap().own_folder_variables();
        assert_eq!(variables("pyright"), ["TMPDIR"]);
        assert_eq!(variables("biome"), ["TMPDIR", "XDG_CACHE_HOME"]);
    }

    #[test]
    fn the_data_is_whole() {
        let all = profiles();
        let names: std::collections::BTreeSet<_> = all.iter().map(|it| &it.tool.name).collect();
        assert!(!all.is_empty() && names.len() == all.len());
        for Profile { tool, language_ids, .. } in all {
            let name = &tool.name;
            tool.check().unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(tool.outside.is_some(), "{name}: what it reads outside is not said");
            assert_ne!(tool.executes, Executes::Anything, "{name}: what it runs of a workspace is not said");
            assert!(!tool.languages.is_empty() && !tool.install.contains("own documentation"), "{name}");
            for glob in &tool.globs {
                let end = glob.strip_prefix('*').unwrap_or(glob);
                assert!(!end.contains(['*', '?', '[', '{', '/', '!']), "{name}: {glob}");
                let extension = end.rsplit_once('.').map(|it| it.1);
                assert!(extension.is_none_or(|it| language_ids.contains_key(it)), "{name}: {glob}");
            }
        }
    }

    #[test]
    fn what_it_is_asked_about() {
        let ty = Profile::named("ty").unwrap();
        assert!(ty.covers(&path("src/a.py")) && ty.covers(&path("a.pyi")) && !ty.covers(&path("a.pyc")));
        assert!(ty.is_config(&path("sub/pyproject.toml")) && !ty.is_config(&path("pyproject.py")));
        assert!(ty.is_syntax_error("invalid-syntax") && !ty.is_syntax_error("unresolved-import"));
        let shared =
            |server: &str, code| Profile::named(server).unwrap().tool.same_as.shared_name(code, None);
        assert_eq!(shared("ty", "unresolved-reference").as_deref(), Some("undefined-name"));
        assert_eq!(shared("bash-language-server", "SC2154").as_deref(), Some("shellcheck/SC2154"));
        assert_eq!(ty.language_id(&path("a.pyi")), "python");
        let id = |server: &str, it: &str| Profile::named(server).unwrap().language_id(&path(it)).to_owned();
        let of_go = ["a/go.mod", "go.sum", "go.work", "b.tmpl", "x.go"].map(|it| id("gopls", it));
        assert_eq!(of_go, ["go.mod", "go.sum", "go.work", "gotmpl", "go"]);
        assert_eq!(
            ["Dockerfile", "a.dockerfile"].map(|it| id("dockerfile-language-server", it)),
            ["dockerfile"; 2]
        );
        let of_json = ["tsconfig.app.json", "a.json", "a.jsonc"].map(|it| id("json-language-server", it));
        assert_eq!(of_json, ["jsonc", "json", "jsonc"]);
        let typescript = Profile::named("typescript").unwrap();
        assert_eq!(typescript.language_id(&path("a.tsx")), "typescriptreact");
        assert_eq!(["a.tsx", "a.js"].map(|it| typescript.language(&path(it))), ["typescript", "javascript"]);
        let config = |it| (typescript.is_config(&path(it)), typescript.shows(&path(it)));
        assert_eq!(["tsconfig.json", "a/tsconfig.base.json"].map(config), [(true, false); 2]);
        assert_eq!(["base.json", "a/data.json"].map(config), [(false, true); 2]);
        let c = Profile::named("clangd").unwrap();
        assert_eq!(["a.h", "a.cpp"].map(|it| c.language(&path(it))), ["c", "cpp"]);
    }

    #[test]
    fn the_workspace_s_own_program_goes_first() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join(".venv/bin/ty");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "").unwrap();
        let shell = Environment::of_shell();
        let ty = Profile::named("ty").unwrap();
        assert_eq!(ty.find(root.path(), &shell), Some(program));
        assert!(!ty.find_in_path(&shell).is_some_and(|it| it.starts_with(root.path())));
        assert_eq!(ty.tool.arguments(), ["server"]);
        assert!(Profile::named("typescript").unwrap().find(root.path(), &shell).is_none());
    }

    #[test]
    fn typescript_in_path_is_its_native_program_or_none() {
        let (root, prefix) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [root, prefix] = [root.path(), prefix.path()].map(|it| it.canonicalize().unwrap());
        let file = |path: &Path| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        let shell = Environment::of_daemon_with(prefix.join("bin").as_os_str(), &root, &BTreeMap::new());
        let found = || Profile::named("typescript").unwrap().find(&root, &shell);
        // Layout of `npm install --global`: a link to a script.
        let package = prefix.join("lib/node_modules/typescript");
        file(&package.join("bin/tsc"));
        fs::create_dir_all(prefix.join("bin")).unwrap();
        symlink("../lib/node_modules/typescript/bin/tsc", prefix.join("bin/tsc")).unwrap();
        assert_eq!(found(), None, "version 5 has no native program");
        let native = "node_modules/@typescript/typescript-linux-x64/lib/tsc";
        for of in [prefix.join("lib"), package] {
            file(&of.join(native));
            assert_eq!(found(), Some(of.join(native)), "the nearest");
        }
        // Layout of pnpm: a link to the package, with its dependencies beside it.
        let store = root.join("node_modules/.pnpm/typescript");
        file(&store.join("node_modules/typescript/bin/tsc"));
        symlink(".pnpm/typescript/node_modules/typescript", root.join("node_modules/typescript")).unwrap();
        assert_eq!(found(), None, "the workspace has a version of its own, and that is 5");
        file(&store.join(native));
        assert_eq!(found(), Some(store.join(native)));
        file(&root.join(native));
        assert_eq!(found(), Some(root.join(native)), "as npm lays it out");
        let manifest =
            |folder: &str, text: &str| fs::write(root.join(folder).join("package.json"), text).unwrap();
        manifest("node_modules/typescript", r#"{ "version": "6.0.3" }"#);
        manifest("node_modules/@typescript/typescript-linux-x64", r#"{ "version": "7.0.2" }"#);
        fs::remove_file(store.join(native)).unwrap();
        assert_eq!(found(), None, "a dependency brought it");
        manifest("", r#"{ "devDependencies": { "astro": "1" } }"#);
        assert!(found().is_some_and(|it| it.starts_with(&prefix)), "the project names none");
    }

    #[test]
    fn the_workspace_is_filled_in() {
        let value = serde_json::json!({ "a": ["${root}/x"], "b": "${root-uri}", "c": 1 });
        let want = serde_json::json!({ "a": ["/w s/x"], "b": "file:///w%20s", "c": 1 });
        assert_eq!(fill(&value, Path::new("/w s")), want);
    }
}
