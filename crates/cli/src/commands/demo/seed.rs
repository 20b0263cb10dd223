//! What a demo shows: three pipelines, an earlier run of each that is worth looking at, and one that waits.

use std::path::Path;
use std::time::Duration;

use holdpoint_core::Actor;
use holdpoint_engine::Engine;
use holdpoint_server::Limits;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::client::{Body, Routes};
use crate::commands::init;
use crate::home::Home;
use crate::problem::Problem;
use crate::table::text_of;

const REPORT: &str = include_str!("../../../../../examples/report/report.yaml");
const REPORT_SCRIPTS: [(&str, &str); 2] = [
    ("figures.py", include_str!("../../../../../examples/report/scripts/figures.py")),
    ("report.py", include_str!("../../../../../examples/report/scripts/report.py")),
];
const TEAM: &str = include_str!("../../../../../examples/team/team.yaml");
const TEAM_ANSWERS: &str = include_str!("../../../../../examples/team/answers/team.yaml");

/// The file that says that everything was made.
const MARK: &str = "demo.json";
/// How long a run may take until it waits.
const PATIENCE: Duration = Duration::from_mins(2);

/// What was made, now or before.
pub struct Seeded {
    /// The run that waits for an approval, if one does.
    pub run: Option<String>,
    /// And its execution.
    pub execution: Option<String>,
    /// What did not go as it should.
    pub warnings: Vec<String>,
}

/// Makes what a demo shows, unless it was made before.
pub async fn seed(home: &Home, folder: &Path, engine: &Engine, limits: Limits) -> Result<Seeded, Problem> {
    // Decisions of the earlier runs are nobody's: the log says who gave them.
    let routes = Routes::new(engine, Actor::person("demo (prepared answers)"), limits);
    let seeding = Seeding { routes, engine };
    let mark = home.path().join(MARK);
    let mut warnings = Vec::new();
    if !mark.exists() {
        seeding.check_empty().await?;
        put(&home.path().join("scripts/team.yaml"), TEAM_ANSWERS)?;
        seeding.form().await?;
        if let Err(problem) = seeding.report(folder).await {
            warnings.push(format!("“Weekly report” could not be run: {}", problem.message));
        }
        seeding.team().await?;
        put(&mark, &format!("{}\n", json!({"made": true})))?;
    }
    let waiting = seeding.waiting().await?;
    let part = |name: &str| waiting.as_ref().map(|item| text_of(&item[name]));
    Ok(Seeded { run: part("run_id"), execution: part("execution_id"), warnings })
}

struct Seeding<'a> {
    routes: Routes,
    engine: &'a Engine,
}

