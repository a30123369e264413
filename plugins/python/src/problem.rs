//! One sentence for a broken configuration. Leaves out the source excerpt that ruff prints.

use std::path::Path;

/// Names the configuration file relative to the workspace and says what is wrong with it.
pub(crate) fn sentence(error: &anyhow::Error, config: &Path, root: &Path) -> String {
    let causes: Vec<String> = error.chain().map(|it| one_line(&it.to_string())).collect();
    let known = |it: &&String| {
        !it.starts_with("Failed to load configuration") && !it.starts_with("Failed to parse /")
    };
    let kept: Vec<&str> = causes.iter().filter(known).map(String::as_str).collect();
    let reason = if kept.is_empty() { causes.join(": ") } else { kept.join(": ") };
    let reason = other_version(&reason).unwrap_or(reason);
    let config = config.strip_prefix(root).unwrap_or(config);
    format!("cannot use `{}`: {}", config.display(), relative(&reason, root))
}

/// What to do where ruff says that a project requires another version of it.
fn other_version(reason: &str) -> Option<String> {
    let rest = reason.strip_prefix("Required version `")?;
    let (required, running) = rest.split_once("` does not match the running version `")?;
    let running = running.trim_end_matches('`');
    Some(format!(
        "it requires ruff {required}, and this is ruff {running}: relax `required-version`, or leave these files out of the \
         exit code with `broker check --allow-incomplete`"
    ))
}

/// `TOML parse error at line 2, column 1: unknown field `x``, of what TOML errors spread over many lines.
fn one_line(text: &str) -> String {
    let is_excerpt =
        |line: &&str| line.trim_start_matches(|it: char| it.is_ascii_digit() || it == ' ').starts_with('|');
    let lines: Vec<&str> =
        text.lines().filter(|it| !is_excerpt(it) && !it.trim().is_empty()).map(str::trim).collect();
    let text = lines.join(": ");
    match text.find(", expected one of `") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Paths as the user knows them: without the mount point.
fn relative(text: &str, root: &Path) -> String {
    let root = root.to_string_lossy();
    let root = root.trim_end_matches('/');
    let before = ["`", "Failed to read "].into_iter();
    before.fold(text.to_owned(), |text, it| text.replace(&format!("{it}{root}/"), it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_errors_fit_on_a_line() {
        let text = "TOML parse error at line 2, column 1\n  |\n2 | a = 1\n  | ^\nunknown field `a`, expected one of `b`, `c`\n";
        assert_eq!(one_line(text), "TOML parse error at line 2, column 1: unknown field `a`");
    }

    #[test]
    fn paths_are_relative() {
        assert_eq!(relative("from `/pkg/ruff.toml`", Path::new("/")), "from `pkg/ruff.toml`");
        assert_eq!(relative("from `/w/pkg/ruff.toml`", Path::new("/w")), "from `pkg/ruff.toml`");
    }
}
