//! Parameters of a definition, and whether a call fits them: by number and name everywhere, by type where types are written.

use syntax::{Arguments, Language};

/// Text of a definition between its name and its body, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signature {
    /// Parameters in their order, without the object that a method is called on.
    parameters: Vec<Parameter>,
    /// Type of what is returned, with all that stands behind the parameters.
    result: String,
    /// Whether the language checks types, so that a call with the right number of arguments may still be wrong.
    is_typed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Parameter {
    name: String,
    kind: String,
    form: Form,
}

/// Form in which a parameter takes its argument.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Required,
    Optional,
    /// By name alone.
    Named,
    NamedOptional,
    /// Any number, by position or by name.
    Rest,
    NamedRest,
}

impl Signature {
    /// `head` is the text behind the name, up to the body; `None` if it has no parameters.
    pub(super) fn of(language: Language, head: &str) -> Option<Self> {
        let open = head.find('(')?;
        let before = head[..open].trim();
        // Type parameters may stand in between, and what makes a function of a variable in JavaScript.
        let is_function = |it: &str| matches!(it, "=" | "async" | "function" | "function*" | "*" | "?" | "!");
        if !before.starts_with(['<', '[']) && !before.split_whitespace().all(is_function) {
            return None;
        }
        let inner = &head[open + 1..];
        let close = end_of_brackets(language, inner)?;
        let is_typed = !matches!(language.name(), "python" | "javascript" | "ruby" | "lua" | "php");
        let mut parameters = Vec::new();
        let mut named_only = false;
        for part in split(language, &inner[..close]) {
            match part {
                "*" => named_only = true,
                "/" | "void" => {}
                _ => parameters.push(Parameter::of(language, part, &mut named_only)),
            }
        }
        if language.name() == "go" {
            share_types(&mut parameters);
        }
        let is_object = |it: &Parameter| matches!(&*it.name, "self" | "cls" | "this");
        if parameters.first().is_some_and(is_object) {
            parameters.remove(0);
        }
        let result = if is_typed { without_spaces(&inner[close + 1..]) } else { String::new() };
        Some(Self { parameters, result, is_typed })
    }

    /// Whether a call with these arguments is right, as far as their number and names say. `of_type`: it is named by its type, so
    /// that the object may be among the arguments.
    fn takes(&self, call: &Arguments, of_type: bool) -> bool {
        let has = |form: Form| self.parameters.iter().any(|it| it.form == form);
        let named = |name: &str| self.parameters.iter().any(|it| it.name == name && it.form != Form::Rest);
        if !has(Form::NamedRest) && call.named.iter().any(|it| !named(it)) {
            return false;
        }
        if call.is_open {
            return true;
        }
        let by_place = self.parameters.iter().filter(|it| matches!(it.form, Form::Required | Form::Optional));
        let missing = |it: &&Parameter| !call.named.contains(&it.name);
        let rest: Vec<_> = by_place.clone().skip(call.positional).collect();
        let is_whole = rest.iter().all(|it| it.form == Form::Optional || !missing(it))
            && !self.parameters.iter().filter(missing).any(|it| it.form == Form::Named);
        let fits = is_whole && (has(Form::Rest) || call.positional <= by_place.count());
        fits || of_type && call.positional > 0 && {
            let positional = call.positional - 1;
            self.takes(&Arguments { positional, ..call.clone() }, false)
        }
    }

    /// Whether the call, which was right for `before`, may be wrong now.
    pub(super) fn breaks(&self, before: &Self, call: &Arguments, of_type: bool) -> bool {
        !self.takes(call, of_type) || self.is_typed && self.types_differ(before, call.positional)
    }

    /// Whether a use that is no call may be wrong that was right for `before`: some calls are not taken any more.
    pub(super) fn is_narrower(&self, before: &Self) -> bool {
        let required = |it: &Self| it.parameters.iter().filter(|it| it.form == Form::Required).count();
        let most = |it: &Self| match it.parameters.iter().any(|it| it.form == Form::Rest) {
            true => usize::MAX,
            false => {
                it.parameters.iter().filter(|it| matches!(it.form, Form::Required | Form::Optional)).count()
            }
        };
        required(self) > required(before)
            || most(self) < most(before)
            || self.is_typed && self.types_differ(before, usize::MAX)
    }

    fn types_differ(&self, before: &Self, arguments: usize) -> bool {
        let types = |it: &Self| it.parameters.iter().map(|it| it.kind.clone()).collect::<Vec<_>>();
        let (now, then) = (types(self), types(before));
        let shared = now.len().min(then.len()).min(arguments);
        self.result != before.result || now[..shared] != then[..shared]
    }
}

