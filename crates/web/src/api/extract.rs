//! Parameters and bodies of requests, with errors as problems.

use std::fmt::Display;
use std::ops::RangeInclusive;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The parameters of a request.
pub(super) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(params)| Self(params)).map_err(|error| Problem::invalid(error.body_text()))
    }
}

/// The id in the path of a request.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        read.map(|Path(id)| Self(id)).map_err(|error| Problem::invalid(error.body_text()))
    }
}

/// Refuses a parameter that is not in its range.
pub(super) fn in_range<T: PartialOrd + Display>(
    name: &str,
    given: T,
    range: RangeInclusive<T>,
) -> Result<T, Problem> {
    if range.contains(&given) {
        return Ok(given);
    }
    Err(Problem::invalid(format!("{name} is {given}, but must be from {} to {}", range.start(), range.end())))
}

/// The JSON body of a request. An absent body is an empty object.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|error| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error.body_text()))?;
        let text = if bytes.trim_ascii().is_empty() { b"{}".as_slice() } else { &bytes };
        let read = serde_json::from_slice(text);
        read.map(Self).map_err(|error| Problem::invalid(format!("the body is not valid: {error}")))
    }
}
