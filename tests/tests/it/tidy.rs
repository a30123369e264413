//! Rules of the repository: who may depend on whom, and that no file forgets what it is.

mod projects;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Packages of the project that each may depend on. Nothing may depend on `tests`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("componentize", &[]),
    ("download", &["lint"]),
    ("patch", &[]),
    ("overlay", &["patch"]),
    ("lint", &["overlay"]),
    ("shadow", &["overlay"]),
    ("signatures", &[]),
    ("telemetry", &["telemetry-testkit"]),
    ("telemetry-testkit", &[]),
    ("code-cache", &[]),
    ("grammars", &[]),
    ("syntax", &["code-cache", "grammars", "overlay"]),
    ("search", &["overlay", "syntax"]),
    ("agent-tools", &["overlay", "patch", "syntax"]),
    ("lsp-client", &["lint", "overlay"]),
    ("imports", &["overlay", "syntax"]),
    ("external-tools", &["lint", "overlay"]),
    ("tool-store", &["download", "external-tools", "lint", "overlay"]),
    ("language-servers", &["external-tools", "imports", "lint", "lsp-client", "overlay"]),
    ("native-checkers", &["external-tools", "imports", "lint", "overlay", "shadow"]),
    ("plugin-host", &["code-cache", "lint", "overlay", "syntax"]),
    ("plugin-kit", &["lint", "overlay", "plugin-host", "syntax"]),
    ("scheduler", &["lint", "overlay"]),
    ("lint-testkit", &["lint", "overlay"]),
    ("config", &["download", "lint", "lint-testkit", "overlay", "plugin-host", "signatures"]),
    ("check-engine", &["config", "lint", "lint-testkit", "overlay", "scheduler", "syntax"]),
    ("render", &["check-engine", "config", "lint", "lint-testkit", "overlay"]),
    (
        "linters",
        &[
            "check-engine",
            "config",
            "download",
            "external-tools",
            "language-servers",
            "lint",
            "lint-testkit",
            "native-checkers",
            "overlay",
            "plugin-host",
            "shadow",
            "signatures",
            "syntax",
            "tool-store",
        ],
    ),
    (
        "workspaces",
        &[
            "check-engine",
            "config",
            "imports",
            "language-servers",
            "lint",
            "linters",
            "overlay",
            "scheduler",
            "shadow",
            "syntax",
            "telemetry",
        ],
    ),
    (
        "agents",
        &[
            "agent-tools",
            "check-engine",
            "config",
            "language-servers",
            "lint",
            "linters",
            "overlay",
            "scheduler",
            "search",
            "syntax",
            "telemetry",
            "workspaces",
        ],
    ),
    ("broker-proto", &[]),
    (
        "client",
        &[
            "agents",
            "broker-proto",
            "check-engine",
            "config",
            "language-servers",
            "lint",
            "linters",
            "overlay",
            "scheduler",
            "shadow",
            "workspaces",
        ],
    ),
    ("bench-branches", &["broker-proto", "overlay"]),
    (
        "broker",
        &[
            "agents",
            "broker-proto",
            "check-engine",
            "client",
            "code-cache",
            "componentize",
            "config",
            "language-servers",
            "lint",
            "lint-testkit",
            "linters",
            "lsp-client",
            "overlay",
            "plugin-host",
            "plugin-kit",
            "render",
            "scheduler",
            "shadow",
            "signatures",
            "syntax",
            "telemetry",
            "tool-store",
            "workspaces",
        ],
    ),
    ("broker-plugin-features", &[]),
    ("broker-plugin-sdk", &[]),
    ("broker-schemas", &[]),
    ("broker-yaml-tree", &[]),
    ("guest-asks", &["broker-plugin-sdk"]),
    ("guest-misbehaves", &["broker-plugin-sdk"]),
    ("guest-unready", &["broker-plugin-sdk"]),
    ("no-todo", &["broker-plugin-sdk"]),
    ("xtask", &[]),
];

