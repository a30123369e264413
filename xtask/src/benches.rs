//! Benches: what each needs to be built or installed before it runs.

use crate::{
    layout::{Build, text},
    program::Program,
    step::{Invocation, Step, say},
};

/// Something that a bench needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Need {
    /// The shipping build, whose path is the first argument.
    Broker,
    /// `bench-branches`, which plays clients.
    BenchBranches,
    /// Python 3 and npm, which bring packages or other servers.
    Packages,
}
use Need::{BenchBranches, Broker, Packages};

#[derive(Debug)]
struct Bench {
    name: &'static str,
    says: &'static str,
    needs: &'static [Need],
    /// Below `tests/bench`.
    program: &'static str,
}

const BENCHES: &[Bench] = &[
    bench("search", "", &[], "search"),
    bench("questions", "", &[], "questions"),
    bench("sketches", "", &[], "sketches"),
    bench("lsp", "bench of editors", &[Broker, Packages, BenchBranches], "lsp"),
    bench("mixed", "bench of a mixed repository", &[Broker], "mixed"),
    bench("findings", "findings in well-known packages", &[Broker, Packages], "findings/run"),
    bench("tokens", "", &[Broker], "tokens"),
    bench("types", "types after random edits", &[Broker], "types/run"),
    bench("tools", "tools from the package registries", &[Broker], "tools"),
    bench("agents-memory", "", &[Broker], "agents-memory"),
    bench("agents-day", "a day of eight agents", &[Broker], "agents-day/run"),
    bench(
        "merge-preview",
        "what is wrong with merges that are clean by lines",
        &[Broker],
        "merge-preview/run",
    ),
    bench("run", "bench of commands in shadow folders", &[Broker, Packages], "shadow"),
    bench("run crowd", "bench of many commands at one time", &[Broker, Packages], "crowd"),
];

const fn bench(
    name: &'static str,
    says: &'static str,
    needs: &'static [Need],
    program: &'static str,
) -> Bench {
    Bench { name, says, needs, program }
}

/// Whether the benchmark needs Python 3 and npm, which bring packages or other servers.
pub(crate) fn needs_packages(arguments: &[String]) -> bool {
    find(arguments).is_some_and(|it| it.0.needs.contains(&Packages)) || needs_repositories(arguments)
}

/// Whether the benchmark makes repositories of packages.
pub(crate) fn needs_repositories(arguments: &[String]) -> bool {
    arguments.first().is_some_and(|it| it == "branches") && arguments.iter().any(|it| it == "--packages")
}

/// The build that is measured: the one that ships, but for servers of others.
pub(crate) fn build(arguments: &[String]) -> Build {
    if arguments.first().is_some_and(|it| it == "servers") { Build::Quick } else { Build::Shipping }
}

/// The bench that is named, and the arguments after its name.
fn find(arguments: &[String]) -> Option<(&'static Bench, &[String])> {
    // The longest name, so that `run crowd` is not `run`.
    let is_named = |bench: &&Bench| {
        let mut words = bench.name.split(' ').enumerate();
        words.all(|(index, word)| arguments.get(index).is_some_and(|it| it == word))
    };
    let bench = BENCHES.iter().filter(is_named).max_by_key(|it| it.name.len())?;
    Some((bench, &arguments[bench.name.split(' ').count()..]))
}

/// A bench that needs no build.
pub(crate) fn script(arguments: &[String]) -> Option<Step> {
    let (bench, arguments) = find(arguments).filter(|it| !it.0.needs.contains(&Broker))?;
    Some(Step::Exec(Invocation::new(format!("tests/bench/{}", bench.program)).args(arguments)))
}

impl Program {
    /// Steps of a bench. `packages` are repositories made of packages.
    pub(crate) fn bench_steps(&self, arguments: &[String], packages: &[String]) -> Vec<Step> {
        match arguments.first().map(String::as_str) {
            Some("servers") => self.bench_servers(),
            Some("branches") => [self.shipping(), self.bench_branches(&arguments[1..], packages)].concat(),
            Some("plugins") => {
                [self.shipping(), self.guest_steps(), self.bench_plugins(&arguments[1..])].concat()
            }
            _ => {
                find(arguments).map_or_else(|| self.bench_ruff(arguments), |it| self.bench_script(it.0, it.1))
            }
        }
    }

