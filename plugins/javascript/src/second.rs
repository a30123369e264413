//! The syntax of a file by a second parser, oxc's, beside swc's, from which the rules' trees are.
//!
//! oxc reports errors that swc passes over (names that are declared twice, private names that no class has), and accepts code
//! that swc wrongly takes for an error. It is not used for files that are nested deeper than any program that people write.

use std::ops::Range;
use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Semantic, SemanticBuilder};
use oxc_span::{GetSpan, SourceType};

use crate::imports::{self, Import};
use crate::nesting;

/// The deepest that is parsed: a part of what swc is given.
const DEEPEST: usize = 400;

/// A keyword of modules and of async functions, and a name elsewhere.
const AWAIT: &str = "await";

/// A file as oxc reads it.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Without those that are TypeScript's alone, of the meaning of a program.
    pub(crate) errors: Vec<Error>,
    /// Whether there is no error at all, and no `await` that is a name by mistake.
    pub(crate) is_valid: bool,
    /// Whether the file is a script that declares something of the name `await`.
    pub(crate) names_await: bool,
    pub(crate) imports: Vec<Import>,
}

/// Error for which an engine would refuse the file.
#[derive(Debug, PartialEq)]
pub(crate) struct Error {
    pub(crate) message: String,
    pub(crate) bytes: Range<usize>,
}

/// None where oxc cannot be asked.
pub(crate) fn read(path: &Path, text: &str) -> Option<Reading> {
    if nesting::depth(text) > DEEPEST {
        return None;
    }
    let kinds = source_types(path)?;
    let mut readings = kinds.into_iter().map(|it| read_as(it, text));
    let first = readings.next()?;
    if first.is_valid {
        return Some(first);
    }
    Some(readings.find(|it| it.is_valid).unwrap_or(first))
}

/// Types that a file may have, likeliest first, as other tools than deno read it: with JSX in any JavaScript. A file that has no
/// import and no export is a script, a CommonJS module, or a module if that alone makes it valid.
fn source_types(path: &Path) -> Option<Vec<SourceType>> {
    let it = SourceType::from_path(path).ok()?;
    let it = if it.is_typescript() { it } else { it.with_jsx(true) };
    let is_open = matches!(path.extension()?.to_str()?, "js" | "jsx" | "ts" | "tsx");
    let open = [it.with_unambiguous(true), it.with_commonjs(true), it.with_module(true)];
    Some(if is_open && !it.is_typescript_definition() { open.to_vec() } else { vec![it] })
}

fn read_as(kind: SourceType, text: &str) -> Reading {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, kind).with_options(options).parse();
    let is_script = parsed.program.source_type.is_script();
    if !parsed.diagnostics.is_empty() {
        return Reading {
            errors: parsed.diagnostics.iter().filter_map(error).collect(),
            is_valid: false,
            names_await: false,
            imports: Vec::new(),
        };
    }
    let semantic =
        SemanticBuilder::new().with_check_syntax_error(true).with_build_nodes(true).build(&parsed.program);
    let mut errors: Vec<_> = semantic.diagnostics.iter().filter_map(error).collect();
    let scopes = semantic.semantic.scoping();
    let names_await = is_script && scopes.symbol_names().any(|it| it == AWAIT);
    // `await (a)` in a function that is not async is a call, and not what is meant.
    let is_valid =
        errors.is_empty() && (names_await || !scopes.root_unresolved_references().contains_key(AWAIT));
    if kind.is_typescript() {
        let members = members(&semantic.semantic);
        errors.retain(|it| is_of_every_engine(&it.message) && !members.contains(&it.bytes.start));
    }
    let imports = imports::all(&semantic.semantic);
    Reading { errors, is_valid, names_await, imports }
}

/// Whether an error in TypeScript is one of JavaScript's as well. Others, as of overloads, are the type checker's.
fn is_of_every_engine(message: &str) -> bool {
    let is_redeclared =
        message.starts_with("Identifier `") && message.ends_with("` has already been declared");
    is_redeclared || message.starts_with("Private field '#") || message.starts_with("Private identifier '#")
}

/// Offsets of the names of public members of classes, which JavaScript lets repeat.
fn members(semantic: &Semantic<'_>) -> Vec<usize> {
    let key = |it: AstKind<'_>| match it {
        AstKind::MethodDefinition(it) => Some(&it.key).map(|it| (it.is_private_identifier(), it.span())),
        AstKind::PropertyDefinition(it) => Some(&it.key).map(|it| (it.is_private_identifier(), it.span())),
        AstKind::AccessorProperty(it) => Some(&it.key).map(|it| (it.is_private_identifier(), it.span())),
        _ => None,
    };
    let keys = semantic.nodes().iter().filter_map(|it| key(it.kind()));
    keys.filter(|it| !it.0).map(|it| it.1.start as usize).collect()
}

