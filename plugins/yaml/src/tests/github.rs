//! Findings in workflows beyond their schema.

use super::check;

/// Returns the findings in a workflow with these lines of `on` and of its one job.
fn check_job(on: &str, job: &str) -> String {
    let text = format!("on:\n{on}jobs:\n  j:\n    runs-on: x\n{job}");
    check(".github/workflows/ci.yml", text)
}

#[test]
fn properties_of_contexts() {
    let told = |it: &str| {
        check_job("  push:\n", &format!("    steps:\n      - id: a\n        run: echo ${{{{ {it} }}}}\n"))
    };
    for known in [
        "github.event.anything.at.all",
        "github.EVENT_NAME",
        "github['repositoryUrl']",
        "github.*",
        "github[env.X]",
        "github.step_summary",
        "runner.workspace",
        "job.services.db.ports[5432]",
        "job.workflow_sha",
        "strategy.job-total",
        "steps.a.outcome",
        "env.a.b",
        "fromJSON(vars.X).github.shaa",
    ] {
        assert_eq!(told(known), "", "{known}");
    }
    for (unknown, want) in [
        ("github.branch_ref", "`github` has no `branch_ref`"),
        ("github['even']", "`github` has no `even`; did you mean `event`?"),
        ("runner.hostname", "`runner` has no `hostname`"),
        ("job.state", "`job` has no `state`"),
        ("strategy.fail_fast", "`strategy` has no `fail_fast`; did you mean `fail-fast`?"),
        ("steps.a.output.x", "`steps.a` has no `output`; did you mean `outputs`?"),
    ] {
        let told = told(unknown);
        assert_eq!(told.split(": ").skip(1).collect::<Vec<_>>().join(": "), want, "{told}");
    }
    assert_eq!(
        told("github.sah }} ${{ github.sah"),
        "github-expression 8:23 `github.sah`: `github` has no `sah`; did you mean `sha`?\n\
         github-expression 8:41 `github.sah`: `github` has no `sah`; did you mean `sha`?",
        "each where it is"
    );
}

#[test]
fn names_of_the_matrix() {
    let told = |strategy: &str| {
        let job = format!(
            "{strategy}    steps:\n      - run: echo ${{{{ matrix.go }}}} ${{{{ toJSON(matrix) }}}}\n"
        );
        check_job("  push:\n", &job).split(": ").skip(1).collect::<Vec<_>>().join(": ")
    };
    let matrix = |it: &str| format!("    strategy:\n      matrix: {it}\n");
    for known in [
        "{Go: [1]}",
        "{include: [{os: x}, {go: 1}]}",
        "{include: \"${{ fromJSON(vars.X) }}\"}",
        "{os: [x], include: [\"${{ fromJSON(vars.X) }}\"]}",
        "\"${{ fromJSON(vars.X) }}\"",
        "{go: \"${{ fromJSON(vars.X) }}\"}",
        "{\"${{ insert }}\": \"${{ vars.X }}\"}",
    ] {
        assert_eq!(told(&matrix(known)), "", "{known}");
    }
    assert_eq!(told(""), "this job has no matrix");
    assert_eq!(told("    strategy: {fail-fast: true}\n"), "this job has no matrix");
    assert_eq!(told(&matrix("{os: [x], include: [{gp: 1}]}")), "the matrix of this job has no `go`");
    assert_eq!(told(&matrix("{os: [x], exclude: [{os: x}]}")), "the matrix of this job has no `go`");
    let action = "name: a\ndescription: b\nruns:\n  using: composite\n  steps:\n    - run: echo ${{ matrix.go }}\n      shell: x\n";
    assert_eq!(check("action.yml", action), "", "its caller may have one");
}

#[test]
fn what_a_matrix_excludes() {
    let told = |matrix: &str| {
        let job = format!("    strategy:\n      matrix: {matrix}\n    steps: [{{run: \"true\"}}]\n");
        check_job("  push:\n", &job)
    };
    for right in [
        "{os: [Linux, mac], v: [1.10, 2], exclude: [{OS: linux, v: 1.1}]}",
        "{os: [{a: 1}, x], exclude: [{os: y}]}",
        "{os: \"${{ fromJSON(vars.X) }}\", exclude: [{os: y}]}",
        "{os: [x, \"${{ vars.X }}\"], exclude: [{os: y}]}",
        "{os: [x], exclude: [{os: \"${{ vars.X }}\"}]}",
        "{os: [x], exclude: \"${{ fromJSON(vars.X) }}\"}",
    ] {
        assert_eq!(told(right), "", "{right}");
    }
    assert_eq!(
        told("{os: [ubuntu, mac], exclude: [{os: ubunt}], include: [{os: win}]}"),
        "github-matrix 7:50 `ubunt`: `os` is never `ubunt` in the matrix; did you mean `ubuntu`?"
    );
    assert_eq!(
        told("{os: [x], exclude: [{arch: y}], include: [{arch: y}]}"),
        "github-matrix 7:36 `arch`: the matrix has no `arch` to exclude",
        "GitHub includes after it excludes"
    );
}

