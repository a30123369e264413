//! Codes that sqlfluff's rules had before version 2.0, which its configuration may still name.

/// The code of today for each of `L001` to `L068`, in order, as sqlfluff's rules list them among their aliases.
const TODAY: &str = "
    LT01 LT02 LT02 LT02 LT01 LT01 LT03 LT01 LT12 CP01 AL01 AL02 AL03 CP02 ST08 LT05 LT06 LT07 LT04 AL04
    AM01 LT08 LT08 LT01 AL05 RF01 RF02 RF03 RF04 CP03 AL07 ST07 AM02 ST06 ST01 LT09 AM03 CV03 LT01 CP04
    LT10 ST05 ST02 AM04 ST03 JJ01 CV04 LT01 CV05 LT13 AM05 CV06 CV07 AM06 CV08 TQ01 RF05 ST04 RF06 CV02
    CV01 CV09 CP05 CV10 LT11 AL06 CV11 AM07
";

/// sqlfluff's rule that sqruff has not.
const MISSING: &str = "TQ01";

/// A list of rules with the codes of today, without those that sqruff has not.
pub(crate) fn in_list(list: &str) -> String {
    let renamed = list.split(',').map(|it| code(it.trim()).unwrap_or(it));
    renamed.filter(|it| *it != MISSING).collect::<Vec<_>>().join(",")
}

/// The code of today, if it was another.
fn code(old: &str) -> Option<&'static str> {
    let digits = old.strip_prefix(['L', 'l']).filter(|it| it.len() == 3)?;
    let number = digits.parse::<usize>().ok()?.checked_sub(1)?;
    TODAY.split_whitespace().nth(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_codes_are_renamed() {
        assert_eq!(in_list("L003, LT05,l031,aliasing,L056"), "LT02, LT05,AL07,aliasing");
        assert_eq!(in_list("L068,L069,L000,L1,LT01"), "AM07,L069,L000,L1,LT01");
        assert_eq!(in_list("core"), "core");
    }
}
