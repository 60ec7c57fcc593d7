//! How far the work is: numbers of steps, as calls, results and summaries carry them.

/// The highest step of a piece of work that a text mentions, as `step 17 of long` or `step_017_long_1`.
pub(super) fn highest(text: &str, work: &str) -> Option<u64> {
    mentions(text, "step ", " of ")
        .chain(mentions(text, "step_", "_"))
        .filter_map(|(number, rest)| {
            let name = rest.split(|letter: char| !is_name(letter)).next().unwrap_or_default();
            (name == work).then_some(number)
        })
        .max()
}

/// How a sentence names a step.
pub(super) fn spoken(number: u64, work: &str) -> String {
    format!("step {number} of {work}")
}

/// How the id of a call names it.
pub(super) fn id(number: u64, work: &str, call: u64) -> String {
    format!("step_{number:03}_{work}_{call}")
}

/// The step and the call that the id of a call names, if it is of this piece of work.
pub(super) fn of_id(id: &str, work: &str) -> Option<(u64, u64)> {
    let (number, rest) = mentions(id, "step_", "_").next()?;
    let call = rest.strip_prefix(work)?.strip_prefix('_')?;
    Some((number, call.parse().ok()?))
}

/// Whether a letter can be in the name of a piece of work.
pub(super) fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

/// The numbers between two words, each with what comes behind.
fn mentions<'t>(text: &'t str, before: &'t str, behind: &'t str) -> impl Iterator<Item = (u64, &'t str)> {
    text.match_indices(before).filter_map(move |(at, _)| {
        let rest = text.get(at + before.len()..)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        Some((number.parse().ok()?, rest.strip_prefix(behind)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_step_of_the_same_work_counts() {
        let text = "step 3 of long, step_012_long_2, step 40 of long-b; Reached step 7 of long.";
        assert_eq!(highest(text, "long"), Some(12));
        assert_eq!(highest(text, "long-b"), Some(40));
        assert_eq!(highest("two steps of long", "long"), None);
    }

    #[test]
    fn an_id_says_which_call_of_which_step_it_is() {
        assert_eq!(of_id("toolu_step_012_long_2", "long"), Some((12, 2)));
        assert_eq!(of_id("toolu_step_012_long-b_2", "long"), None);
    }
}
