//! `RuleService`.

use std::sync::Arc;

use broker_proto::v1::{self as pb, rule_service_server::RuleService};
use lint::suppress;
use overlay::{Memory, View};
use tonic::{Request, Response, Status, async_trait};

use super::{Front, branches::blocking, from_proto::Page, status, to_proto};
use crate::{
    daemon::DaemonError,
    plugins::{self, Shown},
};

#[async_trait]
impl RuleService for Front {
    async fn list_plugins(
        &self,
        _: Request<pb::ListPluginsRequest>,
    ) -> Result<Response<pb::ListPluginsResponse>, Status> {
        let plugins = self.0.plugins.usable.iter().map(to_proto::plugin).collect();
        Ok(Response::new(pb::ListPluginsResponse { plugins }))
    }

    async fn list_rules(
        &self,
        request: Request<pb::ListRulesRequest>,
    ) -> Result<Response<pb::ListRulesResponse>, Status> {
        let request = request.into_inner();
        let page = Page::of(request.page_size, &request.page_token, 1000, 10_000)?;
        let daemon = Arc::clone(&self.0);
        let linter = request.linter;
        if !linter.is_empty() && linter != suppress::LINTER && daemon.plugins.find(&linter).is_none() {
            return Err(status::of(DaemonError::NotFound { what: "plugin", id: linter }));
        }
        let rules = blocking(move || {
            let is_wanted = |name: &str| linter.is_empty() || linter == name;
            let (root, view) = ("", &(Arc::new(Memory::default()) as Arc<dyn View>));
            let own = suppress::rules().into_iter().filter(|_| is_wanted(suppress::LINTER));
            let mut all: Vec<_> = own.map(|it| to_proto::rule(suppress::LINTER, &it)).collect();
            for plugin in daemon.plugins.usable.iter().filter(|it| is_wanted(&it.manifest().name)) {
                let rules = plugins::rules(plugin, Shown { root, view })
                    .map_err(|error| Status::internal(error.message))?;
                all.extend(rules.iter().map(|it| to_proto::rule(&plugin.manifest().name, it)));
            }
            Ok(all)
        })
        .await?;
        let (rules, next_page_token) = page.cut(rules.into_iter());
        Ok(Response::new(pb::ListRulesResponse { rules, next_page_token }))
    }
}
