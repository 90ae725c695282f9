//! Who may ask, and what every answer forbids.
//!
//! A page on the web can make a browser send requests to this machine. It cannot fake `Host` (that stops rebinding of
//! names), it cannot hide its `Origin` on a write, and it cannot read our pages to learn the token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::AppState;

/// What a page may do: show itself and talk to us. No inline script, no style from elsewhere, no frames.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every answer that does not bring its own.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Refuses requests of strangers and adds the headers.
pub(super) async fn check(
    State(state): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let refusal = refusal(state.port, request.method(), request.headers());
    let mut response = match refusal {
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Why a request is refused.
fn refusal(port: u16, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let is_ours = |host: &str| hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host));
    if headers.get_all(header::HOST).iter().count() != 1 || !text(header::HOST).is_some_and(is_ours)
    {
        return Some("this server answers only under the address that it printed");
    }
    let origin = headers.get(header::ORIGIN);
    let is_our_origin =
        text(header::ORIGIN).and_then(|origin| origin.strip_prefix("http://")).is_some_and(is_ours);
    if origin.is_some() && !is_our_origin {
        return Some("requests of other sites are refused");
    }
    let is_write = !matches!(*method, Method::GET | Method::HEAD);
    if is_write && origin.is_none() {
        return Some("a write must say where it comes from");
    }
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if is_write && site.is_some_and(|site| site != "same-origin") {
        return Some("requests of other sites are refused");
    }
    None
}
