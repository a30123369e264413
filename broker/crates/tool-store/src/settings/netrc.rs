//! `.netrc`, where pip looks for passwords.

/// Name and password for a host.
pub(super) fn login(text: &str, host: &str) -> Option<(String, String)> {
    let mut words =
        text.lines().filter(|it| !it.trim_start().starts_with('#')).flat_map(str::split_whitespace);
    let (mut is_of_host, mut name, mut password) = (false, None, None);
    while let Some(word) = words.next() {
        match word {
            "machine" | "default" => {
                if is_of_host {
                    break;
                }
                is_of_host = word == "default" || words.next() == Some(host);
            }
            "login" if is_of_host => name = words.next(),
            "password" if is_of_host => password = words.next(),
            "login" | "password" | "account" => drop(words.next()),
            _ => {}
        }
    }
    (is_of_host && name.is_some())
        .then(|| (name.unwrap_or_default().to_owned(), password.unwrap_or_default().to_owned()))
}