impl Form {
    /// The form that signs say, or a word before the name.
    fn by_sign(language: Language, declared: &str) -> Option<Self> {
        let begins = |sign| declared.starts_with(sign);
        Some(match language.name() {
            "python" | "ruby" if begins("**") => Self::NamedRest,
            "python" | "ruby" if begins("*") => Self::Rest,
            // A block is no argument.
            "ruby" if begins("&") => Self::NamedOptional,
            "ruby" if declared.ends_with(':') => Self::Named,
            "ruby" if declared.contains(':') => Self::NamedOptional,
            "csharp" if begins("params ") => Self::Rest,
            "scala" if declared.ends_with('*') => Self::Rest,
            _ if declared.contains("...") || begins("vararg ") => Self::Rest,
            _ => return None,
        })
    }
}

impl Parameter {
    fn of(language: Language, part: &str, named_only: &mut bool) -> Self {
        let (declared, default) = match default_of(part) {
            Some(at) => (part[..at].trim(), true),
            None => (part.trim(), false),
        };
        let bare = declared.trim_start_matches(['*', '.', '&', '@']).trim_start_matches("mut ").trim_start();
        let (name, kind) = match language.name() {
            "go" => bare.split_once(' ').unwrap_or((bare, "")),
            "java" | "c" | "cpp" | "csharp" | "dart" => {
                bare.rsplit_once([' ', '*', '&']).map_or((bare, ""), |(kind, name)| (name, kind))
            }
            _ => bare.split_once(':').unwrap_or((bare, "")),
        };
        let form = match (Form::by_sign(language, declared), default || name.ends_with('?')) {
            (Some(form), _) => form,
            (None, true) if *named_only => Form::NamedOptional,
            (None, false) if *named_only => Form::Named,
            (None, true) => Form::Optional,
            (None, false) => Form::Required,
        };
        *named_only |= language.name() == "python" && form == Form::Rest;
        let name = name.trim().trim_end_matches('?').rsplit(' ').next().unwrap_or_default();
        Self { name: name.to_owned(), kind: without_spaces(kind), form }
    }
}

/// In Go, names before a type share it.
fn share_types(parameters: &mut [Parameter]) {
    if parameters.iter().all(|it| it.kind.is_empty()) {
        parameters.iter_mut().for_each(|it| it.kind = std::mem::take(&mut it.name));
        return;
    }
    let mut last = String::new();
    for it in parameters.iter_mut().rev() {
        if it.kind.is_empty() {
            it.kind.clone_from(&last);
        }
        last.clone_from(&it.kind);
    }
}

fn without_spaces(text: &str) -> String {
    text.chars()
        .filter(|it| !it.is_whitespace())
        .collect::<String>()
        .trim_end_matches([':', '=', '>', ',', ';'])
        .to_owned()
}

/// Position of the `=` before a default.
fn default_of(part: &str) -> Option<usize> {
    let is_default = |(at, _): &(usize, &str)| !part[at + 1..].starts_with(['=', '>']);
    part.match_indices('=').find(is_default).map(|it| it.0)
}

/// Position of the bracket that closes what is open before the text.
fn end_of_brackets(language: Language, text: &str) -> Option<usize> {
    Brackets::of(language).find(text, |it, depth| depth == 0 && it == ')')
}

/// The parts between commas that are in no brackets.
fn split(language: Language, text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(at) = Brackets::of(language).find(rest, |it, depth| depth == 0 && it == ',') {
        parts.push(rest[..at].trim());
        rest = &rest[at + 1..];
    }
    parts.push(rest.trim());
    parts.retain(|it| !it.is_empty());
    parts
}

/// Scanner that tracks bracket depth and string literals.
struct Brackets {
    /// Whether `'` begins a literal, and no lifetime.
    has_single_quotes: bool,
    depth: usize,
    quote: Option<char>,
    last: char,
}

impl Brackets {
    fn of(language: Language) -> Self {
        Self { has_single_quotes: language.name() != "rust", depth: 0, quote: None, last: ' ' }
    }

    fn find(mut self, text: &str, is_it: impl Fn(char, usize) -> bool) -> Option<usize> {
        text.char_indices().find(|(_, it)| self.is_found(*it, &is_it)).map(|it| it.0)
    }

