//! Runs rules over one file: over its tree, and over those of the scripts and styles in HTML.

use std::{collections::BTreeMap, iter, ops::Range, str};

use ast_grep_config::{CombinedScan, RuleConfig, Severity};
use ast_grep_core::Node;
use broker_plugin_sdk::{Diagnostic, Selection, syntax::Problem};

use crate::{convert, languages::Lang, rule_file::Rule, rules, source::Source, workspace::Workspace};

/// Rules for a kind of file, and those that the crate has of its own.
pub(crate) struct Scan<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) selection: &'a Selection,
    pub(crate) builtin: &'a mut BTreeMap<Lang, Builtin>,
}

/// The rules about comments that suppress findings.
pub(crate) struct Builtin {
    unused: RuleConfig<Lang>,
    bare: RuleConfig<Lang>,
}

impl Builtin {
    fn new(lang: Lang) -> Self {
        Self {
            unused: CombinedScan::unused_config(Severity::Hint, lang),
            bare: CombinedScan::no_suppress_all_config(Severity::Warning, lang),
        }
    }
}

impl Scan<'_> {
    /// Everything found in a file, in the order of the text, or why nothing could be. Without rules for it, it is not
    /// even looked at.
    pub(crate) fn run(&mut self, path: &str, content: &[u8], lang: Lang) -> Result<Vec<Diagnostic>, String> {
        let mut langs = languages(lang);
        langs.retain(|it| !self.rules(path, *it).is_empty());
        if langs.is_empty() {
            return Ok(Vec::new());
        }
        let text = str::from_utf8(content).map_err(|it| format!("the file is not UTF-8: {it}"))?;
        let mut found = self.over_all(path, text, lang, &langs).map_err(|it| it.message())?;
        found.retain(|it| self.selection.includes(&it.code));
        found.sort_by(|a, b| (a.span.start, a.span.end, &a.code).cmp(&(b.span.start, b.span.end, &b.code)));
        Ok(found)
    }

    fn over_all(
        &mut self,
        path: &str,
        text: &str,
        lang: Lang,
        langs: &[Lang],
    ) -> Result<Vec<Diagnostic>, Problem> {
        let source = Source::file(path, text, lang)?;
        let mut found = self.over(path, &source);
        for (lang, range) in embedded(&source).into_iter().filter(|it| langs.contains(&it.0)) {
            found.extend(self.over(path, &source.part(range, lang)?));
        }
        Ok(found)
    }

    /// The rules for a file in a language. Whether a suppression is used shows only when all have run.
    fn rules(&self, path: &str, lang: Lang) -> Vec<(&Rule, &RuleConfig<Lang>)> {
        let all = rules::ABOUT_SUPPRESSIONS.iter().any(|it| self.selection.includes(it));
        let runs = |it: &&Rule| self.selection.includes(&it.id) || (all && !it.is_off);
        let of_language = self.workspace.rules.iter().filter(|it| it.lang() == lang);
        of_language.filter(runs).filter_map(|it| Some((it, it.on(path, lang)?))).collect()
    }

    fn over(&mut self, path: &str, source: &Source) -> Vec<Diagnostic> {
        let lang = source.lang();
        self.builtin.entry(lang).or_insert_with(|| Builtin::new(lang));
        let (rules, builtin) = (self.rules(path, lang), &self.builtin[&lang]);
        if rules.is_empty() {
            return Vec::new();
        }
        let mut scan = CombinedScan::new(rules.iter().map(|it| it.1).collect());
        scan.set_unused_suppression_rule(&builtin.unused);
        scan.set_no_suppress_all_rule(&builtin.bare);
        let grep = source.grep();
        let matches = scan.scan(&grep, false).matches;
        let mut found = Vec::new();
        for (config, nodes) in matches {
            let rule = rules.iter().find(|it| it.0.id == config.id).map(|it| it.0);
            found.extend(nodes.iter().map(|it| convert::diagnostic(rule, config, it)));
        }
        found
    }
}

/// The languages in HTML, of those that ast-grep looks for there.
const EMBEDDED: [&str; 4] = ["javascript", "css", "typescript", "typescriptreact"];

/// The languages that may be in a file of a language: its own and those of its parts.
pub(crate) fn languages(lang: Lang) -> Vec<Lang> {
    let embedded = EMBEDDED.iter().filter(|_| lang.name() == "html");
    iter::once(lang).chain(embedded.filter_map(|it| Lang::named(it))).collect()
}

/// The scripts and styles of a page, and their languages.
fn embedded(page: &Source) -> Vec<(Lang, Range<usize>)> {
    if page.lang().name() != "html" {
        return Vec::new();
    }
    let grep = page.grep();
    let root = grep.root();
    let default = |kind: &str| match kind {
        "script_element" => Some("javascript"),
        "style_element" => Some("css"),
        _ => None,
    };
    let part = |node: Node<'_, Source>| {
        let default = default(&node.kind())?;
        let content = node.children().find(|it| it.kind() == "raw_text")?.range();
        let lang = attribute(&node, "lang").unwrap_or_else(|| default.to_owned());
        Some((Lang::named(&lang)?, content))
    };
    root.dfs().filter_map(part).collect()
}

/// The value of an attribute of an element's first tag.
fn attribute(element: &Node<'_, Source>, name: &str) -> Option<String> {
    let inside = |node: &Node<'_, Source>, kind: &str| {
        let found = node.dfs().find(|it| it.kind() == kind);
        found.map(|it| it.text().into_owned())
    };
    let is_it = |it: &Node<'_, Source>| {
        it.kind() == "attribute" && inside(it, "attribute_name").as_deref() == Some(name)
    };
    let attribute = element.dfs().find(is_it)?;
    inside(&attribute, "attribute_value")
}
