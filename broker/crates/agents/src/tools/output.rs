//! Reports of commands, recognised in their output.

/// Words by which programs report that they reached no other machine.
const UNREACHED: [&str; 11] = [
    "Could not resolve host",
    "Could not resolve hostname",
    "Temporary failure in name resolution",
    "Temporary failure resolving",
    "Name or service not known",
    "Network is unreachable",
    "NameResolutionError",
    "getaddrinfo",
    "ENETUNREACH",
    "dns error",
    "dial tcp: lookup",
];

/// Whether a command reported that it has no network.
pub(super) fn lacks_network(output: &str) -> bool {
    UNREACHED.iter().any(|it| output.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reached_no_machine_says_so() {
        assert!(lacks_network("curl: (6) Could not resolve host: x.y"));
        assert!(!lacks_network("error: the host is wrong"));
    }
}
