//! Made-up edits of the definitions of a file: a decorator more, a near copy, one of many arms.

use super::mutated;
use crate::{
    definitions::{Definition, Kind},
    file::{Case, File, Group, indent, is_blank},
    random::Random,
    shapes::units::{class, has_end, has_own_name, is_only_method, is_outer},
    sketch::Sketch,
};

/// Lines of a function that is copied.
const SIZES: std::ops::Range<usize> = 3..50;

fn functions<'f>(file: &'f File<'_>) -> impl Iterator<Item = &'f Definition> {
    let is_plain = |it: &&Definition| {
        it.kind == Kind::Function && it.is_apart && SIZES.contains(&(it.end - it.start)) && is_outer(file, it)
    };
    file.definitions().iter().filter(is_plain)
}

fn attribute(language: &str) -> Option<&'static str> {
    match language {
        "python" => Some("@added_decorator"),
        "rust" => Some("#[inline(never)]"),
        "java" | "kotlin" => Some("@Added"),
        "csharp" => Some("[Added]"),
        "php" => Some("#[Added]"),
        "swift" => Some("@available(*, unavailable)"),
        "cpp" => Some("[[nodiscard]]"),
        _ => None,
    }
}

/// A decorator or an attribute right above the head, with the head or the whole function.
pub(crate) fn decorator(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let attribute = attribute(file.language.name)?;
    let all: Vec<_> = functions(file).filter(|it| has_own_name(file, it) && it.body < it.end).collect();
    let it = random.pick(&all)?;
    let new = [format!("{}{attribute}", indent(file.lines[it.start]))];
    let end = if random.one_in(2) { it.end } else { it.body };
    let mut sketch = Sketch::drawn(file, random);
    sketch.hidden(0..it.start);
    sketch.shown(&new);
    sketch.shown(&file.lines[it.start..end]);
    sketch.hidden(end..file.len());
    let text = file.spliced(it.start..it.start, &new);
    Some(file.case(Group::Adversarial, "decorator added", text, sketch.text()?))
}

/// The lines of a function under another name, one of them changed.
fn copy(file: &File<'_>, it: &Definition) -> Option<Vec<String>> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    (!it.name.is_empty() && it.name.chars().all(is_part)).then_some(())?;
    let mut lines: Vec<_> = file.lines[it.start..it.end].iter().map(|it| (*it).to_owned()).collect();
    let head = it.body - it.start;
    let is_named = |line: &String| line.split(|it| !is_part(it)).any(|word| word == it.name);
    lines[..head].iter().any(is_named).then_some(())?;
    let new = if it.name.contains('_') { format!("{}_two", it.name) } else { format!("{}Two", it.name) };
    (!file.text.contains(&new)).then_some(())?;
    lines.iter_mut().for_each(|line| *line = renamed(line, &it.name, &new));
    let middle = head + (lines.len() - head) / 2;
    if let Some(changed) = lines.get(middle).and_then(|it| mutated(it)) {
        lines[middle] = changed;
    }
    Some(lines)
}

fn renamed(line: &str, old: &str, new: &str) -> String {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let (mut text, mut word) = (String::new(), String::new());
    for it in line.chars().chain(['\n']) {
        if is_part(it) {
            word.push(it);
            continue;
        }
        text.push_str(if word == old { new } else { &word });
        word.clear();
        text.push(it);
    }
    text.trim_end_matches('\n').to_owned()
}

/// A near copy of a function: below it, or as the last thing in a file that ends with a definition.
pub(crate) fn similar(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let all: Vec<_> = functions(file).filter(|it| it.parent.is_none() && has_own_name(file, it)).collect();
    let it = *random.pick(&all)?;
    let new = [vec![String::new()], copy(file, it)?].concat();
    let is_end = |it: &Definition| it.parent.is_none() && file.lines[it.end..].iter().all(is_blank);
    let mut sketch = Sketch::drawn(file, random);
    let at = if random.one_in(2) && file.definitions().iter().any(is_end) {
        sketch.hidden(0..file.len());
        sketch.shown(&new[1..]);
        file.len()
    } else {
        sketch.hidden(0..it.start);
        sketch.shown(&file.lines[it.start..it.end]);
        sketch.shown(&new);
        sketch.hidden(it.end..file.len());
        it.end
    };
    let text = file.spliced(at..at, &new);
    Some(file.case(Group::Adversarial, "similar definition added", text, sketch.text()?))
}

/// A near copy of a method: below it in its class, or above the bracket that ends the class.
pub(crate) fn similar_method(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let is_clear = |it: &&Definition| {
        let Some(class) = class(file, it).filter(|it| it.parent.is_none()) else { return false };
        is_only_method(file, class, it) && has_own_name(file, class) && class.body <= it.lead
    };
    let all: Vec<_> = functions(file).filter(is_clear).collect();
    let it = *random.pick(&all)?;
    let class = class(file, it)?;
    let new = [vec![String::new()], copy(file, it)?].concat();
    let mut sketch = Sketch::drawn(file, random);
    sketch.hidden(0..class.start);
    sketch.shown(&file.lines[class.start..class.body]);
    let at = if random.one_in(2) && has_end(file, class) {
        sketch.hidden(class.body..class.end - 1);
        sketch.shown(&new[1..]);
        sketch.shown(&file.lines[class.end - 1..class.end]);
        sketch.hidden(class.end..file.len());
        class.end - 1
    } else {
        sketch.hidden(class.body..it.start);
        sketch.shown(&file.lines[it.start..it.end]);
        sketch.shown(&new);
        sketch.hidden(it.end..file.len());
        it.end
    };
    let text = file.spliced(at..at, &new);
    Some(file.case(Group::Adversarial, "similar method added", text, sketch.text()?))
}

/// Lines around an arm in which others that look alike are sought.
const NEAR: usize = 20;

/// The line below the head of an arm changed, with one line of context; the arms around look alike.
pub(crate) fn arm(file: &File<'_>, random: &mut Random) -> Option<Case> {
    let lines = &file.lines;
    let has_arrows = ["rust", "kotlin", "java", "csharp"].contains(&file.language.name);
    let is_head = |at: usize| {
        let it = lines[at].trim();
        let is_arrow = ["=> {", "-> {", "=>", "->"].iter().any(|end| it.ends_with(end)) && it.len() > 6;
        it.starts_with("case ") && it.ends_with(':') || has_arrows && is_arrow
    };
    let is_arm = |at: &usize| {
        let (head, next) = (lines[*at], lines[*at + 2]);
        let near = at.saturating_sub(NEAR)..(at + NEAR).min(lines.len() - 2);
        let is_like = |it: usize| {
            it != *at && is_head(it) && lines[it + 2] == next && indent(lines[it]) == indent(head)
        };
        is_head(*at)
            && !is_blank(lines[*at + 1])
            && !is_blank(next)
            && file.count(head) == 1
            && near.into_iter().any(is_like)
    };
    let all: Vec<_> = (0..lines.len().saturating_sub(2)).filter(is_arm).collect();
    let at = *random.pick(&all)?;
    let new = [mutated(lines[at + 1])?];
    let mut sketch = Sketch::drawn(file, random);
    sketch.hidden(0..at);
    sketch.shown(&lines[at..=at]);
    sketch.shown(&new);
    sketch.shown(&lines[at + 2..at + 3]);
    sketch.hidden(at + 3..file.len());
    Some(file.case(Group::Adversarial, "arm of a match", file.spliced(at + 1..at + 2, &new), sketch.text()?))
}
