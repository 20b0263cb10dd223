//! Rules under random orders: what holds whatever people, agents, workers and clocks do.
//!
//! `PROPTEST_CASES` sets how many cases each property is tried with.

mod acts;
mod blobs;
mod client;
mod compile;
mod diagrams;
mod graph;
mod growth;
mod guards;
mod invariants;
mod loops;
mod model;
mod pipelines;
mod plans;
mod replay;
mod samples;
mod spec;

use proptest::test_runner::Config;

/// How many cases to try: as many as the environment says, else as many as a test run has time for.
fn cases(usual: u32) -> Config {
    let config = Config::default();
    let unset = Config::default().cases == 256;
    Config { cases: if unset { usual } else { config.cases }, failure_persistence: None, ..config }
}
