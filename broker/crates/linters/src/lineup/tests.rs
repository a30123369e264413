//! The seam, with a third kind of linters besides plugins and language servers.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use check_engine::{Absent, SharedLinter, pipeline::Lineup as _};
use config::Choice;
use lint_testkit::Scripted;
use overlay::{Memory, View};

use super::*;
use crate::{
    Way,
    plugins::{PluginProvider, Plugins},
    provider::{Program, ProgramKind, Selected, Standing},
    servers::Servers,
};

/// Commands of the user's, one of which can list its rules.
#[derive(Default)]
struct Commands {
    ended: Arc<AtomicUsize>,
    opened: Arc<AtomicUsize>,
}

struct Commanded(Arc<AtomicUsize>);

const KNOWN: [&str; 2] = ["C1", "C2"];

impl Provider for Commands {
    fn kind(&self) -> LinterKind {
        LinterKind::Command
    }

    fn open(&self, _: &Arc<WorkspaceContext>, _: &Arc<dyn View>) -> Result<Box<dyn Catalog>, SetupFailure> {
        Ok(Box::new(Commanded(Arc::clone(&self.opened))))
    }

    fn shut_down(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl Catalog for Commanded {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        Ok(vec![LinterName::known("clippy"), LinterName::open("make")])
    }

    fn select(&self, selectors: &Selectors) -> Result<Selected, SetupFailure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let own = selectors.for_linter("clippy");
        let unknown = own.select.iter().flatten().chain(&own.ignore);
        let unknown: Vec<_> =
            unknown.filter(|it| *it != "ALL" && !KNOWN.contains(&it.as_str())).cloned().collect();
        let (mut linters, mut absent) = (Vec::<SharedLinter>::new(), Vec::new());
        match own.is_nothing(&unknown) {
            true => absent.push(Absent {
                globs: vec!["*.rs".to_owned()],
                interpreters: Vec::new(),
                has_own_rules: false,
            }),
            false => linters.push(Arc::new(Scripted::new("clippy", &["*.rs"]))),
        }
        if selectors.for_server("make").is_some() {
            linters.push(Arc::new(Scripted::new("make", &["Makefile", "*.rs"])));
        }
        let router = Arc::new(Router::new(&linters).without(absent));
        Ok(Selected { router, unknown: vec![("clippy".to_owned(), unknown)] })
    }

    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        let asked = self.select(selectors)?.router;
        let clippy = asked.linters().iter().find(|it| it.identity().name == "clippy");
        let program = Program {
            kind: ProgramKind::Command,
            path: None,
            way: Ok(Way::Free),
            install: "by hand".to_owned(),
            limits: None,
        };
        let make = Diagnosis::of_program(
            "make".to_owned(),
            Vec::new(),
            Standing::NotNamed { marker: None },
            program,
            |path| (path.file_name() == Some("Makefile")).then(|| Some("make".to_owned())),
        );
        let clippy = clippy.map(|it| Diagnosis::of_linter(Arc::clone(it), Standing::Named));
        Ok(clippy.into_iter().chain([make]).collect())
    }

    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        Ok(match linter {
            "clippy" => Some(Rules::Known(KNOWN.map(|code| lint_testkit::rule(code, "")).into())),
            "make" => Some(Rules::Open),
            _ => None,
        })
    }
}

fn view(files: &[(&str, &str)]) -> Arc<dyn View> {
    Arc::new(Memory::from_files(files.iter().copied()).unwrap())
}

fn linters(view: &Arc<dyn View>, commands: Commands, requested: Choice) -> LinterSet {
    let plugins = PluginProvider::new(Plugins::none().unwrap());
    let providers: Vec<Arc<dyn Provider>> =
        vec![Arc::new(plugins), Arc::new(Servers::of_user()), Arc::new(commands)];
    LinterSet::new(providers, WorkspaceContext::of_shell(Path::new("/nowhere"), Arc::clone(view)), requested)
}

fn choice(select: &[&str], ignore: &[&str]) -> Choice {
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    Choice { select: (!select.is_empty()).then(|| texts(select)), ignore: texts(ignore) }
}

fn names(router: &Router) -> Vec<String> {
    router.names().to_vec()
}

