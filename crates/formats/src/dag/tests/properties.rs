//! What holds for every graph.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::*;

const EXECUTORS: [&str; 6] =
    ["a", "workflow-execute", "workflow:test-fix", "spec-generator", "review-cycle", "workflow-plan"];
const PORTS: [&str; 6] = ["", "plan", "code", "review-findings", "inspection", "detailed-plan"];
const KINDS: [&str; 5] = ["skill", "command", "cli", "agent", "checkpoint"];

prop_compose! {
    fn node()(
        kind in 0..KINDS.len(),
        executor in 0..EXECUTORS.len(),
        port in 0..PORTS.len(),
        seq in prop::option::of(0..8_u32),
        group in prop::option::of(0..3_u32),
        background in any::<bool>(),
    ) -> Value {
        json!({
            "seq": seq, "type": KINDS[kind], "executor": EXECUTORS[executor], "output_ports": [PORTS[port]],
            "parallel_group": group.map(|group| format!("g{group}")), "run_in_background": background,
            "args_template": "{goal} {\"json\": 1}",
        })
    }
}

fn with_ids(nodes: Vec<Value>) -> Vec<Value> {
    let named = nodes.into_iter().enumerate().map(|(n, mut node)| {
        node["id"] = json!(format!("N-{n}"));
        node
    });
    named.collect()
}

prop_compose! {
    fn a_list()(nodes in prop::collection::vec(node(), 1..14)) -> Value {
        json!({"session_id": "WFD-x-20260101", "nodes": with_ids(nodes)})
    }
}

prop_compose! {
    fn a_dag()(
        nodes in prop::collection::vec(node(), 1..12),
        edges in prop::collection::hash_set((0..12_usize, 0..12_usize), 0..24),
    ) -> Value {
        let count = nodes.len();
        let mut edges: Vec<(usize, usize)> =
            edges.into_iter().filter(|(from, to)| from < to && *to < count).collect();
        edges.sort_unstable();
        let ends: HashSet<usize> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        if !edges.is_empty() {
            edges.extend((0..count - 1).filter(|node| !ends.contains(node)).map(|node| (node, count - 1)));
            if !ends.contains(&(count - 1)) && !edges.iter().any(|(_, to)| *to == count - 1) {
                edges.push((0, count - 1));
            }
        }
        let edges: Vec<Value> = edges
            .into_iter()
            .map(|(from, to)| json!({"from": format!("N-{from}"), "to": format!("N-{to}")}))
            .collect();
        // The order of the file says nothing.
        let mut nodes = with_ids(nodes);
        nodes.reverse();
        json!({"session_id": "WFD-x-20260101", "nodes": nodes, "edges": edges})
    }
}

fn without_warnings(dag: &str) -> Value {
    let mut dag: Value = serde_json::from_str(dag).expect("JSON");
    dag.as_object_mut().expect("an object").remove("warnings");
    dag
}

fn holds(source: &Value) -> Result<(), TestCaseError> {
    let options = Options::default();
    let text = source.to_string();
    let Ok(first) = compile(&text, None, options) else {
        let forced = compile(&text, None, Options { checkpoints: Checkpoints::None, ..options });
        prop_assert!(forced.is_ok(), "only a missing checkpoint is wrong: {:?}", forced.err());
        return Ok(());
    };
    let dag = first.to_dag();
    prop_assert_eq!(&compile(&text, None, options).expect("a graph").to_dag(), &dag);
    let again = compile(&dag, None, options).expect("a graph").to_dag();
    prop_assert_eq!(without_warnings(&again), without_warnings(&dag));

    let dag = without_warnings(&dag);
    let ids = |list: &Value| {
        list.as_array()
            .expect("a list")
            .iter()
            .map(|id| id.as_str().expect("text").to_owned())
            .collect::<Vec<_>>()
    };
    let order = ids(&dag["topological_order"]);
    let places: HashMap<&str, usize> =
        order.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
    prop_assert_eq!(places.len(), order.len(), "every node once");
    let nodes: Vec<&str> =
        dag["nodes"].as_array().expect("a list").iter().filter_map(|node| node["id"].as_str()).collect();
    prop_assert_eq!(&nodes, &order.iter().map(String::as_str).collect::<Vec<_>>());

    let place = |id: &Value| places[id.as_str().expect("text")];
    let edges: Vec<(usize, usize)> = dag["edges"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|edge| (place(&edge["from"]), place(&edge["to"])))
        .collect();
    prop_assert!(edges.iter().all(|(from, to)| from < to), "the order is one");
    prop_assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "edges are sorted, none is there twice");
    let has_predecessor: HashSet<usize> = edges.iter().map(|(_, to)| *to).collect();
    let mut reached: Vec<bool> = (0..order.len()).map(|node| !has_predecessor.contains(&node)).collect();
    for (from, to) in &edges {
        reached[*to] |= reached[*from];
    }
    prop_assert!(reached.iter().all(|reached| *reached));

    // No checkpoint was injected beside another.
    let nodes = dag["nodes"].as_array().expect("a list");
    let is = |node: usize, what: &str| nodes[node][what] == true;
    for (from, to) in &edges {
        let both = nodes[*from]["type"] == "checkpoint" && nodes[*to]["type"] == "checkpoint";
        prop_assert!(!both || !(is(*from, "injected") || is(*to, "injected")));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_list_compiles_to_one_graph_that_compiles_to_itself(source in a_list()) {
        holds(&source)?;
    }

    #[test]
    fn a_dag_compiles_to_one_graph_that_compiles_to_itself(source in a_dag()) {
        holds(&source)?;
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,80}") {
        let _ = compile(&text, Some(&text), Options::default());
        let wrapped = json!({"nodes": [{"id": text, "type": "skill", "name": text, "executor": text, "args_template": text}]});
        if let Ok(compiled) = compile(&wrapped.to_string(), None, Options::default()) {
            let _ = (mermaid(&compiled), dot(&compiled), super::super::text(&compiled), svg(&compiled));
        }
    }
}
