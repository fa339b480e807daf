//! The server for a connection. Each request becomes one call of the engine on its own thread. The server keeps no
//! state of sessions, so nothing is lost if it is killed.

use crate::changes::{Agreed, Interest};
use crate::error::Mishap;
use crate::instructions::INSTRUCTIONS;
use crate::{NAME, VERSION, client, resources, tools};
use engine::Options;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
    ErrorCode, ErrorData, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of calls that run at once; further ones wait.
const MOST_CALLS_AT_ONCE: usize = 64;

/// Runs the protocol on one thread. Calls of the engine run on threads of their own, which end soon afterwards.
pub(crate) fn run(serving: impl Future<Output = std::io::Result<()>>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(MOST_CALLS_AT_ONCE)
        .thread_keep_alive(Duration::from_secs(2))
        .build()?;
    let served = runtime.block_on(serving);
    if served.is_err() {
        // A thread may still be reading stdin, and would never end while the other end of the pipe is open.
        runtime.shutdown_background();
    }
    served
}

/// The state that all connections of a server share.
#[derive(Clone)]
pub(crate) struct Desk {
    options: Arc<Options>,
}

impl Desk {
    /// The state for the client that started this process.
    pub(crate) fn new(options: Options) -> Self {
        Self { options: Arc::new(Options { person_present: false, from_afar: false, ..options }) }
    }

    /// The state for clients that connect over HTTP.
    pub(crate) fn from_afar(options: Options) -> Self {
        Self { options: Arc::new(Options { person_present: false, from_afar: true, ..options }) }
    }

    pub(crate) fn server(&self) -> Server {
        Server { desk: self.clone(), interest: Interest::default(), agreed: Agreed::default() }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }
}

/// One connection.
pub(crate) struct Server {
    desk: Desk,
    interest: Interest,
    agreed: Agreed,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        let implementation = Implementation::new(NAME, VERSION)
            .with_title("leftoff")
            .with_description("Durable session state for the work of AI agents");
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(tools::Entry::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = tools::find(&request.name) else {
            return Err(unknown_tool(&request.name));
        };
        let options = client::options(self.desk.options(), &context);
        let arguments = request.arguments.unwrap_or_default();
        let progress = progress(&context);
        let answered = away(move || entry.call(options, arguments, progress)).await?;
        let result = match answered {
            Ok(answer) => answer.into_result(),
            Err(mishap) => mishap.into_result(),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let options = client::options(self.desk.options(), &context);
        let cursor = request.and_then(|request| request.cursor);
        // A client that reads the list of resources is notified when the list changes.
        self.interest.watch_for_legacy(self.desk.options(), &context).await;
        away(move || resources::list(options, cursor.as_deref())).await?
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let options = client::options(self.desk.options(), &context);
        away(move || resources::read(options, &request.uri)).await?.map(Into::into)
    }

    // A request that is not supported gets an error. The protocol library would send an empty answer.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    /// Subscribes to a resource, in protocol 2025-11-25.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::parse(&request.uri)?;
        self.interest.add(request.uri);
        self.interest.watch_for_legacy(self.desk.options(), &context).await;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.interest.remove(&request.uri);
        Ok(())
    }

    /// Accepts a subscription, in protocol 2026-07-28: a request that lists resources, and whose answer never ends.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.tools_list_changed = None;
        accepted.prompts_list_changed = None;
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::parse(uri).is_ok());
        }
        self.agreed.agree(self.desk.options());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        crate::changes::listen(self.desk.options(), &self.agreed, context).await;
        Ok(())
    }
}

/// Runs a call of the engine outside the protocol's thread, because the call may wait for disks, locks and commands.
async fn away<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ErrorData> {
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        ErrorData::internal_error("the call failed because of an error in leftoff; nothing was changed", None)
    })
}

/// A function that reports that a check is still running. `None` if the client did not request progress.
fn progress(context: &RequestContext<RoleServer>) -> Option<tools::Tell> {
    let token = context.meta.get_progress_token()?;
    let peer = context.peer.clone();
    let runtime = tokio::runtime::Handle::current();
    let count = std::sync::atomic::AtomicU32::new(0);
    Some(Box::new(move |message| {
        let so_far = f64::from(count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
        let told = ProgressNotificationParam::new(token.clone(), so_far).with_message(message);
        let peer = peer.clone();
        runtime.spawn(async move { peer.notify_progress(told).await });
    }))
}

fn unknown_tool(name: &str) -> ErrorData {
    let name = engine::words::one_line(name, 60);
    let known = tools::names();
    let mishap =
        Mishap::wrong_usage(format!("unknown tool '{name}'"), format!("use one of {}", known.join(", ")));
    let message = format!("{} — {}", mishap.message, mishap.hint.unwrap_or_default());
    ErrorData::new(
        ErrorCode::INVALID_PARAMS,
        message,
        Some(json!({ "kind": "unknown_tool", "valid": known })),
    )
}
