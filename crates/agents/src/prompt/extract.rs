//! A shorter form of a text without a model: headings, first and last lines.

/// Lines kept at the beginning and at the end.
const EDGE: usize = 10;
/// Bytes of one line that are kept.
const LINE: usize = 300;
/// Headings kept between.
const HEADINGS: usize = 40;

/// Headings and edges of a text, with how much was left out.
pub fn extract(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= 2 * EDGE && text.len() <= 2 * EDGE * LINE {
        return text.to_owned();
    }
    let (first, last) = (lines.len().min(EDGE), lines.len().saturating_sub(EDGE).max(EDGE.min(lines.len())));
    let headings = lines[first..last].iter().filter(|line| line.trim_start().starts_with('#')).take(HEADINGS);
    let mut kept: Vec<String> = lines[..first].iter().map(|line| cut(line)).collect();
    kept.push(format!("[… {} lines left out; their headings:]", last - first));
    kept.extend(headings.map(|line| cut(line)));
    kept.push("[… the end:]".to_owned());
    kept.extend(lines[last..].iter().map(|line| cut(line)));
    kept.join("\n")
}

fn cut(line: &str) -> String {
    match line.char_indices().find(|(at, _)| *at >= LINE) {
        Some((at, _)) => format!("{} [… {} bytes left out]", &line[..at], line.len() - at),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        let text: String =
            (0..100).map(|n| if n == 50 { "# Middle\n".into() } else { format!("line {n}\n") }).collect();
        let short = extract(&text);
        assert!(
            short.contains("line 0") && short.contains("line 99") && short.contains("# Middle"),
            "{short}"
        );
        assert!(short.contains("80 lines left out") && !short.contains("line 40"), "{short}");
        assert_eq!(extract("short"), "short");
        assert!(extract(&"y".repeat(100_000)).len() < 1000);
    }
}
