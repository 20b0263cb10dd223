//! Four layers of what an agent is told, and what becomes of each when there is too much.
//!
//! Invariant: nothing is cut in silence. What is shortened says so, and what may not be shortened is an error.

use serde::Serialize;

use super::{Material, MaterialKind, Shortened, tokens};

/// How dear a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Layer {
    /// Dropped between steps.
    Ephemeral,
    /// Summarised first, or replaced by its path.
    Useful,
    /// Summarised when there is no other way.
    Important,
    /// Never shortened.
    Critical,
}

impl Layer {
    /// The layer of what is given.
    pub fn of(kind: MaterialKind) -> Self {
        match kind {
            MaterialKind::Previous => Self::Useful,
            MaterialKind::Referenced => Self::Important,
        }
    }
}

/// What a summary has at most.
const SUMMARY: u64 = 1000;
/// What is left for the path of a file.
const PATH: u64 = 60;

/// More than fits, although everything was shortened that may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "about {needed} tokens are needed and {budget} fit (limits.max_context_length), although everything was shortened that may be"
)]
pub struct TooLarge {
    /// How many tokens are needed.
    pub needed: u64,
    /// How many fit.
    pub budget: u64,
}

/// Which files are to be shortened so that everything fits: their places, and how.
pub fn shorten_to_fit(
    materials: &[Material],
    fixed: u64,
    budget: u64,
) -> Result<Vec<(usize, usize, Shortened)>, TooLarge> {
    let mut sizes: Vec<(Layer, usize, usize, u64)> = Vec::new();
    for (m, material) in materials.iter().enumerate() {
        for (f, file) in material.files.iter().enumerate() {
            sizes.push((Layer::of(material.kind), m, f, tokens(&file.content)));
        }
    }
    let mut needed = fixed + sizes.iter().map(|(.., size)| size).sum::<u64>();
    let mut shortened: Vec<(usize, usize, Shortened)> = Vec::new();
    // The largest of the least dear layer comes first.
    sizes.sort_by_key(|(layer, _, _, size)| (*layer, std::cmp::Reverse(*size)));
    let steps = [(Layer::Useful, SUMMARY), (Layer::Useful, PATH), (Layer::Important, SUMMARY)];
    for (layer, becomes) in steps {
        for (of, m, f, size) in &mut sizes {
            if needed <= budget {
                return Ok(shortened);
            }
            if *of != layer || *size <= becomes {
                continue;
            }
            needed -= *size - becomes;
            *size = becomes;
            let how = if becomes == PATH { Shortened::PathOnly } else { Shortened::Summarised };
            shortened.retain(|(a, b, _)| (a, b) != (m, f));
            shortened.push((*m, *f, how));
        }
    }
    if needed <= budget { Ok(shortened) } else { Err(TooLarge { needed, budget }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::MaterialFile;

    fn material(kind: MaterialKind, sizes: &[usize]) -> Material {
        let file = |size: &usize| MaterialFile {
            name: format!("f{size}"),
            path: "p".into(),
            format: "md".into(),
            content: "x".repeat(size * 4),
            shortened: None,
        };
        Material { kind, number: 1, version: 1, files: sizes.iter().map(file).collect(), missing: None }
    }

    #[test]
    fn the_least_dear_is_shortened_first() {
        let all =
            [material(MaterialKind::Referenced, &[5000]), material(MaterialKind::Previous, &[2000, 9000])];
        let fit = |budget| shorten_to_fit(&all, 100, budget);
        assert_eq!(fit(20_000), Ok(vec![]));
        assert_eq!(fit(10_000), Ok(vec![(1, 1, Shortened::Summarised)]));
        assert_eq!(fit(7500), Ok(vec![(1, 1, Shortened::Summarised), (1, 0, Shortened::Summarised)]));
        assert_eq!(fit(6500), Ok(vec![(1, 0, Shortened::Summarised), (1, 1, Shortened::PathOnly)]));
        let all_of_it =
            vec![(1, 1, Shortened::PathOnly), (1, 0, Shortened::PathOnly), (0, 0, Shortened::Summarised)];
        assert_eq!(fit(2000), Ok(all_of_it));
        assert_eq!(fit(1000), Err(TooLarge { needed: 1220, budget: 1000 }));
    }
}
