//! Runs rumdl over one file's bytes, as `rumdl check` does over a file on disk.

use std::cell::LazyCell;
use std::path::Path;

use broker_plugin_sdk::{Completeness, Report};
use rumdl_lib::code_block_tools::CodeBlockToolProcessor;
use rumdl_lib::document_run::DocumentRun;
use rumdl_lib::embedded_lint::should_lint_embedded_markdown;
use rumdl_lib::encoding;
use rumdl_lib::rule::{LintWarning, Rule};
use rumdl_lib::rules::{filter_rules_for_file, rules_reconfigured_by_document};
use rumdl_lib::utils::bom::strip_bom;
use rumdl_lib::workspace_index::FileIndex;

use crate::document::{self, Binary, Document};
use crate::references::References;
use crate::settings::Settings;
use crate::workspace::Workspace;
use crate::{anchors, convert, defaults, footnotes, fragments, labels, links, nesting, purpose};

/// Why a file with work for programs is not checked as a whole.
const PROGRAMS: &str = "`code-block-tools` names programs for this file's code blocks, which were not run: take them out of \
                        the configuration, or run `rumdl check` itself for them";

/// Lints the file with rumdl.
///
/// # Errors
///
/// Returns an error if rumdl fails.
pub(crate) fn run(
    path: &Path,
    content: &[u8],
    settings: &Settings,
    workspace: &mut Workspace,
) -> Result<Report, String> {
    let document = match document::read(content) {
        Ok(document) => document,
        Err(Binary { utf16 }) => return Ok(binary(path, utf16, settings)),
    };
    if nesting::is_too_deep(document.text()) {
        return Ok(too_deep());
    }
    let rules = rules_on(path, &document, settings, workspace);
    let (mut warnings, index) = analyze(path, &document, &rules, settings)?;
    drop_known(path, &document, workspace, &mut warnings);
    let mut report = Report::new(Vec::new());
    match links::check(path, index, &rules, settings, workspace) {
        Ok(found) => warnings.extend(found),
        Err(problem) => report.completeness = Completeness::Partial(problem),
    }
    adapt(&document, &rules, settings, &mut warnings);
    if settings.has_defaults {
        let root = workspace.root().to_path_buf();
        let holds = |it: &str, workspace: &mut Workspace| workspace.shown.holds(path, it, &root);
        warnings.retain(|it| !defaults::missing(it).is_some_and(|it| holds(it, workspace)));
    }
    labels::as_written(&mut warnings, document.text());
    if has_work_for_programs(path, &document, settings) {
        report.completeness = Completeness::Partial(PROGRAMS.to_owned());
    }
    let own_rules = rules_reconfigured_by_document(&rules, &settings.config, strip_bom(document.text()));
    report.diagnostics = convert::findings(warnings, &document, settings, &own_rules);
    Ok(report)
}

/// The rules that hold for the file.
fn rules_on(
    path: &Path,
    document: &Document,
    settings: &Settings,
    workspace: &mut Workspace,
) -> Vec<Box<dyn Rule>> {
    let mut rules = filter_rules_for_file(&settings.rules, &settings.config, settings.relative(path));
    if settings.has_defaults {
        let root = workspace.root().to_path_buf();
        let off = workspace.sites.off(path, document.text(), &root);
        let by_purpose = purpose::off(path.strip_prefix(&root).unwrap_or(path));
        let is_fragment = LazyCell::new(|| fragments::is_one(path, document.text(), &root));
        let is_off = |it: &str| {
            off.contains(&it) || by_purpose.contains(&it) || it == fragments::IN_DOUBT && *is_fragment
        };
        rules.retain(|it| !is_off(it.name()));
    }
    rules
}

/// Drops findings about anchors and footnotes that are there.
fn drop_known(path: &Path, document: &Document, workspace: &mut Workspace, warnings: &mut Vec<LintWarning>) {
    anchors::drop_known(warnings, document.text());
    let root = workspace.root().to_path_buf();
    let is_python_markdown = workspace.sites.may_be_mkdocs(path, document.text(), &root);
    footnotes::drop_known(warnings, document.text(), is_python_markdown);
}

/// Makes rumdl's findings those of markdownlint, or of the rules that are on by default, where these hold.
fn adapt(document: &Document, rules: &[Box<dyn Rule>], settings: &Settings, warnings: &mut Vec<LintWarning>) {
    if let Some(markdownlint) = &settings.markdownlint {
        markdownlint.adapt(document.text(), rules, warnings);
    }
    if settings.has_defaults {
        let lines: Vec<&str> = document.text().lines().collect();
        let references = LazyCell::new(|| References::of(document.text()));
        warnings.retain(|it| {
            let line = it.line.checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default();
            let is_lacking = || it.rule_name.as_deref() != Some("MD052") || references.lack(it, line);
            defaults::keeps(it, line, document.text()) && is_lacking()
        });
    }
}

fn analyze(
    path: &Path,
    document: &Document,
    rules: &[Box<dyn Rule>],
    settings: &Settings,
) -> Result<(Vec<LintWarning>, FileIndex), String> {
    let mut run = DocumentRun::from_scanned(document.scan(), rules, &settings.config)
        .config_path(Some(settings.relative(path)))
        .source_file(Some(path))
        .invalid_utf8(document.invalid());
    if should_lint_embedded_markdown(&settings.config.code_block_tools) {
        run = run.embedded_markdown(rules);
    }
    let (warnings, index) = run.analyze_raw();
    Ok((warnings.map_err(|it| format!("rumdl could not check the file: {it}"))?, index))
}

fn too_deep() -> Report {
    let why = format!("lists and quotations stand in each other more than {} levels deep", nesting::DEEPEST);
    Report::partial(why)
}

fn binary(path: &Path, utf16: bool, settings: &Settings) -> Report {
    let path = Some(settings.relative(path));
    let found = encoding::detect_binary_for_rules(utf16, &settings.rules, &settings.config, path);
    found.iter().map(convert::whole).collect()
}

fn has_work_for_programs(path: &Path, document: &Document, settings: &Settings) -> bool {
    let tools = &settings.config.code_block_tools;
    let flavor = || settings.config.get_flavor_for_file(settings.relative(path));
    tools.enabled
        && CodeBlockToolProcessor::new(tools, flavor())
            .with_document_config(&settings.config)
            .has_external_lint_work(strip_bom(document.text()))
}
