//! The table of rules.

use broker_plugin_sdk::Rule;

pub(crate) const COMMAND: &str = "github-command";
pub(crate) const DUPLICATE_KEY: &str = "duplicate-key";
pub(crate) const EXPRESSION: &str = "github-expression";
pub(crate) const FILTER: &str = "github-filter";
pub(crate) const INJECTION: &str = "github-script-injection";
pub(crate) const MATRIX: &str = "github-matrix";
pub(crate) const NEEDS: &str = "github-needs";
pub(crate) const SCHEMA: &str = "schema";
pub(crate) const STEP_ID: &str = "github-step-id";
pub(crate) const SYNTAX_ERROR: &str = "syntax-error";
pub(crate) const UNKNOWN_ANCHOR: &str = "unknown-anchor";
pub(crate) const USES: &str = "github-uses";

/// Code, summary, explanation, where it is documented.
const TABLE: [(&str, &str, &str, &str); 12] = [
    (
        COMMAND,
        "A script gives a command that GitHub gave up",
        "`::set-output` and `::save-state` are deprecated, and the runner refuses `::set-env` and `::add-path`. Write to the \
         files that `$GITHUB_OUTPUT`, `$GITHUB_STATE`, `$GITHUB_ENV` and `$GITHUB_PATH` name: \
         `echo \"name=value\" >> \"$GITHUB_OUTPUT\"`. Where `ACTIONS_ALLOW_UNSECURE_COMMANDS` is set, the last two are left alone.",
        "https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands",
    ),
    (
        DUPLICATE_KEY,
        "A mapping has a key twice",
        "YAML does not allow it: some parsers refuse the file, others drop one of the values without a word. `1` and `\"1\"` \
         are two keys, and `<<` may be there more than once. Cirrus CI, whose files have keys twice on purpose, is left alone, and \
         yamllint's comments (`# yamllint disable-line rule:key-duplicates`) hold.",
        "https://yaml.org/spec/1.2.2/#3213-node-comparison",
    ),
    (
        EXPRESSION,
        "An expression of a GitHub workflow is broken",
        "Reported are expressions in `${{ }}` and `if` that cannot be parsed, functions, contexts and properties of contexts \
         that do not exist, and references to steps that the job does not have, to jobs that it does not wait for, and to a \
         matrix or a name in it that it does not have. GitHub makes an empty text of most of these. What is in `github.event` \
         is not looked at.",
        "https://docs.github.com/actions/reference/workflows-and-actions/contexts",
    ),
    (
        FILTER,
        "An event of a GitHub workflow has no such filter or activity",
        "GitHub does not heed a filter of another event: with `tags` below `pull_request` the workflow runs as if they were not \
         there. Values of `types` that the event does not have never start the workflow.",
        "https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows",
    ),
    (
        INJECTION,
        "Untrusted text becomes part of a script",
        "An expression is put into the script before the script runs, so that a title such as `\"; rm -rf . #` is a part of the \
         program. Reported are the texts that anyone may write, such as titles, bodies, messages and names of branches, in `run` \
         and in the script of `actions/github-script`. Pass the text through `env`, and use the variable in the script.",
        "https://docs.github.com/actions/reference/security/secure-use#good-practices-for-mitigating-script-injection-attacks",
    ),
    (
        MATRIX,
        "A matrix excludes what is not in it",
        "GitHub refuses a workflow that excludes by a name that is no row of the matrix. A value that the row does not have \
         excludes nothing. Left alone are rows with expressions.",
        "https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstrategymatrixexclude",
    ),
    (
        NEEDS,
        "A job of a GitHub workflow waits for one that does not exist, or for itself",
        "GitHub refuses the whole workflow.",
        "https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idneeds",
    ),
    (
        STEP_ID,
        "Two steps of a job have the same id",
        "GitHub refuses the whole workflow. Ids are the same in small letters and large.",
        "https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsid",
    ),
    (
        USES,
        "`uses` names no action or workflow",
        "An action is `owner/repository@ref`, `owner/repository/folder@ref`, `./folder` or `docker://image`; a workflow \
         is a file, in the same or another repository. Whether it is there is not looked at.",
        "https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsuses",
    ),
    (
        SCHEMA,
        "The file does not fit its schema",
        "The schema is the one that the file names (`# yaml-language-server: $schema=…`, or the key `$schema`), if that is a \
         file of the workspace or one of those that the plugin carries along, or else the one for files of this name: \
         workflows and actions of GitHub, Dependabot, Compose, GitLab CI, pre-commit, and others.\n\nLeft alone is what \
         readers differ about (`yes`, `0777`), what has a placeholder (`${PORT}`), and what has a tag of its own (`!Ref`). \
         Nothing is fetched from the network: where the schema is not at hand, the log says that the file was not checked.",
        "",
    ),
    (
        SYNTAX_ERROR,
        "The file is not YAML",
        "What is wrong in one document does not keep the next from being looked at. Templates (Helm, Jinja, ERB) are left \
         alone: they are no YAML yet.",
        "https://yaml.org/spec/1.2.2/",
    ),
    (
        UNKNOWN_ANCHOR,
        "An alias names an anchor that is not there",
        "`*name` stands for what has `&name` before it in the same document. A text that begins with `*` needs quotes.",
        "https://yaml.org/spec/1.2.2/#71-alias-nodes",
    ),
];

/// Every rule; all are on.
pub(crate) fn all() -> Vec<Rule> {
    TABLE.iter().map(|it| rule(*it)).collect()
}

fn rule((code, summary, explanation, url): (&str, &str, &str, &str)) -> Rule {
    let url = (!url.is_empty()).then(|| url.to_owned());
    Rule { explanation: explanation.to_owned(), url, ..Rule::new(code, summary) }
}
