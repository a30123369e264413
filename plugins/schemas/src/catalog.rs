//! Catalog of the bundled schemas by file name and by address in `$schema`.

use crate::bundle;

/// A part of a file and the schema for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// A JSON pointer; empty for the whole.
    pub(crate) at: &'static str,
    pub(crate) schema: &'static str,
}

/// Patterns for the end of a path, the schema, and a key without which the file is something else of the same name.
const FILES: [(&[&str], &str, Option<&str>); 37] = [
    (&["package.json"], "package", None),
    (&["tsconfig.json", "tsconfig.*.json", "tsconfig-*.json"], "tsconfig", None),
    (&["jsconfig.json", "jsconfig.*.json"], "tsconfig", None),
    (&[".eslintrc", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml"], "eslintrc", None),
    (&[".prettierrc", ".prettierrc.json", ".prettierrc.yml", ".prettierrc.yaml"], "prettierrc", None),
    (&[".babelrc", ".babelrc.json", "babel.config.json"], "babelrc", None),
    (&["lerna.json"], "lerna", None),
    (&["*.webmanifest"], "web-manifest", None),
    (
        &[".markdownlint.json", ".markdownlint.jsonc", ".markdownlint.yml", ".markdownlint.yaml"],
        "markdownlint",
        None,
    ),
    (&["pyrightconfig.json"], "pyright", None),
    (&[".github/workflows/*.yml", ".github/workflows/*.yaml"], "github-workflow", None),
    (&["action.yml", "action.yaml"], "github-action", Some("runs")),
    (&[".github/dependabot.yml", ".github/dependabot.yaml"], "dependabot", None),
    (
        &[".github/ISSUE_TEMPLATE/config.yml", ".github/ISSUE_TEMPLATE/config.yaml"],
        "github-issue-config",
        None,
    ),
    (&[".github/ISSUE_TEMPLATE/*.yml", ".github/ISSUE_TEMPLATE/*.yaml"], "github-issue-forms", None),
    (&[".github/DISCUSSION_TEMPLATE/*.yml", ".github/DISCUSSION_TEMPLATE/*.yaml"], "github-discussion", None),
    (&[".gitlab-ci.yml", "*.gitlab-ci.yml"], "gitlab-ci", None),
    (&[".pre-commit-config.yaml", ".pre-commit-config.yml"], "pre-commit-config", None),
    (&[".pre-commit-hooks.yaml", ".pre-commit-hooks.yml"], "pre-commit-hooks", None),
    (&[".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yaml", "readthedocs.yml"], "readthedocs", None),
    (&[".circleci/config.yml"], "circle-ci", None),
    (&[".drone.yml"], "drone-ci", None),
    (
        &[".woodpecker.yml", ".woodpecker.yaml", ".woodpecker/*.yml", ".woodpecker/*.yaml"],
        "woodpecker-ci",
        None,
    ),
    (&["cloudbuild.yaml", "cloudbuild.yml"], "cloudbuild", Some("steps")),
    (&[".buildkite/pipeline.yml", ".buildkite/pipeline.yaml"], "buildkite", None),
    (&["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"], "taskfile", Some("version")),
    (&["compose.yml", "compose.yaml", "compose.*.yml", "compose.*.yaml"], "compose-spec", Some("services")),
    (&["docker-compose.yml", "docker-compose.*.yml"], "compose-spec", Some("services")),
    (&["docker-compose.yaml", "docker-compose.*.yaml"], "compose-spec", Some("services")),
    (&["Chart.yaml"], "chart", Some("apiVersion")),
    (&["Cargo.toml"], "cargo", None),
    (&["pyproject.toml"], "pyproject", None),
    (&["ruff.toml", ".ruff.toml"], "ruff", None),
    (&["uv.toml"], "uv", None),
    (&["ty.toml"], "ty", None),
    (&["tox.toml"], "tox", None),
    (&["pixi.toml"], "pixi", None),
];

/// Parts of a file that have schemas of their own.
const PARTS: [(&str, &[Part]); 2] = [
    (
        "pyproject",
        &[
            Part { at: "/tool/black", schema: "black" },
            Part { at: "/tool/cibuildwheel", schema: "cibuildwheel" },
            Part { at: "/tool/hatch", schema: "hatch" },
            Part { at: "/tool/maturin", schema: "maturin" },
            Part { at: "/tool/mypy", schema: "mypy" },
            Part { at: "/tool/pdm", schema: "pdm" },
            Part { at: "/tool/pixi", schema: "pixi" },
            Part { at: "/tool/poe", schema: "poe" },
            Part { at: "/tool/poetry", schema: "poetry" },
            Part { at: "/tool/pyright", schema: "pyright" },
            Part { at: "/tool/pytest", schema: "pytest" },
            Part { at: "/tool/ruff", schema: "ruff" },
            Part { at: "/tool/scikit-build", schema: "scikit-build" },
            Part { at: "/tool/setuptools", schema: "setuptools" },
            Part { at: "/tool/setuptools_scm", schema: "setuptools_scm" },
            Part { at: "/tool/tox", schema: "tox" },
            Part { at: "/tool/ty", schema: "ty" },
            Part { at: "/tool/uv", schema: "uv" },
        ],
    ),
    (
        "package",
        &[
            Part { at: "/eslintConfig", schema: "eslintrc" },
            Part { at: "/prettier", schema: "prettierrc" },
            Part { at: "/babel", schema: "babelrc" },
        ],
    ),
];

/// Addresses at which SchemaStore's schemas are served, without the protocol.
const STORES: [&str; 6] = [
    "json.schemastore.org/",
    "www.schemastore.org/",
    "schemastore.org/",
    "schemastore.azurewebsites.net/schemas/json/",
    "raw.githubusercontent.com/SchemaStore/schemastore/master/src/schemas/json/",
    "raw.githubusercontent.com/SchemaStore/schemastore/refs/heads/master/src/schemas/json/",
];

/// SchemaStore's names that are others here.
const ALIASES: [(&str, &str); 6] = [
    ("circleciconfig", "circle-ci"),
    ("dependabot-2.0", "dependabot"),
    ("drone", "drone-ci"),
    ("jsconfig", "tsconfig"),
    ("web-manifest-combined", "web-manifest"),
    ("partial-scikit-build", "scikit-build"),
];

/// Addresses elsewhere.
const ELSEWHERE: [(&str, &str); 6] = [
    (
        "raw.githubusercontent.com/DavidAnson/markdownlint/main/schema/markdownlint-config-schema.json",
        "markdownlint",
    ),
    ("raw.githubusercontent.com/compose-spec/compose-spec/main/schema/compose-spec.json", "compose-spec"),
    ("raw.githubusercontent.com/compose-spec/compose-spec/master/schema/compose-spec.json", "compose-spec"),
    ("raw.githubusercontent.com/buildkite/pipeline-schema/main/schema.json", "buildkite"),
    ("taskfile.dev/schema.json", "taskfile"),
    ("gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json", "gitlab-ci"),
];

/// The schema for a file at `path`, and the key that the file must have to be meant.
pub(crate) fn by_path(path: &str) -> Option<(&'static str, Option<&'static str>)> {
    let found = FILES.iter().find(|it| it.0.iter().any(|pattern| ends_as(path, pattern)))?;
    Some((found.1, found.2))
}

/// The schema at `address`.
pub(crate) fn by_address(address: &str) -> Option<&'static str> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    let rest = rest.trim_end_matches('#');
    if let Some(found) = ELSEWHERE.iter().find(|it| it.0 == rest) {
        return Some(found.1);
    }
    let name = STORES.iter().find_map(|it| rest.strip_prefix(it))?;
    let name = name.strip_suffix(".json").unwrap_or(name);
    let alias = ALIASES.iter().find(|it| it.0 == name);
    bundle::known(alias.map_or(name, |it| it.1))
}

/// The parts of a file with this schema: the whole, then those with schemas of their own.
pub(crate) fn parts(schema: &'static str) -> Vec<Part> {
    let own = PARTS.iter().find(|it| it.0 == schema).map_or(&[][..], |it| it.1);
    std::iter::once(Part { at: "", schema }).chain(own.iter().copied()).collect()
}

/// Whether the last names of `path` match `pattern`, in which a `*` stands for any part of one name.
fn ends_as(path: &str, pattern: &str) -> bool {
    let mut names = path.rsplit('/');
    pattern.rsplit('/').all(|pattern| names.next().is_some_and(|name| is_like(name, pattern)))
}

fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses() {
        let by_path = |it| by_path(it).map(|it| it.0);
        assert_eq!(by_path("web/package.json"), Some("package"));
        assert_eq!(by_path("x-package.json"), None);
        assert_eq!(by_path("tsconfig.build.json"), Some("tsconfig"));
        assert_eq!(by_path(".github/workflows/ci.yml"), Some("github-workflow"));
        assert_eq!(by_path("workflows/ci.yml"), None);
        assert_eq!(by_path(".github/ISSUE_TEMPLATE/config.yml"), Some("github-issue-config"));
        assert_eq!(by_address("http://json.schemastore.org/package"), Some("package"));
        assert_eq!(by_address("https://www.schemastore.org/dependabot-2.0.json"), Some("dependabot"));
        assert_eq!(by_address("https://example.org/package.json"), None);
    }

    #[test]
    fn every_name_is_in_the_bundle() {
        let files = FILES.iter().map(|it| it.1);
        let parts = PARTS.iter().flat_map(|it| it.1.iter().map(|it| it.schema));
        let aliases = ALIASES.iter().chain(&ELSEWHERE).map(|it| it.1);
        for name in files.chain(parts).chain(aliases) {
            assert!(bundle::known(name).is_some(), "{name}");
        }
    }
}
