//! Where a phase ends: the six rules, and what the checkpoint there is called.
//!
//! Four of them look at one side of a boundary only, so a boundary between two groups costs as much as its
//! nodes, not as much as its pairs.

use super::node::{Kind, Node};

/// Why there is a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A source makes a plan, a specification, an analysis or the findings of a review.
    ArtifactBoundary,
    /// A target executes something.
    ExecutionGate,
    /// A target is an agent.
    AgentSpawn,
    /// A target is one of the executors that take long.
    LongRunning,
    /// Somebody asked for it.
    UserDefined,
    /// A source tested something.
    PostTesting,
}

impl Rule {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ArtifactBoundary => "artifact_boundary",
            Self::ExecutionGate => "execution_gate",
            Self::AgentSpawn => "agent_spawn",
            Self::LongRunning => "long_running",
            Self::UserDefined => "user_defined",
            Self::PostTesting => "post_testing",
        }
    }
}

/// What the rules say of a boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The rules that ask for a checkpoint, in the order of the document.
    pub rules: Vec<Rule>,
    /// What it is called, behind `Checkpoint: `.
    pub title: String,
    /// Whether a person is asked.
    pub pauses: bool,
}

/// Executors that take long.
const LONG: [&str; 3] = ["workflow-plan", "spec-generator", "collaborative-plan-with-file"];

/// Judges a boundary from some nodes to others. `exact` compares ports as they are.
pub fn judge(sources: &[&Node], targets: &[&Node], exact: bool) -> Option<Verdict> {
    let port = sources.iter().flat_map(|node| &node.ports).find(|port| is_artifact(port, exact));
    let tested = sources.iter().any(|node| tests(node));
    let executes = targets.iter().any(|node| node.kind == Kind::Skill && node.executor.contains("execute"));
    let agent = targets.iter().find(|node| node.kind == Kind::Agent);
    let long = targets.iter().find(|node| LONG.contains(&without_namespace(&node.executor)));
    let matched = [
        (Rule::ArtifactBoundary, port.is_some()),
        (Rule::ExecutionGate, executes),
        (Rule::AgentSpawn, agent.is_some()),
        (Rule::LongRunning, long.is_some()),
        (Rule::PostTesting, tested),
    ];
    let rules: Vec<Rule> =
        matched.into_iter().filter(|(_, matched)| *matched).map(|(rule, _)| rule).collect();
    // What was just finished names the checkpoint before what comes next does.
    let title = if let Some(port) = port {
        format!("After {}", title_case(port))
    } else if tested {
        "After Tests".to_owned()
    } else if executes {
        "Before Execution".to_owned()
    } else if let Some(agent) = agent {
        format!("Before Agent {}", agent.executor).trim_end().to_owned()
    } else {
        format!("Before {}", long?.executor)
    };
    let pauses = targets.iter().any(|node| {
        (node.kind == Kind::Agent && node.background)
            || node.ports.iter().any(|port| is_deliverable(port, exact))
    });
    Some(Verdict { rules, title, pauses })
}

fn tests(node: &Node) -> bool {
    ["test-fix", "integration-test"].iter().any(|part| node.executor.contains(part))
}

/// `workflow:plan` is `plan`.
fn without_namespace(executor: &str) -> &str {
    executor.rsplit(':').next().unwrap_or(executor)
}

const PLANS: [&str; 2] = ["plan", "plans"];
const SPECS: [&str; 4] = ["spec", "specs", "specification", "specifications"];
const ANALYSES: [&str; 2] = ["analysis", "analyses"];

/// Whether what comes out of a port is looked at before anything goes on.
fn is_artifact(port: &str, exact: bool) -> bool {
    if exact {
        return ["plan", "spec", "analysis", "review-findings"].contains(&port);
    }
    has_word(port, &[&PLANS, &SPECS, &ANALYSES]) || port.eq_ignore_ascii_case("review-findings")
}

/// Whether what comes out of a port is made for a person.
fn is_deliverable(port: &str, exact: bool) -> bool {
    if exact {
        return ["plan", "spec", "review-findings", "review-report"].contains(&port);
    }
    let review = ["review-findings", "review-report"].iter().any(|name| port.eq_ignore_ascii_case(name));
    has_word(port, &[&PLANS, &SPECS]) || review
}

/// Whether one of the words between hyphens is among these: `inspection` is no `spec`.
fn has_word(port: &str, words: &[&[&str]]) -> bool {
    let is_one =
        |part: &str| words.iter().any(|words| words.iter().any(|word| part.eq_ignore_ascii_case(word)));
    port.split('-').any(is_one)
}

/// `review-findings` is `Review Findings`.
pub fn title_case(text: &str) -> String {
    let words = text.split(['-', '_', ' ']).filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        first + letters.as_str()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What was just completed.
pub fn completed(sources: &[&Node]) -> String {
    /// More names than these are counted.
    const NAMED: usize = 3;
    let names: Vec<&str> = sources.iter().take(NAMED).map(|node| node.name.as_str()).collect();
    match (names.split_last(), sources.len()) {
        (None, _) => "Nothing completed yet".to_owned(),
        (Some((last, [])), _) => format!("{last} completed"),
        (Some((last, others)), count) if count <= NAMED => {
            format!("{} and {last} completed", others.join(", "))
        }
        (Some(_), count) => format!("{} and {} more completed", names.join(", "), count - NAMED),
    }
}
