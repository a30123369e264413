//! Files of other programs' settings, to which an entry is added, or from which it is removed, at the user's wish: the
//! difference is shown, and only then is it written. What else is in the file stays as it is, with its comments.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use config::folders;
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
};
use serde_json::Value;
use similar::TextDiff;

use super::Session;
use crate::CliError;

/// Writes what `merge` makes of the file, which may be missing; `by_hand` is what to do if that cannot be.
pub(super) fn update(
    file: &Path,
    merge: impl FnOnce(&str) -> Result<String, String>,
    by_hand: &str,
    session: &mut Session,
) -> Result<(), CliError> {
    let before = read_own(file, session)?;
    let name = file.display().to_string();
    let after = merge(&before)
        .map_err(|why| CliError::usage(format!("cannot add Broker to {name}: {why}")).hint(by_hand))?;
    match after == before {
        true => session.messages.line(&format!("{name} has it already")),
        false => replace(file, &before, &after, session)?,
    }
    Ok(())
}

/// Writes what `without` leaves of the file; a file that has nothing else is deleted.
pub(super) fn remove(
    file: &Path,
    without: impl FnOnce(&str) -> Result<String, String>,
    session: &mut Session,
) -> Result<(), CliError> {
    let before = read_own(file, session)?;
    let name = file.display().to_string();
    let after = without(&before).map_err(|why| {
        CliError::usage(format!("cannot remove Broker from {name}: {why}")).hint("remove it by hand")
    })?;
    match after == before {
        true => session.messages.line(&format!("{name} has nothing of Broker")),
        false => replace(file, &before, &after, session)?,
    }
    Ok(())
}

/// Shows the difference, and writes it.
fn replace(file: &Path, before: &str, after: &str, session: &mut Session) -> Result<(), CliError> {
    let name = file.display().to_string();
    let diff = TextDiff::from_lines(before, after).unified_diff().header(&name, &name).to_string();
    session.print(&diff)?;
    if is_bare(after) {
        delete(file)?;
        session.messages.line(&format!("deleted {name}"));
        return Ok(());
    }
    write(file, after)?;
    session.messages.line(&format!("wrote {name}"));
    Ok(())
}

/// Whether a text has no settings.
pub(super) fn is_bare(text: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    text.is_empty() || text == "{}"
}

fn read_own(file: &Path, session: &Session) -> Result<String, CliError> {
    expect_inside(file, session)?;
    read(file)
}

/// A file of the project is not one elsewhere: a repository may bring links, and a folder for hooks of its own choice.
fn expect_inside(file: &Path, session: &Session) -> Result<(), CliError> {
    let here = session.cwd()?;
    let root = here.ancestors().find(|it| it.join(".git").exists()).unwrap_or(&here);
    let real = real(file);
    let home = session.process_context.home.as_deref();
    let is_own = |folder: &Path| real.starts_with(self::real(folder));
    // A file below the home folder, and not below the project, is the user's own.
    let is_users = !file.starts_with(&here) && home.is_some_and(|it| file.starts_with(it) && is_own(it));
    if is_own(root) || is_users {
        return Ok(());
    }
    let (file, real) = (file.display(), real.display());
    Err(CliError::usage(format!("{file} leads out of the project, to {real}"))
        .hint("add what is printed without `--write` by hand, if that is meant"))
}

/// A path without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            let link = fs::read_link(path).ok();
            real(parent).join(link.unwrap_or_else(|| name.into()))
        }
        _ => path.to_owned(),
    })
}

/// A JSON text, with comments or not, whose object at `keys` has the member; as it was if it has it.
pub(super) fn with_member(before: &str, keys: &[&str], name: &str, value: &Value) -> Result<String, String> {
    let root = parse(before)?;
    let object = object_at(&root, keys)?;
    expect_once(&object, name)?;
    match object.get(name) {
        Some(it) if it.value().and_then(|it| it.to_serde_value()).as_ref() == Some(value) => {
            return Ok(before.to_owned());
        }
        Some(it) => it.set_value(input(value)),
        None => _ = object.append(name, input(value)),
    }
    Ok(text(&root))
}

