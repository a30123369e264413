//! Violations in small values.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;

use serde_json::json;

use super::*;

/// `path: message`, line by line.
fn told(path: &str, declared: Option<&str>, value: &Value, root: &Path) -> String {
    match Schemas::new(root).for_file(path, declared, value) {
        SchemaLookup::Schema(schema) => {
            let line = |it: &Violation| format!("{}: {}", pointer(&it.path), it.message);
            schema.check(value).iter().map(line).collect::<Vec<_>>().join("\n")
        }
        SchemaLookup::Nothing => "nothing".to_owned(),
        SchemaLookup::Unusable(why) => why,
    }
}

fn pointer(path: &[Segment]) -> String {
    let step = |it: &Segment| match it {
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => index.to_string(),
    };
    path.iter().map(step).collect::<Vec<_>>().join(".")
}

fn check(path: &str, value: Value) -> String {
    told(path, None, &value, Path::new("/nowhere"))
}

#[test]
fn words_for_people() {
    assert_eq!(
        check(
            "tsconfig.json",
            json!({"compilerOptions": {"strictt": true, "target": "ES2O22", "module": "NodeNext"}})
        ),
        "compilerOptions.strictt: unknown property `strictt`; did you mean `strict`?\n\
         compilerOptions.target: `ES2O22` is not one of what is allowed; did you mean `es2022`?"
    );
    assert_eq!(
        check("package.json", json!({"name": 1, "scripts": {"test": []}})),
        "name: should be a string, not a number\nscripts.test: should be a string, not an array"
    );
}

#[test]
fn an_empty_text_is_told_once() {
    assert_eq!(check("package.json", json!({"name": ""})), "name: should not be empty");
}

#[test]
fn every_field_that_cargo_inherits() {
    let inherited = json!({"workspace": true});
    let fields = [
        "authors",
        "categories",
        "description",
        "documentation",
        "edition",
        "exclude",
        "homepage",
        "include",
        "keywords",
        "license",
        "license-file",
        "publish",
        "readme",
        "repository",
        "rust-version",
        "version",
    ];
    let package: serde_json::Map<_, _> =
        fields.iter().map(|it| ((*it).to_owned(), inherited.clone())).collect();
    let manifest = json!({
        "package": package, "lints": inherited, "dependencies": {"a": {"workspace": true, "optional": true}}
    });
    assert_eq!(check("Cargo.toml", manifest), "");
    let wrong = json!({"package": {"rust-version": 1.85}});
    assert_eq!(
        check("Cargo.toml", wrong),
        "package.rust-version: should be a string, an object or null, not a number"
    );
}

#[test]
fn what_the_tools_take_and_their_schemas_did_not() {
    for (path, value) in [
        ("pyproject.toml", json!({"tool": {"ruff": {"lint": {"select": ["TCH", "PGH002"]}}}})),
        ("fp/package.json", json!({"name": "rxjs/webSocket"})),
        (".readthedocs.yaml", json!({"version": 2})),
        ("docs/.readthedocs.yml", json!({"version": "2"})),
        (
            ".pre-commit-hooks.yaml",
            json!([{
                "id": "a", "name": "a", "entry": "a", "language": "python", "additional_dependencies": ["b"],
                "stages": ["pre-commit", "pre-push"]
            }, {
                "id": "b", "name": "b", "entry": "b", "language": "julia", "types": ["elixir"]
            }]),
        ),
        (
            "cloudbuild.yaml",
            json!({
                "steps": [{"name": "a", "wait_for": ["-"]}],
                "options": {"substitution_option": "ALLOW_LOOSE", "machineType": "E2_MEDIUM"}
            }),
        ),
        (
            "action.yml",
            json!({
                "name": "a", "description": "b", "inputs": {"c": {"description": "d", "default": true}},
                "runs": {"using": "composite", "steps": [{"run": true, "shell": "bash"}]}
            }),
        ),
    ] {
        assert_eq!(check(path, value), "", "{path}");
    }
    assert!(check("package.json", json!({"name": "Upper"})).contains("does not match"));
    assert_eq!(
        check("cloudbuild.yaml", json!({"steps": [], "options": {"machinetype": "E2_MEDIUM"}})),
        "options.machinetype: unknown property `machinetype`; did you mean `machineType`?"
    );
}