/// Packages that each plugin of ours may depend on.
const OF_PLUGINS: &[&str] = &["broker-plugin-sdk", "broker-schemas", "broker-yaml-tree"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file of the project with this ending.
fn files(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                if !["target", ".git", "fixtures", "node_modules", ".venv"].contains(&name.as_str()) {
                    folders.push(entry.path());
                }
            } else if name.ends_with(extension) {
                found.push(entry.path());
            }
        }
    }
    assert!(!found.is_empty(), "no *{extension} below {}", root().display());
    found
}

#[test]
fn dependencies_point_down() {
    let plugins = tests::plugins().into_iter().map(|it| format!("broker-plugin-{it}")).collect::<Vec<_>>();
    let mut allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    allowed.extend(plugins.iter().map(|it| (it.as_str(), OF_PLUGINS)));
    for file in files("Cargo.toml") {
        let manifest: toml::Table = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let Some(package) = manifest.get("package") else { continue };
        let name = package["name"].as_str().unwrap();
        let tables = ["dependencies", "build-dependencies", "dev-dependencies"];
        let tables = tables.iter().filter_map(|it| manifest.get(*it)?.as_table());
        let ours: BTreeSet<_> = tables
            .flat_map(|it| it.keys().map(String::as_str))
            .filter(|it| *it == "tests" || allowed.contains_key(it))
            .collect();
        assert!(!ours.contains("tests"), "{name} depends on tests");
        if name == "tests" {
            continue;
        }
        let may = allowed.get(name).unwrap_or_else(|| panic!("{name} has no row in the table"));
        let wrong: Vec<_> = ours.iter().filter(|it| !may.contains(it)).collect();
        assert!(wrong.is_empty(), "{name} may not depend on {wrong:?}: see ARCHITECTURE.md");
    }
}

#[test]
fn every_module_says_what_it_is() {
    for file in files(".rs") {
        let text = fs::read_to_string(&file).unwrap();
        let is_documented = text.trim_start().starts_with("//!");
        assert!(is_documented, "{} does not begin with a module doc (`//!`)", file.display());
    }
}

/// Words that say "an unnamed person" where the program has a name for it: the client, the caller, another program.
const VAGUE: [&str; 3] = ["nobody", "somebody", "whoever"];

/// First words of a doc comment that lacks the noun or the verb it is about.
const HEADLESS: [&str; 7] = ["what ", "how ", "where ", "who ", "those ", "as ", "of "];

/// Number of such comments by package, of those with texts for users (the command line's help, descriptions in schemas). A number
/// may only be lowered, and a package that is not listed has none.
const TEXTS_FOR_USERS: &[(&str, usize)] =
    &[("broker", 57), ("broker/crates/agents", 3), ("broker/crates/config", 54), ("broker/crates/render", 1)];

#[test]
fn comments_name_what_they_are_about() {
    let allowed: BTreeMap<_, _> = TEXTS_FOR_USERS.iter().copied().collect();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(".rs") {
        let package = file.ancestors().find(|it| it.join("Cargo.toml").exists()).unwrap();
        let package = package.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let vague = vague_comments(&text);
        let places = vague.map(|line| format!("{}:{line}", file.display()));
        found.entry(package).or_default().extend(places);
    }
    for (package, places) in found {
        let allowed = allowed.get(&*package).copied().unwrap_or_default();
        let count = places.len();
        assert!(count <= allowed, "{package}: {count} vague comments, not {allowed}:\n{}", places.join("\n"));
    }
}

/// The numbers of the lines with such comments.
fn vague_comments(text: &str) -> impl Iterator<Item = usize> {
    let comment = |line: &'_ str| line.trim_start().strip_prefix("//").map(str::to_lowercase);
    let mut is_inside = false;
    let is_vague = move |line: &str| {
        let comment = comment(line);
        let is_first = !std::mem::replace(&mut is_inside, comment.is_some());
        comment.is_some_and(|it| {
            let is_doc = it.starts_with(['/', '!']);
            let words = it.trim_start_matches(['/', '!', ' ']);
            let is_headless =
                HEADLESS.iter().any(|word| words.starts_with(word) && (is_doc || *word == "of "));
            is_first && is_headless
                || it.split(|it: char| !it.is_alphabetic()).any(|it| VAGUE.contains(&it))
                || it.contains("no one ")
        })
    };
    let vague: Vec<_> = text.lines().map(is_vague).collect();
    vague.into_iter().enumerate().filter(|it| it.1).map(|it| it.0 + 1)
}

