//! What somebody most likely meant.

/// The known word that is nearest to `wanted`; `None` where all are far away.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let score = |word: &str| {
        // What they share up to a dot says nothing of what was meant behind it.
        let group = wanted.rfind('.').map_or(0, |dot| dot + 1);
        match (wanted.split_at_checked(group), word.split_at_checked(group)) {
            (Some((ours, rest)), Some((theirs, other))) if ours == theirs => {
                strsim::jaro_winkler(rest, other)
            }
            _ => strsim::jaro_winkler(wanted, word),
        }
    };
    known
        .into_iter()
        .map(|word| (score(word), word))
        .filter(|(score, _)| *score >= NEAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, word)| word)
}

/// Ids with a typing error in `typed`, which is the beginning of one, or all of it:
/// one character is missing, too many, another, or exchanged with its neighbour.
/// Ids are random, so few characters could be the beginning of many.
#[cfg(feature = "daemon")]
pub(crate) fn mistyped<'a>(
    typed: &'a str,
    ids: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    let len = typed.len();
    let near = move |id: &str| {
        let starts = (len - 1..=len + 1).filter_map(|len| id.get(..len.min(id.len())));
        starts.into_iter().any(|start| strsim::osa_distance(typed, start) <= 1)
    };
    ids.into_iter().filter(move |id| len >= CERTAIN && near(id))
}

/// Characters of a random id that are nobody's by chance.
#[cfg(feature = "daemon")]
const CERTAIN: usize = 6;

/// Under this likeness (from 0 to 1) a hint confuses more than it helps.
const NEAR: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_has_a_nearest_word_and_nonsense_has_none() {
        let known = ["pane.split", "pane.spawn", "workspace.new"];
        assert_eq!(nearest("pane.splt", known), Some("pane.split"));
        assert_eq!(nearest("qqq", known), None);
        assert_eq!(nearest("pane.frobnicate", ["pane.terminate"]), None, "only a group is shared");
    }

    #[test]
    #[cfg(feature = "daemon")]
    fn an_id_is_found_with_one_typing_error_and_not_by_chance() {
        let ids = ["abcdefgh234567ab", "zzcdefgh234567ab", "qwertyuiopasdfgh"];
        let found = |typed| mistyped(typed, ids).collect::<Vec<_>>();
        for typed in [
            "abcdefgh234567aa",
            "bacdefgh234567ab",
            "abcdefg234567ab",
            "abcdefghh234567ab",
            "abcdfgh2",
            "acbdef",
        ] {
            assert_eq!(found(typed), [ids[0]], "{typed}");
        }
        for typed in ["", "a", "abcdf", "abdcegfh234567ab", "no"] {
            assert!(found(typed).is_empty(), "{typed}");
        }
    }
}
