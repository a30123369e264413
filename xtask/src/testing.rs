//! Stages of `test`: plugins, SDKs and examples natively beside the plugins in wasm, then the broker, then clients and editors.

use crate::{
    layout::text,
    program::Program,
    step::{Failure, Invocation, Lane, Step, lane, say},
};

/// Stages that the environment adds or leaves out: `BROKER_DEV_NATIVE`, `BROKER_DEV_NO_SERVERS` and their like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) native: bool,
    pub(crate) no_servers: bool,
    pub(crate) no_checkers: bool,
    pub(crate) no_languages: bool,
    pub(crate) no_editors: bool,
}

/// Version of the ruff that the python plugin is compared with.
const RUFF: &str = "0.16.4";

/// Path of ruff's program in the folder of tools.
pub(crate) const RUFF_PROGRAM: &str = "ruff-0.16.4/bin/ruff";

/// Plugins whose native tests are left out unless `BROKER_DEV_NATIVE` is set: to compile these linters a second time takes
/// minutes, in which the first run on a machine has no time to lose. Their fixtures are tried in wasm.
const LARGE: [&str; 6] = ["javascript", "lua", "markdown", "python", "shell", "sql"];

const LANGUAGES: &str = "BROKER_TEST_LANGUAGES";

impl Options {
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Options {
        let is_set = |name: &str| variable(&format!("BROKER_DEV_{name}")).is_some_and(|it| !it.is_empty());
        Options {
            native: is_set("NATIVE"),
            no_servers: is_set("NO_SERVERS"),
            no_checkers: is_set("NO_CHECKERS"),
            no_languages: is_set("NO_LANGUAGES"),
            no_editors: is_set("NO_EDITORS"),
        }
    }
}

impl Program {
    /// All tests. Arguments choose among those of the broker, and leave out the clients.
    pub(crate) fn test_steps(&self, options: Options, arguments: &[String]) -> Vec<Step> {
        let mut steps = [self.steps(), self.guest_steps(), self.tools(options)].concat();
        // Native tests are compiled by what the plugins leave of the processors.
        let native = Lane { steps: self.native_tests(options), is_shown_at_end: true };
        steps.push(Step::Together(vec![native, lane(self.plugin_tests(options))]));
        steps.push(say("tests of the broker"));
        steps.push(self.cargo("test").args(arguments).step());
        steps.push(self.no_warnings());
        if arguments.is_empty() {
            steps.extend(self.client_tests(options));
        }
        steps
    }

    /// Programs that tests compare with, or drive.
    fn tools(&self, options: Options) -> Vec<Step> {
        let mut steps = vec![self.ruff()];
        if !options.no_servers {
            steps.push(self.servers());
        }
        if !options.no_checkers {
            steps.push(Step::Export(
                self.installer("checkers"),
                Some(Failure {
                    message: "the checkers of the tests cannot be installed",
                    hint: Some("BROKER_DEV_NO_CHECKERS=1 ./dev test goes without"),
                }),
            ));
        }
        // The mount helper of FUSE for ordinary users, and the ripgrep that search is compared with.
        steps.push(Step::Export(Invocation::new("tests/fuse/install"), None));
        steps.push(Step::Export(
            Invocation::new("tests/search/install").arg(text(&self.layout.tools())),
            None,
        ));
        steps
    }

    fn installer(&self, kind: &str) -> Invocation {
        let folder = self.layout.tools().join(kind);
        Invocation::new(format!("tests/{kind}/install")).arg(text(&folder))
    }

    /// Real language servers, those that install quickly.
    pub(crate) fn servers(&self) -> Step {
        let failure = Failure {
            message: "the language servers of the tests cannot be installed",
            hint: Some("BROKER_DEV_NO_SERVERS=1 ./dev test goes without"),
        };
        Step::Export(self.installer("servers"), Some(failure))
    }

    pub(crate) fn ruff_program(&self) -> String {
        text(&self.layout.tools().join(RUFF_PROGRAM))
    }

