//! Summary of a broken configuration in one sentence. Leaves out the source excerpt that ruff prints.

use std::path::Path;

use broker_plugin_sdk::config::{ConfigFiles, on_one_line};

/// Names the configuration file relative to the workspace and says what is wrong with it.
pub(crate) fn sentence(error: &anyhow::Error, config: &Path, files: &ConfigFiles) -> String {
    let causes: Vec<String> = error.chain().map(|it| one_line(&it.to_string())).collect();
    let known = |it: &&String| {
        !it.starts_with("Failed to load configuration") && !it.starts_with("Failed to parse /")
    };
    let kept: Vec<&str> = causes.iter().filter(known).map(String::as_str).collect();
    let reason = if kept.is_empty() { causes.join(": ") } else { kept.join(": ") };
    let reason = other_version(&reason).unwrap_or(reason);
    files.unusable(config, files.with_names(&reason))
}

/// Returns advice for the error that a project requires another version of ruff.
fn other_version(reason: &str) -> Option<String> {
    let rest = reason.strip_prefix("Required version `")?;
    let (required, running) = rest.split_once("` does not match the running version `")?;
    let running = running.trim_end_matches('`');
    let exact =
        required.strip_prefix("==").filter(|it| it.chars().all(|it| it.is_ascii_digit() || it == '.'));
    let at = exact.map(|it| format!("@{it}")).unwrap_or_default();
    Some(format!(
        "it requires ruff {required}, and this is ruff {running}: `broker server add ruff{at}` adds one that is asked instead"
    ))
}

/// `TOML parse error at line 2, column 1: unknown field `x``, of what TOML errors spread over many lines.
fn one_line(text: &str) -> String {
    let text = on_one_line(text);
    match text.find(", expected one of `") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_adds_the_required_version() {
        let told = |required: &str| {
            other_version(&format!(
                "Required version `{required}` does not match the running version `0.16.4`"
            ))
            .unwrap()
        };
        assert_eq!(
            told("==0.15.2"),
            "it requires ruff ==0.15.2, and this is ruff 0.16.4: `broker server add ruff@0.15.2` adds one that is asked instead"
        );
        assert!(told(">=0.17").contains("`broker server add ruff` adds"));
        assert!(told("==0.15.*").contains("`broker server add ruff` adds"));
    }

    #[test]
    fn toml_errors_fit_on_a_line() {
        let text = "TOML parse error at line 2, column 1\n  |\n2 | a = 1\n  | ^\nunknown field `a`, expected one of `b`, `c`\n";
        assert_eq!(one_line(text), "TOML parse error at line 2, column 1: unknown field `a`");
    }
}
