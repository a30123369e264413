//! Scripts in workflows and actions of GitHub.

use super::*;

const WORKFLOW: &str = ".github/workflows/a.yml";

/// Findings in a workflow with these lines before its jobs, in its one job, and in that job's step.
fn workflow(before: &str, job: &str, step: &str) -> String {
    let text = format!("on: push\n{before}jobs:\n  j:\n{job}    steps:\n      - {step}");
    lines_of(&[(WORKFLOW, &text)], settings(), WORKFLOW)
}

fn step(step: &str) -> String {
    workflow("", "    runs-on: ubuntu-latest\n", step)
}

fn run(lines: &str) -> String {
    let indented: String = lines.lines().map(|it| format!("          {it}\n")).collect();
    step(&format!("run: |\n{indented}"))
}

#[test]
fn mistakes_in_steps() {
    for (lines, want) in [
        ("ls\n[ \"$a\" > 5 ]", "8 SC2071 \">\""),
        ("x=(a b)\nls ${x[@]}", ""),
        ("x=(\"$(ls)\" b)\nls ${x[@]}", "8 SC2068 \"${x[@]}\""),
        ("local name=x", "7 SC2168 \"local name=x\""),
        ("set name=x", "7 SC2121 \"name=x\""),
        ("if true; then\n  ls", "7 syntax-error \"\", 8 syntax-error \"\""),
        ("cat \"~/x\"", "7 SC2088 \"~/x\""),
    ] {
        assert_eq!(run(lines), want, "{lines}");
    }
}

#[test]
fn what_is_on_in_files_is_on_in_steps() {
    assert_eq!(
        run("cd x\nread -r y\necho $y 'costs $5'\nexport a=$(b)"),
        "9 SC2086 \"$y\", 9 SC2016 \"'costs $5'\", 10 SC2155 \"a\"",
        "a step ends where a command fails, as `cd`"
    );
    let text = "on: push\njobs:\n  j:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo $x\n";
    let selected = |it: &str| lines_of(&[(WORKFLOW, text)], select(&[it]), WORKFLOW);
    assert_eq!(
        (selected("SC2086"), selected("S001")),
        ("6 SC2086 \"$x\"".to_owned(), "6 SC2086 \"$x\"".to_owned())
    );
}

/// A shell that ends at errors ends where a folder is not there.
#[test]
fn what_is_on_in_projects_of_shuck() {
    let told = |run: &str| {
        let text = format!("jobs:\n  j:\n    runs-on: ubuntu-latest\n    steps:\n      - {run}\n");
        lines_of(&[(WORKFLOW, &text), (".shuck.toml", "")], settings(), WORKFLOW)
    };
    assert_eq!(told("run: echo 'costs $HOME' $x"), "5 SC2016 \"'costs $HOME'\"");
    assert_eq!((told("run: cd x"), told("{run: cd x, shell: bash}")), (String::new(), String::new()));
    assert_eq!(told("{run: cd x, shell: 'bash {0}'}"), "5 SC2164 \"cd x\"");
}

/// Each script of the workflow has a shell of its own.
#[test]
fn the_shell_of_a_step() {
    let bashism = "run: '[[ -f x ]]'\n";
    assert_eq!(step(bashism), "");
    let in_sh = "6 SC3010 \"[[ -f x ]]\"";
    assert_eq!(step(&format!("{bashism}        shell: sh\n")), in_sh);
    assert_eq!(step(&format!("{bashism}        shell: /bin/sh -e {{0}}\n")), in_sh);
    let defaults = |indent: &str| format!("{indent}defaults:\n{indent}  run:\n{indent}    shell: sh\n");
    let on = "    runs-on: ubuntu-latest\n";
    assert_eq!(workflow(&defaults(""), on, bashism), "9 SC3010 \"[[ -f x ]]\"");
    assert_eq!(workflow("", &format!("{on}{}", defaults("    ")), bashism), "9 SC3010 \"[[ -f x ]]\"");
    assert_eq!(workflow(&defaults(""), on, &format!("{bashism}        shell: bash\n")), "");
}

#[test]
fn other_shells_and_languages_are_passed_over() {
    let wrong = "run: set name=x\n";
    assert_eq!(step(wrong), "6 SC2121 \"name=x\"");
    for shell in ["pwsh", "python", "cmd", "${{ matrix.shell }}", "perl {0}"] {
        assert_eq!(step(&format!("{wrong}        shell: {shell}\n")), "", "{shell}");
    }
    let on_windows = "    runs-on: windows-latest\n";
    assert_eq!(workflow("", on_windows, wrong), "");
    assert_eq!(workflow("", on_windows, &format!("{wrong}        shell: bash\n")), "6 SC2121 \"name=x\"");
    assert_eq!(step("uses: a/b@v1\n        with:\n          run: set name=x\n"), "");
}