    /// The ruff that the python plugin is compared with.
    pub(crate) fn ruff(&self) -> Step {
        let folder = self.layout.tools().join(format!("ruff-{RUFF}"));
        let environment = Invocation::of("python3 -m venv").arg(text(&folder));
        let pip = Invocation::new(text(&folder.join("bin/pip")));
        let install = vec![
            say(format!("installing ruff {RUFF} to compare with")),
            Step::Run(
                environment,
                Some(Failure {
                    message: "python3 cannot make virtual environments, which ruff is installed into to compare with",
                    hint: Some(
                        "install Python 3, and apt-get install python3-venv or your system's equivalent",
                    ),
                }),
            ),
            pip.args(["install", "--quiet", "--disable-pip-version-check"])
                .arg(format!("ruff=={RUFF}"))
                .step(),
        ];
        Step::Unless(self.ruff_program().into(), install)
    }

    /// Plugins, SDKs and examples without wasm.
    fn native_tests(&self, options: Options) -> Vec<Step> {
        let large = LARGE.iter().filter(|_| !options.native);
        let left_out = large.flat_map(|it| ["--exclude".to_owned(), format!("broker-plugin-{it}")]);
        let cargo = |manifest| {
            Invocation::of("cargo test --quiet --locked --workspace --manifest-path")
                .args([manifest, "--target-dir"])
                .arg(text(&self.layout.target.join("plugins")))
        };
        let test = text(&self.layout.target.join("broker_test"));
        let c = Invocation::of("cc -Wall -Isdk/c -o").arg(&*test);
        let mut steps = vec![
            cargo("plugins/Cargo.toml").args(left_out).step(),
            cargo("examples/no-todo/Cargo.toml").step(),
            Invocation::of("python3 -m unittest --quiet sdk/python/test_broker.py")
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .step(),
            Step::RunQuietly(Invocation::of("node --test sdk/javascript/broker.test.js")),
            c.args(["tests/languages/broker_test.c", "sdk/c/broker.c"]).step(),
            Invocation::new(test).step(),
        ];
        if !options.native {
            let names = LARGE.join(", ");
            steps
                .insert(0, say(format!("left out unless BROKER_DEV_NATIVE is set: native tests of {names}")));
        }
        steps
    }

    /// Tests of every plugin of the bundle, and of the examples of plugins.
    fn plugin_tests(&self, options: Options) -> Vec<Step> {
        let broker = || Invocation::new(self.broker());
        let test =
            |it: &str| broker().args(["plugin", "test", "--bundled"]).arg(format!("plugins/{it}")).step();
        let no_todo = text(&self.layout.guests().join("no_todo.wasm"));
        let mut steps = vec![say("what every plugin must hold")];
        steps.extend(self.plugins.iter().map(|it| test(&it.name)));
        steps.push(say("examples of plugins"));
        steps.push(broker().args(["plugin", "test", "--component", &*no_todo, "examples/no-todo"]).step());
        if options.no_languages {
            return steps;
        }
        steps.push(Step::Export(
            Invocation::new("tests/languages/install"),
            Some(Failure {
                message: "what builds plugins in other languages cannot be installed",
                hint: Some("BROKER_DEV_NO_LANGUAGES=1 ./dev test goes without"),
            }),
        ));
        for folder in ["naive-datetime", "package-json", "makefile"].map(|it| format!("examples/{it}")) {
            steps.push(broker().args(["plugin", "build", &folder]).path_from(LANGUAGES).step());
            steps.push(broker().args(["plugin", "test", &folder]).step());
        }
        steps.push(Invocation::of("tsc -p examples/package-json").path_from(LANGUAGES).step());
        steps
    }

    /// Fails on warnings of the compiler and clippy, which cargo has kept from when the workspace was built.
    fn no_warnings(&self) -> Step {
        let failure = Failure { message: "the workspace cannot be built", hint: Some("./dev build") };
        Step::ExpectNoWarnings(self.cargo("build").arg("--all-targets"), failure)
    }

