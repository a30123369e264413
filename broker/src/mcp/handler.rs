//! One client's session.

use broker_proto::v1 as pb;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{Link, resources, translate};

/// Answers a client. Its session's own branch is found by the session's name.
#[derive(Clone)]
pub(crate) struct Handler {
    link: Link,
    session: String,
    tools: Vec<Tool>,
    instructions: String,
}

/// Milliseconds for which the list of tools stays as it is: that of a build never changes.
const FRESH: u64 = 3_600_000;

impl Handler {
    /// Asks the daemon for its tools.
    pub(crate) async fn new(link: Link, session: String) -> Result<Self, tonic::Status> {
        let pb::ListToolsResponse { tools, instructions } = link.tools().await?;
        Ok(Self { link, session, tools: tools.into_iter().map(translate::tool).collect(), instructions })
    }

    /// The same for another session.
    pub(crate) fn of_session(&self, session: String) -> Self {
        Self { session, ..self.clone() }
    }

    fn reads(&self, tool: &str) -> bool {
        let found = self.tools.iter().find(|it| it.name == tool);
        found.and_then(|it| it.annotations.as_ref()?.read_only_hint).unwrap_or_default()
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("broker", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut all = ListToolsResult::with_all_items(self.tools.clone()).with_ttl_ms(FRESH);
        all.cache_scope = Some(CacheScope::Public);
        Ok(all)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|it| it.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        }
        let reads = self.reads(&request.name);
        let call = pb::CallToolRequest {
            workspace_id: String::new(),
            session: self.session.clone(),
            tool: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()).to_string(),
        };
        let traceparent = context.meta.get_traceparent();
        // The daemon ends what a caller that is gone had it read or run.
        let answer = tokio::select! {
            answer = self.link.call(call, reads, traceparent) => answer,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
        };
        Ok(match answer {
            Ok(answer) => translate::result(answer),
            Err(status) => translate::refusal(&status),
        }
        .into())
    }

    /// What the SDK could not read as a method that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        Err(match method.as_str() {
            "tools/call" => ErrorData::invalid_params(
                "parameters of tools/call: `name` is a string, `arguments` an object",
                None,
            ),
            "resources/read" => {
                ErrorData::invalid_params("parameters of resources/read: `uri` is a string", None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None),
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::default())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.link, &self.session, &request.uri).await?.into())
    }
}
