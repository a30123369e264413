//! Offers to leave files or linters out of a repository's checks, each with what would go with it.
//!
//! Folders of code of others, by their names; and what is broken on purpose: where most files have errors, they are left out,
//! and where most of those of one linter do, that linter is off.

use std::collections::BTreeSet;

use lint::{counted, printable};

use super::{
    clusters::{Cluster, Extent, Judged, clusters},
    first_check::{CheckedFile, Finding, FirstCheck},
};

/// Names of folders that usually hold the code of others.
const OF_OTHERS: [&str; 6] = ["vendor", "third_party", "third-party", "thirdparty", "external", "extern"];

#[derive(Debug)]
pub(super) struct Offer {
    extent: Extent,
    pub(super) kind: Kind,
    /// Files that it is for, and findings that go.
    files: usize,
    findings: usize,
}

#[derive(Debug)]
pub(super) enum Kind {
    CodeOfOthers,
    Broken(Errors),
    BrokenFor { linter: String, errors: Errors },
}

/// Errors for which files look as if they were broken on purpose.
#[derive(Debug)]
pub(super) struct Errors {
    files: usize,
    rules: BTreeSet<String>,
}

pub(super) fn offers(check: &FirstCheck) -> Vec<Offer> {
    let mut offers: Vec<_> =
        OF_OTHERS.iter().map(|it| Offer::of_others(check, it)).filter(|it| it.findings > 0).collect();
    let found = clusters(&check.judged(&offers, None));
    offers.extend(found.into_iter().map(|it| Offer::of_broken(check, it)));
    for linter in check.linters().into_keys() {
        let found = clusters(&check.judged(&offers, Some(linter)));
        offers.extend(found.into_iter().map(|it| Offer::of_broken_for(check, it, linter)));
    }
    offers
}

impl Offer {
    fn of_others(check: &FirstCheck, name: &str) -> Self {
        Self::new(check, Extent::Folder(format!("{name}/")), Kind::CodeOfOthers)
    }

    fn of_broken(check: &FirstCheck, cluster: Cluster) -> Self {
        let errors = Errors::of(check, &cluster, None);
        Self::new(check, cluster.extent, Kind::Broken(errors))
    }

    fn of_broken_for(check: &FirstCheck, cluster: Cluster, linter: &str) -> Self {
        let errors = Errors::of(check, &cluster, Some(linter));
        Self::new(check, cluster.extent, Kind::BrokenFor { linter: linter.to_owned(), errors })
    }

    fn new(check: &FirstCheck, extent: Extent, kind: Kind) -> Self {
        let linter = kind.linter();
        let files = check.files.iter().filter(|it| extent.holds(&it.path) && it.is_of(linter)).count();
        let findings = check.findings.iter().filter(|it| extent.holds(&it.path) && it.is_of(linter)).count();
        Self { extent, kind, files, findings }
    }

    pub(super) fn glob(&self) -> String {
        self.extent.glob()
    }

    fn is_exclusion(&self) -> bool {
        self.kind.linter().is_none()
    }

    /// A line for the user.
    pub(super) fn text(&self) -> String {
        let (glob, files) = (self.glob(), counted(self.files, "file"));
        let seems = match &self.kind {
            Kind::CodeOfOthers => "like the code of others".to_owned(),
            Kind::Broken(it) => {
                format!("broken on purpose: {} of {files} have errors{}", it.files, it.rules())
            }
            Kind::BrokenFor { linter, errors: it } => {
                format!(
                    "broken on purpose for {linter}: {} of its {files} have errors{}",
                    it.files,
                    it.rules()
                )
            }
        };
        let does = match self.kind.linter() {
            None => format!("`exclude` leaves out {files}"),
            Some(linter) => format!("`overrides` turns {linter} off there"),
        };
        let findings = counted(self.findings, "finding");
        format!("{} looks {seems}. {does}, with {findings}.\n", printable(&glob))
    }
}

impl Kind {
    /// The linter that is turned off; none if all are.
    pub(super) fn linter(&self) -> Option<&str> {
        match self {
            Self::BrokenFor { linter, .. } => Some(linter),
            Self::CodeOfOthers | Self::Broken(_) => None,
        }
    }
}

