//! Real tools with warm caches: after an edit in one branch, another one never takes what was made of it for its own.

use std::{fs, path::PathBuf, process::Command};

use overlay::{Branch, WorkspacePath};

use crate::fixture::{Ran, World, run_program, script};

/// Environment that a program needs to run.
struct Tools {
    path: String,
}

/// A run in a branch with this text in this file, or in the workspace itself.
fn ran(world: &World, tools: &Tools, edit: Option<(&str, &str)>, text: &str) -> Ran {
    let shadow = world.open(|branch: &mut Branch| {
        if let Some((path, text)) = edit {
            branch.write(&WorkspacePath::new(path).unwrap(), text.to_owned().into()).unwrap();
        }
    });
    let mut program = script(&world.root(), text);
    program.environment = vec![
        ("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", tools.path).into()),
        ("HOME".into(), world.home().into()),
    ];
    let ran = run_program(&shadow, program);
    assert!(ran.ended.is_whole(), "{ran:?}");
    shadow.keep_caches().unwrap();
    ran
}

/// Folder of the real cargo, not of rustup's; `None` for a user who cannot start it.
fn toolchain() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    output.status.success().then(|| fs::canonicalize(folder).ok()).flatten()
}

#[test]
fn an_archive_with_files_of_another_user_is_unpacked() {
    const SCRIPT: &str = "mkdir from to; echo a > from/a; tar --owner=12345 --group=12345 -cf all.tar from && \
        tar xf all.tar -C to && cp -a from again && cat to/from/a && chown 12345 to/from/a; stat -c %u to/from/a; id -u";
    for world in World::each_isolated(&[]) {
        let ran = world.run(SCRIPT);
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(ran.output, format!("a\n{own}\n{own}\n"), "{ran:?}");
    }
}

#[test]
fn cargo_rebuilds_what_changed_and_nothing_else() {
    let Some(toolchain) = toolchain() else { return };
    let source = |number: u32| format!("pub fn number() -> u32 {{ {number} }}\n");
    let mut world = World::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b', 'c']\nresolver = '2'\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\nversion = '0.1.0'\nedition = '2021'\n"),
        ("a/src/lib.rs", &source(1)),
        (
            "b/Cargo.toml",
            "[package]\nname = 'b'\nversion = '0.1.0'\nedition = '2021'\n[dependencies]\na = { path = '../a' }\n",
        ),
        ("b/src/main.rs", "fn main() { println!(\"{}\", a::number()) }\n"),
        ("c/Cargo.toml", "[package]\nname = 'c'\nversion = '0.1.0'\nedition = '2021'\n"),
        ("c/src/lib.rs", ""),
    ]);
    world.sandbox.space = 1 << 30;
    world.sandbox.read = vec![toolchain.clone()];
    let tools = Tools { path: toolchain.join("bin").display().to_string() };
    // Returns what is printed, and the crates that were fresh.
    let run = |number: Option<u32>| {
        let text = number.map(source);
        let edit = text.as_deref().map(|it| ("a/src/lib.rs", it));
        let ran = ran(&world, &tools, edit, "cargo build -v --offline --workspace && target/debug/b");
        let fresh = ran.errors.lines().filter_map(|it| it.trim().strip_prefix("Fresh ")?.chars().next());
        let mut fresh: Vec<_> = fresh.collect();
        fresh.sort_unstable();
        format!("{} {}", ran.output.trim(), fresh.into_iter().collect::<String>())
    };
    assert_eq!(run(None), "1 ");
    assert_eq!(run(None), "1 abc");
    assert_eq!(run(Some(2)), "2 c");
    assert_eq!(run(Some(2)), "2 abc");
    assert_eq!(run(None), "1 c");
    assert_eq!(run(Some(3)), "3 c");
    assert_eq!(run(Some(2)), "2 c");
    assert_eq!(run(None), "1 c");
    assert_eq!(run(None), "1 abc");
    assert!(!world.root().join("target").exists() && !world.root().join("Cargo.lock").exists());
}

