//! Goes through a stylesheet's tree once and tells each rule what it is about.

use std::collections::HashMap;
use std::ops::Range;

use broker_plugin_sdk::Diagnostic;
use raffia::Syntax;
use raffia::ast::{
    AtRule, AtRulePrelude, Declaration, ImportPreludeHref, InterpolableIdent, InterpolableStr, KeyframeBlock,
    SimpleBlock, Statement, Stylesheet,
};

use crate::names::Names;

/// What is known where a rule looks.
pub(crate) struct Sheet<'a> {
    pub(crate) text: &'a str,
    pub(crate) syntax: Syntax,
    pub(crate) names: &'a Names,
    pub(crate) found: Vec<Diagnostic>,
    /// Selectors by what they are in.
    pub(crate) selectors: HashMap<(String, String), Range<usize>>,
    /// Custom properties that the file sets.
    pub(crate) customs: Vec<String>,
}

/// Where a statement is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// At-rules and selectors around it, as they are written.
    pub(crate) path: String,
    pub(crate) at_rule: Option<String>,
    pub(crate) is_keyframes: bool,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(text: &'a str, syntax: Syntax, names: &'a Names) -> Self {
        Self { text, syntax, names, found: Vec::new(), selectors: HashMap::new(), customs: Vec::new() }
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
        self.keyframe_blocks(all);
        for it in all {
            match it {
                Statement::AtRule(it) => self.at_rule(it, context),
                Statement::QualifiedRule(it) => {
                    self.selector_list(&it.selector, context);
                    let path = self.path(context, &it.selector.span);
                    self.block(&it.block, &Context { path, ..context.clone() });
                }
                Statement::KeyframeBlock(it) => self.keyframe(it, context),
                Statement::LessMixinDefinition(it) => self.statements(&it.block.statements, context),
                Statement::UnknownSassAtRule(it) => {
                    if let Some(block) = &it.block {
                        self.statements(&block.statements, context);
                    }
                }
                _ => {}
            }
        }
    }

    fn path(&self, context: &Context, span: &raffia::Span) -> String {
        format!("{}{{{}", context.path, normal(&self.text[span.start..span.end]))
    }

    fn block(&mut self, block: &SimpleBlock<'_>, context: &Context) {
        if block.statements.is_empty() && self.text[block.span.start..block.span.end].len() > 1 {
            let inner = &self.text[block.span.start + 1..block.span.end - 1];
            if inner.trim().is_empty() {
                self.tell("block-no-empty", "the block is empty", block.span.start..block.span.end);
            }
        }
        self.statements(&block.statements, context);
    }

    fn keyframe(&mut self, it: &KeyframeBlock<'_>, context: &Context) {
        self.block(&it.block, &Context { is_keyframes: true, ..context.clone() });
    }

    fn at_rule(&mut self, it: &AtRule<'_>, context: &Context) {
        let name = it.name.name.to_ascii_lowercase();
        self.at_rule_name(it, &name);
        if let Some(AtRulePrelude::Media(media)) = &it.prelude {
            self.media(media.span.start..media.span.end);
        }
        let Some(block) = &it.block else { return };
        let head = raffia::Span { start: it.span.start, end: block.span.start };
        let is_keyframes = name.ends_with("keyframes");
        let context = Context { path: self.path(context, &head), at_rule: Some(name), is_keyframes };
        self.block(block, &context);
    }

    /// Those at the top, which must come first and only once.
    fn imports(&mut self, all: &[Statement<'_>]) {
        let mut known: HashMap<String, Range<usize>> = HashMap::new();
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
            let Some(AtRulePrelude::Import(import)) = &rule.prelude else {
                let name = rule.name.name.to_ascii_lowercase();
                let goes_before =
                    matches!(&*name, "charset" | "layer" | "use" | "forward") && rule.block.is_none();
                is_late |= !goes_before && self.names.at_rules.contains(&*name) && !is_of_tools(&name);
                continue;
            };
            if is_late && self.is_plain_css() {
                let message = "an import must come before all other rules, else it is ignored";
                self.tell("no-invalid-position-at-import-rule", message, span.clone());
            }
            let ImportPreludeHref::Str(InterpolableStr::Literal(_)) = &import.href else { continue };
            let written = normal(&self.text[import.span.start..import.span.end]).replace('\'', "\"");
            if known.contains_key(&written) {
                self.tell(
                    "no-duplicate-at-import-rules",
                    format!("{written} is imported already"),
                    span.clone(),
                );
            }
            known.entry(written).or_insert(span);
        }
    }
}

/// What may stand anywhere, since a build tool takes it out.
fn is_of_tools(name: &str) -> bool {
    matches!(
        name,
        "tailwind" | "config" | "plugin" | "source" | "reference" | "value" | "theme" | "custom-variant"
    )
}

/// Every `--name` that some declaration sets.
fn custom_properties(all: &[Statement<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for it in all {
        match it {
            Statement::Declaration(it) => {
                found.extend(name_of(it).filter(|it| it.starts_with("--")).map(str::to_owned))
            }
            Statement::QualifiedRule(it) => found.extend(custom_properties(&it.block.statements)),
            Statement::AtRule(it) => {
                found.extend(it.block.iter().flat_map(|it| custom_properties(&it.statements)));
            }
            _ => {}
        }
    }
    found
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