impl Errors {
    fn of(check: &FirstCheck, cluster: &Cluster, linter: Option<&str>) -> Self {
        let errors = check.findings.iter().filter(|it| it.is_error() && it.is_of(linter));
        let rules = errors.filter(|it| cluster.extent.holds(&it.path)).map(Finding::rule).collect();
        Self { files: cluster.broken, rules }
    }

    /// The first few of them, in parentheses.
    fn rules(&self) -> String {
        let mut rules: Vec<_> = self.rules.iter().take(3).map(String::as_str).collect();
        rules.extend((self.rules.len() > 3).then_some("others"));
        format!(" ({})", rules.join(", "))
    }
}

impl FirstCheck {
    /// Files that no offer leaves out, and whether they have an error: of one linter, or of any.
    fn judged(&self, offers: &[Offer], linter: Option<&str>) -> Vec<Judged<'_>> {
        let errors = self.findings.iter().filter(|it| it.is_error() && it.is_of(linter));
        let broken: BTreeSet<_> = errors.map(|it| it.path.as_str()).collect();
        let is_out =
            |it: &&CheckedFile| offers.iter().any(|of| of.is_exclusion() && of.extent.holds(&it.path));
        let files = self.files.iter().filter(|it| it.is_of(linter) && !is_out(it));
        files.map(|it| (it.path.as_str(), broken.contains(&*it.path))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, linters: &[&str]) -> CheckedFile {
        CheckedFile { path: path.to_owned(), linters: linters.iter().map(|it| (*it).to_owned()).collect() }
    }

    fn finding(path: &str, linter: &str, code: &str, severity: &str) -> Finding {
        let [path, linter, code, severity] = [path, linter, code, severity].map(str::to_owned);
        Finding { path, linter, code, severity }
    }

    fn check(mut files: Vec<CheckedFile>, findings: Vec<Finding>) -> String {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        offers(&FirstCheck { files, findings, lacks_tools: false }).iter().map(Offer::text).collect()
    }

    #[test]
    fn a_cluster_of_broken_files_is_left_out() {
        let names: Vec<_> = (0..31).map(|it| format!("test/uri/fail{it}.json")).collect();
        let mut files: Vec<_> = names.iter().map(|it| file(it, &["json", "text"])).collect();
        files.extend((0..40).map(|it| file(&format!("test/{it}.py"), &["python", "text"])));
        files.push(file("test/uri/pass.json", &["json", "text"]));
        let mut findings: Vec<_> =
            names.iter().map(|it| finding(it, "json", "syntax-error", "error")).collect();
        findings.push(finding("test/1.py", "python", "F821", "error"));
        findings.push(finding("test/uri/fail1.json", "text", "newline", "warning"));
        insta::assert_snapshot!(check(files, findings), @"/test/uri/fail*.json looks broken on purpose: 31 of 31 files have errors (json/syntax-error). `exclude` leaves out 31 files, with 32 findings.");
    }

    #[test]
    fn a_linter_whose_files_are_broken_is_off_where_others_are_sound() {
        let files = (0..12).flat_map(|it| {
            let of = |name: &str, linters: &[&str]| file(&format!("tests/cases/{it}/{name}"), linters);
            [of("in.py", &["python", "text"]), of("a.txt", &["text"]), of("b.txt", &["text"])]
        });
        let codes = ["F821", "F401", "F811", "E999"];
        let findings = (0..12).map(|it| {
            finding(&format!("tests/cases/{it}/in.py"), "python", codes[it % codes.len()], "error")
        });
        insta::assert_snapshot!(check(files.collect(), findings.collect()), @"/tests/cases/ looks broken on purpose for python: 12 of its 12 files have errors (python/E999, python/F401, python/F811, others). `overrides` turns python off there, with 12 findings.");
    }

    #[test]
    fn code_of_others_is_left_out_where_something_is_found() {
        let files = || vec![file("vendor/a.py", &["python"]), file("extern/b.py", &["python"])];
        let warning = finding("vendor/a.py", "python", "F401", "warning");
        insta::assert_snapshot!(check(files(), vec![warning]), @"/vendor/ looks like the code of others. `exclude` leaves out 1 file, with 1 finding.");
        assert_eq!(check(files(), Vec::new()), "");
    }
}