    fn is_found(&mut self, it: char, is_it: &impl Fn(char, usize) -> bool) -> bool {
        let last = std::mem::replace(&mut self.last, it);
        if let Some(quote) = self.quote {
            self.quote = (it != quote || last == '\\').then_some(quote);
            return false;
        }
        if is_it(it, self.depth) {
            return true;
        }
        match it {
            '"' | '`' => self.quote = Some(it),
            '\'' if self.has_single_quotes => self.quote = Some(it),
            '(' | '[' | '{' | '<' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            '>' if !matches!(last, '=' | '-') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(language: &str, head: &str) -> Signature {
        Signature::of(Language::named(language).unwrap(), head).unwrap()
    }

    #[track_caller]
    fn breaks(language: &str, before: &str, after: &str, positional: usize, named: &[&str]) -> bool {
        let named = named.iter().map(|it| (*it).to_owned()).collect();
        let call = Arguments { positional, named, is_open: false };
        signature(language, after).breaks(&signature(language, before), &call, false)
    }

    #[test]
    fn calls_of_python_fit_by_number_and_name() {
        let python =
            |before, after, positional, named: &[&str]| breaks("python", before, after, positional, named);
        assert!(python("(a)", "(a, b)", 1, &[]));
        assert!(!python("(a)", "(a, b=(1, 2), *c, **d)", 1, &[]));
        assert!(python("(a, b)", "(a, c)", 1, &["b"]) && !python("(a, b)", "(a, c)", 2, &[]));
        assert!(python("(self, a, b=1)", "(self, a)", 2, &[]));
        assert!(python("(a)", "(a, *, b)", 1, &[]) && !python("(a)", "(a, *, b)", 1, &["b"]));
        assert!(!python("(a: int) -> int:", "(b: str) -> str:", 1, &[]));
        assert!(python("(a)", "(a, /, *, b: dict[str, int])", 1, &[]));
    }

    #[test]
    fn calls_where_types_are_written_fit_by_type() {
        assert!(!breaks("go", "(a, b int) error", "(x int, y int) error", 2, &[]));
        assert!(breaks("go", "(a int) error", "(a string) error", 1, &[]));
        assert!(breaks("go", "(a int)", "(a int) error", 1, &[]));
        assert!(!breaks("go", "(a int)", "(a int, rest ...string)", 1, &[]));
        assert!(breaks(
            "typescript",
            "(a: Map<string, number>)",
            "(a: Map<string, number>, b: () => void)",
            1,
            &[]
        ));
        assert!(!breaks(
            "typescript",
            " = async (a: string) =>",
            " = async (a: string, b?: number) =>",
            1,
            &[]
        ));
        assert!(breaks("rust", "<T>(&self, a: &'a str) -> u8", "<T>(&self, a: &'a str) -> u16", 1, &[]));
        assert!(!breaks("rust", "(&self, a: u8)", "(&mut self, b: u8)", 1, &[]));
    }

    #[test]
    fn lifetimes_are_no_literals() {
        let parameters = |head| signature("rust", head).parameters.len();
        assert_eq!(parameters("(a: Foo<'a, 'b>, c: u8)"), 2);
        assert_eq!(parameters("(f: Box<dyn Fn() + 'static>) -> u8"), 1);
        assert_eq!(signature("python", "(a=')', b=\"(\")").parameters.len(), 2);
    }

    #[test]
    fn forms_are_written_in_many_ways() {
        let forms = |language, head| {
            let parameters = signature(language, head).parameters.into_iter();
            parameters.map(|it| format!("{} {:?}", it.name, it.form)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(
            forms("ruby", "(a, b = 1, *c, d:, e: 2, **f, &g)"),
            "a Required, b Optional, c Rest, d Named, e NamedOptional, f NamedRest, g NamedOptional"
        );
        assert_eq!(forms("csharp", "(int a, params string[] b)"), "a Required, b Rest");
        assert_eq!(forms("scala", "(a: Int, b: String*)"), "a Required, b Rest");
        assert_eq!(forms("kotlin", "(a: Int, vararg b: String)"), "a Required, b Rest");
        assert!(!breaks("ruby", "(a)", "(a, *b, c: 1, &d)", 1, &[]));
        assert!(breaks("ruby", "(a)", "(a, c:)", 1, &[]) && !breaks("ruby", "(a)", "(a, c:)", 1, &["c"]));
    }

    #[test]
    fn an_object_may_be_an_argument() {
        let it = signature("python", "(self, a)");
        let call = Arguments { positional: 2, ..Arguments::default() };
        assert!(!it.takes(&call, false) && it.takes(&call, true));
    }

    #[test]
    fn what_is_passed_on_is_wrong_where_calls_are_not_taken_any_more() {
        let narrower = |before, after| signature("python", after).is_narrower(&signature("python", before));
        assert!(narrower("(a)", "(a, b)") && narrower("(a, b)", "(a)") && narrower("(*a)", "(a)"));
        assert!(!narrower("(a)", "(a, b=1)") && !narrower("(a)", "(b)"));
    }

    #[test]
    fn what_is_no_function_has_no_parameters() {
        let python = Language::named("python").unwrap();
        assert_eq!(Signature::of(python, " = f(1)"), None);
        assert_eq!(Signature::of(python, ":\n"), None);
    }
}