impl Seeding<'_> {
    async fn get(&self, path: &str) -> Result<Value, Problem> {
        self.call("GET", path, Body::None).await
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value, Problem> {
        self.call("POST", path, Body::Json(body)).await
    }

    async fn call(&self, method: &str, path: &str, body: Body) -> Result<Value, Problem> {
        let answer = self.routes.send(method, path, body).await?.accepted()?;
        Ok(serde_json::from_slice(&answer.bytes).unwrap_or_default())
    }

    /// A home that somebody works with is not filled with examples.
    async fn check_empty(&self) -> Result<(), Problem> {
        let known = ["First pipeline", "Weekly report", "Team with review"];
        let all = self.get("/api/pipelines?limit=200").await?;
        let names = all["items"].as_array().into_iter().flatten().map(|each| text_of(&each["pipeline_name"]));
        match names.into_iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let message = format!("the home has pipelines of its own, such as “{name}”");
                Err(Problem::usage(
                    "home_in_use",
                    message,
                    "name an empty folder with --home, or leave it out",
                ))
            }
        }
    }

    async fn applied(&self, yaml: &str) -> Result<String, Problem> {
        let body = Body::Bytes("application/yaml", yaml.as_bytes().to_vec());
        let applied = self.call("POST", "/api/pipelines/apply", body).await?;
        Ok(text_of(&applied["pipeline"]["pipeline_id"]))
    }

    /// The runs of a pipeline, newest first.
    async fn runs(&self, pipeline: &str) -> Result<Vec<Value>, Problem> {
        let mut runs = self.get(&format!("/api/runs?pipeline_id={pipeline}")).await?;
        Ok(runs["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    async fn start(&self, pipeline: &str) -> Result<String, Problem> {
        let run = self.post("/api/runs", json!({"pipeline_id": pipeline})).await?;
        Ok(text_of(&run["run_id"]))
    }

    /// The run, as soon as it waits for somebody or has ended.
    async fn settled(&self, run: &str) -> Result<Value, Problem> {
        let mut head = self.engine.watch_head();
        let looking = async {
            loop {
                head.mark_unchanged();
                let now = self.get(&format!("/api/runs/{run}")).await?;
                if now["status"] != "in_progress" || !now["current_execution"]["waiting_for"].is_null() {
                    return Ok(now);
                }
                // A store that closes is noticed by whoever serves.
                if head.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        timeout(PATIENCE, looking).await.unwrap_or_else(|_| {
            let message = format!("the run {run} did not come to a halt");
            Err(Problem::failed("demo_not_made", message, "is the machine very busy? try again"))
        })
    }

    /// A run whose result was approved.
    async fn approved(&self, pipeline: &str) -> Result<(), Problem> {
        let run = match self.runs(pipeline).await?.last() {
            Some(run) => text_of(&run["run_id"]),
            None => self.start(pipeline).await?,
        };
        let now = self.settled(&run).await?;
        let execution = &now["current_execution"];
        match text_of(&execution["waiting_for"]["kind"]).as_str() {
            "approve_complete" => {
                let id = text_of(&execution["execution_id"]);
                let body = json!({"digest": execution["waiting_for"]["digest"]});
                self.post(&format!("/api/executions/{id}/approve-complete"), body).await.map(drop)
            }
            "retry" => {
                let why = text_of(&execution["waiting_for"]["reasons"][0]);
                Err(Problem::failed("demo_not_made", why, "`holdpoint doctor` says what this machine can do"))
            }
            _ => Ok(()),
        }
    }

    /// A form that waits to be filled in.
    async fn form(&self) -> Result<(), Problem> {
        let pipeline = self.applied(init::EXAMPLE).await?;
        if self.runs(&pipeline).await?.is_empty() {
            self.start(&pipeline).await?;
        }
        Ok(())
    }

    /// A report that scripts have written.
    async fn report(&self, folder: &Path) -> Result<(), Problem> {
        let pipeline = self.applied(REPORT).await?;
        for (name, text) in REPORT_SCRIPTS {
            put(&folder.join(&pipeline).join("scripts").join(name), text)?;
        }
        self.approved(&pipeline).await
    }

    /// A plan of a team of agents: v1 is approved, and v2, which knows v1, waits.
    async fn team(&self) -> Result<(), Problem> {
        let pipeline = self.applied(TEAM).await?;
        self.approved(&pipeline).await?;
        let run = match &self.runs(&pipeline).await?[..] {
            [newest, _, ..] => text_of(&newest["run_id"]),
            [_] | [] => self.start(&pipeline).await?,
        };
        self.settled(&run).await.map(drop)
    }

    /// What waits for an approval, the plan before anything else.
    async fn waiting(&self) -> Result<Option<Value>, Problem> {
        let mut inbox = self.get("/api/inbox?limit=200").await?;
        let items = inbox["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let mut approvals: Vec<Value> =
            items.into_iter().filter(|item| item["waiting_for"]["kind"] == "approve_complete").collect();
        approvals.sort_by_key(|item| item["pipeline_name"] != "Team with review");
        Ok(approvals.into_iter().next())
    }
}

fn put(path: &Path, text: &str) -> Result<(), Problem> {
    let written =
        path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", path.display());
        Problem::failed("not_written", message, "check the path and its rights")
    })
}