/// A JSON text whose object at `key` has no member of this name; as it was if it has none.
pub(super) fn without_member(before: &str, key: &str, name: &str) -> Result<String, String> {
    let root = parse(before)?;
    let Some(object) = root.object_value().and_then(|it| it.object_value(key)) else {
        return Ok(before.to_owned());
    };
    expect_once(&object, name)?;
    let Some(member) = object.get(name) else { return Ok(before.to_owned()) };
    member.remove();
    remove_empty(&root, key);
    Ok(text(&root))
}

/// A JSON text whose lists in the object at `key` have no element that `is_own`; as it was if they have none.
pub(super) fn without_elements(
    before: &str,
    key: &str,
    is_own: &dyn Fn(&Value) -> bool,
) -> Result<String, String> {
    let root = parse(before)?;
    let Some(object) = root.object_value().and_then(|it| it.object_value(key)) else {
        return Ok(before.to_owned());
    };
    let mut is_changed = false;
    for property in object.properties() {
        let Some(list) = property.array_value() else { continue };
        let own: Vec<_> = list
            .elements()
            .into_iter()
            .filter(|it| it.to_serde_value().is_some_and(|it| is_own(&it)))
            .collect();
        is_changed |= !own.is_empty();
        let is_all = !own.is_empty() && own.len() == list.elements().len();
        match is_all {
            true => property.remove(),
            false => own.into_iter().for_each(|it| it.remove()),
        }
    }
    remove_empty(&root, key);
    Ok(if is_changed { text(&root) } else { before.to_owned() })
}

/// Removes the object at `key` if it has no members left.
fn remove_empty(root: &CstRootNode, key: &str) {
    let Some(object) = root.object_value() else { return };
    if let Some(member) = object.get(key)
        && member.object_value().is_some_and(|it| it.properties().is_empty())
    {
        member.remove();
    }
}

/// A JSON text whose list `name` in the object at `keys` has the element, in the place of the first that `is_same`; as it was if
/// it has it.
pub(super) fn with_element(
    before: &str,
    keys: &[&str],
    name: &str,
    value: &Value,
    is_same: &dyn Fn(&Value) -> bool,
) -> Result<String, String> {
    let root = parse(before)?;
    let object = object_at(&root, keys)?;
    expect_once(&object, name)?;
    let list = object.array_value_or_create(name);
    let list = list.ok_or_else(|| format!("`{name}` is no list"))?;
    if list.elements().iter().any(|it| it.to_serde_value().as_ref() == Some(value)) {
        return Ok(before.to_owned());
    }
    list.ensure_multiline();
    let elements = list.elements();
    let at = elements.iter().position(|it| it.to_serde_value().is_some_and(|it| is_same(&it)));
    match at {
        None => _ = list.append(input(value)),
        Some(at) => {
            list.insert(at, input(value));
            elements[at].clone().remove();
        }
    }
    Ok(text(&root))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())
}

fn object_at(root: &CstRootNode, keys: &[&str]) -> Result<CstObject, String> {
    let object = root.object_value_or_create().ok_or("it is no object")?;
    object.ensure_multiline();
    keys.iter().try_fold(object, |object, key| {
        expect_once(&object, key)?;
        object.object_value_or_create(key).ok_or_else(|| format!("`{key}` is no object"))
    })
}

/// Returns an error if a key is there twice: programs take the last one, or none.
fn expect_once(object: &CstObject, key: &str) -> Result<(), String> {
    let names = object.properties().into_iter().filter_map(|it| it.name()?.decoded_value().ok());
    match names.filter(|it| it == key).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("`{key}` is there more than once")),
    }
}

fn text(root: &CstRootNode) -> String {
    let text = root.to_string();
    if text.ends_with('\n') { text } else { text + "\n" }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(it) => CstInputValue::Bool(*it),
        Value::Number(it) => CstInputValue::Number(it.to_string()),
        Value::String(it) => CstInputValue::String(it.clone()),
        Value::Array(all) => CstInputValue::Array(all.iter().map(input).collect()),
        Value::Object(all) => {
            CstInputValue::Object(all.iter().map(|(key, it)| (key.clone(), input(it))).collect())
        }
    }
}

