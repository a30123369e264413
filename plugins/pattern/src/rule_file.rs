//! Reads rule files into rules that can be run, document by document: an error in one leaves the others alone.

use std::{collections::BTreeMap, ops::Range, path::Path, rc::Rc};

use ast_grep_config::{
    DeserializeEnv, GlobalRules, RuleCollection, RuleConfig, RuleConfigError, RuleCoreError,
    SerializableGlobalRule, SerializableRule, SerializableRuleConfig, Severity, Transformation,
};
use serde::Deserialize;

use crate::{
    languages::Lang,
    problem::{Problem, Reach},
    rules,
    yaml::{Document, Flaw, chain, documents},
};

/// A rule of the workspace.
pub(crate) struct Rule {
    pub(crate) id: String,
    /// Path relative to the root.
    pub(crate) path: Rc<str>,
    /// Whether the rule is off unless it is selected.
    pub(crate) is_off: bool,
    pub(crate) metadata: Option<BTreeMap<String, serde_json::Value>>,
    /// Collection of this rule alone, for its globs, which the crate exposes nowhere else.
    alone: RuleCollection<Lang>,
    lang: Lang,
}

/// A utility rule for all rules, and where it stands.
#[derive(Clone)]
pub(crate) struct Utility {
    path: Rc<str>,
    span: Range<usize>,
    rule: SerializableGlobalRule<Lang>,
}

/// Fields of a document that are read whatever else is wrong with it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    metadata: Option<BTreeMap<String, serde_json::Value>>,
}

/// The parts of a rule that mistakes are in. Without the crate's own flattening, which forgets places.
#[derive(Deserialize)]
#[allow(dead_code, reason = "read for the errors")]
struct Probe {
    rule: Option<SerializableRule>,
    constraints: Option<BTreeMap<String, SerializableRule>>,
    utils: Option<BTreeMap<String, SerializableRule>>,
    transform: Option<BTreeMap<String, Transformation>>,
}

impl Rule {
    pub(crate) fn lang(&self) -> Lang {
        self.lang
    }

    pub(crate) fn config(&self) -> Option<&RuleConfig<Lang>> {
        self.alone.get_rule(&self.id)
    }

    /// The rule, if it is for such a file.
    pub(crate) fn on(&self, path: &str, lang: Lang) -> Option<&RuleConfig<Lang>> {
        self.alone.get_rule_from_lang(Path::new(path), lang).pop()
    }
}

/// The rules of a file, and what is wrong in it. Adds to what is `known` already.
pub(crate) fn rules(path: &str, text: &str, globals: &GlobalRules, known: &mut Vec<Rule>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let documents = documents(text);
    let count = documents.iter().filter(|it| !matches!(it.read::<Head>(), Ok(None))).count();
    for (number, document) in documents.iter().enumerate() {
        let stem = Path::new(path).file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        let id = if count > 1 { format!("{stem}-{number}") } else { stem.to_owned() };
        match rule(path, document, &id, globals, known) {
            Ok(rule) => known.extend(rule),
            Err(flaw) => problems.push(problem(path, document, flaw)),
        }
    }
    problems
}

fn problem(path: &str, document: &Document<'_>, flaw: Flaw) -> Problem {
    let language = document.read::<Head>().ok().flatten().and_then(|it| it.language);
    let reach = match language.map(|it| Lang::named(&it)) {
        None => Reach::All,
        Some(Some(lang)) => Reach::Language(lang),
        Some(None) => Reach::Nothing,
    };
    Problem::new(path, flaw.span, flaw.message).reaching(reach)
}

