//! The text of a first `broker.toml`.

use std::collections::BTreeMap;

use toml_edit::Value;

use super::offers::Offer;

/// Default path of the baseline.
const BASELINE: &str = "broker-baseline.json";

/// `linters` have files here.
pub(super) fn text(offers: &[Offer], linters: &BTreeMap<&str, usize>, has_baseline: bool) -> String {
    let head = "# What Broker reports in this repository. All keys: `broker config schema`.\n";
    let baseline = if has_baseline { baseline() } else { String::new() };
    let overrides = offers.iter().filter_map(overrides).collect::<String>();
    [head, &files(offers), &baseline, &severity(linters), &overrides].concat()
}

fn files(offers: &[Offer]) -> String {
    let globs: Vec<_> =
        offers.iter().filter(|it| it.kind.linter().is_none()).map(|it| quoted(&it.glob())).collect();
    let exclude = match &*globs {
        [] => "# exclude = []\n".to_owned(),
        [one] => format!("exclude = [{one}]\n"),
        all => format!("exclude = [\n{}]\n", all.iter().map(|it| format!("    {it},\n")).collect::<String>()),
    };
    format!("\n[files]\n# Leave these out, as in a `.gitignore`.\n{exclude}")
}

fn baseline() -> String {
    format!("\n[baseline]\n# Findings of earlier code, which are not reported.\nfile = \"{BASELINE}\"\n")
}

fn severity(linters: &BTreeMap<&str, usize>) -> String {
    let linters: String =
        linters.keys().map(|it| format!("# {} = \"off\"\n", quoted(&format!("{it}/*")))).collect();
    format!(
        "\n[severity]\n# A rule by its name, or all of a linter; `off`, `hint`, `info`, `warning` or `error`.\n\
         # The linters that have files here:\n{linters}"
    )
}

/// Returns the override that turns a linter off for some files.
fn overrides(offer: &Offer) -> Option<String> {
    let (glob, rules) = (quoted(&offer.glob()), quoted(&format!("{}/*", offer.kind.linter()?)));
    Some(format!("\n[[overrides]]\npaths = [{glob}]\nseverity = {{ {rules} = \"off\" }}\n"))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            first_check::{CheckedFile, Finding, FirstCheck},
            offers::offers,
        },
        *,
    };

    /// The text for a dozen broken files of each of these folders, and the sound ones beside them.
    fn check(broken: &[(&str, &str)], sound: &[&str], has_baseline: bool) -> String {
        let (mut files, mut findings) = (Vec::new(), Vec::new());
        let file = |path: String, linter: &str| CheckedFile { path, linters: vec![linter.to_owned()] };
        for (folder, linter) in broken {
            for path in (0..12).map(|it| format!("{folder}/{it}.in")) {
                let [linter, code, severity] = [linter, "syntax-error", "error"].map(str::to_owned);
                files.push(file(path.clone(), &linter));
                findings.push(Finding { path, linter, code, severity });
            }
        }
        files.extend(sound.iter().map(|it| file((*it).to_owned(), "text")));
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let check = FirstCheck { files, findings, lacks_tools: false };
        text(&offers(&check), &check.linters(), has_baseline)
    }

    #[test]
    fn looks_so() {
        insta::assert_snapshot!("init_with_baseline", check(&[], &["a.md"], true));
        let sound: Vec<_> = (0..20).map(|it| format!("tests/c/s{it}.in")).collect();
        let sound: Vec<_> = sound.iter().map(String::as_str).collect();
        let broken = [("tests/a \"b\"", "json"), ("tests/c", "python"), ("vendor", "python")];
        let text = check(&broken, &sound, false);
        let view = overlay::Memory::from_files([("broker.toml", text.as_str())]).unwrap();
        assert!(config::Configs::new(&view).workspace().is_ok(), "{text}");
        insta::assert_snapshot!("init_with_offers", text);
    }
}
