//! Masks what looks like a secret: by known prefixes of tokens, by the frame of private keys, and by names that values are
//! assigned to.
//!
//! Guards against slips only. What looks like any other text stays, such as a key in hexadecimal digits under a plain name.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// Placeholder of a secret.
pub(crate) const MASK: &str = "[masked]";

static KEY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(-----END [A-Z ]*PRIVATE KEY-----|\z)")
});

/// Prefixes as their services document them.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let forms = [
        r"gh[pousr]_[A-Za-z0-9]{36,}",
        r"github_pat_[A-Za-z0-9_]{50,}",
        r"glpat-[A-Za-z0-9_-]{20,}",
        r"(?:AKIA|ASIA)[0-9A-Z]{16}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"sk-[A-Za-z0-9_-]{20,}",
        r"[rs]k_live_[A-Za-z0-9]{16,}",
        r"npm_[A-Za-z0-9]{36}",
        r"pypi-[A-Za-z0-9_-]{50,}",
        r"AIza[0-9A-Za-z_-]{35}",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+",
    ];
    regex(&format!(r"\b(?:{})", forms.join("|")))
});

const NAMES: &str = r"(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)";

/// A literal that is assigned to such a name.
static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    let name = format!(r#"{NAMES}[a-z0-9_-]*["']?(?:\s*:\s*\w+)?\s*"#);
    regex(&format!(r#"(?i)({name}(?::|=>?|:=)\s*)(?:"[^"\r\n]{{8,}}"|'[^'\r\n]{{8,}}')"#))
});

/// A line of a file of variables, and one of a file of settings such as YAML or INI, whose value has a digit: a plain word may
/// be a name or a type.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?m)^((?:export )?[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY)[A-Z0-9_]*=)[^\s$]{8,}(\r?)$",
    )
});
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    let value = r#"(?:[A-Za-z0-9/+=_.!@#%^&*-]*[0-9][A-Za-z0-9/+=_.!@#%^&*-]*)"#;
    regex(&format!(r"(?mi)^([ \t]*[\w.-]*{NAMES}[\w-]*[ \t]*[:=][ \t]*){value}([ \t]*\r?)$"))
});

#[expect(clippy::unwrap_used, reason = "they are constants, which the tests compile")]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// The text with each secret masked, in as many lines.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let all_lines = |it: &Captures<'_>| {
        let lines = it[2].lines().map(|it| if it.is_empty() { "" } else { MASK });
        let end = if it[2].ends_with('\n') { "\n" } else { "" };
        format!("{}{}{end}{}", &it[1], lines.collect::<Vec<_>>().join("\n"), &it[3])
    };
    let text = KEY.replace_all(text, all_lines);
    let text = then(text, &TOKEN, MASK);
    let text = then(text, &VARIABLE, "${1}[masked]${2}");
    let text = then(text, &SETTING, "${1}[masked]${2}");
    then(text, &LITERAL, "${1}\"[masked]\"")
}

fn then<'t>(text: Cow<'t, str>, pattern: &Regex, by: &str) -> Cow<'t, str> {
    match pattern.replace_all(&text, by) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_line_by_line() {
        let token = ["ghp_", &"a1".repeat(18)].concat();
        let text = format!(
            "token = {token}\nDB_PASSWORD=hunter2hunter2\npassword: \"correct horse\"\napi_key => 'abcdefgh1'\n\
             -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\n"
        );
        let masked = masked(&text);
        insta::assert_snapshot!(masked, @r#"
        token = [masked]
        DB_PASSWORD=[masked]
        password: "[masked]"
        api_key => "[masked]"
        -----BEGIN RSA PRIVATE KEY-----
        [masked]
        [masked]
        -----END RSA PRIVATE KEY-----
        "#);
        assert_eq!(masked.lines().count(), text.lines().count());
    }

    #[test]
    fn settings_are_masked_in_many_forms() {
        let text = "DB_PASSWORD=hunter2hunter2\r\npassword: hunter2hunter2\n  aws_secret_access_key = wJalrXUtnFEMI/K7MDENG\n\
                    password: str = \"correct horse\"\ndb_password_prod = \"correct horse\"\n";
        insta::assert_snapshot!(masked(text).replace('\r', "<cr>"), @r#"
        DB_PASSWORD=[masked]<cr>
        password: [masked]
          aws_secret_access_key = [masked]
        password: str = "[masked]"
        db_password_prod = "[masked]"
        "#);
    }

    #[test]
    fn code_about_secrets_stays() {
        let code = "password = read_password()\nDB_PASSWORD=$OTHER\ntoken: str\nsecret = \"\"\ntoken_count = tokens\nmax_token: usize,\ndef task-sk-1(): pass\n";
        assert!(matches!(masked(code), Cow::Borrowed(text) if text == code));
    }
}
