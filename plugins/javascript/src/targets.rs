//! Files that a relative name leads to, as TypeScript, Node and bundlers look for them together: rather one too many is found.
//!
//! A file that is not there is missing only if it need not be made first: by a build (`dist/`, what `.gitignore` names, a grammar or another
//! language's file beside it), by a framework (`rootDirs` of a `tsconfig.json`), or by a checkout of a submodule; and if no
//! `package.json` puts another in its place (`browser`). Left out are names with patterns and placeholders, what lies outside of the
//! workspace, and files within `node_modules`.

use std::path::{Component, Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::neighbours::package;
use crate::tsconfig::TsConfig;

/// Ends of names that may be left out, likeliest first.
const ENDS: [&str; 28] = [
    ".ts", ".tsx", ".js", ".jsx", ".d.ts", ".mjs", ".cjs", ".mts", ".cts", ".json", ".vue", ".svelte",
    ".astro", ".d.mts", ".d.cts", ".node", ".wasm", ".mdx", ".es6", ".es", ".gjs", ".gts", ".marko", ".imba",
    ".riot", ".coffee", ".ls", ".civet",
];

/// Parts of names for platforms, before the end.
const PLATFORMS: [&str; 9] =
    [".ios", ".android", ".native", ".web", ".windows", ".macos", ".server", ".client", ".res"];

/// Ends that a bundler may be configured to add, which TypeScript would not.
const OF_BUNDLERS: [&str; 20] = [
    ".css", ".scss", ".sass", ".less", ".styl", ".html", ".md", ".graphql", ".gql", ".svg", ".png", ".yaml",
    ".yml", ".txt", ".glsl", ".hbs", ".ejs", ".pug", ".elm", ".json5",
];

/// Ends of what JavaScript and CSS are made of beside it.
const MADE_OF: [&str; 17] = [
    ".res", ".re", ".ml", ".pegjs", ".peggy", ".jison", ".ne", ".purs", ".elm", ".langium", ".g4", ".proto",
    ".wat", ".scss", ".sass", ".less", ".pcss",
];

/// Ends of JavaScript, each with those that it is made from or that declare it.
const JAVASCRIPT: [(&str, &[&str]); 4] = [
    (".js", &[".ts", ".tsx", ".d.ts", ".jsx"]),
    (".jsx", &[".tsx", ".d.ts"]),
    (".mjs", &[".mts", ".d.mts"]),
    (".cjs", &[".cts", ".d.cts"]),
];

/// Ends of the names of files that TypeScript resolves the imports of.
const TYPED: [&str; 4] = ["ts", "tsx", "mts", "cts"];

/// Folders of what builds make.
const BUILT: [&str; 5] = ["dist", "build", "out", "bundle", "pkg"];

/// Parts of the names of what bundlers write.
const BUNDLES: [&str; 6] = [".bundle.", ".cjs.", ".esm.", ".iife.", ".min.", ".umd."];

/// Signs in a name that something else expands or fills in.
const SIGNS: [char; 13] = ['*', '{', '}', '<', '>', '$', '%', '!', '|', '\\', ':', '[', '#'];

/// Result of looking for a name's file.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    Found,
    /// No file is there that the name may mean, and none will be made.
    Missing(PathBuf),
    /// Not known here.
    Open,
}

impl Target {
    /// Looks for the file that a name in a file below `root` means.
    pub(crate) fn of(name: &str, file: &Path, root: &Path) -> Self {
        let path = name.split('?').next().unwrap_or_default();
        // `+types` is what React Router makes.
        if path.contains(SIGNS) || path.split('/').any(|it| matches!(it, "node_modules" | "+types")) {
            return Self::Open;
        }
        let folder = file.parent().unwrap_or(root);
        let Some(target) = joined(folder, path).filter(|it| it.starts_with(root)) else { return Self::Open };
        let is_typed = file.extension().is_some_and(|it| TYPED.iter().any(|typed| it == *typed));
        if resolves(&target, is_typed) {
            return Self::Found;
        }
        let is_elsewhere = TsConfig::of(folder, root).may_have(&target, |it| resolves(it, is_typed));
        if is_elsewhere || is_made(&target, root) || is_replaced(&target, folder, root) {
            return Self::Open;
        }
        Self::Missing(target)
    }
}

/// The path without `.` and `..`; none above the file system's root.
pub(crate) fn joined(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut joined = folder.to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => joined.pop().then_some(())?,
            Component::CurDir => {}
            part => joined.push(part),
        }
    }
    Some(joined)
}

