//! Rules of a folder's linters, cached for a connection until the configuration changes.

use std::{cell::RefCell, collections::HashMap, path::PathBuf, rc::Rc};

use broker_proto::v1 as pb;
use tonic::Status;

use super::{folder::Folder, target};
use crate::client;

/// Cached rules, by the folder's root, with the epoch of the connection.
#[derive(Default)]
pub(super) struct RuleList(RefCell<HashMap<PathBuf, (u64, Rc<Rules>)>>);

/// All rules of a folder.
pub(super) struct Rules(Vec<pb::Rule>);

/// Rules in one request to the daemon, which allows no more.
const PAGE: u32 = 10_000;

impl RuleList {
    pub(super) async fn of(&self, folder: &Folder) -> Result<Rc<Rules>, Status> {
        let connection = folder.served().await?;
        if let Some((epoch, rules)) = self.0.borrow().get(&folder.root)
            && *epoch == connection.epoch
        {
            return Ok(Rc::clone(rules));
        }
        let target = Some(target::base(&connection));
        let rules = match Self::ask(folder, target).await {
            // While `broker.toml` has an error, as it does while the user edits it, offer the rules of all linters. Not cached.
            Err(status) if client::reason(&status) == "BAD_CONFIGURATION" => {
                return Ok(Rc::new(Rules(Self::ask(folder, None).await?)));
            }
            rules => Rc::new(Rules(rules?)),
        };
        self.0.borrow_mut().insert(folder.root.clone(), (connection.epoch, Rc::clone(&rules)));
        Ok(rules)
    }

    async fn ask(folder: &Folder, target: Option<pb::Target>) -> Result<Vec<pb::Rule>, Status> {
        let (mut rules, mut page_token) = (Vec::new(), String::new());
        loop {
            let request = pb::ListRulesRequest {
                linter: String::new(),
                page_size: PAGE,
                page_token,
                target: target.clone(),
            };
            let page = folder.link.rules().list_rules(request).await?.into_inner();
            rules.extend(page.rules);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(rules);
            }
        }
    }

    /// Drops the rules of a folder: the configuration may name other plugins now.
    pub(super) fn forget(&self, folder: &Folder) {
        self.0.borrow_mut().remove(&folder.root);
    }
}

impl Rules {
    /// Finds a rule by full name, code or name: `python/F401`, `F401` or `unused-import`.
    pub(super) fn find(&self, text: &str) -> Option<&pb::Rule> {
        let (linter, name) = text.split_once('/').map_or((None, text), |(linter, name)| (Some(linter), name));
        let is_it = |it: &&pb::Rule| {
            linter.is_none_or(|linter| linter == it.linter) && (it.code == name || it.name == name)
        };
        self.0.iter().find(is_it)
    }

    /// Rules whose code, name or full name begins with `text`, in any case of letters.
    pub(super) fn beginning<'r>(&'r self, text: &str) -> impl Iterator<Item = &'r pb::Rule> {
        let text = text.to_lowercase();
        let begins = move |it: &str| it.to_lowercase().starts_with(&text);
        self.0.iter().filter(move |it| begins(&it.code) || begins(&it.name) || begins(&full_name(it)))
    }
}

/// `python/F401`
pub(super) fn full_name(rule: &pb::Rule) -> String {
    format!("{}/{}", rule.linter, rule.code)
}

/// Description of a rule in Markdown.
pub(super) fn markdown(rule: &pb::Rule) -> String {
    let name = if rule.name.is_empty() { String::new() } else { format!(" `{}`", rule.name) };
    let mut text = format!("**{}**{name}", full_name(rule));
    for part in [&rule.summary, &rule.explanation] {
        if !part.is_empty() {
            text += &format!("\n\n{part}");
        }
    }
    if !rule.url.is_empty() {
        text += &format!("\n\n[Documentation]({})", rule.url);
    }
    text
}
