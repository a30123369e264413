//! Goes through a stylesheet's tree once and tells each rule what it is about.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use broker_plugin_sdk::Diagnostic;
use raffia::ast::{
    AtRule, AtRulePrelude, ComponentValue, Declaration, InterpolableIdent, LessMixinArgument, SimpleBlock,
    Statement, Stylesheet,
};
use raffia::{Spanned, Syntax};

use crate::names::Names;
use crate::values::UnknownValue;

/// State of a stylesheet that the rules read and add findings to.
pub(crate) struct Sheet<'a> {
    pub(crate) text: &'a str,
    pub(crate) syntax: Syntax,
    pub(crate) names: &'a Names,
    pub(crate) found: Vec<Diagnostic>,
    /// Selectors by what they are in.
    pub(crate) selectors: HashMap<(String, String), Range<usize>>,
    /// Custom properties that the file sets.
    pub(crate) customs: Vec<String>,
    /// Whether statements may be empty that other files call, extend or order.
    pub(crate) may_have_hooks: bool,
    /// Whether elements, properties and the like may be others than those of browsers.
    pub(crate) has_own_names: bool,
    /// Whether words of values may be names that CSS modules replace by values.
    pub(crate) has_value_names: bool,
    /// Findings that a configuration may leave alone by the property and the word.
    pub(crate) unknown_values: Vec<UnknownValue>,
}