#[test]
fn a_vague_comment_is_found() {
    let vague = |text: &str| vague_comments(text).collect::<Vec<_>>();
    assert_eq!(vague("/// Of the bytes.\n/// Nobody asks.\nfn f() {} // nobody\n"), [1, 2]);
    assert_eq!(vague("//! The hash\n//! of the bytes, for whoever asks.\n"), [2]);
    assert_eq!(
        vague("/// What it is.\nfn f() {}\n// What follows is plain.\nfn g() {}\n// Of this\n"),
        [1, 5]
    );
    assert_eq!(vague("// Offsets. No oneness.\nlet nobody = \"whoever\";\n"), [0; 0]);
}

#[test]
fn no_document_has_a_conflict_left_in_it() {
    for file in files(".md") {
        let text = fs::read_to_string(&file).unwrap();
        let marker = text.lines().find(|it| it.starts_with("<<<<<<< ") || it.starts_with(">>>>>>> "));
        assert!(marker.is_none(), "{}: {}", file.display(), marker.unwrap_or_default());
    }
}

#[test]
fn versions_of_plugins_agree() {
    for file in files("broker-plugin.toml") {
        let read = |path: &Path| toml::from_str::<toml::Table>(&fs::read_to_string(path).unwrap()).unwrap();
        let manifest = read(&file);
        let package = file.with_file_name("Cargo.toml");
        if !package.exists() {
            // Examples in other languages have a package without a version.
            continue;
        }
        let package = read(&package);
        let version = package["package"]["version"].as_str();
        // Plugins of the workspace inherit its version.
        let version = version.map_or_else(
            || {
                read(&root().join("plugins/Cargo.toml"))["workspace"]["package"]["version"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            },
            str::to_owned,
        );
        assert_eq!(manifest["version"].as_str(), Some(version.as_str()), "{}", file.display());
    }
}

#[test]
fn names_that_rules_share_are_shared() {
    let read = |path: &Path| toml::from_str::<toml::Table>(&fs::read_to_string(path).unwrap()).unwrap();
    let profiles = read(&root().join("broker/crates/language-servers/src/servers.toml"));
    let profiles = profiles["server"].as_array().unwrap().iter().map(|it| it.as_table().unwrap().clone());
    let manifests = files("broker-plugin.toml").into_iter().map(|it| read(&it));
    let mut linters: BTreeMap<String, usize> = BTreeMap::new();
    for linter in profiles.chain(manifests) {
        let shared = linter.get("same-as").and_then(|it| it.as_table()).into_iter().flatten();
        // The names of a family, such as `shellcheck/*`, begin alike.
        let families = shared.map(|(_, it)| it.as_str().unwrap().split('/').next().unwrap().to_owned());
        families.collect::<BTreeSet<_>>().into_iter().for_each(|it| *linters.entry(it).or_default() += 1);
    }
    let lonely: Vec<_> = linters.iter().filter(|it| *it.1 < 2).collect();
    assert!(linters.len() > 3 && lonely.is_empty(), "only one linter has {lonely:?} of {linters:?}");
}

#[test]
fn documents_name_every_plugin() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (summary, architecture) = (read("docs/SUMMARY.md"), read("ARCHITECTURE.md"));
    for name in tests::plugins() {
        let row = format!("  - [{name}](reference/linters/{name}.md)\n");
        assert!(summary.contains(&row), "add to docs/SUMMARY.md, in the order of the names: {row}");
        let is_told = architecture.contains(&format!("`{name}`"));
        assert!(is_told, "add to ARCHITECTURE.md, below `### plugins`, what `{name}` is");
    }
}

