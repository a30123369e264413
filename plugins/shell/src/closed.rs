//! Detection of scripts that do not depend on other scripts.

/// Whether a script is run by itself, and runs no text but its own.
pub(crate) fn is_closed(text: &str) -> bool {
    text.starts_with("#!") && !text.lines().any(runs_other_text)
}

/// Whether a text names no interpreter, not even without the `!`: other scripts read it, maybe within a function or a loop.
pub(crate) fn is_fragment(text: &str) -> bool {
    !text.starts_with("#!") && !text.starts_with("#/")
}

/// `eval`, files that are sourced, and names of variables that are made.
fn runs_other_text(line: &str) -> bool {
    const BEFORE: [&str; 9] = ["then", "do", "else", "if", "!", "while", "command", "builtin", "elif"];
    let indirect = ["${!", "declare -n", "local -n", "typeset -n", "printf -v"];
    let mut commands = line.split([';', '&', '|', '(', '{', '`']);
    let runs = |command: &str| {
        let first = command.split_whitespace().find(|it| !BEFORE.contains(it));
        matches!(first, Some("." | "source" | "eval"))
    };
    indirect.iter().any(|it| line.contains(it)) || commands.any(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_other_text() {
        for line in
            [". ./a.sh", "  source a", "if ! . a; then", "[ -f a ] && . a", "x=$(eval b)", "echo ${!a}"]
        {
            assert!(runs_other_text(line), "{line}");
        }
        for line in ["find . -name a", "./a.sh", "cp a .", "echo source", "evaluate"] {
            assert!(!runs_other_text(line), "{line}");
        }
    }
}
