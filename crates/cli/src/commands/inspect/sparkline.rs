//! Numbers as a bar chart of one line.

/// At most `width` bars. Each shows the largest of its numbers, scaled to the largest of all.
pub(super) fn line(values: &[u64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = values.iter().copied().max().unwrap_or(0).max(1);
    let count = values.len().min(width.max(1));
    let bar = |index: usize| {
        let (start, end) = (index * values.len() / count, (index + 1) * values.len() / count);
        let largest =
            values.get(start..end.max(start + 1)).and_then(|run| run.iter().max()).copied().unwrap_or(0);
        let step = u128::from(largest) * (BARS.len() as u128 - 1) / u128::from(top);
        BARS.get(step as usize).copied().unwrap_or(' ')
    };
    (0..count).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_largest_number_is_the_tallest_bar() {
        assert_eq!(line(&[], 10), "");
        assert_eq!(line(&[0, 5, 10], 10), "▁▄█");
        assert_eq!(line(&[1, 9, 1, 1], 2), "█▁");
        assert_eq!(line(&[0], 10), "▁");
    }
}
