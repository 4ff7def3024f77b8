//! All routes of the API, and the description that is made from them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use utoipa::OpenApi;
use utoipa::openapi::{Content, Ref, Response, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::state::Api;
use super::{
    approvals, events, groups, live_log, metrics, output, task_changes, tasks, timeline, usage, wait,
};
use crate::problem;

/// The head of the description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "meanwhile",
        description = "The tasks that coding agents run on this machine: watch, start, approve, answer, kill.\n\n\
            Send `Authorization: Bearer TOKEN`; `mw serve` prints the token. Errors are `application/problem+json`. \
            Changes are limited to 20 per second, with bursts of 60.",
        license(name = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "tasks", description = "List, start and change tasks"),
        (name = "output", description = "Read, search and follow the output of a task"),
        (name = "approvals", description = "Answer what agents ask"),
        (name = "events", description = "Follow what happens"),
        (name = "groups", description = "Sessions, batches, agents, places, traces"),
        (name = "server", description = "Figures of this server")
    ),
    security(("token" = [])),
    modifiers(&Token)
)]
struct Description;

/// Describes the token.
struct Token;

impl utoipa::Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

fn described() -> OpenApiRouter<Arc<Api>> {
    let routes = OpenApiRouter::new()
        .routes(routes!(tasks::list, task_changes::start))
        .routes(routes!(tasks::get))
        .routes(routes!(tasks::history))
        .routes(routes!(tasks::transcript))
        .routes(routes!(task_changes::kill))
        .routes(routes!(task_changes::restart))
        .routes(routes!(task_changes::clear))
        .routes(routes!(task_changes::input))
        .routes(routes!(output::read))
        .routes(routes!(output::search))
        .routes(routes!(live_log::stream))
        .routes(routes!(wait::wait))
        .routes(routes!(events::list))
        .routes(routes!(events::stream))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::get))
        .routes(routes!(approvals::rule))
        .routes(routes!(approvals::approve))
        .routes(routes!(approvals::deny))
        .routes(routes!(groups::sessions))
        .routes(routes!(groups::batches))
        .routes(routes!(groups::agents))
        .routes(routes!(groups::backends))
        .routes(routes!(groups::traces))
        .routes(routes!(groups::trace))
        .routes(routes!(timeline::timeline))
        .routes(routes!(usage::usage))
        .routes(routes!(metrics::summary))
        .routes(routes!(metrics::metrics));
    OpenApiRouter::with_openapi(Description::openapi()).nest("/api/v1", routes)
}

/// Returns the description of the API as JSON.
#[must_use]
pub fn document() -> String {
    let mut document = described().into_openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    for path in document.paths.paths.values_mut() {
        for operation in [&mut path.get, &mut path.post].into_iter().flatten() {
            operation.responses.responses.insert("default".to_owned(), error().into());
        }
    }
    document.to_pretty_json().unwrap_or_default()
}

/// Describes the answer of every route to a request that the guard refuses, that is too much, or that fails.
fn error() -> Response {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    let description = "Any other error, also of a request without the token";
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}

/// Returns the routes of the API and its description.
pub fn routes(api: Arc<Api>) -> Router {
    let (routes, _) = described().split_for_parts();
    let document: Arc<str> = document().into();
    let json = [(axum::http::header::CONTENT_TYPE, "application/json")];
    routes
        .route(
            "/api/v1/openapi.json",
            axum::routing::get(move || async move { (json, document.to_string()) }),
        )
        .route("/api/{*rest}", axum::routing::any(problem::no_route))
        .method_not_allowed_fallback(problem::no_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&api), counted))
        .with_state(api)
}

async fn counted(State(api): State<Arc<Api>>, request: Request, next: Next) -> axum::response::Response {
    api.requests.fetch_add(1, Ordering::Relaxed);
    next.run(request).await
}
