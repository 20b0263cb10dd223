//! Compiling a node list, from its text to the text of the DAG.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use holdpoint_formats::dag::{self, Options};

use super::{BenchError, Figure, Goal, Report};

/// How often each size is measured.
const TIMES: usize = 5;

/// 100,000 nodes, and twice as many.
pub fn measure(report: &mut Report<'_>) -> Result<(), BenchError> {
    let (one, two) = (nodes(100_000), nodes(200_000));
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    // In turns, so that a busy moment touches both.
    for _ in 0..TIMES {
        once.push(compile(&one)?);
        twice.push(compile(&two)?);
    }
    let figure = Figure::from_times("compile.nodes100k", &mut once);
    let seconds = figure.p50_us.unwrap_or(f64::NAN) / 1e6;
    report.add(figure.judged(seconds, Goal::AtMost(1.0)));
    let figure = Figure::from_times("compile.nodes200k", &mut twice);
    let ratio = figure.p50_us.unwrap_or(f64::NAN) / report.p50("compile.nodes100k");
    report.add(figure.beside("compile.nodes100k", ratio, Some(Goal::AtMost(2.2))));
    Ok(())
}

fn compile(text: &str) -> Result<Duration, BenchError> {
    let begin = Instant::now();
    let compiled = dag::compile(text, None, Options::default())
        .map_err(|findings| findings.first().map(|finding| finding.message.clone()).unwrap_or_default())?;
    let written = compiled.to_dag();
    let took = begin.elapsed();
    if written.is_empty() { Err("nothing was compiled".into()) } else { Ok(took) }
}

/// A list in which plans, executions, groups of ten, tests and references come again and again.
fn nodes(count: usize) -> String {
    let mut text = String::from("{\"session_id\": \"WFD-bench-20260101\", \"nodes\": [");
    for n in 0..count {
        let (executor, port, group) = match n % 20 {
            0 => ("workflow-lite-plan", "plan", String::new()),
            1 => ("workflow-execute", "code", String::new()),
            2 => ("workflow-test-fix", "test-passed", String::new()),
            10.. => ("review-cycle", "review-findings", format!("g{}", n / 20)),
            _ => ("brainstorm", "notes", String::new()),
        };
        let comma = if n == 0 { "" } else { "," };
        let before = n / 20 * 20;
        let args =
            if n % 20 == 5 { format!("{{goal}} {{N-{before}.output_path}}") } else { "{goal}".to_owned() };
        let _ = write!(
            text,
            "{comma}\n{{\"id\": \"N-{n}\", \"seq\": {n}, \"name\": \"Node {n}\", \"type\": \"skill\", \"executor\": \"{executor}\", \
             \"args_template\": \"{args}\", \"input_ports\": [], \"output_ports\": [\"{port}\"], \"parallel_group\": \"{group}\", \
             \"on_fail\": \"abort\"}}"
        );
    }
    text.push_str("\n]}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_compiles() {
        let text = nodes(200);
        let compiled = dag::compile(&text, None, Options::default()).expect("a graph");
        assert_eq!((compiled.groups.len(), compiled.warnings.len()), (10, 0));
        // After each plan, test and group of reviews, but for the last group, which nothing follows.
        assert_eq!(compiled.checkpoints().len(), 29);
    }
}
