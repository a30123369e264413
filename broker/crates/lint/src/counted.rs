//! Numbers of things in messages.

/// `1 file`, `2 files`, `2 branches`. `what` is the singular.
pub fn counted(count: impl TryInto<u64>, what: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let ending = match count {
        1 => "",
        _ if what.ends_with(['x', 's']) || what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {what}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let counted: Vec<_> = ["rule", "branch", "fix"]
            .iter()
            .flat_map(|what| [0, 1, 2].map(|count: usize| counted(count, what)))
            .collect();
        let want = [
            "0 rules",
            "1 rule",
            "2 rules",
            "0 branches",
            "1 branch",
            "2 branches",
            "0 fixes",
            "1 fix",
            "2 fixes",
        ];
        assert_eq!(counted, want);
    }
}
