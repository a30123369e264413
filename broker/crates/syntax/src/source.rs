//! Text of a file that is read by a grammar: all of it, or the scripts of a component of Vue or Svelte.

use std::{ops::Range, sync::Arc};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};

use crate::{Language, Tree, Trees};

/// A language and a text in it, in which all is where it is in the file.
struct Source {
    language: Language,
    text: Bytes,
}

impl Source {
    fn of(path: &WorkspacePath, text: &Bytes) -> Option<Self> {
        match path.extension() {
            Some("vue" | "svelte") => scripts(text),
            _ => Some(Self { language: Language::of(path)?, text: text.clone() }),
        }
    }
}

impl Trees {
    /// The tree of a file: of the scripts of a component, of C++ where a header is none of C.
    pub fn of_file(
        &self,
        path: &WorkspacePath,
        text: &Bytes,
        content: ContentHash,
        give_up: &dyn Fn() -> bool,
    ) -> Option<Arc<Tree>> {
        let source = Source::of(path, text)?;
        let is_whole = source.text == *text;
        let content = if is_whole { content } else { ContentHash::of(&source.text) };
        let tree = self.tree(source.language, source.text, content, give_up).ok()?;
        if path.extension() == Some("h") && tree.has_error() {
            let cpp = self.tree(Language::named("cpp")?, text.clone(), content, give_up);
            return Some(cpp.ok().filter(|it| !it.has_error()).unwrap_or(tree));
        }
        Some(tree)
    }
}

/// The scripts of a component, with blanks for all else; those in another language than the first are left out.
fn scripts(text: &[u8]) -> Option<Source> {
    let (mut language, mut kept, mut at) = (None, Vec::new(), 0);
    while let Some(script) = next_script(text, at) {
        at = script.body.end;
        if *language.get_or_insert(script.language) == script.language {
            kept.push(script.body);
        }
    }
    let blank = |(at, byte): (usize, &u8)| match byte {
        b'\n' | b'\r' => *byte,
        _ if kept.iter().any(|it| it.contains(&at)) => *byte,
        _ => b' ',
    };
    let text = text.iter().enumerate().map(blank).collect();
    Some(Source { language: Language::named(language?)?, text })
}

struct Script {
    language: &'static str,
    body: Range<usize>,
}

/// The first script that begins at `from` or after it.
fn next_script(text: &[u8], from: usize) -> Option<Script> {
    let mut at = from;
    loop {
        at = find(text, b"<script", at)? + b"<script".len();
        if text.get(at).is_some_and(|it| it.is_ascii_whitespace() || *it == b'>') {
            break;
        }
    }
    let start = at + tag_end(&text[at..])?;
    let attributes = String::from_utf8_lossy(&text[at..start]);
    let end = find(text, b"</script", start).unwrap_or(text.len());
    Some(Script { language: language(&attributes), body: start..end })
}

fn find(text: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let at = text.get(from..)?.windows(wanted.len()).position(|it| it.eq_ignore_ascii_case(wanted))?;
    Some(from + at)
}

/// Offset behind the `>` of a tag: outside of quotes, as types have it in `generic="T extends Map<K, V>"`.
fn tag_end(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    let end = tag.iter().position(|it| match (quote, *it) {
        (None, b'>') => true,
        (None, b'"' | b'\'') => {
            quote = Some(*it);
            false
        }
        (Some(open), it) if open == it => {
            quote = None;
            false
        }
        _ => false,
    })?;
    Some(end + 1)
}

/// The language by the attribute `lang`.
fn language(attributes: &str) -> &'static str {
    let lang = attributes.split_once("lang=").map_or("", |it| it.1);
    let lang = lang.trim_start_matches(['"', '\'']);
    match lang.split(|it: char| !it.is_ascii_alphanumeric()).next() {
        Some("ts" | "typescript") => "typescript",
        Some("tsx") => "typescriptreact",
        _ => "javascript",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Definition, definitions};

    fn found(path: &str, text: &str) -> Vec<String> {
        let (trees, bytes) = (Trees::new(1 << 20), Bytes::copy_from_slice(text.as_bytes()));
        let path = WorkspacePath::new(path).unwrap();
        let Some(tree) = trees.of_file(&path, &bytes, ContentHash::of(&bytes), &|| false) else {
            return vec!["none".to_owned()];
        };
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let shown = |it: &Definition| format!("{} {} {}", line(it.name_range.start), it.kind.name(), it.name);
        let all = definitions(&tree).iter().map(shown).collect();
        assert!(!tree.has_error(), "{}", String::from_utf8_lossy(tree.text()));
        all
    }

    #[test]
    fn scripts_of_components_keep_their_lines() {
        let vue = "<template>\n  <p v-if=\"a > b\">é</p>\n</template>\n<script lang=\"ts\">\nexport default { name: 'x' };\n</script>\n<script setup lang='ts' generic=\"T extends Map<A, B>\">\nconst add = (a: number) => a;\n</script>\n<style>\n.a {}\n</style>\n";
        assert_eq!(found("a.vue", vue), ["5 constant default", "8 function add"]);
        let svelte =
            "<SCRIPT>\n  export let a;\n  function run() {}\n</SCRIPT>\n{#if a < b}<scripts/>{/if}\n";
        assert_eq!(found("a.svelte", svelte), ["2 constant a", "3 function run"]);
        assert_eq!(found("a.vue", "<script>\nfunction open() {}\n"), ["2 function open"]);
        assert_eq!(found("a.vue", "<template/>\n"), ["none"]);
    }

    #[test]
    fn headers_are_of_c_or_of_cpp() {
        assert_eq!(found("a.h", "int f(int a);\n"), ["1 function f"]);
        let cpp = "template <class T> class A { int m() { return 1; } };\n";
        assert_eq!(found("a.h", cpp), ["1 class A", "1 method m"]);
    }
}
