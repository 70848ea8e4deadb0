//! What somebody most likely meant.

/// The known word that is nearest to `wanted`; `None` where all are far away.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let score = |word: &str| strsim::jaro_winkler(wanted, word);
    known
        .into_iter()
        .map(|word| (score(word), word))
        .filter(|(score, _)| *score >= NEAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, word)| word)
}

/// Under this likeness (from 0 to 1) a hint confuses more than it helps; it is
/// also what clap uses for options.
const NEAR: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_has_a_nearest_word_and_nonsense_has_none() {
        let known = ["pane.split", "pane.spawn", "workspace.new"];
        assert_eq!(nearest("pane.splt", known), Some("pane.split"));
        assert_eq!(nearest("qqq", known), None);
    }
}