    fn client_tests(&self, options: Options) -> Vec<Step> {
        let run = |program: &str| Invocation::new(program).arg(self.broker()).step();
        let mut steps = vec![say("the example clients"), run("tests/clients/run")];
        steps.extend([say("agents over MCP"), run("tests/agents/run")]);
        if !options.no_editors {
            let failure = Failure {
                message: "the editors of the tests cannot be installed",
                hint: Some("BROKER_DEV_NO_EDITORS=1 ./dev test goes without"),
            };
            steps.push(Step::Export(self.installer("editors"), Some(failure)));
            steps.extend([say("editors"), run("tests/editors/run")]);
            steps.extend([say("the extension for VS Code"), run("editors/vscode/test")]);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        layout::Build,
        program::tests::{program, shown},
    };

    fn steps(variables: &[&str], arguments: &[&str]) -> String {
        let variable = |name: &str| variables.contains(&name).then(|| "1".to_owned());
        let arguments: Vec<_> = arguments.iter().map(|it| (*it).to_owned()).collect();
        let program = program(Build::Quick, &[]);
        let built = [program.steps(), program.guest_steps()].concat().len();
        shown(&program.test_steps(Options::new(variable), &arguments)[built..])
    }

    const SMALL: [&str; 4] = [
        "BROKER_DEV_NO_SERVERS",
        "BROKER_DEV_NO_CHECKERS",
        "BROKER_DEV_NO_LANGUAGES",
        "BROKER_DEV_NO_EDITORS",
    ];

    #[test]
    fn arguments_choose_among_the_tests_of_the_broker() {
        assert_eq!(
            steps(&SMALL, &["--test", "it", "cli::"]),
            "\
unless /t/tools/ruff-0.16.4/bin/ruff
  # installing ruff 0.16.4 to compare with
  python3 -m venv /t/tools/ruff-0.16.4
  /t/tools/ruff-0.16.4/bin/pip install --quiet --disable-pip-version-check 'ruff==0.16.4'
export $(tests/fuse/install)
export $(tests/search/install /t/tools)
together
  # left out unless BROKER_DEV_NATIVE is set: native tests of javascript, lua, markdown, python, shell, sql
  cargo test --quiet --locked --workspace --manifest-path plugins/Cargo.toml --target-dir /t/plugins --exclude broker-plugin-javascript --exclude broker-plugin-lua --exclude broker-plugin-markdown --exclude broker-plugin-python --exclude broker-plugin-shell --exclude broker-plugin-sql
  cargo test --quiet --locked --workspace --manifest-path examples/no-todo/Cargo.toml --target-dir /t/plugins
  PYTHONDONTWRITEBYTECODE=1 python3 -m unittest --quiet sdk/python/test_broker.py
  node --test sdk/javascript/broker.test.js
  cc -Wall -Isdk/c -o /t/broker_test tests/languages/broker_test.c sdk/c/broker.c
  /t/broker_test
together
  # what every plugin must hold
  /t/debug/broker plugin test --bundled plugins/json
  /t/debug/broker plugin test --bundled plugins/text
  # examples of plugins
  /t/debug/broker plugin test --component /t/guests/no_todo.wasm examples/no-todo
# tests of the broker
RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo test --locked --profile dev --workspace --test it cli::
no warnings: RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo build --locked --profile dev --workspace --all-targets
"
        );
    }

    #[test]
    fn all_is_tested_without_arguments() {
        let all = steps(&[], &[]);
        for line in [
            "export $(tests/servers/install /t/tools/servers)",
            "export $(tests/checkers/install /t/tools/checkers)",
            "  export $(tests/languages/install)",
            "  PATH=$BROKER_TEST_LANGUAGES:$PATH /t/debug/broker plugin build examples/makefile",
            "  PATH=$BROKER_TEST_LANGUAGES:$PATH tsc -p examples/package-json",
            "tests/clients/run /t/debug/broker",
            "tests/agents/run /t/debug/broker",
            "export $(tests/editors/install /t/tools/editors)",
            "editors/vscode/test /t/debug/broker",
        ] {
            assert!(all.lines().any(|it| it == line), "no `{line}` in\n{all}");
        }
        assert!(!steps(&["BROKER_DEV_NATIVE"], &[]).contains("--exclude"));
    }
}
