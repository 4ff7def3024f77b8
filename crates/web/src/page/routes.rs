//! The routes of the page.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::files;

/// Returns the routes of the page.
pub fn routes() -> Router {
    Router::new()
        .route("/", get(|headers: HeaderMap| async move { file("index.html", &headers) }))
        .route("/api", get(|headers: HeaderMap| async move { file("api.html", &headers) }))
        .route(
            "/assets/{*path}",
            get(|Path(path): Path<String>, headers: HeaderMap| async move { file(&path, &headers) }),
        )
}

/// Sends a file, unless the browser has it already.
fn file(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = files::find(path) else { return StatusCode::NOT_FOUND.into_response() };
    let tag = format!("\"{}\"", file.hash());
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    let caching = [(header::CACHE_CONTROL, "no-cache".to_owned()), (header::ETAG, tag.clone())];
    if known == Some(tag.as_str()) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    (caching, [(header::CONTENT_TYPE, file.kind())], file.text).into_response()
}