#[test]
fn the_engine_names_no_linter_of_ours() {
    let check_engine = root().join("broker/crates/check-engine/src");
    let is_code = |it: &PathBuf| it.starts_with(&check_engine) && !it.to_string_lossy().contains("tests");
    for file in files(".rs").into_iter().filter(is_code) {
        let code = code(&file);
        for manifest in files("broker-plugin.toml").iter().filter(|it| it.starts_with(root().join("plugins")))
        {
            let manifest: toml::Table = toml::from_str(&fs::read_to_string(manifest).unwrap()).unwrap();
            let name = manifest["name"].as_str().unwrap();
            assert!(!code.contains(&format!("\"{name}\"")), "{} names `{name}`", file.display());
        }
    }
}

#[test]
fn the_world_is_told_everywhere_alike() {
    let wit = fs::read_to_string(root().join("wit/broker-plugin.wit")).unwrap();
    let host = fs::read_to_string(root().join("broker/crates/plugin-host/src/manifest.rs")).unwrap();
    let version = wit.split("package broker:plugin@").nth(1).unwrap().split(';').next().unwrap();
    assert!(
        host.contains(&format!("API: &str = \"{version}\"")),
        "the host speaks another version than {version}"
    );
}

/// The text of a file without its tests.
fn code(path: &Path) -> String {
    fs::read_to_string(path).unwrap().split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned()
}

#[test]
fn reasons_of_errors_are_in_one_table_that_is_documented() {
    let table = code(&root().join("broker/crates/workspaces/src/error/table.rs"));
    let is_reason = |it: &&str| it.len() > 2 && it.chars().all(|it| it.is_ascii_uppercase() || it == '_');
    let reasons: BTreeSet<_> = table.split('"').skip(1).step_by(2).filter(is_reason).collect();
    assert!(reasons.len() > 20, "{reasons:?}");
    let documented = fs::read_to_string(root().join("proto/README.md")).unwrap();
    let missing: Vec<_> = reasons.iter().filter(|it| !documented.contains(&format!("`{it}`"))).collect();
    assert!(missing.is_empty(), "proto/README.md does not tell of {missing:?}");
    for file in files(".rs").iter().filter(|it| it.parent() == Some(&root().join("broker/src/grpc"))) {
        let is_test = file.ends_with("tests.rs");
        let named: Vec<_> =
            reasons.iter().filter(|it| !is_test && code(file).contains(&format!("\"{it}\""))).collect();
        assert!(named.is_empty(), "{} names {named:?}, which the table decides", file.display());
    }
}

/// Folders in which the messages of the protocol are translated.
const TRANSLATE: [&str; 2] = ["broker/src/grpc", "broker/crates/client"];

/// Files of the program that name messages elsewhere. One may only be taken away.
const NAME_MESSAGES: &[&str] = &[];

#[test]
fn messages_are_named_only_where_they_are_translated() {
    let root = root();
    let mut named = BTreeSet::new();
    for file in files(".rs") {
        let file = file.strip_prefix(&root).unwrap();
        if !file.starts_with("broker") || TRANSLATE.iter().any(|it| file.starts_with(it)) {
            continue;
        }
        let text = fs::read_to_string(root.join(file)).unwrap();
        let words: &[&str] = match file.starts_with("broker/src") {
            true => &["broker_proto", "pb::", "tonic::"],
            false => &["broker_proto", "pb::"],
        };
        if words.iter().any(|it| text.contains(it)) {
            named.insert(file.display().to_string());
        }
    }
    let listed: BTreeSet<_> = NAME_MESSAGES.iter().map(|it| (*it).to_owned()).collect();
    let new: Vec<_> = named.difference(&listed).collect();
    assert!(new.is_empty(), "name messages, which is for {TRANSLATE:?}: {new:#?}");
    let gone: Vec<_> = listed.difference(&named).collect();
    assert!(gone.is_empty(), "to take off the list: {gone:#?}");
}