    /// The shipping build, with its name.
    pub(crate) fn shipping(&self) -> Vec<Step> {
        [self.steps(), vec![say("this is the shipping build")]].concat()
    }

    fn bench_script(&self, bench: &Bench, arguments: &[String]) -> Vec<Step> {
        let mut steps = self.shipping();
        if bench.needs.contains(&BenchBranches) {
            steps.push(self.build_bench_branches());
        }
        steps.extend((!bench.says.is_empty()).then(|| say(bench.says)));
        let program = Invocation::new(format!("tests/bench/{}", bench.program));
        steps.push(Step::Exec(program.arg(self.broker()).args(arguments)));
        steps
    }

    fn build_bench_branches(&self) -> Step {
        self.cargo("build").args(["--quiet", "--bin", "bench-branches"]).step()
    }

    fn bench_branches(&self, arguments: &[String], packages: &[String]) -> Vec<Step> {
        let trees = packages.iter().flat_map(|it| ["--tree".to_owned(), it.clone()]);
        let trees: Vec<_> = trees.collect();
        let expanded = arguments.iter().flat_map(|it| match it.as_str() {
            "--packages" => trees.clone(),
            _ => vec![it.clone()],
        });
        let program = Invocation::new(text(&self.layout.out(self.build).join("bench-branches")));
        let run = Step::Exec(program.arg(self.broker()).args(expanded));
        vec![say("bench of branches"), self.build_bench_branches(), run]
    }

    fn bench_plugins(&self, arguments: &[String]) -> Vec<Step> {
        let cargo = Invocation::of("cargo bench --quiet --locked --workspace --bench plugins --");
        vec![say("bench of plugins"), Step::Exec(cargo.args(arguments))]
    }

    /// Servers that are installed for the tests, and those that `BROKER_TEST_NAME` names.
    fn bench_servers(&self) -> Vec<Step> {
        let test = self.cargo("test").args(["--quiet", "--test", "it", "table::", "--", "--nocapture"]);
        vec![self.servers(), say("bench of language servers"), test.env("BROKER_TEST_TABLE", "1").step()]
    }

    fn bench_ruff(&self, arguments: &[String]) -> Vec<Step> {
        let run =
            Invocation::new("tests/bench/run").args([self.broker(), self.ruff_program()]).args(arguments);
        [self.shipping(), self.guest_steps(), vec![self.ruff(), Step::Exec(run)]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{program::tests::program, step::printed};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// The last step of a bench.
    fn last(line: &str) -> String {
        let program = program(Build::Shipping, &[]);
        let steps = program.bench_steps(&words(line), &words("/p/a /p/b"));
        printed(&steps[steps.len() - 1..])
    }

    #[test]
    fn benches_are_found_by_name() {
        assert_eq!(last("lsp latency"), "exec tests/bench/lsp /t/release/broker latency\n");
        assert_eq!(last("run"), "exec tests/bench/shadow /t/release/broker\n");
        assert_eq!(last("run crowd 5"), "exec tests/bench/crowd /t/release/broker 5\n");
        let ruff = "exec tests/bench/run /t/release/broker /t/tools/ruff-0.16.4/bin/ruff parity\n";
        assert_eq!(last("parity"), ruff);
        assert_eq!(last(""), ruff.replace(" parity", ""));
        assert_eq!(
            last("branches --packages 9"),
            "exec /t/release/bench-branches /t/release/broker --tree /p/a --tree /p/b 9\n"
        );
        assert!(last("servers").contains("BROKER_TEST_TABLE=1"), "{}", last("servers"));
    }

    #[test]
    fn needs_are_known_before_anything_is_built() {
        assert_eq!([build(&words("servers")), build(&words("lsp"))], [Build::Quick, Build::Shipping]);
        assert!(script(&words("mixed")).is_none());
        assert!(needs_packages(&words("run crowd")) && needs_packages(&words("branches --packages")));
        assert!(!needs_packages(&words("branches")) && !needs_packages(&words("speed")));
        assert_eq!(
            printed(&script(&words("search /x")).into_iter().collect::<Vec<_>>()),
            "exec tests/bench/search /x\n"
        );
    }
}