#[test]
fn the_form_that_was_meant() {
    let workflow = |steps: Value| json!({"on": "push", "jobs": {"a": {"runs-on": "x", "steps": steps}}});
    let path = ".github/workflows/ci.yml";
    assert_eq!(check(path, workflow(json!([{"run": "true"}]))), "");
    assert_eq!(
        check(path, workflow(json!([{"name": "x"}]))),
        "jobs.a.steps.0: `uses`, `run`, `wait`, `wait-all`, `cancel` or `parallel` is missing"
    );
    assert_eq!(
        check(path, workflow(json!([{"run": "true", "evn": {}}]))),
        "jobs.a.steps.0.evn: unknown property `evn`; did you mean `env`?"
    );
    assert_eq!(
        check(path, json!({"on": "psuh", "jobs": {}})),
        "jobs: should not be empty\non: `psuh` is not one of what is allowed; did you mean `push`?"
    );
}

#[test]
fn parts_with_schemas_of_their_own() {
    let value = json!({"project": {"name": "a", "dependencies": "b"}, "tool": {"ruff": {"line-lenght": 1}}});
    assert_eq!(
        check("pyproject.toml", value),
        "project.dependencies: should be an array, not a string\n\
         tool.ruff.line-lenght: unknown property `line-lenght`; did you mean `line-length`?"
    );
}

#[test]
fn other_files_of_the_same_name() {
    assert_eq!(check("action.yml", json!({"name": "no action"})), "nothing");
    assert_eq!(check("other.json", json!({})), "nothing");
}

