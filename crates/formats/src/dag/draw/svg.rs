//! SVG: a row for each level, from top to bottom, every edge a curve. No layout library is linear at this size.

use std::fmt::Write as _;

use super::plain;
use crate::dag::{Compiled, Kind, Node};

/// The most nodes that are drawn.
pub const MOST_DRAWN: usize = 10_000;

const WIDTH: u32 = 180;
const HEIGHT: u32 = 44;
const GAP: u32 = 24;
const BETWEEN: u32 = 56;

/// The graph as a picture; none if it has too many nodes for one.
pub fn svg(graph: &Compiled) -> Option<String> {
    if graph.nodes.len() > MOST_DRAWN {
        return None;
    }
    let (places, width, height) = place(graph);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">"
    );
    out.push_str(OPENING);
    for (from, to) in &graph.edges {
        let ((x1, y1), (x2, y2)) = (places[*from as usize], places[*to as usize]);
        let (x1, y1, x2) = (x1 + WIDTH / 2, y1 + HEIGHT, x2 + WIDTH / 2);
        let (c1, c2) = (y1 + BETWEEN / 2, y2.saturating_sub(BETWEEN / 2));
        let _ = writeln!(out, "<path class=\"e\" d=\"M{x1} {y1}C{x1} {c1} {x2} {c2} {x2} {y2}\"/>");
    }
    for (node, (x, y)) in graph.nodes.iter().zip(&places) {
        draw(node, *x, *y, &mut out);
    }
    out.push_str("</svg>\n");
    Some(out)
}

const OPENING: &str = "\
<style>\
.b{fill:#fff;stroke:#475569}.c{fill:#fef3c7;stroke:#b45309}.e{fill:none;stroke:#94a3b8;marker-end:url(#a)}\
text{text-anchor:middle;fill:#0f172a}.s{font-size:10px;fill:#64748b}\
@media (prefers-color-scheme:dark){.b{fill:#1e293b;stroke:#94a3b8}.c{fill:#451a03;stroke:#f59e0b}\
text{fill:#f1f5f9}.s{fill:#94a3b8}}\
</style>
<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
<path d=\"M0 0L8 4L0 8z\" fill=\"#94a3b8\"/></marker></defs>
";

/// Where each node stands, and how large the picture is. Levels are centred.
fn place(graph: &Compiled) -> (Vec<(u32, u32)>, u32, u32) {
    let levels = graph.levels.iter().max().map_or(0, |most| *most as usize + 1);
    let mut counts = vec![0_u32; levels];
    for level in &graph.levels {
        counts[*level as usize] += 1;
    }
    let row = |count: u32| count * (WIDTH + GAP) - GAP.min(count * GAP);
    let widest = counts.iter().copied().map(row).max().unwrap_or(0);
    let mut next: Vec<u32> = counts.iter().map(|count| GAP + (widest - row(*count)) / 2).collect();
    let places = graph.levels.iter().map(|level| {
        let x = next[*level as usize];
        next[*level as usize] += WIDTH + GAP;
        (x, GAP + level * (HEIGHT + BETWEEN))
    });
    let places = places.collect();
    let height = 2 * GAP + levels as u32 * (HEIGHT + BETWEEN) - BETWEEN.min(levels as u32 * BETWEEN);
    (places, widest + 2 * GAP, height)
}

fn draw(node: &Node, x: u32, y: u32, out: &mut String) {
    let class = if node.is_checkpoint() { "c" } else { "b" };
    let round = match node.kind {
        Kind::Checkpoint => 0,
        Kind::Agent => HEIGHT / 2,
        Kind::Cli | Kind::Command | Kind::Skill => 6,
    };
    let (middle, name, id) = (x + WIDTH / 2, escaped(&node.name, 26), escaped(&node.id, 30));
    let (first, second, title) = (y + 19, y + 35, escaped(&node.name, 300));
    let _ = writeln!(
        out,
        "<g><title>{title}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         rx=\"{round}\"/><text x=\"{middle}\" y=\"{first}\">{name}</text>\
         <text class=\"s\" x=\"{middle}\" y=\"{second}\">{id}</text></g>"
    );
}

/// Text as XML has it. Characters that XML does not know are gone already.
fn escaped(text: &str, longest: usize) -> String {
    let mut escaped = String::new();
    for c in plain(text, longest).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
