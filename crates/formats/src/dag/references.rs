//! What stands in braces in `args_template`: variables of the run, and results of other nodes.

/// One placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder<'a> {
    /// `{goal}`.
    Variable(&'a str),
    /// `{prev_output}` and the like.
    Previous(&'a str),
    /// `{N-001.output_path}`: the id of the node.
    Node(&'a str),
}

const PREVIOUS: [&str; 3] = ["prev_session_id", "prev_output", "prev_output_path"];

/// The placeholders of a template, in their order. Other braces, as in JSON, are text.
pub fn placeholders(template: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        while let Some(open) = rest.find('{') {
            rest = &rest[open + 1..];
            let Some(end) = rest.find(['{', '}']) else { break };
            if rest.as_bytes()[end] == b'}'
                && let Some(found) = placeholder(&rest[..end])
            {
                rest = &rest[end + 1..];
                return Some(found);
            }
        }
        None
    })
}

fn placeholder(inner: &str) -> Option<Placeholder<'_>> {
    if let Some((node, field)) = inner.split_once('.') {
        let is_id = !node.is_empty() && node.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        let is_field = field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && field.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c));
        return (is_id && is_field).then_some(Placeholder::Node(node));
    }
    let is_name = inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_name {
        false => None,
        true if PREVIOUS.contains(&inner) => Some(Placeholder::Previous(inner)),
        true => Some(Placeholder::Variable(inner)),
    }
}

#[cfg(test)]
mod tests {
    use super::Placeholder::{Node, Previous, Variable};
    use super::*;

    #[test]
    fn only_names_and_results_of_nodes_count() {
        let found: Vec<_> = placeholders(
            r#"{goal} --plan {N-001.output_path} {N-2.artifacts[0]} {prev_output} {"a": {b}} { c } {d e} {1.5} {x{y}} {"#,
        )
        .collect();
        let wanted = [
            Variable("goal"),
            Node("N-001"),
            Node("N-2"),
            Previous("prev_output"),
            Variable("b"),
            Variable("y"),
        ];
        assert_eq!(found, wanted);
    }
}
