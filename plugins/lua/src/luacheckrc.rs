//! `.luacheckrc`, luacheck's configuration: the files that it excludes, and warnings that it ignores. It counts where no
//! `selene.toml` holds and no lints are selected.
//!
//! The configuration is a program in Lua, which is read and not run: values assigned to a global variable outside of any block or
//! in the returned table count, as far as they are literals. Leaves out `files`, `only` and `enable`, and patterns of names. A
//! file that cannot be read is luacheck's to report.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use full_moon::ast::{Assignment, Ast, Expression, Field, LastStmt, Stmt, TableConstructor, Var};
use full_moon::tokenizer::{TokenReference, TokenType};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashMap;

use crate::{defaults, luacheck, nesting, syntax};

const NAME: &str = ".luacheckrc";

/// Warnings that have a lint in their place, each the first of those that the lint stands for.
const COUNTERPARTS: [&str; 3] = [UNUSED, "541", "542"];

const UNUSED: &str = "211";

/// Parts of a configuration that are applied.
#[derive(Debug)]
pub(crate) struct Luacheckrc {
    /// The folder that patterns are relative to.
    base: PathBuf,
    exclude: GlobSet,
    include: Option<GlobSet>,
    /// Patterns as in comments.
    ignore: Vec<String>,
}

impl Luacheckrc {
    /// The configuration in a folder.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        let text = text_of(&dir.join(NAME)).ok()?;
        Self::parse(&text, dir)
    }

    fn parse(text: &str, base: &Path) -> Option<Self> {
        if nesting::objection(text).is_some() {
            return None;
        }
        let options = options(&syntax::parse(text, defaults::plain()).ok()?);
        let texts = |name: &str| match options.get(name) {
            Some(Value::List { texts, .. }) => texts.clone(),
            _ => Vec::new(),
        };
        let include = match options.get("include_files") {
            Some(Value::List { texts, is_whole: true }) if !texts.is_empty() => Some(globs(texts)),
            _ => None,
        };
        let mut ignore = texts("ignore");
        ignore.retain(|it| has_counterpart(it));
        if matches!(options.get("unused"), Some(Value::False)) {
            ignore.push(UNUSED.to_owned());
        }
        Some(Self { base: base.to_path_buf(), exclude: globs(&texts("exclude_files")), include, ignore })
    }

    pub(crate) fn excludes(&self, file: &Path) -> bool {
        let Ok(file) = file.strip_prefix(&self.base) else { return false };
        self.exclude.is_match(file) || self.include.as_ref().is_some_and(|it| !it.is_match(file))
    }

    /// Whether the configuration ignores findings of a lint about a name.
    pub(crate) fn ignores(&self, code: &str, name: &str) -> bool {
        self.ignore.iter().any(|it| luacheck::fits(it, code, name))
    }
}

/// The value of an option.
enum Value {
    /// The texts in a table, and whether there is nothing else in it.
    List {
        texts: Vec<String>,
        is_whole: bool,
    },
    False,
    Other,
}

fn options(ast: &Ast) -> FxHashMap<String, Value> {
    let mut options = FxHashMap::default();
    for statement in ast.nodes().stmts() {
        if let Stmt::Assignment(it) = statement {
            options.extend(assigned(it));
        }
    }
    if let Some(LastStmt::Return(it)) = ast.nodes().last_stmt()
        && let Some(Expression::TableConstructor(table)) = it.returns().iter().next()
    {
        options.extend(table.fields().iter().filter_map(option));
    }
    options
}

fn assigned(assignment: &Assignment) -> impl Iterator<Item = (String, Value)> {
    let variables = assignment.variables().iter().zip(assignment.expressions());
    variables.filter_map(|(variable, expression)| match variable {
        Var::Name(name) => Some((text(name), value(expression))),
        _ => None,
    })
}

/// A field of the table that is returned.
fn option(field: &Field) -> Option<(String, Value)> {
    match field {
        Field::NameKey { key, value: it, .. } => Some((text(key), value(it))),
        _ => None,
    }
}

fn value(expression: &Expression) -> Value {
    match expression {
        Expression::TableConstructor(it) => list(it),
        Expression::Symbol(it) if text(it) == "false" => Value::False,
        _ => Value::Other,
    }
}

fn list(table: &TableConstructor) -> Value {
    let literals = table.fields().iter().filter_map(|it| match it {
        Field::NoKey(Expression::String(it)) => literal(it),
        _ => None,
    });
    let texts: Vec<_> = literals.collect();
    Value::List { is_whole: texts.len() == table.fields().len(), texts }
}

/// The text in quotation marks, if it is as it is written.
fn literal(token: &TokenReference) -> Option<String> {
    match token.token_type() {
        TokenType::StringLiteral { literal, .. } if !literal.contains('\\') => Some(literal.to_string()),
        _ => None,
    }
}

fn text(token: &TokenReference) -> String {
    token.token().to_string()
}

/// Whether a pattern stands for all findings of a lint, or for one name. Unused parameters and variables of loops (`212`, `213`)
/// are not reported anyway.
fn has_counterpart(pattern: &str) -> bool {
    let is_name = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let (number, name) = pattern.split_once('/').map_or((pattern, None), |it| (it.0, Some(it.1)));
    let digits = number.trim_start_matches('W');
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    match name {
        None if !is_number => is_name(pattern),
        Some(name) if !is_name(name) => false,
        _ => COUNTERPARTS.iter().any(|it| it.starts_with(digits)),
    }
}

/// Globs of luacheck's, which fit what is below a folder, too. One that cannot be used fits nothing.
fn globs(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let parts: Vec<_> = pattern.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
        let path = parts.join("/").replace('{', "[{]").replace('}', "[}]");
        for glob in [path.clone(), format!("{path}/**")] {
            let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(false).build();
            glob.into_iter().for_each(|it| _ = set.add(it));
        }
    }
    set.build().unwrap_or_default()
}
