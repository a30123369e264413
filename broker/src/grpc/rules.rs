//! `RuleService`.

use std::sync::Arc;

use broker_proto::{v1 as pb, v1::rule_service_server::RuleService};
use checker::Incomplete;
use lint::suppress;
use linters::plugins::{self, Plugins, Shown};
use overlay::{Memory, View};
use tonic::{Request, Response, Status, async_trait};
use workspaces::{Daemon, DaemonError, Target};

use super::{
    Front,
    branches::blocking,
    from_proto::{self, Page},
    status, to_proto,
};

#[async_trait]
impl RuleService for Front {
    async fn list_plugins(
        &self,
        request: Request<pb::ListPluginsRequest>,
    ) -> Result<Response<pb::ListPluginsResponse>, Status> {
        let target = target(&self.0, request.into_inner().target)?;
        let known = Known::of(&self.0, target, |known| Ok(known.plugins)).await?;
        let plugins = known.usable.iter().map(to_proto::plugin).collect();
        let unusable = known.broken.iter().map(unusable).collect();
        Ok(Response::new(pb::ListPluginsResponse { plugins, unusable }))
    }

    async fn list_rules(
        &self,
        request: Request<pb::ListRulesRequest>,
    ) -> Result<Response<pb::ListRulesResponse>, Status> {
        let request = request.into_inner();
        let page = Page::of(request.page_size, &request.page_token, 1000, 10_000)?;
        let target = target(&self.0, request.target)?;
        let linter = request.linter;
        let rules = Known::of(&self.0, target, move |known| known.rules(&linter)).await?;
        let (rules, next_page_token) = page.cut(rules.into_iter());
        Ok(Response::new(pb::ListRulesResponse { rules, next_page_token }))
    }
}

/// What is there to be listed.
struct Known {
    plugins: Arc<Plugins>,
    root: String,
    view: Arc<dyn View>,
}

impl Known {
    /// What `read` makes of it, beside the threads that answer.
    async fn of<T: Send + 'static>(
        daemon: &Arc<Daemon>,
        target: Option<Target>,
        read: impl FnOnce(Self) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let Some(target) = target else {
            let plugins = Arc::clone(&daemon.plugins);
            let known = Self { plugins, root: String::new(), view: Arc::new(Memory::default()) };
            return blocking(move || read(known)).await;
        };
        let view = target.sight(None).await.map_err(status::of)?.view;
        let daemon = Arc::clone(daemon);
        blocking(move || {
            let served = target.served();
            let plugins = daemon.plugins_of(served, &*view).map_err(|it| status::of(it.into()))?;
            read(Self { plugins, root: served.root().to_string_lossy().into_owned(), view })
        })
        .await
    }

    /// Those of one linter, or of all if it has no name.
    fn rules(&self, linter: &str) -> Result<Vec<pb::Rule>, Status> {
        if !linter.is_empty() && linter != suppress::LINTER && self.plugins.find(linter).is_none() {
            return Err(status::of(DaemonError::NotFound { what: "plugin", id: linter.to_owned() }));
        }
        let is_wanted = |name: &str| linter.is_empty() || linter == name;
        let own = suppress::rules().into_iter().filter(|_| is_wanted(suppress::LINTER));
        let mut all: Vec<_> = own.map(|it| to_proto::rule(suppress::LINTER, &it)).collect();
        let shown = Shown { root: &self.root, view: &self.view };
        for plugin in self.plugins.usable.iter().filter(|it| is_wanted(&it.manifest().name)) {
            let rules = plugins::rules(plugin, shown).map_err(|error| Status::internal(error.message))?;
            all.extend(rules.iter().map(|it| to_proto::rule(&plugin.manifest().name, it)));
        }
        Ok(all)
    }
}

fn target(daemon: &Daemon, target: Option<pb::Target>) -> Result<Option<Target>, Status> {
    target.map(|it| from_proto::target(daemon, Some(it))).transpose()
}

fn unusable(it: &Incomplete) -> pb::UnusablePlugin {
    let name = it.linter.as_deref().unwrap_or_default().to_owned();
    pb::UnusablePlugin { name, reason: it.reason.clone() }
}
