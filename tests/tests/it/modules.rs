//! The modules of each crate: which uses which, and that none uses itself through others.
//!
//! Looks at `use` statements and at paths that begin with `crate::`. What a macro makes is not seen, nor methods of a type
//! that another module defines.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Modules of one crate that use each other, each group with the reason why that is no fault.
const KNOTS: &[(&str, &[&str], &str)] = &[
    (
        "language-servers",
        &["actor", "pool", "watched"],
        "an actor looks at what its server watches as the pool looks at what is around a server",
    ),
    (
        "plugin-host",
        &[
            "compile",
            "compiler",
            "convert",
            "files",
            "held",
            "host",
            "instance",
            "machine_code",
            "plugin",
            "ready",
            "state",
            "wasi",
        ],
        "a host makes plugins, each of which holds its host, and keeps guests of theirs ready; what is linked into a guest works on the state of its store",
    ),
];

type Graph = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The sources of each crate of the program.
fn crates() -> Vec<(String, PathBuf)> {
    let folders = fs::read_dir(root().join("broker/crates")).unwrap().map(|it| it.unwrap().path());
    let folders = folders.chain([root().join("broker")]).filter(|it| it.join("src/lib.rs").is_file());
    let name = |it: &Path| it.file_name().unwrap().to_str().unwrap().to_owned();
    let mut crates: Vec<_> = folders.map(|it| (name(&it), it.join("src"))).collect();
    crates.sort();
    crates
}

/// Returns each file with its path of modules: `a::b` for `a/b.rs`.
fn modules(src: &Path) -> Vec<(Vec<String>, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![src.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(src).unwrap().with_extension("");
            let mut names: Vec<_> = relative.iter().map(|it| it.to_str().unwrap().to_owned()).collect();
            if names.last().is_some_and(|it| it == "mod" || it == "lib") {
                names.pop();
            }
            let is_test = names.iter().any(|it| it == "tests" || it == "fixture") || names == ["main"];
            if !is_test && path.extension().is_some_and(|it| it == "rs") {
                found.push((names, code(&fs::read_to_string(&path).unwrap())));
            }
        }
    }
    found
}

/// The text without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().filter(|it| !it.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths that a tree of a `use` statement names.
fn flat(tree: &str, before: &[&str]) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let (head, inner) = match tree.split_once('{') {
        Some((head, inner)) => (head, inner.strip_suffix('}')),
        None => (tree, None),
    };
    let head = head.split(" as ").next().unwrap();
    let names = head.split("::").map(str::trim).filter(|it| !it.is_empty());
    let path: Vec<&str> = before.iter().copied().chain(names).collect();
    let Some(inner) = inner else { return vec![path.iter().map(|it| (*it).to_owned()).collect()] };
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, it) in inner.char_indices().chain([(inner.len(), ',')]) {
        match it {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    all.extend(flat(&inner[start..at], &path));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    all
}

/// Returns the paths that the text of a module names: in `use` statements, and after `crate::` elsewhere.
fn named(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for statement in text.split("use ").skip(1) {
        all.extend(statement.split_once(';').iter().flat_map(|(tree, _)| flat(tree, &[])));
    }
    let is_of_name = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    for rest in text.split("crate::").skip(1) {
        let path = rest.split(|it| !is_of_name(it)).next().unwrap();
        let names = path.split("::").filter(|it| !it.is_empty()).map(str::to_owned);
        all.push(["crate".to_owned()].into_iter().chain(names).collect());
    }
    all
}

/// Returns the dependencies between the modules directly below the root of a crate.
fn graph(src: &Path) -> Graph {
    let modules = modules(src);
    let top: BTreeSet<_> = modules.iter().filter_map(|(names, _)| names.first().cloned()).collect();
    let root = modules.iter().find(|(names, _)| names.is_empty());
    let mut shown = BTreeMap::new();
    for path in root.iter().flat_map(|(_, text)| named(text)) {
        let path: Vec<_> = path.iter().filter(|it| *it != "self" && *it != "crate").collect();
        if let [module, .., name] = path[..]
            && top.contains(module)
        {
            shown.insert(name.clone(), module.clone());
        }
    }
    let mut graph: Graph = top.iter().map(|it| (it.clone(), BTreeSet::new())).collect();
    for (own, text) in modules.iter().filter(|(names, _)| !names.is_empty()) {
        for path in named(text) {
            let above = path.iter().take_while(|it| *it == "super").count();
            let first = match path.first().map(String::as_str) {
                Some("crate") => path.get(1),
                Some("super") if above == own.len() => path.get(above),
                _ => None,
            };
            let module = first.and_then(|it| if top.contains(it) { Some(it) } else { shown.get(it) });
            if let Some(module) = module.filter(|it| **it != own[0]) {
                graph.get_mut(&own[0]).unwrap().insert(module.clone());
            }
        }
    }
    graph
}

/// The modules that `start` reaches.
fn reached<'g>(graph: &'g Graph, start: &'g str) -> BTreeSet<&'g str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
    while let Some(module) = next.pop() {
        next.extend(graph[module].iter().map(String::as_str).filter(|it| seen.insert(*it)));
    }
    seen
}

/// Groups of modules that use each other.
fn knots<'g>(graph: &'g Graph) -> BTreeSet<Vec<&'g str>> {
    let of = |module: &'g str| {
        let others = reached(graph, module).into_iter();
        others.filter(|it| reached(graph, it).contains(module)).collect::<Vec<&'g str>>()
    };
    graph.keys().map(|it| of(it)).filter(|it| !it.is_empty()).collect()
}

#[test]
fn no_module_uses_itself_through_others() {
    let mut wrong = Vec::new();
    for (name, src) in crates() {
        let graph = graph(&src);
        for knot in knots(&graph) {
            let is_known = KNOTS.iter().any(|(of, modules, _)| *of == name && **modules == knot[..]);
            wrong.extend((!is_known).then(|| format!("{name}: {}", knot.join(" "))));
        }
    }
    assert!(wrong.is_empty(), "these use each other:\n{}", wrong.join("\n"));
}

#[test]
fn knots_are_found() {
    let graph = |edges: &[(&str, &[&str])]| -> Graph {
        let edges =
            edges.iter().map(|(it, to)| ((*it).to_owned(), to.iter().map(|it| (*it).to_owned()).collect()));
        edges.collect()
    };
    assert!(knots(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    let knotted = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])]);
    assert_eq!(knots(&knotted), [vec!["a", "b", "c"]].into());
    let paths = |text: &str| named(text).into_iter().map(|it| it.join("::")).collect::<Vec<_>>();
    assert_eq!(
        paths("use super::{a::{self, B}, c as d};\nfn f() { crate::x::y(1) }"),
        ["super::a::self", "super::a::B", "super::c", "crate::x::y"]
    );
}