#[test]
fn make_rebuilds_what_changed_and_nothing_else() {
    let makefile = "all: out/a out/b\nout/%: %.txt\n\t@mkdir -p out\n\t@test -e out/CACHEDIR.TAG || echo > out/CACHEDIR.TAG\n\t@cp $< $@\n\t@echo made $<\n";
    let world = World::new(&[("Makefile", makefile), ("a.txt", "base\n"), ("b.txt", "b\n")]);
    let tools = Tools { path: String::new() };
    let run = |edit| ran(&world, &tools, edit, "make -s; cat out/a").output;
    assert_eq!(run(None), "made a.txt\nmade b.txt\nbase\n");
    assert_eq!(run(None), "base\n");
    assert_eq!(run(Some(("a.txt", "one\n"))), "made a.txt\none\n");
    assert_eq!(run(Some(("a.txt", "one\n"))), "one\n");
    assert_eq!(run(None), "made a.txt\nbase\n");
    assert_eq!(run(Some(("a.txt", "two\n"))), "made a.txt\ntwo\n");
    assert_eq!(run(Some(("a.txt", "one\n"))), "made a.txt\none\n");
    assert_eq!(run(None), "made a.txt\nbase\n");
}

/// Folder of tools that not every developer has.
fn more_tools(world: &mut World) -> Tools {
    let path = std::env::var("SHADOW_TOOLS").expect("SHADOW_TOOLS names folders of programs");
    let above = |it: &str| fs::canonicalize(PathBuf::from(it).parent().unwrap()).unwrap();
    world.sandbox.read = path.split(':').map(above).collect();
    world.sandbox.space = 1 << 30;
    Tools { path }
}

#[test]
#[ignore = "needs pytest and mypy in SHADOW_TOOLS"]
fn python_never_takes_another_branchs_bytecode() {
    let mut world = World::new(&[
        ("a.py", "def number() -> int:\n    return 1\n"),
        (
            "test_a.py",
            "import a\n\ndef test() -> None:\n    print(f'number {a.number()}')\n    x: int = a.number()\n",
        ),
    ]);
    let tools = more_tools(&mut world);
    let source = |number: &str| format!("def number() -> int:\n    return {number}\n");
    let run = |number: Option<&str>| {
        let text = number.map(source);
        let edit = text.as_deref().map(|it| ("a.py", it));
        let printed = ran(&world, &tools, edit, "pytest -qs; mypy --no-error-summary a.py test_a.py; ls -d .mypy_cache .pytest_cache __pycache__ | wc -l").output;
        let number = printed.lines().find_map(|it| it.split("number ").nth(1)).unwrap_or_default().to_owned();
        format!("{number} {}", printed.matches("error:").count())
    };
    for _ in 0..2 {
        assert_eq!(run(None), "1 0");
        assert_eq!(run(Some("2")), "2 0");
        assert_eq!(run(Some("''")), " 1");
        assert_eq!(run(Some("3")), "3 0");
        assert_eq!(run(Some("2")), "2 0");
    }
}

#[test]
#[ignore = "needs tsc in SHADOW_TOOLS"]
fn tsc_never_takes_another_branchs_state() {
    let config = r#"{"compilerOptions": {"incremental": true, "noEmit": true, "strict": true, "types": [], "tsBuildInfoFile": "x.tsbuildinfo"}, "include": ["*.ts"]}"#;
    let mut world = World::new(&[
        ("tsconfig.json", config),
        ("a.ts", "export const a: number = 1\n"),
        ("b.ts", "import {a} from './a'\nexport const b: number = a\n"),
    ]);
    let tools = more_tools(&mut world);
    let run = |text: Option<&str>| {
        let printed =
            ran(&world, &tools, text.map(|it| ("a.ts", it)), "tsc --pretty false; ls *.tsbuildinfo").output;
        assert!(printed.ends_with("x.tsbuildinfo\n"), "{printed}");
        printed.matches("error TS").count()
    };
    for _ in 0..2 {
        assert_eq!(run(None), 0);
        assert_eq!(run(Some("export const a: string = 's'\n")), 1);
        assert_eq!(run(None), 0);
        assert_eq!(run(Some("export const a: number = 2\n")), 0);
        assert_eq!(run(Some("export const a: string = 's'\n")), 1);
    }
}
