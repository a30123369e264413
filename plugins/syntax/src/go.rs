//! Types of Go, as far as the argument of `new` has to be told from a value: a type is written in brackets and words
//! (`[]string`), and what follows it makes a value of it (`[]string{"a"}`, `[]byte("a")`).
//!
//! Left out: brackets in strings and comments within a type.

/// Whether the argument in parentheses with which the text begins is a type that cannot be read as a value. Names are not: they
/// can.
pub(crate) fn is_type(argument: &[u8]) -> bool {
    let types: [&[u8]; 6] = [b"[", b"map[", b"chan ", b"struct{", b"func(", b"interface{"];
    let rest = types.iter().any(|it| argument.starts_with(it)).then(|| after_type(argument)).flatten();
    rest.is_some_and(|it| matches!(it.trim_ascii_start().first(), Some(b')' | b',')))
}

/// Returns the text after a type.
fn after_type(text: &[u8]) -> Option<&[u8]> {
    let mut text = text.trim_ascii_start();
    loop {
        let before: [&[u8]; 5] = [b"*", b"<-chan ", b"chan<- ", b"chan ", b"map"];
        let inner = before.iter().find_map(|it| text.strip_prefix(*it));
        text = match inner {
            Some(inner) => inner.trim_ascii_start(),
            // A list, or what is left of a map.
            None if text.starts_with(b"[") => after_brackets(text)?.trim_ascii_start(),
            None => break,
        };
    }
    let length = text.iter().take_while(|it| is_of_name(**it)).count();
    let (name, rest) = text.split_at(length);
    match (name, rest.trim_ascii_start().first()) {
        (b"", Some(b'(')) => after_brackets(text),
        (b"", _) => None,
        (b"struct" | b"interface", _) => after_brackets(rest.trim_ascii_start()),
        (b"func", _) => {
            let rest = after_brackets(rest)?;
            let has_result = !matches!(rest.trim_ascii_start().first(), Some(b')' | b',' | b'{'));
            if has_result { after_type(rest) } else { Some(rest) }
        }
        (_, Some(b'[')) => after_brackets(rest),
        _ => Some(rest),
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || !byte.is_ascii()
}

/// Returns the text after the bracket that closes the one with which the text begins.
fn after_brackets(text: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_usize;
    for (at, it) in text.iter().enumerate() {
        match it {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| &text[at + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_values() {
        for it in [
            "[]int",
            "[3]int",
            "[][]a.B",
            "map[string][]int",
            "map[[2]int]struct{}",
            "chan int",
            "[]chan<- int",
            "[]*a.B[int]",
            "struct{ a int }",
            "interface{ a() }",
            "[]interface{}",
            "func()",
            "func(a int) []string",
            "func() (int, error)",
        ] {
            assert!(is_type(format!("{it})\n").as_bytes()) && is_type(format!("{it}, )").as_bytes()), "{it}");
        }
        for it in [
            "[]string{\"a\"}",
            "[]byte(\"a\")",
            "map[string]int{}",
            "struct{ a int }{1}",
            "[]interface{}{1}",
            "[...]int{1}",
            "func() int { return 1 }()",
            "[]*a.B{}",
            "f(1)",
            "a",
            "\"a\"",
        ] {
            assert!(!is_type(format!("{it})\n").as_bytes()), "{it}");
        }
        for it in ["", "[", "[]", "[]]", "map[", "func(", "struct{"] {
            assert!(!is_type(it.as_bytes()), "{it}");
        }
    }
}