#[test]
fn filters_of_events() {
    let told = |on: &str| check_job(on, "    steps: [{run: \"true\"}]\n");
    for right in [
        "  pull_request: {types: [opened, synchronize], paths: [a], branches-ignore: [b]}\n",
        "  pull_request_target: {types: [enqueued]}\n",
        "  issues: {types: opened}\n",
        "  repository_dispatch: {types: [what-you-like]}\n",
        "  release:\n",
        "  workflow_run: {workflows: [a], types: [completed], branches: [b]}\n",
    ] {
        assert_eq!(told(right), "", "{right}");
    }
    assert_eq!(
        told("  pull_request: {tags: [v1], types: [synchronise]}\n  create: {branches: [a]}\n"),
        "github-filter 2:18 `tags`: `pull_request` has no filter `tags`\n\
         github-filter 2:38 `synchronise`: `pull_request` has no activity `synchronise`; did you mean `synchronize`?\n\
         github-filter 3:12 `branches`: `create` has no filter `branches`"
    );
    assert_eq!(
        told("  release: {types: publish, branches: [a]}\n  workflow_dispatch: {paths: [b]}\n"),
        "github-filter 2:20 `publish`: `release` has no activity `publish`; did you mean `published`?\n\
         github-filter 2:29 `branches`: `release` has no filter `branches`\n\
         github-filter 3:23 `paths`: `workflow_dispatch` has no filter `paths`"
    );
    assert_eq!(told("  push: {types: [a]}\n").lines().count(), 1, "the schema says so already");
}

#[test]
fn commands_that_github_gave_up() {
    let told =
        |env: &str, run: &str| check_job("  push:\n", &format!("    steps:\n      - run: |\n{run}{env}"));
    let run = "          echo ::set-output name=a::b\n          # ::save-state name=a::b\n          \
               echo \"::set-env name=${A}::$B\" '::add-path::/x'\n          grep '::set-output name=' x\n";
    assert_eq!(
        told("", run),
        "github-command 8:18 `set-output`: `set-output` is deprecated: write to the file `$GITHUB_OUTPUT` instead\n\
         github-command 10:19 `set-env`: `set-env` is refused by the runner: write to the file `$GITHUB_ENV` instead\n\
         github-command 10:45 `add-path`: `add-path` is refused by the runner: write to the file `$GITHUB_PATH` instead"
    );
    let allowed = "        env: {ACTIONS_ALLOW_UNSECURE_COMMANDS: true}\n";
    assert_eq!(told(allowed, run).lines().count(), 1);
}

#[test]
fn untrusted_texts_in_scripts() {
    let told = |step: &str| check_job("  pull_request:\n", &format!("    steps:\n      - {step}\n"));
    for right in [
        "run: echo \"$TITLE\"\n        env: {TITLE: \"${{ github.event.pull_request.title }}\"}",
        "run: echo ${{ github.event.pull_request.number }}",
        "run: echo ${{ contains(github.event.issue.body, 'x') }}",
        "run: echo ${{ github.event.comment.body == 'x' && 'y' || 'z' }}",
        "run: echo ${{ github[vars.X] }}",
        "uses: a/b@v1\n        with: {script: \"${{ github.head_ref }}\"}",
        "run: x\n        if: github.head_ref == 'x'",
    ] {
        assert_eq!(told(right), "", "{right}");
    }
    let message = |it: &str| {
        format!(
            "`{it}` is untrusted text and becomes part of the script: pass it through `env` and use the variable"
        )
    };
    let head = message("github.head_ref");
    assert_eq!(
        told("run: |\n          echo ${{ github.head_ref || 'x' }}\n          echo ${{ GitHub.head_ref }}"),
        format!(
            "github-script-injection 8:20 `github.head_ref`: {head}\ngithub-script-injection 9:20 `GitHub.head_ref`: {head}"
        )
    );
    assert_eq!(
        told("run: echo ${{ format('{0}', github.event.commits[0].author.name) }}"),
        format!(
            "github-script-injection 7:37 `github.event.commits[0].author.name`: {}",
            message("github.event.commits.*.author.name")
        )
    );
    assert_eq!(
        told(
            "uses: actions/github-script@v7\n        with: {script: \"f('${{ github.event['issue'].title }}')\"}"
        ),
        format!(
            "github-script-injection 8:32 `github.event['issue'].title`: {}",
            message("github.event.issue.title")
        )
    );
}

#[test]
fn a_step_of_several_jobs_is_told_once() {
    let text = "on: push\njobs:\n  a:\n    runs-on: x\n    steps: &all\n      - run: echo ${{ github.head_ref }}\n  \
                b:\n    runs-on: x\n    steps: *all\n";
    assert_eq!(check(".github/workflows/ci.yml", text).lines().count(), 1);
}
