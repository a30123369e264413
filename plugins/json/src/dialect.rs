//! Dialects of JSON, by the name of a file: what its readers accept.

/// Strictness of the readers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// RFC 8259.
    Strict,
    /// JSON with comments and commas after the last item.
    WithComments,
    Json5,
}

/// Files that their tools read with comments, by name; a `*` stands for anything.
const WITH_COMMENTS: [&str; 68] = [
    "*.jsonc",
    "*.code-workspace",
    "*.code-snippets",
    "tsconfig*.json",
    "*.tsconfig.json",
    "*-tsconfig.json",
    "jsconfig*.json",
    "tslint*.json",
    "tsdoc.json",
    "typedoc*.json",
    "api-extractor*.json",
    "devcontainer.json",
    ".devcontainer.json",
    "devcontainer-feature.json",
    "language-configuration.json",
    ".eslintrc*.json",
    ".oxlintrc.json",
    ".markdownlint*.json",
    ".mocharc.json",
    ".nycrc",
    ".nycrc.json",
    ".c8rc.json",
    ".jshintrc",
    ".jscsrc",
    ".hintrc",
    ".lintstagedrc.json",
    ".luarc.json",
    ".neoconf.json",
    "neoconf.json",
    "coc-settings.json",
    ".vimspector.json",
    ".gadgets.json",
    ".watchmanconfig",
    "pyrightconfig.json",
    "biome.json",
    "deno.json",
    "dprint.json",
    "knip.json",
    "nx.json",
    "rush*.json",
    "turbo.json",
    "wrangler.json",
    "cspell*.json",
    ".cspell.json",
    "renovate.json",
    ".renovaterc*",
    "appsettings*.json",
    "launchSettings.json",
    "host.json",
    "global.json",
    "local.settings.json",
    "angular.json",
    "project.json",
    "workspace.json",
    "firebase.json",
    "bsconfig.json",
    "rescript.json",
    "jsdoc*.json",
    ".jsdoc.json",
    "coffeelint.json",
    ".jsbeautifyrc",
    ".ember-cli",
    ".oxfmtrc.json",
    "basedpyrightconfig.json",
    "heft.json",
    "rig.json",
    "jest.config*.json",
    "omnisharp.json",
];

/// Folders whose JSON files are read with comments.
const FOLDERS: [&str; 4] = [".vscode", ".devcontainer", ".zed", "rush"];

/// Files that a program reads with comments, wherever below a folder of its name they are kept.
struct Reader {
    /// Names of folders in lower case.
    folders: &'static [&'static str],
    /// The folder right below it that has the files, where the program's name may mean other things.
    below: Option<&'static str>,
    names: &'static [&'static str],
}

/// Files that VS Code and its derivatives read.
const OF_VS_CODE: &[&str] = &[
    "settings.json",
    "settings.*.json",
    "launch.json",
    "tasks.json",
    "extensions.json",
    "keybindings.json",
    "argv.json",
    "c_cpp_properties.json",
    "mcp.json",
];

/// Editors and terminals, whose settings are often kept for others in a folder that the program itself does not look at, and
/// CodeSandbox.
const READERS: [Reader; 5] = [
    Reader {
        folders: &["vscode", ".vscode", "vs-code", "vs_code", "vscodium", "code - oss"],
        below: None,
        names: OF_VS_CODE,
    },
    Reader { folders: &["code"], below: Some("User"), names: OF_VS_CODE },
    Reader {
        folders: &["zed", ".zed"],
        below: None,
        names: &["settings.json", "keymap.json", "tasks.json", "debug.json"],
    },
    Reader {
        folders: &["windows terminal", "windows-terminal", "windows_terminal", "windowsterminal"],
        below: None,
        names: &["settings.json", "profiles.json"],
    },
    Reader { folders: &[".codesandbox"], below: None, names: &["tasks.json"] },
];

const JSON5: [&str; 6] =
    ["*.json5", ".babelrc", ".babelrc.json", "babel.config.json", ".swcrc", "asv.conf*.json"];

/// Names without an ending that may as well hold YAML.
const OR_YAML: [&str; 2] = [".eslintrc", ".prettierrc"];

impl Dialect {
    /// Whether the file at `path` may be YAML instead: braces begin a mapping there as well, with fewer quotes.
    pub(crate) fn may_be_yaml(path: &str) -> bool {
        OR_YAML.contains(&path.rsplit('/').next().unwrap_or(path))
    }

    /// The dialect of the file at `path`; nothing if it is no JSON though it might be by its name.
    pub(crate) fn of(path: &str, text: &str) -> Option<Self> {
        let (way, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = way.rsplit('/').next().unwrap_or(way);
        if OR_YAML.contains(&name) {
            let is_json = matches!(text.trim_start().bytes().next(), Some(b'{' | b'/'));
            return is_json.then_some(Self::WithComments);
        }
        let is_one_of = |patterns: &[&str]| patterns.iter().any(|it| is_like(name, it));
        Some(match () {
            () if is_one_of(&JSON5) => Self::Json5,
            () if FOLDERS.contains(&folder) || is_one_of(&WITH_COMMENTS) => Self::WithComments,
            () if READERS.iter().any(|it| it.reads(way, name)) => Self::WithComments,
            () => Self::Strict,
        })
    }
}

impl Reader {
    fn reads(&self, way: &str, name: &str) -> bool {
        let is_own = |folder: &str| self.folders.iter().any(|it| folder.eq_ignore_ascii_case(it));
        let below = way.split('/').skip(1).map(Some).chain([None]);
        let mut folders = way.split('/').zip(below);
        let is_below = |it: Option<&str>| self.below.is_none() || self.below == it;
        self.names.iter().any(|it| is_like(name, it))
            && folders.any(|(folder, below)| is_own(folder) && is_below(below))
    }
}

fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}