/// Place of a statement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// Selectors around it, as they are written, and the places of all else.
    pub(crate) path: String,
    pub(crate) at_rule: Option<String>,
    pub(crate) is_keyframes: bool,
    /// Whether the names of the statement may be keys: of CSS modules, or for Less to look up.
    pub(crate) is_map: bool,
    /// Prefix of the names of properties: `font-` in `font: { … }`.
    pub(crate) prefix: String,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(text: &'a str, syntax: Syntax, names: &'a Names) -> Self {
        let (found, selectors, customs, unknown_values) = Default::default();
        let (may_have_hooks, has_own_names) = Default::default();
        let has_value_names = text.contains("@value") || text.contains(":import");
        Self {
            text,
            syntax,
            names,
            found,
            selectors,
            customs,
            may_have_hooks,
            has_own_names,
            has_value_names,
            unknown_values,
        }
    }

    pub(crate) fn tell(&mut self, code: &str, message: impl Into<String>, range: Range<usize>) {
        self.found.push(Diagnostic::new(code, message, range));
    }

    pub(crate) fn is_plain_css(&self) -> bool {
        self.syntax == Syntax::Css
    }

    pub(crate) fn sheet(&mut self, tree: &Stylesheet<'_>) {
        self.customs = custom_properties(&tree.statements);
        self.imports(&tree.statements);
        self.statements(&tree.statements, &Context::default());
    }

    fn statements(&mut self, all: &[Statement<'_>], context: &Context) {
        self.declarations(all, context);
        self.keyframe_blocks(all, context);
        for it in all {
            let inner = self.statement(it, context);
            for block in blocks(it) {
                // Rules are the same one where their selectors are; anything else is itself only.
                let path = match it {
                    Statement::QualifiedRule(rule) => self.path(context, &rule.selector.span),
                    _ => format!("{}{{{}", context.path, block.span.start),
                };
                let inner = Context { path, ..inner.clone() };
                // There may be nothing to hand over.
                let is_hook = self.may_have_hooks && self.is_hook(it, block);
                if !is_call(it) && !is_hook {
                    self.emptiness(block);
                }
                self.statements(&block.statements, &inner);
            }
        }
    }

    /// Judges a statement, and tells what holds in its blocks.
    fn statement(&mut self, it: &Statement<'_>, context: &Context) -> Context {
        let inner = Context { is_map: false, prefix: String::new(), ..context.clone() };
        match it {
            Statement::AtRule(it) => {
                let name = self.at_rule(it);
                let is_keyframes = name.ends_with("keyframes");
                Context { at_rule: Some(name), is_keyframes, ..inner }
            }
            Statement::QualifiedRule(it) => {
                self.selector_list(&it.selector, context);
                // Syntax of CSS modules: what is exported has names of its own.
                let selector = self.text[it.span.start..].trim_start();
                let is_map = selector.starts_with(":export") || selector.starts_with(":import");
                Context { is_map, ..inner }
            }
            Statement::LessConditionalQualifiedRule(it) => {
                self.selectors_of(&it.selector, context);
                inner
            }
            Statement::KeyframeBlock(_) => Context { is_keyframes: true, ..inner },
            Statement::Declaration(it) => {
                let name = name_of(it).unwrap_or_default();
                Context { prefix: format!("{}{name}-", context.prefix), ..inner }
            }
            Statement::LessVariableDeclaration(_) => Context { is_map: true, ..inner },
            Statement::LessMixinDefinition(it) => {
                let name = &self.text[it.name.span().start..it.name.span().end];
                Context { is_map: name.starts_with('#'), ..inner }
            }
            Statement::LessExtendRule(_)
            | Statement::LessFunctionCall(_)
            | Statement::LessMixinCall(_)
            | Statement::LessVariableCall(_)
            | Statement::SassIfAtRule(_)
            | Statement::SassVariableDeclaration(_)
            | Statement::UnknownSassAtRule(_) => inner,
        }
    }

    /// Whether a statement has an effect though nothing is in its block: a mixin, a function or a placeholder can be called
    /// or extended, which it could not be if it were not there, a layer has its place in the order of layers, `:extend()` of
    /// Less extends, and a condition of Sass may call a function that writes or stops.
    fn is_hook(&self, it: &Statement<'_>, block: &SimpleBlock<'_>) -> bool {
        match it {
            Statement::AtRule(it) => {
                it.name.name.eq_ignore_ascii_case("layer") || matches!(&*it.name.name, "mixin" | "function")
            }
            Statement::SassIfAtRule(it) => {
                let mut clauses = [&it.if_clause].into_iter().chain(&it.else_if_clauses);
                clauses.any(|it| it.block.span == block.span && self.has_call(it.condition.span()))
            }
            Statement::LessMixinDefinition(_) => true,
            Statement::QualifiedRule(it) => {
                let selector = &self.text[it.selector.span.start..it.selector.span.end];
                selector.starts_with('%') || selector.contains(":extend(")
            }
            Statement::LessConditionalQualifiedRule(it) => {
                self.text[it.selector.span.start..it.selector.span.end].contains(":extend(")
            }
            _ => false,
        }
    }

    /// Whether a function is called, be it within an operation: a bracket follows a name.
    fn has_call(&self, span: &raffia::Span) -> bool {
        let text = &self.text[span.start..span.end];
        text.match_indices('(').any(|(at, _)| {
            let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
            let name = &text[text[..at].trim_end_matches(is_of_name).len()..at];
            !matches!(name, "" | "not" | "and" | "or")
        })
    }

    fn path(&self, context: &Context, span: &raffia::Span) -> String {
        format!("{}{{{}", context.path, normal(&self.text[span.start..span.end]))
    }

    fn emptiness(&mut self, block: &SimpleBlock<'_>) {
        let range = block.span.start..block.span.end;
        let is_empty = self.text[range.clone()].trim_matches(['{', '}']).trim().is_empty();
        if block.statements.is_empty() && range.len() > 1 && is_empty {
            self.tell("block-no-empty", "the block is empty", range);
        }
    }

    /// Judges the head, and tells the name.
    fn at_rule(&mut self, it: &AtRule<'_>) -> String {
        let name = it.name.name.to_ascii_lowercase();
        self.at_rule_name(it, &name);
        if let Some(AtRulePrelude::Media(media)) = &it.prelude {
            self.media(media.span.start..media.span.end);
        }
        name
    }

    /// Checks the `@import`s at the top level, which must come first and only once.
    fn imports(&mut self, all: &[Statement<'_>]) {
        let mut known = HashSet::new();
        let mut is_late = false;
        for it in all {
            let Statement::AtRule(rule) = it else {
                is_late |= !matches!(
                    it,
                    Statement::LessVariableDeclaration(_) | Statement::SassVariableDeclaration(_)
                );
                continue;
            };
            let span = rule.span.start..rule.span.end;
            let name = rule.name.name.to_ascii_lowercase();
            if name != "import" {
                let goes_before =
                    matches!(&*name, "charset" | "layer" | "use" | "forward") && rule.block.is_none();
                is_late |= !goes_before && self.names.at_rules.contains(&*name) && !is_of_tools(&name);
                continue;
            }
            if is_late && self.is_plain_css() {
                let message = "an import must come before all other rules, else it is ignored";
                self.tell("no-invalid-position-at-import-rule", message, span.clone());
            }
            let prelude = rule.prelude.as_ref().map_or(span.clone(), |it| it.span().start..it.span().end);
            let what = imported(&normal(&self.text[prelude]));
            if what.contains(['#', '@', '$']) {
                continue;
            }
            if !known.insert(what.clone()) {
                let message = format!("{what} is imported already");
                self.tell("no-duplicate-at-import-rules", message, span);
            }
        }
    }
}

/// Address and conditions of an import: `"a"`, `'a'` and `url(a)` are the same.
fn imported(prelude: &str) -> String {
    let Some((href, rest)) = prelude.strip_prefix("url(").and_then(|it| it.split_once(')')) else {
        return prelude.replace('\'', "\"");
    };
    format!("\"{}\"{rest}", href.trim().trim_matches(['"', '\'']))
}

/// Whether an at-rule may stand anywhere, since a build tool removes it.
fn is_of_tools(name: &str) -> bool {
    matches!(
        name,
        "tailwind"
            | "config"
            | "plugin"
            | "source"
            | "reference"
            | "value"
            | "theme"
            | "custom-variant"
            | "variant"
            | "utility"
    )
}

/// Every `--name` that some declaration sets.
fn custom_properties(all: &[Statement<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for it in all {
        if let Statement::Declaration(it) = it {
            found.extend(name_of(it).filter(|it| it.starts_with("--")).map(str::to_owned));
        }
        found.extend(blocks(it).into_iter().flat_map(|it| custom_properties(&it.statements)));
    }
    found
}

/// Blocks of a statement.
fn blocks<'t, 's>(it: &'t Statement<'s>) -> Vec<&'t SimpleBlock<'s>> {
    match it {
        Statement::AtRule(it) => it.block.iter().collect(),
        Statement::QualifiedRule(it) => vec![&it.block],
        Statement::LessConditionalQualifiedRule(it) => vec![&it.block],
        Statement::LessMixinDefinition(it) => vec![&it.block],
        Statement::KeyframeBlock(it) => vec![&it.block],
        Statement::UnknownSassAtRule(it) => it.block.iter().collect(),
        Statement::SassIfAtRule(it) => {
            let ifs = [&it.if_clause].into_iter().chain(&it.else_if_clauses).map(|it| &it.block);
            ifs.chain(&it.else_clause).collect()
        }
        Statement::Declaration(it) => it.value.iter().filter_map(block_of).collect(),
        Statement::LessVariableDeclaration(it) => block_of(&it.value).into_iter().collect(),
        Statement::LessFunctionCall(it) => it.args.iter().filter_map(block_of).collect(),
        Statement::LessMixinCall(it) => {
            let args = it.args.iter().flat_map(|it| &it.args);
            args.filter_map(argument).filter_map(block_of).collect()
        }
        Statement::LessExtendRule(_)
        | Statement::LessVariableCall(_)
        | Statement::SassVariableDeclaration(_) => Vec::new(),
    }
}

fn is_call(it: &Statement<'_>) -> bool {
    matches!(it, Statement::LessMixinCall(_) | Statement::LessFunctionCall(_))
}

/// Rules as a value.
fn block_of<'t, 's>(it: &'t ComponentValue<'s>) -> Option<&'t SimpleBlock<'s>> {
    match it {
        ComponentValue::LessDetachedRuleset(it) => Some(&it.block),
        ComponentValue::SassNestingDeclaration(it) => Some(&it.block),
        _ => None,
    }
}

fn argument<'t, 's>(it: &'t LessMixinArgument<'s>) -> Option<&'t ComponentValue<'s>> {
    match it {
        LessMixinArgument::Named(it) => Some(&it.value),
        LessMixinArgument::Value(it) => Some(it),
        LessMixinArgument::Variadic(_) => None,
    }
}

/// The name of a declaration's property, if nothing is put into it.
pub(crate) fn name_of<'d>(it: &'d Declaration<'_>) -> Option<&'d str> {
    match &it.name {
        InterpolableIdent::Literal(it) => Some(it.raw),
        _ => None,
    }
}

/// Without comments, and with one space for any white space.
pub(crate) fn normal(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        plain.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    plain.push_str(rest);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
