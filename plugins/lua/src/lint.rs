//! Runs selene over one file's text, as the `selene` program does over a file on disk. Knows nothing of other files.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::template::{self, Tag, on_lines, tags};
use broker_plugin_sdk::{Diagnostic, Report, samples, vendored, warn};
use full_moon::LuaVersion;
use full_moon::ast::Ast;
use selene_lib::standard_library::{LuaVersionError, StandardLibrary};
use selene_lib::{Checker, CheckerConfig};

use crate::rules::Selection;
use crate::{convert, defaults, escapes, false_positives, standard_library, syntax};

/// Number of errors to look at: a template is wrong from its first tag on.
const LOOKED_AT: usize = 3;

/// selene with a configuration.
pub(crate) struct Linter {
    checker: Checker<toml::Value>,
    versions: Versions,
    lacks_roblox: bool,
}

/// Versions of Lua that a file may be.
enum Versions {
    /// The version that the standard library names.
    These(LuaVersion),
    /// All, since no configuration names one.
    Any,
}

impl Versions {
    /// Returns a version with the features of each version that a file may be.
    fn all(&self) -> LuaVersion {
        match self {
            Self::These(version) => *version,
            Self::Any => defaults::plain().with_luau(),
        }
    }
}

/// Globals of programs that run LuaJIT (Neovim, OpenResty), and LuaJIT's own.
const OF_LUAJIT: [&str; 4] = ["vim", "jit", "ffi", "ngx"];

/// Lints that look into the standard library, and need parts of it that are missing.
const NEED_ROBLOX: [&str; 6] = [
    "deprecated",
    "incorrect_standard_library_use",
    "must_use",
    "roblox_incorrect_roact_usage",
    "undefined_variable",
    "unscoped_variables",
];

const NO_ROBLOX: &str = "selene downloads the standard library `roblox`, and nothing is downloaded here, so that lints which \
                         need it are not run: put it into the project (`selene generate-roblox-std` makes a `roblox.yml`)";

impl Linter {
    /// Makes the linter for files without a `selene.toml`.
    pub(crate) fn unconfigured() -> Self {
        let checker = Checker::new(defaults::config(), defaults::standard_library());
        // Nothing in it can be wrong; see the tests.
        let checker = checker.unwrap_or_else(|error| unreachable!("{error}"));
        Self { checker, versions: Versions::Any, lacks_roblox: false }
    }

    /// `folders` are where standard libraries may be.
    pub(crate) fn configured(
        config: CheckerConfig<toml::Value>,
        folders: &[PathBuf],
        root: &Path,
    ) -> Result<Self, String> {
        let found = standard_library::collect(config.std(), folders, root)?;
        if found.lacks_roblox {
            warn(NO_ROBLOX);
        }
        let versions = Versions::These(version(&found.library));
        let checker = Checker::new(config, found.library).map_err(|it| it.to_string())?;
        Ok(Self { checker, versions, lacks_roblox: found.lacks_roblox })
    }

    /// Runs selene on the file.
    pub(crate) fn run(&self, path: &str, text: &str, selection: &Selection) -> Report {
        match self.parse(path, text) {
            Ok(ast) => {
                let mut found = self.lint(&ast, text, selection);
                if matches!(self.versions, Versions::Any) && !selection.is_chosen() && is_given(path) {
                    found.retain(|it| !defaults::LEFT_OVER.contains(&&*it.code));
                }
                Report::new(found)
            }
            Err(errors) if matches!(self.versions, Versions::Any) && is_template(text, &errors) => {
                Report::left_out(path, template::IS_TEMPLATE)
            }
            Err(errors) => syntax::report(errors, selection),
        }
    }

    /// Whether a lint is not run, since it looks into a standard library that is missing.
    pub(crate) fn lacks(&self, code: &str) -> bool {
        self.lacks_roblox && NEED_ROBLOX.contains(&code)
    }

    fn parse(&self, path: &str, text: &str) -> Result<Ast, Vec<Diagnostic>> {
        match self.versions {
            Versions::These(version) => syntax::parse(text, version),
            Versions::Any => {
                let mut dialects = [defaults::plain(), LuaVersion::luau()];
                if Path::new(path).extension().is_some_and(|it| it == "luau") {
                    dialects.reverse();
                }
                // Errors are reported as the first dialect has them.
                syntax::parse(text, dialects[0])
                    .or_else(|errors| syntax::parse(text, dialects[1]).map_err(|_| errors))
            }
        }
    }

    fn lint(&self, ast: &Ast, text: &str, selection: &Selection) -> Vec<Diagnostic> {
        let mut found = self.checker.test_on(ast);
        // The order of several findings at one place is undefined in selene.
        found.sort_by(|a, b| {
            let (a, b) = (&a.diagnostic, &b.diagnostic);
            (a.primary_label.range, a.code, &a.message).cmp(&(b.primary_label.range, b.code, &b.message))
        });
        escapes::drop_valid(&mut found, text, self.versions.all());
        if matches!(self.versions, Versions::Any) && !selection.is_chosen() {
            false_positives::drop_false_positives(&mut found, ast, text);
        }
        let found = found.into_iter().filter(|it| !self.lacks(it.diagnostic.code));
        found.filter_map(|it| convert::finding(it, text, selection)).collect()
    }
}

/// Returns the versions of Lua that a standard library names, and LuaJIT if it has names of LuaJIT's or of programs that run it.
/// Unknown versions are only logged, as in selene.
fn version(library: &StandardLibrary) -> LuaVersion {
    let (mut version, problems) = library.lua_version();
    if library.globals.keys().any(|it| is_of_luajit(it)) {
        version = version.with_luajit();
    }
    for problem in problems {
        let (LuaVersionError::FeatureNotEnabled(name) | LuaVersionError::Unknown(name)) = problem;
        warn(&format!("the standard library names a version of Lua that selene does not know: {name}"));
    }
    version
}

/// Whether a global, or the one that a field is in (`vim.api`), exists in LuaJIT alone.
fn is_of_luajit(global: &str) -> bool {
    OF_LUAJIT.contains(&global.split('.').next().unwrap_or(global))
}

/// Whether a file is what a test is given, or copied from another project.
fn is_given(path: &str) -> bool {
    samples::is_fixture(Path::new(path)) || vendored::is_in_folder(Path::new(path))
}

/// Whether the parser failed at tags of a template engine. `{{ … }}` alone may be a table in a table.
fn is_template(text: &str, errors: &[Diagnostic]) -> bool {
    let places = errors.iter().take(LOOKED_AT).map(|it| it.span.start as usize);
    on_lines(text.as_bytes(), tags(text.as_bytes(), &[Tag::Statement]), places).is_some()
}
