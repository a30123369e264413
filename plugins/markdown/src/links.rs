//! Findings that rest on other files: whether the part of a file that a link names is in that file (MD051).
//!
//! Reads only what the links of the file lead to, and each such file once. A file that rumdl would not look at by
//! itself (another kind, or left out by the configuration) answers for nothing, as in rumdl. Whether a linked file
//! exists at all is MD057's question, which needs no help.

use std::path::{Path, PathBuf};

use rumdl_lib::discovery::has_markdown_extension;
use rumdl_lib::encoding::read_markdown_lossy;
use rumdl_lib::rule::{CrossFileScope, LintWarning, Rule};
use rumdl_lib::rules::{LinkResolution, LinkResolver};
use rumdl_lib::workspace_index::{
    CrossFileLinkIndex, FileIndex, WorkspaceIndex, link_target_candidates, normalize_relative_path,
    workspace_key,
};
use rumdl_lib::{build_file_index_only_for_selection, run_cross_file_checks};

use crate::anchors;
use crate::settings::Settings;
use crate::workspace::Workspace;

/// The findings in the file at `path`, of which `index` tells the links and headings.
///
/// # Errors
///
/// A sentence about what stands in the way of looking at a linked file.
pub(crate) fn check(
    path: &Path,
    index: FileIndex,
    rules: &[Box<dyn Rule>],
    settings: &Settings,
    workspace: &mut Workspace,
) -> Result<Vec<LintWarning>, String> {
    let is_wanted = rules.iter().any(|it| it.cross_file_scope() == CrossFileScope::Workspace);
    if !is_wanted
        || settings.markdownlint.is_some()
        || index.cross_file_links.iter().all(|it| it.fragment.is_empty())
    {
        return Ok(Vec::new());
    }
    let mut files = WorkspaceIndex::new();
    for target in targets(path, &index.cross_file_links, settings) {
        if let Some(found) = workspace.index(&target)? {
            files.insert_file(workspace_key(&target), found);
        }
    }
    files.insert_file(workspace_key(path), index.clone());
    let found = run_cross_file_checks(path, &index, rules, &files, Some(&settings.config));
    found.map_err(|it| format!("rumdl could not check links to other files: {it}"))
}

/// Every file that a link with a fragment may lead to, but for the file itself.
fn targets(path: &Path, links: &[CrossFileLinkIndex], settings: &Settings) -> Vec<PathBuf> {
    let resolver = LinkResolver::from_config(&settings.config);
    let document = resolver.for_document(path);
    let mut targets = Vec::new();
    for link in links.iter().filter(|it| !it.fragment.is_empty()) {
        match document.resolve(&link.target_path, None) {
            LinkResolution::Target(target) => targets.push(normalize_relative_path(&target)),
            // The target depends on the server: the path as written, with each ending of Markdown.
            LinkResolution::Unchecked => targets.extend(link_target_candidates(path, &link.target_path)),
            LinkResolution::Missing => {}
        }
    }
    targets.sort();
    targets.dedup();
    targets.retain(|it| it != path);
    targets
}

impl Workspace {
    /// Headings and anchors of the file at `target`, if a walk would reach it.
    fn index(&mut self, target: &Path) -> Result<Option<FileIndex>, String> {
        if let Some(known) = self.indexes.get(target) {
            return Ok(known.clone());
        }
        let found = self.read_index(target)?;
        self.indexes.insert(target.to_path_buf(), found.clone());
        Ok(found)
    }

    fn read_index(&mut self, target: &Path) -> Result<Option<FileIndex>, String> {
        if !has_markdown_extension(target) || !target.starts_with(self.root()) || !target.is_file() {
            return Ok(None);
        }
        let root = self.root().to_path_buf();
        let Some(settings) = self.reach(target, &root).map_err(|it| it.to_string())? else {
            return Ok(None);
        };
        let Ok(Some(text)) = read_markdown_lossy(target) else {
            return Ok(None);
        };
        let flavor = settings.config.get_flavor_for_file(settings.relative(target));
        let (rules, config) = (&settings.rules, &settings.config);
        let path = Some(target.to_path_buf());
        let mut index = build_file_index_only_for_selection(&text, rules, flavor, path, config);
        anchors::add(&mut index, &text);
        Ok(Some(index))
    }
}