#[test]
fn a_third_kind_of_linters_takes_part() {
    let view = view(&[("a.rs", "")]);
    let linters = linters(&view, Commands::default(), Choice::default()).at(&view).unwrap();
    let of = |select: &[&str]| linters.router(&choice(select, &[])).map(|it| names(&it));
    assert_eq!(of(&[]).unwrap(), ["clippy", "make"]);
    assert_eq!(of(&["C1"]).unwrap(), ["clippy"]);
    assert_eq!(of(&["make/x"]).unwrap(), ["make"]);
    assert_eq!(of(&["ALL"]).unwrap(), ["clippy", "make"]);
    let hint = |select: &[&str]| {
        let error = of(select).unwrap_err();
        (error.message, error.hint.unwrap_or_default())
    };
    let unknown = |rule: &str| format!("unknown rule selector `{rule}`");
    assert_eq!(hint(&["c1"]), (unknown("c1"), "did you mean `C1`?".to_owned()));
    assert_eq!(
        hint(&["clippy/C3"]),
        (unknown("clippy/C3"), "the nearest of its rules is `clippy/C1`".to_owned())
    );
    assert_eq!(hint(&["make"]), (unknown("make"), "did you mean `make/ALL`?".to_owned()));
    let nobody = hint(&["clipy/C1"]);
    assert_eq!(nobody.0, "no plugin or language server named `clipy`");
    assert_eq!(nobody.1, "did you mean `clippy`?");
}

#[test]
fn each_file_has_the_linters_that_its_configuration_asks_for() {
    let config = "[[overrides]]\npaths = ['gen/*']\nselect = ['make/ALL']\n";
    let files = [("broker.toml", config), ("a.rs", ""), ("gen/b.rs", ""), ("gen/Makefile", "")];
    let view_of = view(&files);
    let paths = ["a.rs", "gen/b.rs", "gen/Makefile"].map(|it| WorkspacePath::new(it).unwrap());
    let units = Files::of_named(paths.clone());
    let of_files = |linters: &LinterSet| {
        let router = linters.route(&view_of, &units).unwrap();
        let of_file = |path: &WorkspacePath| {
            let linters =
                router.linters_for(&*view_of, path).into_iter().map(|it| it.identity().name.clone());
            linters.collect::<Vec<_>>().join(" ")
        };
        paths.each_ref().map(of_file)
    };
    let of = |requested: Choice| of_files(&linters(&view_of, Commands::default(), requested));
    assert_eq!(of(choice(&["clippy/C1"], &[])), ["clippy", "clippy", ""], "the request goes before");
    assert_eq!(of(choice(&[], &["C1"])), ["clippy make", "make", "make"], "it is added");
    let commands = Commands::default();
    let asked = Arc::clone(&commands.opened);
    let every_rule = linters(&view_of, commands, Choice::default());
    for _ in 0..2 {
        assert_eq!(of_files(&every_rule), ["clippy make", "make", "make"]);
        assert_eq!(asked.load(Ordering::Relaxed), 2, "each choice is made once");
    }

    let config = config.replace("make/ALL", "C9");
    let other = view(&[("broker.toml", config.as_str())]);
    let error = every_rule.route(&other, &units).map(|_| ()).unwrap_err();
    assert_eq!(error.message, "broker.toml:3:11: unknown rule selector `C9`");

    let nested = view(&[("broker.toml", "select = ['C1']"), ("gen/broker.toml", "ignore = ['C9']")]);
    let error = every_rule.route(&nested, &units).map(|_| ()).unwrap_err();
    assert_eq!(error.message, "gen/broker.toml:1:11: unknown rule selector `C9`");
    let nested = view(&[("broker.toml", "select = ['C1']"), ("gen/broker.toml", "ignore = ['nolint/X']")]);
    let error = every_rule.route(&nested, &units).map(|_| ()).unwrap_err();
    assert!(error.message.starts_with("gen/broker.toml:1:11: "), "{}", error.message);
    assert!(error.message.ends_with("`nolint`"), "{}", error.message);
}

#[test]
fn kinds_that_are_left_out_are_known_and_not_asked() {
    let view = view(&[("a.rs", ""), ("go.mod", "")]);
    let of = |kind: LinterKind, select: &[&str]| {
        let requested = choice(select, &[]);
        let linters = linters(&view, Commands::default(), requested.clone()).of_kinds(vec![kind]);
        let router = linters.at(&view)?.router(&requested)?;
        let absent = router.absent().iter().map(|it| it.globs.join(" "));
        Ok::<_, SetupFailure>((names(&router), absent.collect::<Vec<_>>()))
    };
    let (asked, absent) = of(LinterKind::Command, &[]).unwrap();
    assert_eq!(asked, ["clippy", "make"]);
    assert!(absent.contains(&"*.go".to_owned()) && !absent.contains(&"*.rs".to_owned()), "{absent:?}");
    for kind in [LinterKind::Plugin, LinterKind::Server] {
        let (asked, absent) = of(kind, &[]).unwrap();
        assert!(asked.is_empty() && absent.contains(&"*.rs".to_owned()), "{kind:?}: {asked:?} {absent:?}");
        for known in ["C1", "clippy/C2", "make/x", "ALL"] {
            assert!(of(kind, &[known]).unwrap().0.is_empty(), "{known}");
        }
        assert_eq!(of(kind, &["c1"]).unwrap_err().message, "unknown rule selector `c1`");
    }
}