/// Bytes of a file of settings that is changed.
const LARGEST: u64 = 16 << 20;

fn read(file: &Path) -> Result<String, CliError> {
    let cannot = |why: &str| CliError::files(format!("cannot read {}: {why}", file.display()));
    match overlay::read_regular(file, LARGEST) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| cannot("it is no text in UTF-8")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(cannot(&overlay::io_reason(&error))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another program's settings, which the user asked to be changed"
)]
fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| folders::replace(file, text.as_bytes()))
        .map_err(|error| CliError::files(format!("cannot write {}: {error}", file.display())))
}

#[expect(clippy::disallowed_methods, reason = "a file that has nothing but what Broker added")]
fn delete(file: &Path) -> Result<(), CliError> {
    fs::remove_file(file)
        .map_err(|error| CliError::files(format!("cannot delete {}: {error}", file.display())))
}

/// Makes a file executable, as git wants its hooks.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a hook of git's, which the user asked for")]
pub(super) fn make_executable(file: &Path) -> Result<(), CliError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .map_err(|error| CliError::files(format!("cannot make {} executable: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        let twice = r#"{ "hooks": {}, "hooks": { "PreToolUse": [] } }"#;
        let added = with_element(twice, &["hooks"], "PreToolUse", &json!(1), &|_| false);
        assert_eq!(added, Err("`hooks` is there more than once".to_owned()));
    }

    #[test]
    fn what_else_is_there_stays_as_it_is() {
        let before =
            "{\n    // mine\n    \"z\": 1,\n    \"list\": [{ \"a\": 1 }],\n    \"a\": { \"b\": {} }\n}\n";
        let element = with_element(before, &[], "list", &json!({ "b": [2] }), &|_| false).unwrap();
        let member = with_member(&element, &["a", "b"], "broker", &json!({ "command": "x" })).unwrap();
        insta::assert_snapshot!(member, @r#"
        {
            // mine
            "z": 1,
            "list": [
                { "a": 1 },
                {
                    "b": [2]
                }
            ],
            "a": { "b": {
                    "broker": {
                        "command": "x"
                    }
                } }
        }
        "#);
        assert_eq!(with_element(&member, &[], "list", &json!({ "b": [2] }), &|_| false).unwrap(), member);
        assert_eq!(with_member(&member, &["a", "b"], "broker", &json!({ "command": "x" })).unwrap(), member);
    }

    #[test]
    fn what_was_added_is_removed_and_all_else_stays() {
        let before = "{\n  // mine\n  \"hooks\": { \"a\": [{ \"x\": 1 }] },\n  \"z\": 1\n}\n";
        let added = with_element(before, &["hooks"], "a", &json!({ "own": 1 }), &|_| false).unwrap();
        let added = with_element(&added, &["hooks"], "b", &json!({ "own": 1 }), &|_| false).unwrap();
        let without = without_elements(&added, "hooks", &|it| it["own"] == 1).unwrap();
        let value = |text: &str| parse(text).unwrap().to_serde_value().unwrap();
        assert_eq!(value(&without), value(before));
        assert!(without.contains("// mine"), "{without}");
        assert_eq!(without_elements(&without, "hooks", &|it| it["own"] == 1).unwrap(), without);
        let only = with_member("", &["servers"], "broker", &json!({})).unwrap();
        assert_eq!(value(&without_member(&only, "servers", "broker").unwrap()), json!({}));
        let other = r#"{ "servers": { "other": 1 } }"#;
        assert_eq!(without_member(other, "servers", "broker").unwrap(), other);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(with_member("[]", &[], "a", &json!(1)).unwrap_err(), "it is no object");
        assert_eq!(with_member("{ \"a\": 1 }", &["a"], "b", &json!(1)).unwrap_err(), "`a` is no object");
        assert_eq!(
            with_element("{ \"a\": 1 }", &[], "a", &json!(1), &|_| false).unwrap_err(),
            "`a` is no list"
        );
        assert!(with_member("{ no", &[], "a", &json!(1)).is_err());
    }
}
