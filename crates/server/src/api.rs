//! The description of all routes (`OpenAPI` 3.1), collected where the routes are written.
//!
//! What holds for every route is added here, once: who may call, and what a refusal looks like.

use std::sync::LazyLock;

use axum::Router;
use holdpoint_core::state::run::RunStatus;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::access::OPEN;
use crate::app::App;
use crate::problem::ProblemDocument;
use crate::routes;

#[derive(OpenApi)]
#[openapi(
    info(title = "Holdpoint", description = "Runs work that agents, scripts and people do together."),
    components(schemas(ProblemDocument, RunStatus))
)]
struct Frame;

fn collected() -> OpenApiRouter<App> {
    routes::all(OpenApiRouter::with_openapi(Frame::openapi()))
}

/// All routes.
pub fn routes() -> Router<App> {
    collected().split_for_parts().0
}

/// The description as a document.
pub fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        let (_, described) = collected().split_for_parts();
        let mut document = serde_json::to_value(described).expect("a description has string keys");
        complete(&mut document);
        document
    });
    &DOCUMENT
}

/// Adds what holds for every route.
fn complete(document: &mut Value) {
    document["info"]["version"] = json!(env!("CARGO_PKG_VERSION"));
    document["info"]["license"] = json!({"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"});
    document["components"]["securitySchemes"] = json!({
        "token": {"type": "http", "scheme": "bearer", "description": "A token, `hp_…`."},
        "session": {
            "type": "apiKey", "in": "cookie", "name": "holdpoint_session_4180",
            "description": "A session of the console; the name ends with the server's port."
        }
    });
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            complete_operation(path, method, operation);
        }
    }
}

fn complete_operation(path: &str, method: &str, operation: &mut Value) {
    let open = OPEN.contains(&(method.to_uppercase().as_str(), path));
    operation["security"] = if open { json!([]) } else { json!([{"token": []}, {"session": []}]) };
    if let (Some(tag), Some(name)) = (operation["tags"][0].as_str(), operation["operationId"].as_str()) {
        operation["operationId"] = json!(format!("{tag}_{name}"));
    }
    if method == "post" && !open {
        let key = json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key and the same request are carried out once.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255}
        });
        match operation["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(key),
            None => operation["parameters"] = json!([key]),
        }
    }
    let problem = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
    let refusal = json!({
        "description": "Refused or failed; `code` says why.",
        "content": {"application/problem+json": problem}
    });
    let responses = operation["responses"].as_object_mut();
    let add = |responses: &mut Map<String, Value>| responses.entry("default").or_insert(refusal).clone();
    responses.map(add);
}
