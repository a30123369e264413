//! Parts of shuck that need not run over a script, since none of their findings would be reported.

use std::sync::Arc;

use shuck_linter::{AmbientContractConfig, LinterSettings, ResolvedAmbientContracts, Rule, RuleSet};

use crate::defaults;

/// Takes out the rules whose findings are let pass, and what no other rule asks for.
pub(crate) fn narrow(settings: &mut LinterSettings, is_let_pass: impl Fn(Rule) -> bool) {
    settings.rules = settings.rules.iter().filter(|it| !is_let_pass(*it)).collect();
    if !asks_for_frameworks(&settings.rules) {
        let none = AmbientContractConfig { well_known: false, ..AmbientContractConfig::default() };
        settings.ambient_contracts =
            ResolvedAmbientContracts::resolve(".", none).map_or_else(|_| Arc::default(), Arc::new);
    }
}

/// Whether a rule rests on the variables that frameworks (Oh My Zsh, bash-completion, …) set and read. Each is known by globs
/// for the script's path: hundreds of them for zsh, which take longer to compile and to match than all else takes.
fn asks_for_frameworks(rules: &RuleSet) -> bool {
    let mut others = defaults::rules();
    others.remove(Rule::UnusedAssignment);
    others.remove(Rule::UndefinedVariable);
    !rules.subtract(&others).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed(rules: RuleSet, is_let_pass: fn(Rule) -> bool) -> (usize, bool) {
        let mut settings = LinterSettings::for_rules(rules.iter());
        narrow(&mut settings, is_let_pass);
        let contracts = settings.ambient_contracts.effective();
        (settings.rules.len(), !contracts.well_known_ids.is_empty())
    }

    #[test]
    fn rules_that_tell_nothing_do_not_run() {
        let all = defaults::rules();
        assert_eq!(narrowed(all, |_| false), (all.len(), true));
        assert_eq!(narrowed(all, |it| it == Rule::UnusedAssignment), (all.len() - 1, true));
        let of_variables = |it| matches!(it, Rule::UnusedAssignment | Rule::UndefinedVariable);
        assert_eq!(narrowed(all, of_variables), (all.len() - 2, false));
        assert!(narrowed(defaults::of_shuck(), of_variables).1);
        assert!(!narrowed(all, |it| !defaults::holds_in_zsh(it)).1);
    }
}
