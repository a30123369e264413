//! `[lint.rule-options]`: what can be set of a rule.

use shuck_linter::{LinterRuleOptions, S083FunctionDocRequirement};
use toml::{Table, Value};

/// Sets what a table says of rules, by their codes in small letters.
pub(crate) fn apply(table: &Table, options: &mut LinterRuleOptions) -> Result<(), String> {
    for (rule, settings) in table {
        let settings =
            settings.as_table().ok_or_else(|| format!("`lint.rule-options.{rule}` should be a table"))?;
        for (key, value) in settings {
            one(rule, key, value, options)?;
        }
    }
    Ok(())
}

fn one(rule: &str, key: &str, value: &Value, all: &mut LinterRuleOptions) -> Result<(), String> {
    let is_on = || value.as_bool().ok_or_else(|| wrong(rule, key, "true or false"));
    let number = || {
        let number = value.as_integer().and_then(|it| usize::try_from(it).ok());
        number.ok_or_else(|| wrong(rule, key, "a number"))
    };
    let text = || value.as_str().map(str::to_owned).ok_or_else(|| wrong(rule, key, "a string"));
    let texts = || strings(value).ok_or_else(|| wrong(rule, key, "an array of strings"));
    match (rule, key) {
        ("c001", "treat-indirect-expansion-targets-as-used") => {
            all.c001.treat_indirect_expansion_targets_as_used = is_on()?;
        }
        ("c063", "report-unreached-nested-definitions") => {
            all.c063.report_unreached_nested_definitions = is_on()?;
        }
        ("c158", "treat-readonly-as-documented") => all.c158.treat_readonly_as_documented = is_on()?,
        ("c158", "treat-export-as-intentional") => all.c158.treat_export_as_intentional = is_on()?,
        ("c159", "allow-conditional-init") => all.c159.allow_conditional_init = is_on()?,
        ("c160", "allowed-anchors") => all.c160.allowed_anchors = texts()?,
        ("c161", "ignore-after-source") => all.c161.ignore_after_source = is_on()?,
        ("s078", "allowed-shells") => all.s078.allowed_shells = texts()?,
        ("s079", "allowed-forms") => all.s079.allowed_forms = texts()?,
        ("s079", "allowed-paths") => all.s079.allowed_paths = texts()?,
        ("s080", "max-lines") => all.s080.max_lines = number()?,
        ("s080", "count") => all.s080.count = text()?,
        ("s081", "ignore-shebang-only-files") => all.s081.ignore_shebang_only_files = is_on()?,
        ("s082", "kinds") => all.s082.kinds = texts()?,
        ("s082", "require-owner") => all.s082.require_owner = is_on()?,
        ("s082", "require-message") => all.s082.require_message = is_on()?,
        ("s083", "require-for") => all.s083.require_for = required(&text()?)?,
        ("s083", "long-function-line-threshold") => all.s083.long_function_line_threshold = number()?,
        ("s084", "require-globals") => all.s084.require_globals = is_on()?,
        ("s084", "require-arguments") => all.s084.require_arguments = is_on()?,
        ("s084", "require-outputs") => all.s084.require_outputs = is_on()?,
        ("s084", "require-returns") => all.s084.require_returns = is_on()?,
        ("s085", "non-trivial-line-threshold") => all.s085.non_trivial_line_threshold = number()?,
        ("s085", "non-trivial-function-count") => all.s085.non_trivial_function_count = number()?,
        ("s085", "main-name") => all.s085.main_name = text()?,
        _ => return Err(format!("there is no option `lint.rule-options.{rule}.{key}`")),
    }
    Ok(())
}

fn required(name: &str) -> Result<S083FunctionDocRequirement, String> {
    Ok(match name {
        "all" => S083FunctionDocRequirement::All,
        "exported" => S083FunctionDocRequirement::Exported,
        "long" => S083FunctionDocRequirement::Long,
        "parameterized" => S083FunctionDocRequirement::Parameterized,
        _ => return Err(wrong("s083", "require-for", "`all`, `exported`, `long` or `parameterized`")),
    })
}

/// The strings of an array.
fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
}

fn wrong(rule: &str, key: &str, what: &str) -> String {
    format!("`lint.rule-options.{rule}.{key}` should be {what}")
}