fn rule(
    path: &str,
    document: &Document<'_>,
    id: &str,
    globals: &GlobalRules,
    known: &[Rule],
) -> Result<Option<Rule>, Flaw> {
    let read = document.read::<SerializableRuleConfig<Lang>>();
    let Some(mut config) = read.map_err(|flaw| placed(document, flaw))? else { return Ok(None) };
    if config.id.is_empty() {
        id.clone_into(&mut config.id);
    }
    if let Some(other) = known.iter().find(|it| it.id == config.id) {
        let message = format!("there is a rule `{}` already, in `{}`", config.id, other.path);
        return Err(Flaw { span: document.key("id"), message });
    }
    if rules::is_taken(&config.id) {
        let message = format!("`{}` is what a rule about rules is called: choose another `id`", config.id);
        return Err(Flaw { span: document.key("id"), message });
    }
    let mut config = RuleConfig::try_from(config, globals)
        .map_err(|it| Flaw { span: document.key(section(&it)), message: chain(&it) })?;
    let (id, lang) = (config.id.clone(), config.language);
    let is_off = matches!(config.severity, Severity::Off);
    if is_off {
        config.severity = Severity::default(); // or the collection would not have it
    }
    let alone = RuleCollection::try_new(vec![config])
        .map_err(|error| Flaw { span: document.key("files"), message: error.to_string() })?;
    let metadata = document.read::<Head>().ok().flatten().and_then(|it| it.metadata);
    Ok(Some(Rule { id, path: path.into(), is_off, metadata, alone, lang }))
}

/// Adds the place to an error, if it is in one of the parts that have places.
fn placed(document: &Document<'_>, flaw: Flaw) -> Flaw {
    if let Err(flaw) = document.read::<Probe>() {
        return flaw;
    }
    let unknown = flaw.message.strip_prefix("unknown field `").and_then(|it| it.split('`').next());
    let span = unknown.map_or_else(|| flaw.span.clone(), |it| document.key(it));
    Flaw { span, ..flaw }
}

/// The key that an error is about.
fn section(error: &RuleConfigError) -> &'static str {
    use RuleConfigError as E;
    match error {
        E::Core(RuleCoreError::Utils(_)) => "utils",
        E::Core(RuleCoreError::Constraints(_) | RuleCoreError::UndefinedMetaVar(_, "constraints")) => {
            "constraints"
        }
        E::Core(RuleCoreError::Transform(_) | RuleCoreError::UndefinedMetaVar(_, "transform")) => "transform",
        E::Core(RuleCoreError::UndefinedMetaVar(_, "fix")) | E::Fixer(_) => "fix",
        E::Rewriter(_) => "rewriters",
        E::UndefinedRewriter(_) => "transform",
        E::LabelVariable(_) => "labels",
        E::Yaml(_) | E::Core(_) | E::MissingPotentialKinds => "rule",
    }
}

/// The utility rules of a file, each good in itself. Adds to what is `known` already.
pub(crate) fn utilities(path: &str, text: &str, known: &mut Vec<Utility>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for document in documents(text) {
        match utility(path, &document, known) {
            Ok(utility) => known.extend(utility),
            Err(flaw) => problems.push(problem(path, &document, flaw)),
        }
    }
    problems
}

fn utility(path: &str, document: &Document<'_>, known: &[Utility]) -> Result<Option<Utility>, Flaw> {
    let read = document.read::<SerializableGlobalRule<Lang>>();
    let Some(rule) = read.map_err(|flaw| placed(document, flaw))? else { return Ok(None) };
    let span = document.key("id");
    if let Some(other) = known.iter().find(|it| it.rule.id == rule.id) {
        let message = format!("there is a utility rule `{}` already, in `{}`", rule.id, other.path);
        return Err(Flaw { span, message });
    }
    if let Err(error) = DeserializeEnv::parse_global_utils(vec![rule.clone()]) {
        return Err(Flaw { span: document.key("rule"), message: chain(&error) });
    }
    Ok(Some(Utility { path: path.into(), span, rule }))
}

/// All utility rules together. Those that go round in circles are left out one by one.
pub(crate) fn together(utilities: &[Utility]) -> (GlobalRules, Vec<Problem>) {
    let rules = |them: &[Utility]| them.iter().map(|it| it.rule.clone()).collect::<Vec<_>>();
    if let Ok(all) = DeserializeEnv::parse_global_utils(rules(utilities)) {
        return (all, Vec::new());
    }
    let (mut good, mut problems) = (Vec::new(), Vec::new());
    let mut together = GlobalRules::default();
    for utility in utilities {
        good.push(utility.clone());
        match DeserializeEnv::parse_global_utils(rules(&good)) {
            Ok(all) => together = all,
            Err(error) => {
                good.pop();
                let problem = Problem::new(&utility.path, utility.span.clone(), chain(&error));
                problems.push(problem.reaching(Reach::Language(utility.rule.language)));
            }
        }
    }
    (together, problems)
}