#[test]
fn declared_schemas() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("schemas")).unwrap();
    let schema = r##"{"properties": {"a": {"$ref": "types.json#/text"}, "b": {"$ref": "https://json.schemastore.org/prettierrc"}}}"##;
    fs::write(root.path().join("schemas/own.json"), schema).unwrap();
    fs::write(root.path().join("schemas/types.json"), r#"{"text": {"type": "string"}}"#).unwrap();
    fs::write(root.path().join("broken.json"), r#"{"type": "nonsense"}"#).unwrap();
    fs::write(root.path().join("remote.json"), r#"{"$ref": "https://example.org/x.json"}"#).unwrap();
    let check = |declared: &str, value: Value| told("data/a.json", Some(declared), &value, root.path());
    assert_eq!(check("../schemas/own.json", json!({"a": 1})), "a: should be a string, not a number");
    assert_eq!(
        check("../schemas/gone.json", json!({})),
        "the schema `schemas/gone.json` cannot be used: `schemas/gone.json` cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(check("../../up.json", json!({})), "the schema ../../up.json is outside of the workspace");
    assert!(check("../broken.json", json!({})).starts_with("the schema `broken.json` cannot be used"));
    assert!(check("../remote.json", json!({})).contains("which is not fetched"));
    assert_eq!(
        check("https://example.org/s.json", json!({})),
        "the schema https://example.org/s.json is not one of those that are carried along"
    );
    assert_eq!(
        check("http://json-schema.org/draft-07/schema#", json!({"type": "strin"})),
        "type: `strin` is not one of what is allowed; did you mean `string`?"
    );
    assert_eq!(check("https://json-schema.org/draft/2020-12/schema", json!({"type": "string"})), "");
}

#[test]
fn not_too_many() {
    let options = (0..100).map(|it| (format!("nonsense{it}"), json!(1))).collect::<serde_json::Map<_, _>>();
    assert_eq!(check("tsconfig.json", json!({"compilerOptions": options})).lines().count(), MAX_ERRORS);
}

/// A schema in the workspace, and what is told of a value by it.
fn by_schema(schema: &Value, value: Value) -> String {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("own.json"), schema.to_string()).unwrap();
    told("a.json", Some("own.json"), &value, root.path())
}

#[test]
fn a_bad_member_does_not_make_others_unknown() {
    assert_eq!(
        check(
            "compose.yaml",
            json!({"services": {"db": {"image": "a", "ports": ["1", "1"], "volumes": [], "x-b": 1, "volums": []}}})
        ),
        "services.db.ports: has an item more than once\n\
         services.db.volums: unknown property `volums`; did you mean `volumes`?"
    );
    assert_eq!(
        check(
            "compose.yaml",
            json!({"services": {"db": {"image": "a", "build": {"contxt": "."}, "environment": {"A": "b"}}}})
        ),
        "services.db.build.contxt: unknown property `contxt`; did you mean `context`?",
        "a name that is unknown deeper down"
    );
}

#[test]
fn a_value_of_another_type_is_told_once() {
    let told =
        |member: Value, value: Value| by_schema(&json!({"properties": {"a": member}}), json!({"a": value}));
    for (schema, value, want) in [
        (json!({"type": "integer", "enum": [5]}), json!("5"), "should be `5`, not `\"5\"`"),
        (json!({"type": "string", "const": "true"}), json!(true), "should be `\"true\"`, not `true`"),
        (json!({"const": null}), json!("null"), "should be `null`, not `\"null\"`"),
        (
            json!({"type": "string", "enum": ["1.0", "beta"]}),
            json!(1.0),
            "`1.0` is not one of what is allowed: `\"1.0\"` or `beta`",
        ),
        (json!({"enum": [1, "x"]}), json!(""), "`\"\"` is not one of what is allowed: `1` or `x`"),
        (json!({"oneOf": [{"const": 8}, {"const": 9}]}), json!("8"), "should be a number, not a string"),
        (
            json!({"type": "string", "anyOf": [{"pattern": "^a"}, {"minLength": 9}], "not": {"const": 1}}),
            json!("b"),
            "`b` does not match the pattern `^a`",
        ),
        (
            json!({"type": "array", "anyOf": [{"required": ["b"]}, {"minItems": 1}]}),
            json!({}),
            "should be an array, not an object",
        ),
    ] {
        assert_eq!(told(schema.clone(), value), format!("a: {want}"), "{schema}");
    }
}

#[test]
fn branches_know_properties() {
    let schema = json!({
        "$defs": {"base": {"properties": {"a": {"type": "string"}, "b": {}}, "$ref": "#/$defs/more"},
            "more": {"patternProperties": {"^c": {}}, "allOf": [{"$ref": "#/$defs/base"}]}},
        "allOf": [{"$ref": "#/$defs/base"}],
        "if": {"properties": {"kind": {"const": "k"}}, "required": ["kind"]},
        "then": {"properties": {"d": {"type": "number"}}},
        "else": {"properties": {"e": {}}},
        "unevaluatedProperties": false
    });
    let told = |value| by_schema(&schema, value);
    assert_eq!(told(json!({"a": "x", "b": 1, "c1": 2, "e": 3})), "");
    assert_eq!(
        told(json!({"a": 1, "b": 1, "c1": 2, "e": 3, "f": 4})),
        "a: should be a string, not a number\nf: unknown property `f`"
    );
    assert_eq!(
        told(json!({"kind": "k", "b": 1, "e": 3})),
        "e: `e` is not allowed here",
        "of the other branch"
    );
}

#[test]
fn branches_that_take_anything_know_everything() {
    let schema = |more: Value| json!({"allOf": [{"properties": {"a": {"type": "string"}}}, more], "required": ["z"], "unevaluatedProperties": false});
    let value = || json!({"a": 1, "b": 1});
    let told = |more: Value| by_schema(&schema(more), value());
    assert_eq!(
        told(json!({})),
        ": `z` is missing\na: should be a string, not a number\nb: unknown property `b`"
    );
    let open = json!({"additionalProperties": {"type": "number"}});
    assert_eq!(told(open), ": `z` is missing\na: should be a string, not a number");
    let items = json!({
        "prefixItems": [{"type": "string"}], "allOf": [{"items": {"type": "string"}}], "unevaluatedItems": false
    });
    assert_eq!(by_schema(&items, json!(["a", 1])), "1: should be a string, not a number");
}

#[test]
fn opposites_of_mypys_options() {
    let told = |section: Value| check("pyproject.toml", json!({"tool": {"mypy": section}}));
    let names = [
        "no_warn_return_any",
        "allow_any_generics",
        "disallow_untyped_globals",
        "show_error_codes",
        "no_pretty",
        "x_note",
        "no_disallow_untyped_decorators",
        "html_report",
    ];
    for name in names {
        let value = if name == "html_report" { json!("out") } else { json!(false) };
        assert_eq!(told(json!({ name: value })), "", "{name}");
    }
    assert_eq!(told(json!({"overrides": [{"module": "a.*", "allow_subclassing_any": true, "x_a": 1}]})), "");
    assert_eq!(
        told(json!({"allow_untyped_dfs": true, "hide_pretty": true, "no_python_version": "3"})),
        "tool.mypy.allow_untyped_dfs: unknown property `allow_untyped_dfs`; did you mean `allow_untyped_defs`?\n\
         tool.mypy.hide_pretty: unknown property `hide_pretty`\n\
         tool.mypy.no_python_version: unknown property `no_python_version`; did you mean `python_version`?"
    );
    assert_eq!(
        told(json!({"allow_untyped_calls": "x"})),
        "tool.mypy.allow_untyped_calls: `x` is not one of what is allowed: `true`, `false`, `yes`, `no`, `on`, `off`, `1` or `0`"
    );
}

#[test]
fn languages_of_issue_forms() {
    let form = |render: Value| json!({"name": "a", "description": "b", "body": [{"type": "textarea", "attributes": {"label": "c", "render": render}}]});
    let told = |render| check(".github/ISSUE_TEMPLATE/a.yml", form(render));
    for word in ["Shell", "console", "rs", "pycon", "ps1"] {
        assert_eq!(told(json!(word)), "", "{word}");
    }
    assert_ne!(told(json!(1)), "");
}

#[test]
fn options_that_are_read_from_text() {
    let told = |tool: &str, options: Value| check("pyproject.toml", json!({"tool": {tool: options}}));
    let pytest = |options: Value| told("pytest", json!({"ini_options": options}));
    for level in [json!("warning"), json!("Debug"), json!("FATAL"), json!(30), json!("15")] {
        assert_eq!(pytest(json!({"log_cli_level": level, "log_file_level": level, "log_level": level})), "");
    }
    assert_ne!(pytest(json!({"log_level": "wrning"})), "");
    assert_eq!(
        pytest(json!({"minversion": 7.4, "xfail_strict": "Yes", "log_cli": 1, "log_auto_indent": true})),
        ""
    );
    assert_ne!(pytest(json!({"log_cli": "perhaps"})), "");
    assert_eq!(told("black", json!({"line-length": "99", "preview": "True", "required-version": 24})), "");
    assert_ne!(told("black", json!({"line-length": "wide"})), "");
    assert_eq!(told("mypy", json!({"strict": "on", "verbosity": "1", "python_version": 3.12})), "");
    assert_ne!(told("mypy", json!({"strict": "y"})), "");
}

#[test]
fn charts_of_both_versions_of_helm() {
    let chart = |version: &str| {
        check(
            "c/Chart.yaml",
            json!({"apiVersion": version, "name": "c", "version": "1.0.0", "engine": "gotpl"}),
        )
    };
    assert_eq!(chart("v1"), "");
    assert_eq!(chart("v2"), "engine: this is not allowed here");
}
