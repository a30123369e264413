//! Session of one client.

use std::sync::Arc;

use agents::{Call, ToolList, Tools};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use workspaces::RequestError;

use super::{
    resources,
    translate::{self, Parts},
};

/// Answers a client. Its session's own branch is found by the session's name.
#[derive(Clone)]
pub(crate) struct Handler {
    daemon: Arc<dyn Tools>,
    /// The handle of the workspace, which every daemon gives it.
    workspace: String,
    session: String,
    /// The name of the sessions' branch, if the user gave one.
    branch: Option<String>,
    tools: Vec<Tool>,
    instructions: String,
}

/// Milliseconds for which the list of tools stays as it is: that of a build never changes.
const FRESH: u64 = 3_600_000;

impl Handler {
    /// Asks the daemon for its tools. The workspace is open already.
    pub(crate) async fn new(
        daemon: Arc<dyn Tools>,
        workspace: String,
        session: String,
        branch: Option<String>,
    ) -> Result<Self, RequestError> {
        let ToolList { tools, instructions } = daemon.list_tools().await?;
        let tools = tools.into_iter().map(translate::tool).collect();
        Ok(Self { daemon, workspace, session, branch, tools, instructions })
    }

    /// Returns a copy of the handler for another session.
    pub(crate) fn of_session(&self, session: String) -> Self {
        Self { session, ..self.clone() }
    }

    /// A call of this session.
    pub(super) fn call(&self, tool: &str, arguments: Option<JsonObject>) -> Call {
        Call {
            workspace: self.workspace.clone(),
            session: self.session.clone(),
            branch: self.branch.clone(),
            tool: tool.to_owned(),
            arguments: arguments.unwrap_or_default(),
            deadline: None,
            traceparent: None,
        }
    }

    /// Parts of results that the client of a request is sent.
    fn parts(context: &RequestContext<RoleServer>) -> Parts {
        let named = context.meta.client_info().map(|it| it.name);
        let name = named.or_else(|| context.peer.peer_info().map(|it| it.client_info.name.clone()));
        Parts::of_client(name.as_deref())
    }

    pub(super) fn daemon(&self) -> &dyn Tools {
        &*self.daemon
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
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let parts = Self::parts(&context);
        let tools = self.tools.iter().map(|it| translate::listed(it, parts)).collect();
        let mut all = ListToolsResult::with_all_items(tools).with_ttl_ms(FRESH);
        all.cache_scope = Some(if parts == Parts::Text { CacheScope::Private } else { CacheScope::Public });
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
        let parts = Self::parts(&context);
        let traceparent = context.meta.get_traceparent().map(str::to_owned);
        let call = Call { traceparent, ..self.call(&request.name, request.arguments) };
        // The daemon ends what a caller that is gone had it read or run.
        let answer = tokio::select! {
            answer = self.daemon.call_tool(call) => answer,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
        };
        Ok(match answer {
            Ok(answer) => translate::result(answer, parts),
            Err(error) => translate::refusal(&error),
        }
        .into())
    }

    /// Answers requests that the SDK does not recognise as a known method.
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
        Ok(resources::read(self, &request.uri).await?.into())
    }
}
