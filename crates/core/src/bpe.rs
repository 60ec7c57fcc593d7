//! Exact token counts by OpenAI's vocabularies.
//!
//! Estimates are good enough to decide with. Exact counts are for budgets to the token, and for checking the estimates.
//! The vocabularies have several megabytes, hence the feature.

use crate::measure::Vocabulary;

/// The number of tokens of a text.
///
/// ```
/// use secateur::{Vocabulary, count_tokens};
///
/// assert_eq!(count_tokens("hello world", Vocabulary::O200k), 2);
/// ```
pub fn count_tokens(text: &str, vocabulary: Vocabulary) -> u64 {
    let name = match vocabulary {
        Vocabulary::O200k => "o200k_base",
        Vocabulary::Cl100k => "cl100k_base",
    };
    tiktoken::get_encoding(name).map_or(0, |encoding| encoding.count(text) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(text: &str) {
        assert_eq!(
            count_tokens(text, Vocabulary::O200k),
            bpe_openai::o200k_base().count(text) as u64,
            "{text:?}"
        );
        assert_eq!(
            count_tokens(text, Vocabulary::Cl100k),
            bpe_openai::cl100k_base().count(text) as u64,
            "{text:?}"
        );
    }

    #[test]
    fn known_texts_count_as_another_implementation_counts_them() {
        for text in
            ["", "hello world", "fn main() {\n    println!(\"hi\");\n}\n", "漢字 한국어 😀", "    \t\n\n  x"]
        {
            agrees(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn any_text_counts_as_another_implementation_counts_it(text in "\\PC{0,200}") {
            agrees(&text);
        }
    }
}
