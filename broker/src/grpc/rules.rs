//! `RuleService`.

use broker_proto::{v1 as pb, v1::rule_service_server::RuleService};
use tonic::{Request, Response, Status, async_trait};
use workspaces::PageRequest;

use super::{GrpcServer, from_proto, status, to_proto};

#[async_trait]
impl RuleService for GrpcServer {
    async fn list_plugins(
        &self,
        request: Request<pb::ListPluginsRequest>,
    ) -> Result<Response<pb::ListPluginsResponse>, Status> {
        let target = from_proto::optional_target(request.into_inner().target)?;
        let plugins = self.0.list_plugins(target.as_ref()).await.map_err(status::of)?;
        Ok(Response::new(to_proto::plugins(plugins)))
    }

    async fn list_rules(
        &self,
        request: Request<pb::ListRulesRequest>,
    ) -> Result<Response<pb::ListRulesResponse>, Status> {
        let request = request.into_inner();
        let target = from_proto::optional_target(request.target)?;
        let page = PageRequest { size: request.page_size, token: request.page_token };
        let page = self.0.list_rules(target.as_ref(), &request.linter, &page).await.map_err(status::of)?;
        let rules = page.items.into_iter().map(to_proto::rule).collect();
        Ok(Response::new(pb::ListRulesResponse { rules, next_page_token: page.next_token }))
    }
}
