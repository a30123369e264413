//! Names that an import binds.

use tree_sitter::Node;

/// A name, and what it stands for if two imports of it are as good as one.
pub(super) struct Imported {
    pub(super) name: String,
    pub(super) target: Option<String>,
}

/// Returns the names that an import binds in its scope. An import of everything binds none that are known.
pub(super) fn imported(import: Node<'_>, text: &str) -> Vec<Imported> {
    let mut names = Vec::new();
    match import.kind() {
        "import_from_statement" => python_from(import, text, &mut names),
        "import_statement" if import.child_by_field_name("name").is_some() => {
            python_modules(import, text, &mut names);
        }
        "import_statement" | "import_alias" => script(import, text, &mut names),
        "import_declaration" => java(import, text, &mut names),
        "import_spec" => names.extend(go(import, text).map(once)),
        "use_declaration" => {
            let argument = import.child_by_field_name("argument");
            argument.into_iter().for_each(|it| rust(it, "", text, &mut names));
        }
        "extern_crate_declaration" => names.extend(alias_or_name(import, text).map(once)),
        _ => {}
    }
    names.retain(|it| !["_", ".", ""].contains(&it.name.as_str()));
    names
}

/// A name that must not be bound again.
fn once(name: &str) -> Imported {
    Imported { name: name.to_owned(), target: None }
}

fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

fn field<'t>(node: Node<'_>, name: &str, text: &'t str) -> Option<&'t str> {
    node.child_by_field_name(name).map(|it| source(it, text))
}

fn alias_or_name<'t>(node: Node<'_>, text: &'t str) -> Option<&'t str> {
    field(node, "alias", text).or_else(|| field(node, "name", text))
}

/// `from a import b as c` binds `c`.
fn python_from(import: Node<'_>, text: &str, names: &mut Vec<Imported>) {
    let module = field(import, "module_name", text).unwrap_or_default();
    for it in import.children_by_field_name("name", &mut import.walk()) {
        let name = field(it, "alias", text).unwrap_or_else(|| source(it, text));
        let what = field(it, "name", text).unwrap_or_else(|| source(it, text));
        names.push(Imported { name: name.to_owned(), target: Some(format!("{module} {what}")) });
    }
}

/// `import a.b` binds `a`, as does `import a.c`.
fn python_modules(import: Node<'_>, text: &str, names: &mut Vec<Imported>) {
    for it in import.children_by_field_name("name", &mut import.walk()) {
        let whole = source(it, text);
        let first = whole.split('.').next().unwrap_or_default();
        let name = field(it, "alias", text).unwrap_or(first);
        let target = if name == first { first } else { whole };
        names.push(Imported { name: name.to_owned(), target: Some(target.to_owned()) });
    }
}

fn script(import: Node<'_>, text: &str, names: &mut Vec<Imported>) {
    let mut waiting = vec![import];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "import_specifier" => names.extend(alias_or_name(node, text).map(once)),
            "identifier" => names.push(once(source(node, text))),
            // The module of `import a = b.c`.
            "nested_identifier" | "import_attribute" => {}
            _ => waiting.extend(node.named_children(&mut node.walk())),
        }
    }
}

/// `import a.B` binds `B`. Go has specifications in a declaration, which bind.
fn java(import: Node<'_>, text: &str, names: &mut Vec<Imported>) {
    let children: Vec<_> = import.named_children(&mut import.walk()).collect();
    let Some(path) = children.iter().find(|it| it.kind() == "scoped_identifier") else { return };
    if children.iter().all(|it| it.kind() != "asterisk") {
        let name = field(*path, "name", text).unwrap_or_default().to_owned();
        names.push(Imported { name, target: Some(source(import, text).to_owned()) });
    }
}

/// The name of a Go package: as far as the path says it, the last part that is no version.
fn go<'t>(import: Node<'_>, text: &'t str) -> Option<&'t str> {
    if let Some(name) = field(import, "name", text) {
        return Some(name);
    }
    let path = field(import, "path", text)?.trim_matches(['"', '`']);
    let is_version =
        |it: &str| it.strip_prefix('v').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let last = path.rsplit('/').find(|it| !is_version(it))?;
    Some(last.rsplit_once('.').filter(|it| is_version(it.1)).map_or(last, |it| it.0))
}

/// The names of a tree of uses; `module` is the last part of the path before it.
fn rust(tree: Node<'_>, module: &str, text: &str, names: &mut Vec<Imported>) {
    match tree.kind() {
        "identifier" => names.push(once(source(tree, text))),
        "self" => names.push(once(module)),
        "scoped_identifier" => names.extend(field(tree, "name", text).map(once)),
        "use_as_clause" => names.extend(field(tree, "alias", text).map(once)),
        "use_list" => {
            tree.named_children(&mut tree.walk()).for_each(|it| rust(it, module, text, names));
        }
        "scoped_use_list" => {
            let path = field(tree, "path", text).unwrap_or_default();
            let last = path.rsplit("::").next().unwrap_or_default();
            let list = tree.child_by_field_name("list");
            list.into_iter().for_each(|it| rust(it, last, text, names));
        }
        _ => {}
    }
}
