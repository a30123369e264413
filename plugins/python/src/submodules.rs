//! Submodules that imports bind in their package: after `from .sub import name`, a package's `__init__` has the name `sub`.

use std::path::Path;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ModModule, Stmt, StmtImportFrom};
use rustc_hash::FxHashSet;

/// The names of submodules that the imports of `path` bind; none if it is not the `__init__` of a package.
pub(crate) fn bound(path: &Path, module: &ModModule) -> FxHashSet<String> {
    let is_package = path.file_stem().is_some_and(|it| it == "__init__");
    let Some(package) = path.parent().filter(|_| is_package) else { return FxHashSet::default() };
    let mut imports = Imports { package, bound: FxHashSet::default() };
    imports.visit_body(&module.body);
    imports.bound
}

struct Imports<'a> {
    /// The folder.
    package: &'a Path,
    bound: FxHashSet<String>,
}

impl Visitor<'_> for Imports<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Import(it) => it.names.iter().for_each(|it| self.import(0, &it.name)),
            Stmt::ImportFrom(it) => self.import_from(it),
            _ => visitor::walk_stmt(self, stmt),
        }
    }
}

impl Imports<'_> {
    fn import_from(&mut self, import: &StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |it| it.as_str());
        for it in &import.names {
            let separator = if module.is_empty() { "" } else { "." };
            self.import(import.level, &format!("{module}{separator}{}", it.name));
        }
    }

    /// Takes in the name that follows that of the package.
    fn import(&mut self, level: u32, module: &str) {
        let parts: Vec<_> = module.split('.').collect();
        let bound = match level {
            0 => (1..parts.len()).filter(|it| self.package.ends_with(parts[..*it].join("/"))).collect(),
            _ => self.length_below(level, &parts).into_iter().collect::<Vec<_>>(),
        };
        self.bound.extend(bound.into_iter().filter_map(|it| parts.get(it)).map(|it| (*it).to_owned()));
    }

    /// Returns the number of parts of a relative import that lead to the package itself: none of `.sub`, one of `..package.sub`.
    fn length_below(&self, level: u32, parts: &[&str]) -> Option<usize> {
        let start = self.package.ancestors().nth(usize::try_from(level).ok()? - 1)?;
        let rest: Vec<_> = self.package.strip_prefix(start).ok()?.iter().collect();
        let is_package = parts.len() >= rest.len() && rest.iter().zip(parts).all(|(a, b)| *a == *b);
        is_package.then_some(rest.len())
    }
}