fn error(it: &OxcDiagnostic) -> Option<Error> {
    // The last place is that of the second declaration.
    let label = it.labels.as_slice().last()?;
    let bytes = label.offset() as usize..(label.offset() + label.len()) as usize;
    Some(Error { message: it.message.to_string(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(name: &str, text: &str) -> Vec<String> {
        let reading = read(Path::new(name), text).unwrap();
        reading.errors.into_iter().map(|it| format!("{} {}", &text[it.bytes], it.message)).collect()
    }

    #[test]
    fn what_every_engine_refuses() {
        for (text, place) in [
            ("let size = 1; let size = 2;", "size"),
            ("const a = 1; var a = 2;", "a"),
            ("function f(row) { const row = 1; }", "row"),
            ("try {} catch (e) { let e; }", "e"),
            ("class A { #n; #n; }", "#n"),
            ("class A { get() { return this.#gone; } }", "#gone"),
            ("a.#b;", "#b"),
            ("switch (a) { case 1: let b; break; case 2: let b; }", "b"),
        ] {
            for name in ["a.js", "a.ts"] {
                let found = errors(name, text);
                assert!(
                    matches!(&found[..], [it] if it.starts_with(&format!("{place} "))),
                    "{name} {text} {found:?}"
                );
            }
        }
        let imported = "import { read } from 'b'; const read = 1;";
        assert_eq!(errors("a.js", imported).len(), 1);
        assert_eq!(errors("a.ts", imported).len(), 0, "it may be a type");
        assert_eq!(errors("a.js", "export default 1;\nexport default 2;").len(), 1);
        assert_eq!(errors("a.ts", "export default 1;\nexport default 2;").len(), 0, "the type checker's");
    }

    #[test]
    fn what_no_engine_refuses() {
        for text in [
            "var a = 1; var a = 2; function a() {} function a() {}",
            "function f(a, a) { var a; } try {} catch (e) { var e; }",
            "let b = 1; { let b = 2; } if (c) { function b() {} }",
            "function f() { var await; return await(2); }",
            "const a = await b; for await (const c of d) e();",
            "return; with (a) b; if (new.target) c = 010;",
            "class A { static constructor() {} static constructor() {} get #b() {} set #b(c) {} d; d; }",
            "f('\\ud800\\u{20000}', <a>&#;</a>);",
        ] {
            assert_eq!(errors("a.js", text), [""; 0], "{text}");
        }
        for text in [
            "function f(a: string): void; function f(a: number): void; function f(a: any) {}",
            "interface A { b: 1 } interface A { c: 2 } class A {} namespace A { export const d = 1; }",
            "enum A { B } enum A { C = 1 } function g() {} namespace g { export type h = 1; }",
            "declare function f(a: 1): 2; declare let b: number; type c = 1; const c = 2;",
            "export default function f(): void; export default function f(a?: 1) {}",
            "export default interface A {} export default function f() {}",
            "import { A } from 'b'; type C = A; import type { D } from 'b'; const D = 1;",
            "abstract class A { abstract b(): void; constructor(a: 1); constructor(a: any) {} c: 1; c(): 2; d() {} d() {} }",
        ] {
            assert_eq!(errors("a.ts", text), [""; 0], "{text}");
        }
        assert!(read(Path::new("a.css"), "").is_none());
        assert!(read(Path::new("a.js"), &"(".repeat(500)).is_none());
    }

    #[test]
    fn what_a_type_checker_refuses_is_not_valid() {
        let reading = read(Path::new("a.ts"), "function f(a?: 1, b: 2) {}").unwrap();
        assert_eq!((reading.errors.len(), reading.is_valid), (0, false));
    }

    #[test]
    fn await_as_a_name() {
        let names_await = |name, text| read(Path::new(name), text).unwrap().names_await;
        assert!(names_await("a.js", "var await = 1;"));
        assert!(names_await("a.js", "f(function (await) {});"));
        assert!(!names_await("a.js", "function f() { await(1); }"), "declared nowhere");
        assert!(!names_await("a.js", "await a();"));
        assert!(!names_await("a.js", "var await; export {};"));
    }
}