/// A step of an action names its shell, or GitHub refuses it.
#[test]
fn composite_actions() {
    let action = |path: &str, shell: &str| {
        let text =
            format!("runs:\n  using: composite\n  steps:\n    - run: set name=${{{{ inputs.x }}}}\n{shell}");
        lines_of(&[(path, &text)], settings(), path)
    };
    assert_eq!(action("action.yml", "      shell: bash\n"), "4 SC2121 \"name=${{ inputs.x }}\"");
    assert_eq!(action("sub/action.yaml", "      shell: pwsh\n"), "");
    assert_eq!(action("action.yml", ""), "");
}

#[test]
fn expressions_may_be_anything() {
    for lines in [
        "if [ \"${{ inputs.x }}\" ]; then ls; fi",
        "if [ -n \"${{ inputs.x }}\" ] && [ ${{ inputs.x }} = true ]; then ls; fi",
        "[[ ${{ matrix.os }} == windows-* ]] || ls",
        "[[ \"${{ inputs.n }}\" -ge 4 ]] || exit ${{ inputs.n }}",
        "for x in ${{ inputs.list }}; do ls \"$x\"; done",
        "case ${{ inputs.x }} in a) ls ;; esac",
        "${{ inputs.command }}",
        "if ${{ contains(github.ref, 'x') }}; then ls; fi",
        "echo \"$from_env\"\nls ${{ inputs.a && '}}' }}",
    ] {
        assert_eq!(run(lines), "", "{lines}");
    }
    let with_syntax = "if [ \"${{ a }}\" = x ]; then\n  ls ${{ b }}";
    assert_eq!(run(with_syntax), "7 syntax-error \"\", 8 syntax-error \"\"");
}

/// The first line is a comment to the shell that runs the step.
#[test]
fn first_lines_name_no_interpreter() {
    for first in ["#/bin/bash", " #!/bin/sh", "#!bin/sh", "# x\n#!/bin/bash"] {
        assert_eq!(run(&format!("ls\n{first}\nls")), "", "{first}");
    }
    assert_eq!(run("#!/bin/sh\n[[ -f x ]]"), "");
}

#[test]
fn comments_of_shellcheck() {
    assert_eq!(run("# shellcheck disable=SC2121\nset name=x"), "");
    assert_eq!(
        run("ls\n# shellcheck disable=SC2086,SC2121\nset name=x\nset other=x"),
        "10 SC2121 \"other=x\""
    );
    assert_eq!(run("# shellcheck disable=SC2168\nlocal a=1"), "");
}

#[test]
fn places() {
    assert_eq!(step("run: ls && set name=x\n"), "6 SC2121 \"name=x\"");
    assert_eq!(step("run: >-\n          ls &&\n          set name=x\n"), "8 SC2121 \"name=x\"");
    assert_eq!(step("run: \"ls; set name=x\"\n"), "6 SC2121 \"name=x\"");
    assert_eq!(step("run: \"ls\\nset name=x\"\n"), "6 SC2121 \"\\\"ls\\\\nset name=x\\\"\"");
    let marked =
        "\u{feff}jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: set é=x b=c; set a=x\n";
    assert_eq!(lines_of(&[(WORKFLOW, marked)], settings(), WORKFLOW), "5 SC2121 \"a=x\"");
}

/// A step that two jobs have is reported once, and nothing of it is mended.
#[test]
fn shared_steps_and_fixes() {
    let text = "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: &s\n      - run: '[ -f x]'\n  b:\n    runs-on: ubuntu-latest\n    \
                steps: *s\n";
    let found = report(&[(WORKFLOW, text)], settings(), WORKFLOW).unwrap().diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].fixes.is_empty());
}

#[test]
fn rules_that_hold_for_workflows() {
    let files = [(WORKFLOW, ""), ("a.sh", "")];
    let mut project = testing::Project::<Shell>::new(&files).with(settings());
    for (code, in_file) in [("SC1113", true), ("SC2239", true), ("SC2154", true)] {
        assert_eq!((project.is_on("a.sh", code), project.is_on(WORKFLOW, code)), (in_file, false), "{code}");
    }
    assert!(project.is_on(WORKFLOW, "SC2121") && project.is_on(WORKFLOW, "SC2068"));
}

#[test]
fn what_is_no_yaml_is_left_out() {
    assert_eq!(lines_of(&[(WORKFLOW, "jobs: [\n")], settings(), WORKFLOW), "excluded");
    assert_eq!(lines_of(&[(WORKFLOW, "jobs:\n")], settings(), WORKFLOW), "");
}

/// Scripts at which the parser gives up are reported, and other steps are checked.
#[test]
fn scripts_that_cannot_be_read_are_told() {
    let deep = format!("{}ls{}", "$(".repeat(600), ")".repeat(600));
    let text = format!(
        "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ls\n      - run: |\n          {deep}\n      - run: set a=x\n"
    );
    let _before = testing::logged();
    assert_eq!(lines_of(&[(WORKFLOW, &text)], settings(), WORKFLOW), "8 SC2121 \"a=x\"");
    let logged = testing::logged();
    let said = logged.first().map(String::as_str).unwrap_or_default();
    let start = "a.yml is read in part: 1 of 3 scripts cannot be read: line 7: shuck cannot read it";
    assert!(logged.len() == 1 && said.contains(start), "{logged:?}");
}
