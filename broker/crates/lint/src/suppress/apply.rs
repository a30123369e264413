//! Matching of findings with suppressions, and of suppressions that match none.

use std::collections::HashMap;

use super::{
    Coverage, INVALID, Options, UNUSED,
    directive::{Bare, Kind},
    fix::bracket,
    scan::{Suppression, Suppressions},
};
use crate::{Diagnostic, FindingKey, Fix, RulePattern, Severity, Span, Tag, fingerprint::last_line};

impl Suppressions<'_> {
    /// Marks the findings that are suppressed among those in `cell`.
    pub(super) fn mark(
        &self,
        findings: &[FindingKey<'_>],
        cell: Option<&str>,
        suppressed: &mut [bool],
    ) -> Uses<'_, '_> {
        let mut uses = Uses::new(self);
        for (key, suppressed) in findings.iter().zip(suppressed).filter(|(it, _)| it.cell == cell) {
            *suppressed = uses.suppress(key);
        }
        uses
    }
}

/// Marks of the rules of suppressions that were of use.
pub(super) struct Uses<'s, 't> {
    of: &'s Suppressions<'t>,
    /// Suppressions for one line, by line.
    by_line: HashMap<u32, Vec<usize>>,
    /// `disable` and `enable`, from top to bottom.
    switches: Vec<usize>,
    whole_file: Vec<usize>,
    /// For each suppression, for each rule in its list, or for all of them.
    used: Vec<Vec<bool>>,
}

impl<'s, 't> Uses<'s, 't> {
    fn new(of: &'s Suppressions<'t>) -> Self {
        let used = of.found.iter().map(|it| vec![false; it.rules().map_or(1, <[_]>::len)]).collect();
        let mut uses =
            Self { of, by_line: HashMap::new(), switches: Vec::new(), whole_file: Vec::new(), used };
        for (index, it) in of.found.iter().enumerate() {
            match it.directive.kind {
                Kind::Ignore | Kind::IgnoreNextLine => {
                    it.target.into_iter().for_each(|line| uses.by_line.entry(line).or_default().push(index));
                }
                Kind::IgnoreFile => uses.whole_file.push(index),
                Kind::Disable | Kind::Enable => uses.switches.push(index),
            }
        }
        uses.end_switches();
        uses
    }

    /// Problems with the suppressions, from top to bottom.
    pub(super) fn problems(
        &self,
        findings: &[FindingKey<'_>],
        coverage: Coverage<'_>,
        options: Options,
    ) -> Vec<Diagnostic> {
        let mut problems: Vec<_> = self.of.malformed.iter().map(|(span, why)| invalid(*span, why)).collect();
        for (index, it) in self.of.found.iter().enumerate() {
            problems.extend(it.without_brackets(findings));
            if options.require_reason && !it.directive.has_reason && it.directive.kind != Kind::Enable {
                problems.push(invalid(it.comment, "a suppression must say why"));
            }
            let unused = |severity| self.unused(index, coverage, severity);
            problems.extend(options.report_unused.and_then(unused));
        }
        problems.sort_by(|a, b| (a.span, &a.code).cmp(&(b.span, &b.code)));
        problems
    }

    /// An `enable` is of use if it ends a `disable`.
    fn end_switches(&mut self) {
        let switch = |index: usize| &self.of.found[index];
        for (position, &index) in self.switches.iter().enumerate() {
            if switch(index).directive.kind == Kind::Enable {
                let disabled = self.switches[..position].iter().map(|it| switch(*it));
                let disabled: Vec<_> = disabled.filter(|it| it.directive.kind == Kind::Disable).collect();
                for (number, used) in self.used[index].iter_mut().enumerate() {
                    let rule = switch(index).rules().map(|rules| &rules[number]);
                    *used = disabled.iter().any(|it| it.overlaps(rule));
                }
            }
        }
    }

    /// Whether a suppression is for the finding. The nearest is marked as used.
    fn suppress(&mut self, key: &FindingKey<'_>) -> bool {
        let first = self.of.table.utf8(key.span.start).line;
        let last = last_line(&self.of.table, key.span);
        let found = self.on_line(first, key, |_| true).or_else(|| {
            // A comment after the end of a statement over several lines.
            self.on_line(last, key, |it| it.target == Some(it.line))
        });
        let found = found.or_else(|| self.in_range(key)).or_else(|| self.first(&self.whole_file, key));
        if let Some((index, rule)) = found {
            self.used[index][rule] = true;
        }
        found.is_some()
    }

    fn on_line(
        &self,
        line: u32,
        key: &FindingKey<'_>,
        counts: impl Fn(&Suppression) -> bool,
    ) -> Option<(usize, usize)> {
        let mut indices = self.by_line.get(&line)?.iter().filter(|it| counts(&self.of.found[**it]));
        indices.find_map(|index| Some((*index, self.of.found[*index].rule_for(key)?)))
    }

    /// The last switch before the finding that is for its rule decides.
    fn in_range(&self, key: &FindingKey<'_>) -> Option<(usize, usize)> {
        let before = self.switches.partition_point(|it| self.of.found[*it].comment.start <= key.span.start);
        let mut switches = self.switches[..before].iter().rev();
        let last = switches.find_map(|index| Some((*index, self.of.found[*index].rule_for(key)?)));
        last.filter(|(index, _)| self.of.found[*index].directive.kind == Kind::Disable)
    }

    fn first(&self, indices: &[usize], key: &FindingKey<'_>) -> Option<(usize, usize)> {
        indices.iter().find_map(|index| Some((*index, self.of.found[*index].rule_for(key)?)))
    }

    fn unused(&self, index: usize, coverage: Coverage<'_>, severity: Severity) -> Option<Diagnostic> {
        let it = &self.of.found[index];
        let Some(rules) = it.rules() else {
            let fix = || self.of.removal(it);
            let told = || unused(it.comment, severity, "this suppression suppresses nothing", fix());
            return (!self.used[index][0] && coverage.is_all).then(told);
        };
        // A linter without a whole answer might have found what this is for.
        let is_unknown = |it: &RulePattern| !coverage.knows(it);
        let uses = rules.iter().zip(&self.used[index]).map(|(rule, used)| (rule, *used || is_unknown(rule)));
        let of = |wanted: bool| -> Vec<_> {
            uses.clone().filter(|(_, used)| *used == wanted).map(|(rule, _)| rule).collect()
        };
        if of(false).is_empty() {
            return None;
        }
        let name = |it: &RulePattern| {
            let remark = (coverage.remark)(it).map_or_else(String::new, |it| format!(" ({it})"));
            format!("`{it}`{remark}")
        };
        let (left, names) = (of(true), of(false).into_iter().map(name).collect::<Vec<_>>());
        let message = format!("this suppression suppresses no {}", names.join(", "));
        let fix = if left.is_empty() { self.of.removal(it) } else { self.of.reduction(it, &left) };
        Some(unused(it.comment, severity, &message, fix))
    }
}

impl Suppression {
    pub(super) fn rules(&self) -> Option<&[RulePattern]> {
        self.directive.list.as_ref().map(|it| &*it.rules)
    }

