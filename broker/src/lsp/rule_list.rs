//! The rules of a folder's linters, asked once for each connection and configuration.

use std::{cell::RefCell, collections::HashMap, path::PathBuf, rc::Rc};

use broker_proto::v1 as pb;
use tonic::Status;

use super::{folder::Folder, target};
use crate::client;

/// Rules by folder.
#[derive(Default)]
pub(super) struct RuleList(RefCell<HashMap<PathBuf, (u64, Rc<Rules>)>>);

/// All rules of a folder.
pub(super) struct Rules(Vec<pb::Rule>);

/// As many as the daemon gives at once.
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
            // A configuration that is being written has no rules of its own yet.
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

    /// Asks anew when they are needed: the configuration may have brought other plugins.
    pub(super) fn forget(&self, folder: &Folder) {
        self.0.borrow_mut().remove(&folder.root);
    }
}

impl Rules {
    /// The rule that is called so: `python/F401`, `F401` or `unused-import`.
    pub(super) fn find(&self, text: &str) -> Option<&pb::Rule> {
        let (linter, name) = text.split_once('/').map_or((None, text), |(linter, name)| (Some(linter), name));
        let is_it = |it: &&pb::Rule| {
            linter.is_none_or(|linter| linter == it.linter) && (it.code == name || it.name == name)
        };
        self.0.iter().find(is_it)
    }

    /// Those whose name, code or linter begins so, in the order of the list.
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

/// All that there is to say of a rule, in Markdown.
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