fn resolves(target: &Path, is_typed: bool) -> bool {
    if target.is_file() || named(target).any(|it| it.is_file()) {
        return true;
    }
    if !is_typed && OF_BUNDLERS.iter().any(|it| with(target, it).is_file()) {
        return true;
    }
    let has_index = || named(&target.join("index")).any(|it| it.is_file());
    target.is_dir() && (target.join("package.json").is_file() || has_index())
}

/// The files that a path without its end may stand for, and what `.js` was made from or declares a file of another kind.
fn named(target: &Path) -> impl Iterator<Item = PathBuf> {
    let text = target.to_string_lossy().into_owned();
    let stems = JAVASCRIPT.iter().filter_map(|(end, made)| Some((text.strip_suffix(end)?.to_owned(), made)));
    let made: Vec<_> = stems
        .flat_map(|(stem, made)| made.iter().map(move |end| PathBuf::from(format!("{stem}{end}"))))
        .collect();
    let declared = target.extension().and_then(|end| {
        let end = end.to_str()?;
        Some(target.with_extension(format!("d.{end}.ts")))
    });
    let plain = target.to_path_buf();
    let of_platform = target.to_path_buf();
    let ends = ENDS.iter().map(move |it| with(&plain, it));
    let platforms = PLATFORMS.iter().flat_map(|it| ENDS[..4].iter().map(move |end| format!("{it}{end}")));
    made.into_iter().chain(ends).chain(declared).chain(platforms.map(move |it| with(&of_platform, &it)))
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Whether a file that is not there may be made by something.
fn is_made(target: &Path, root: &Path) -> bool {
    is_of_build(target, root)
        || is_of_submodule(target, root)
        || has_source(target)
        || is_ignored(target, root)
}

/// Whether the file is in a folder of builds that is not there, or that is hidden, or called after what generates it.
fn is_of_build(target: &Path, root: &Path) -> bool {
    let mut folder = root.to_path_buf();
    let inside = target.strip_prefix(root).unwrap_or(target);
    inside.components().any(|it| {
        folder.push(it);
        let name = it.as_os_str().to_string_lossy();
        let is_hidden = name.starts_with('.') && !folder.is_dir();
        let is_generated = name.to_ascii_lowercase().contains("generated") || name == "codegen";
        let is_generated = is_generated || BUNDLES.iter().any(|it| name.contains(it));
        is_generated || is_hidden || BUILT.contains(&&*name) && !folder.is_dir()
    })
}

/// Whether the field `browser` of the nearest `package.json` puts something in the file's place.
fn is_replaced(target: &Path, folder: &Path, root: &Path) -> bool {
    let mut folders = folder.ancestors().take_while(|it| it.starts_with(root));
    let Some((package, folder)) = folders.find_map(|it| Some((package(&it.join("package.json"))?, it)))
    else {
        return false;
    };
    let names = package.get("browser").and_then(|it| it.as_object()).into_iter().flatten();
    let mut replaced = names.filter_map(|it| joined(folder, it.0));
    replaced.any(|it| it == target || named(target).any(|named| named == it))
}

fn is_of_submodule(target: &Path, root: &Path) -> bool {
    let Ok(modules) = text_of(&root.join(".gitmodules")) else { return false };
    let paths =
        modules.lines().filter_map(|it| it.trim().strip_prefix("path")?.trim_start().strip_prefix('='));
    paths.map(str::trim).any(|it| target.starts_with(root.join(it)))
}

/// Whether a file is beside it that it is made of.
fn has_source(target: &Path) -> bool {
    let is_made_of = |stem: &Path| MADE_OF.iter().any(|it| with(stem, it).is_file());
    is_made_of(target) || is_made_of(&target.with_extension(""))
}

/// Whether git ignores the file, whatever it is that the name means.
fn is_ignored(target: &Path, root: &Path) -> bool {
    let folders = target.ancestors().skip(1).take_while(|it| it.starts_with(root));
    let files: Vec<_> = folders.filter_map(ignore_file).collect();
    let names = || [target.to_path_buf(), target.join("index.js")].into_iter().chain(named(target));
    !files.is_empty() && names().any(|name| is_matched(&name, &files))
}

fn is_matched(path: &Path, files: &[Gitignore]) -> bool {
    let decided = files.iter().map(|it| it.matched_path_or_any_parents(path, false)).find(|it| !it.is_none());
    decided.is_some_and(|it| it.is_ignore())
}

fn ignore_file(folder: &Path) -> Option<Gitignore> {
    let text = text_of(&folder.join(".gitignore")).ok()?;
    let mut builder = GitignoreBuilder::new(folder);
    // A line that means nothing ignores nothing.
    text.lines().for_each(|it| drop(builder.add_line(None, it)));
    builder.build().ok()
}
