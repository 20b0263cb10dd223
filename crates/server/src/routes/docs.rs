//! The description of the routes: as a document for programs, and as a page for people that loads nothing.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Json;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse, Response};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api;
use crate::app::App;
use crate::html::{escape, policy};

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(openapi)).routes(routes!(page))
}

/// This description.
#[utoipa::path(get, path = "/api/openapi.json", tag = "docs",
    responses((status = 200, description = "OpenAPI 3.1.", body = Object)))]
async fn openapi() -> Json<&'static Value> {
    Json(api::document())
}

/// This description as a page.
#[utoipa::path(get, path = "/api/docs", tag = "docs",
    responses((status = 200, description = "A page that loads nothing from elsewhere.", content_type = "text/html", body = String)))]
async fn page() -> Response {
    static PAGE: LazyLock<String> = LazyLock::new(|| render(api::document()));
    ([(CONTENT_SECURITY_POLICY, policy(STYLE, "'none'"))], Html(PAGE.as_str())).into_response()
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
    color:#1c1c1c;background:#fff}code{font:13px ui-monospace,monospace}h2{margin-top:2.5rem}\
    section{border-top:1px solid #ddd;padding:.7rem 0}b{display:inline-block;min-width:4.5rem}\
    li{color:#444}@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}\
    section{border-color:#333}li{color:#aaa}a{color:#8ab4f8}}";

fn render(document: &Value) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Holdpoint API</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style>\
         <h1>Holdpoint API</h1><p>Version {}. Every path below, with what it takes and answers, stands in \
         <a href=\"/api/openapi.json\">openapi.json</a>. Send <code>Authorization: Bearer hp_…</code>; a refusal is \
         <code>application/problem+json</code> with a stable <code>code</code>.",
        escape(document["info"]["version"].as_str().unwrap_or_default())
    );
    let mut area = "";
    for (tag, path, method, operation) in operations(document) {
        if tag != area {
            let _ = write!(page, "<h2>{}</h2>", escape(tag));
            area = tag;
        }
        let _ = write!(
            page,
            "<section><b>{}</b><code>{}</code><br>{}",
            escape(&method.to_uppercase()),
            escape(path),
            escape(operation["summary"].as_str().unwrap_or_default())
        );
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let parameters: Vec<&Value> = parameters.filter(|p| p["in"] != "path").collect();
        if !parameters.is_empty() {
            page.push_str("<ul>");
            for parameter in parameters {
                let text = |name: &str| escape(parameter[name].as_str().unwrap_or_default());
                let _ = write!(page, "<li><code>{}</code> {}", text("name"), text("description"));
            }
            page.push_str("</ul>");
        }
        page.push_str("</section>");
    }
    page
}

/// All operations, by their area and then as they are listed.
pub fn operations(document: &Value) -> Vec<(&str, &str, &str, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let mut all: Vec<(&str, &str, &str, &Value)> = paths
        .flat_map(|(path, item)| item.as_object().into_iter().flatten().map(move |entry| (path, entry)))
        .map(|(path, (method, operation))| {
            (operation["tags"][0].as_str().unwrap_or_default(), path.as_str(), method.as_str(), operation)
        })
        .collect();
    all.sort_by_key(|(tag, path, method, _)| (*tag, *path, *method));
    all
}