#[test]
fn rules_are_those_of_all_kinds() {
    let commands = Commands::default();
    let ended = Arc::clone(&commands.ended);
    let providers: Vec<Arc<dyn Provider>> = vec![Arc::new(commands)];
    let view = view(&[]);
    let context = WorkspaceContext::of_shell(Path::new("/nowhere"), Arc::clone(&view));
    let lineup = LinterSet::new(providers.clone(), context, Choice::default()).at(&view).unwrap();
    let codes = |linter: &str| lineup.known_rules(linter).into_iter().map(|it| it.code).collect::<Vec<_>>();
    assert_eq!(codes("clippy"), KNOWN);
    assert_eq!(lineup.rules("make"), Ok(Some(Rules::Open)));
    assert_eq!(lineup.rules("other"), Ok(None));
    assert!(!codes(suppress::LINTER).is_empty());
    let doubts = |rule: &str| {
        let named = [(WorkspacePath::new("broker.toml").unwrap(), rule.parse().unwrap())];
        lineup.unknown_rules(&named.into()).unwrap()
    };
    for known in ["C1", "clippy/C2", "make/anything"] {
        assert!(doubts(known).is_empty(), "{known}");
    }
    let told =
        "broker.toml: `severity` names the unknown rule `clippy/C8`; the nearest of its rules is `clippy/C1`";
    assert_eq!(doubts("clippy/C8"), [told]);
    providers.iter().for_each(|it| it.shut_down());
    assert_eq!(ended.load(Ordering::Relaxed), 1);
}

#[test]
fn a_diagnosis_is_of_all_kinds() {
    let files = [("a.rs", ""), ("go.mod", "")];
    let view = view(&files);
    let all = linters(&view, Commands::default(), Choice::default()).at(&view).unwrap();
    let told = |choice: &Choice| {
        let all = all.diagnose(choice).unwrap();
        let of = |name: &str| all.iter().find(|it| it.name == name).map(|it| it.standing.clone());
        (of("clippy"), of("make"), of("gopls"))
    };
    let go = Standing::Project { marker: "go.mod".to_owned() };
    assert_eq!(
        told(&choice(&[], &[])),
        (Some(Standing::Named), Some(Standing::NotNamed { marker: None }), Some(go))
    );
    let (clippy, _, gopls) = told(&choice(&["make/x"], &[]));
    assert_eq!((clippy, gopls), (None, Some(Standing::NotSelected)));
    assert!(all.diagnose(&choice(&["C9"], &[])).is_err(), "as for a check");
    let diagnoses = all.diagnose(&choice(&[], &[])).unwrap();
    let language = |name: &str, path: &str| {
        let path = WorkspacePath::new(path).unwrap();
        let it = diagnoses.iter().find(|it| it.name == name).unwrap();
        (it.covers(&*view, &path), it.language(&*view, &path))
    };
    assert_eq!(language("clippy", "a.rs"), (true, None));
    assert_eq!(language("clippy", "a.go"), (false, None));
    assert_eq!(language("gopls", "a.go"), (true, Some("go".to_owned())));
}

/// Has a linter in the place of `clippy`.
struct Replacing;

impl Provider for Replacing {
    fn kind(&self) -> LinterKind {
        LinterKind::Server
    }

    fn open(&self, _: &Arc<WorkspaceContext>, _: &Arc<dyn View>) -> Result<Box<dyn Catalog>, SetupFailure> {
        Ok(Box::new(Self))
    }
}

impl Catalog for Replacing {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        Ok(Vec::new())
    }

    fn select(&self, _: &Selectors) -> Result<Selected, SetupFailure> {
        Ok(Selected { router: Arc::new(Router::new(&[])), unknown: Vec::new() })
    }

    fn replaced(&self, _: &Selectors) -> Result<Vec<(String, Vec<String>)>, SetupFailure> {
        Ok(vec![("clippy".to_owned(), vec!["*.rs".to_owned()])])
    }

    fn rules(&self, _: &str) -> Result<Option<Rules>, SetupFailure> {
        Ok(None)
    }

    fn diagnose(&self, _: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        Ok(Vec::new())
    }
}

#[test]
fn what_is_replaced_is_asked_for_by_no_request() {
    let view = view(&[("a.rs", "")]);
    let asked = |kinds: &[LinterKind]| {
        let providers: Vec<Arc<dyn Provider>> = vec![Arc::new(Commands::default()), Arc::new(Replacing)];
        let context = WorkspaceContext::of_shell(Path::new("/nowhere"), Arc::clone(&view));
        let set = LinterSet::new(providers, context, Choice::default()).of_kinds(kinds.to_vec());
        let router = set.at(&view).unwrap().router(&Choice::default()).unwrap();
        let linters = router.linters_for(&*view, &WorkspacePath::new("a.rs").unwrap());
        linters.iter().map(|it| it.identity().name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&[]), asked(&[LinterKind::Command]));
    assert!(!asked(&[LinterKind::Command]).contains(&"clippy".to_owned()));
}
