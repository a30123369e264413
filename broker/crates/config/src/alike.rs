//! Which of the known names is most like one that is not known.

/// Like [`closest`], but also accepts one edit in a short name, such as `ty`, where the similarity is low.
pub(crate) fn closest_linter<'c>(
    name: &str,
    known: impl Iterator<Item = &'c str> + Clone,
) -> Option<&'c str> {
    let is_one_slip = |it: &&str| strsim::damerau_levenshtein(name, it) == 1;
    closest(name, known.clone()).or_else(|| known.into_iter().find(is_one_slip))
}

/// The candidate that `text` may be a slip of.
pub fn closest<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    const ALIKE: f64 = 0.7;
    best(text, candidates).filter(|(score, _)| *score >= ALIKE).map(|(_, it)| it)
}

/// The candidate that is most like `text`, however little that is.
pub(crate) fn nearest<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    best(text, candidates).map(|(_, it)| it)
}

fn best<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<(f64, &'c str)> {
    let text = text.to_lowercase();
    let alike = candidates.map(|it| (strsim::normalized_damerau_levenshtein(&text, &it.to_lowercase()), it));
    alike.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_found_where_none_is_close() {
        let known = ["no-empty", "no-unused-vars", "eqeqeq"];
        assert_eq!(closest("nope", known.into_iter()), None);
        assert_eq!(nearest("nope", known.into_iter()), Some("no-empty"));
        assert_eq!(nearest("nope", std::iter::empty()), None);
    }
}
