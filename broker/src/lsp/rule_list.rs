//! Rules of a folder's linters, cached for a connection until the configuration changes.

use std::{cell::RefCell, collections::HashMap, path::PathBuf, rc::Rc};

use workspaces::{LinterRule, PageRequest, RequestError, TargetId};

use super::{folder::Folder, target};

/// Cached rules, by the folder's root, with the epoch of the connection.
#[derive(Default)]
pub(super) struct RuleList(RefCell<HashMap<PathBuf, (u64, Rc<Rules>)>>);

/// All rules of a folder.
pub(super) struct Rules(Vec<LinterRule>);

/// Rules in one request to the daemon, which allows no more.
const PAGE: u32 = 10_000;

impl RuleList {
    pub(super) async fn of(&self, folder: &Folder) -> Result<Rc<Rules>, RequestError> {
        let connection = folder.served().await?;
        if let Some((epoch, rules)) = self.0.borrow().get(&folder.root)
            && *epoch == connection.epoch
        {
            return Ok(Rc::clone(rules));
        }
        let target = Some(target::base(&connection));
        let rules = match Self::ask(folder, target.as_ref()).await {
            // While `broker.toml` has an error, as it does while the user edits it, offer the rules of all linters. Not cached.
            Err(error) if error.reason == "BAD_CONFIGURATION" => {
                return Ok(Rc::new(Rules(Self::ask(folder, None).await?)));
            }
            rules => Rc::new(Rules(rules?)),
        };
        self.0.borrow_mut().insert(folder.root.clone(), (connection.epoch, Rc::clone(&rules)));
        Ok(rules)
    }

    async fn ask(folder: &Folder, target: Option<&TargetId>) -> Result<Vec<LinterRule>, RequestError> {
        let (mut rules, mut page) = (Vec::new(), PageRequest { size: PAGE, token: String::new() });
        loop {
            let found = folder.workspaces.list_rules(target, "", &page).await?;
            rules.extend(found.items);
            page.token = found.next_token;
            if page.token.is_empty() {
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
    pub(super) fn find(&self, text: &str) -> Option<&LinterRule> {
        let (linter, name) = text.split_once('/').map_or((None, text), |(linter, name)| (Some(linter), name));
        let is_it = |it: &&LinterRule| {
            linter.is_none_or(|linter| linter == it.linter) && (it.rule.code == name || it.rule.name == name)
        };
        self.0.iter().find(is_it)
    }

    /// Rules whose code, name or full name begins with `text`, in any case of letters.
    pub(super) fn beginning<'r>(&'r self, text: &str) -> impl Iterator<Item = &'r LinterRule> {
        let text = text.to_lowercase();
        let begins = move |it: &str| it.to_lowercase().starts_with(&text);
        self.0
            .iter()
            .filter(move |it| begins(&it.rule.code) || begins(&it.rule.name) || begins(&full_name(it)))
    }
}

/// `python/F401`
pub(super) fn full_name(rule: &LinterRule) -> String {
    format!("{}/{}", rule.linter, rule.rule.code)
}

/// Description of a rule in Markdown.
pub(super) fn markdown(rule: &LinterRule) -> String {
    let full_name = full_name(rule);
    let rule = &rule.rule;
    let name = if rule.name.is_empty() { String::new() } else { format!(" `{}`", rule.name) };
    let mut text = format!("**{full_name}**{name}");
    for part in [&rule.summary, &rule.explanation] {
        if !part.is_empty() {
            text += &format!("\n\n{part}");
        }
    }
    if let Some(url) = &rule.url {
        text += &format!("\n\n[Documentation]({url})");
    }
    text
}