    /// The problem of `ignore F401`, which suppresses every rule: its words begin with the rule of a finding, or
    /// all look like codes.
    fn without_brackets(&self, findings: &[FindingKey<'_>]) -> Option<Diagnostic> {
        let Bare { start, words, are_codes } = self.directive.bare.as_ref()?;
        let is_of_finding = |word: &&(RulePattern, u32)| {
            findings.iter().any(|it| word.0.matches(it.linter, it.code, it.name))
        };
        let named: Vec<_> = if *are_codes {
            words.iter().collect()
        } else {
            words.iter().take_while(is_of_finding).collect()
        };
        let span = Span::new(*start, named.last()?.1);
        let names = named.iter().map(|(rule, _)| rule.to_string()).collect::<Vec<_>>().join(", ");
        let (word, list) = (self.directive.kind.word(), format!("[{names}]"));
        let message = format!(
            "this suppresses every rule: `{names}` is not in brackets; write `{word}{list}` for it alone"
        );
        Some(Diagnostic { fixes: vec![bracket(span, list)], ..invalid(self.comment, &message) })
    }

    /// Index of its rule that is for the finding.
    fn rule_for(&self, key: &FindingKey<'_>) -> Option<usize> {
        match self.rules() {
            Some(rules) => rules.iter().position(|it| it.matches(key.linter, key.code, key.name)),
            None => Some(0),
        }
    }

    /// Whether the suppression is for some of the rules that `rule` matches; `None` means all rules.
    fn overlaps(&self, rule: Option<&RulePattern>) -> bool {
        let (Some(rules), Some(rule)) = (self.rules(), rule) else { return true };
        rules.iter().any(|it| it.covers(rule) || rule.covers(it))
    }
}

fn invalid(span: Span, message: &str) -> Diagnostic {
    problem(INVALID, span, Severity::Warning, message)
}

fn unused(span: Span, severity: Severity, message: &str, fix: Fix) -> Diagnostic {
    Diagnostic { fixes: vec![fix], tags: vec![Tag::Unnecessary], ..problem(UNUSED, span, severity, message) }
}

fn problem(code: &str, span: Span, severity: Severity, message: &str) -> Diagnostic {
    Diagnostic {
        code: code.to_owned(),
        name: None,
        message: message.to_owned(),
        severity,
        cell: None,
        span,
        tags: Vec::new(),
        url: None,
        shared_name: None,
        fixes: Vec::new(),
        related: Vec::new(),
    }
}
