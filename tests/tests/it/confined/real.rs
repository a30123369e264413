//! Real tools in a workspace that has code for each of them to run, by its configuration, its own programs, links and shims.

use std::env;

use super::*;

/// Names under which a workspace may have programs of its own.
const SHIMS: [&str; 22] = [
    "actionlint",
    "bash",
    "cc",
    "clang",
    "clang-tidy",
    "clangd",
    "env",
    "eslint",
    "evil-cc",
    "gcc",
    "git",
    "mypy",
    "node",
    "pylint",
    "pyright",
    "pyright-langserver",
    "python",
    "python3",
    "shellcheck",
    "tsc",
    "tsserver",
    "ty",
];

/// Folders in which tools or shells look for programs.
const FOLDERS: [&str; 5] = ["node_modules/.bin", ".venv/bin", "venv/bin", "bin", "."];

/// Files with which tools are configured; `CODE` is JavaScript, `PYTHON` is Python, `SHELL` is a command of a shell; `ROOT` is the
/// workspace, and `HOME` the home folder.
const FILES: [(&str, &str); 37] = [
    ("a.py", "import evil_module\nx: int = ''\n"),
    ("a.ts", "import './b';\nconst a: number = '';\n"),
    ("b.ts", "export {};\n"),
    ("a.js", "var x = 1;\n"),
    ("a.c", "int *a = 1.5;\n"),
    ("run.sh", "#!/bin/bash\nsource ./leak\n. HOME/.ssh/id_ed25519\necho $x\n"),
    (
        ".github/workflows/w.yml",
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: SHELL\n        shell: ROOT/bin/bash {0}\n      - uses: ./evil\n        bad: 1\n",
    ),
    (".github/actionlint.yaml", "self-hosted-runner: { labels: ['$(SHELL)'] }\n"),
    ("evil/action.yml", "runs: { using: node20, main: evil.js }\n"),
    (
        "tsconfig.json",
        r#"{ "extends": "evil-base", "compilerOptions": { "plugins": [{ "name": "../../evil" }, { "name": "evil" }], "strict": true, "typeRoots": ["HOME/.ssh"] }, "files": ["a.ts"] }"#,
    ),
    (
        "node_modules/evil-base/package.json",
        r#"{ "name": "evil-base", "main": "tsconfig.json", "scripts": { "postinstall": "SHELL" } }"#,
    ),
    ("node_modules/evil-base/tsconfig.json", "{}"),
    ("node_modules/evil/index.js", "CODE"),
    ("node_modules/typescript/lib/tsserver.js", "CODE"),
    ("node_modules/typescript/lib/tsc.js", "CODE"),
    ("node_modules/typescript/bin/tsc", "CODE"),
    (
        "package.json",
        r#"{ "name": "w", "scripts": { "preinstall": "SHELL", "lint": "SHELL" }, "prettier": "./evil.js" }"#,
    ),
    (".npmrc", "node-options=--require ROOT/evil.js\nscript-shell=ROOT/bin/bash\n"),
    ("evil.js", "CODE"),
    (
        "eslint.config.js",
        "CODE\nconst fs = require('fs'); let told = 'nothing'; try { told = fs.readFileSync('HOME/.ssh/id_ed25519', 'utf8') } catch {}\nmodule.exports = [{ files: ['a.js'], plugins: { e: { rules: { r: { create: c => ({ Program: node => c.report({ node, message: 'inside: ' + told }) }) } } } }, rules: { 'e/r': 2 } }];\n",
    ),
    (".oxlintrc.json", r#"{ "jsPlugins": ["./evil.js"], "rules": { "evil/x": 2 } }"#),
    ("biome.json", r#"{ "extends": ["./evil.js"], "plugins": ["./evil.js", "HOME/.ssh/id_ed25519"] }"#),
    (
        "pyrightconfig.json",
        r#"{ "venvPath": "ROOT", "venv": ".venv", "extraPaths": ["HOME/.ssh"], "stubPath": "ROOT/evil" }"#,
    ),
    (
        ".vscode/settings.json",
        r#"{ "python.pythonPath": "ROOT/bin/python", "python.defaultInterpreterPath": "ROOT/bin/python", "clangd.path": "ROOT/bin/clangd" }"#,
    ),
    ("ty.toml", "[environment]\npython = 'ROOT/.venv'\nextra-paths = ['HOME/.ssh']\n"),
    ("mypy.ini", "[mypy]\nplugins = ROOT/evil_plugin.py, evil_module\npython_executable = ROOT/bin/python\n"),
    (
        "evil_plugin.py",
        "PYTHON\ndef plugin(version):\n    from mypy.plugin import Plugin\n    return Plugin\n",
    ),
    ("evil_module.py", "PYTHON\n"),
    ("sitecustomize.py", "PYTHON\n"),
    ("usercustomize.py", "PYTHON\n"),
    (".venv/lib/python3.11/site-packages/evil.pth", "import os; os.system('SHELL')\n"),
    (
        ".pylintrc",
        "[MAIN]\ninit-hook='PYTHON'\nload-plugins=evil_module\nextension-pkg-allow-list=evil_module\n",
    ),
    (".shellcheckrc", "external-sources=true\nsource-path=HOME/.ssh\nsource-path=SCRIPTDIR\n"),
    (
        ".clangd",
        "CompileFlags:\n  Compiler: ROOT/bin/evil-cc\n  Add: [-fplugin=ROOT/evil.so, -Xclang, -load, -Xclang, ROOT/evil.so, -include, HOME/.ssh/id_ed25519, -BROOT/bin]\nIndex:\n  External: { Server: '127.0.0.1:PORT', MountPoint: ROOT }\n",
    ),
    (
        "compile_commands.json",
        r#"[{ "directory": "ROOT", "file": "a.c", "command": "ROOT/bin/evil-cc -fplugin=ROOT/evil.so -Xclang -load -Xclang ROOT/evil.so -fpass-plugin=ROOT/evil.so -BROOT/bin -c a.c" }]"#,
    ),
    (".clang-tidy", "Checks: '-*,clang-diagnostic-*,bugprone-*'\nInheritParentConfig: true\n"),
    (".tool-versions", "python path:ROOT/.venv\nnodejs path:ROOT\n"),
];

/// Links to secrets under names that tools read.
const LINKS: [&str; 6] =
    ["pyproject.toml", "setup.cfg", "jsconfig.json", "b.sh", "evil.h", "node_modules/@types"];

const CHECKERS: [&str; 5] = ["actionlint", "clang-tidy", "pyright-cli", "shellcheck", "tsc"];
const SERVERS: [&str; 3] = ["clangd", "ty", "typescript"];
/// Checkers that run code which a configuration names.
const CODE_RUNNERS: [&str; 3] = ["eslint-cli", "mypy", "pylint"];

/// Folders with the tools that the tests have; `None` without them.
fn tools() -> Option<Vec<PathBuf>> {
    let checkers = env::var_os("BROKER_TEST_CHECKERS_PATH");
    let servers = ["TY", "CLANGD", "TYPESCRIPT"].map(|it| env::var_os(format!("BROKER_TEST_{it}")));
    let [Some(ty), Some(_), Some(typescript)] = servers else { return None };
    let of = |it: &std::ffi::OsString| Path::new(it).parent().map(Path::to_owned);
    // That of the checkers is version 5, which has no server.
    let own = typescript_of(Path::new(&typescript))?;
    Some([Some(own), of(&ty)].into_iter().flatten().chain(env::split_paths(&checkers?)).collect())
}

/// The folder in which npm put the command of this native program.
fn typescript_of(native: &Path) -> Option<PathBuf> {
    let packages = native.ancestors().find(|it| it.ends_with("node_modules"))?;
    Some(packages.join(".bin"))
}

/// Returns the workspace; with its own folders of programs first in `PATH`.
fn place(tools: &[PathBuf]) -> Hostile {
    let mut it = Hostile::new(&[]);
    let (root, home) = (it.place.root().display().to_string(), it.place.own("").display().to_string());
    let shell = it.trace("by-configuration").replace('\'', "");
    let port = it.listener.local_addr().unwrap().port();
    let code = format!(
        "try {{ require('child_process').execFileSync('/bin/bash', ['-c', '{shell}']) }} catch {{}}\n\
         try {{ require('net').connect({port}, '127.0.0.1').on('error', () => 0).unref() }} catch {{}}\n"
    );
    let python = format!("import subprocess; subprocess.run([\"/bin/bash\", \"-c\", \"{shell}\"])");
    let filled = |text: &str| {
        let words = [
            ("ROOT", &*root),
            ("HOME", home.trim_end_matches('/')),
            ("CODE", &code),
            ("PYTHON", &python),
            ("SHELL", &shell),
        ];
        let text = words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value));
        text.replace("PORT", &port.to_string())
    };
    FILES.iter().for_each(|(path, text)| it.place.write(path, filled(text)));
    for (folder, name) in FOLDERS.iter().flat_map(|folder| SHIMS.map(|name| (folder, name))) {
        it.shim(&format!("{folder}/{name}"));
    }
    for link in LINKS {
        symlink(it.place.own(SECRETS[0]), it.place.root().join(link)).unwrap();
    }
    let tables = CHECKERS.iter().chain(&CODE_RUNNERS).map(|name| {
        format!("[checkers.{name}]\ncommand = ['sh', '-c', '{shell}']\nenv = {{ NODE_OPTIONS = '--require {root}/evil.js' }}\n")
    });
    let define = format!("[servers.define.ty]\ncommand = ['{root}/bin/ty', 'server']\n");
    let config = format!("[servers]\nuse = {SERVERS:?}\n{define}{}", tables.collect::<String>());
    it.place.write("broker.toml", config);
    let own = FOLDERS.iter().map(|folder| it.place.root().join(folder)).chain([PathBuf::from("bin")]);
    let system = ["/usr/bin", "/bin"].map(PathBuf::from);
    let path = own.chain(tools.iter().cloned()).chain(system);
    it.path = env::join_paths(path).unwrap().into_string().unwrap();
    it
}

/// Asks all of these, and says which of them had findings; none may tell a secret or leave a trace.
fn ask(it: &Hostile, names: &[&str]) -> (Vec<String>, String) {
    let selected: Vec<_> =
        names.iter().flat_map(|name| ["--select".to_owned(), format!("{name}/ALL")]).collect();
    let selected: Vec<_> = selected.iter().map(String::as_str).collect();
    let mut command = it.place.command(&[&["check", "--output-format", "json"], &selected[..]].concat());
    command.env("PATH", &it.path).env("VIRTUAL_ENV", it.place.root().join(".venv"));
    command.env("PYTHONPATH", it.place.root()).env("NODE_PATH", it.place.root().join("node_modules"));
    let output = command.output().unwrap();
    let text = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned()).concat();
    assert!(!text.contains(SECRET), "{text}");
    it.expect_no_trace();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}"));
    let mut found: Vec<_> =
        report["findings"].as_array().unwrap().iter().map(|it| it["linter"].to_string()).collect();
    found.sort();
    found.dedup();
    (found, text)
}

#[test]
fn a_hostile_repository_has_nothing_run_outside_of_the_sandbox() {
    let Some(tools) = tools() else {
        println!("skipped: the servers and checkers of the tests are not installed");
        return;
    };
    let it = place(&tools);
    let quoted = |names: &[&str]| {
        let mut all: Vec<_> = names.iter().map(|it| format!("\"{it}\"")).collect();
        all.sort();
        all
    };
    let all = [&CHECKERS[..], &SERVERS].concat();
    let (found, text) = ask(&it, &all);
    assert_eq!(found, quoted(&all), "{text}");
    assert_eq!(ask(&it, &CODE_RUNNERS).0, Vec::<String>::new(), "they run code of it");
    it.run(&["trust", "--confined"]);
    let (found, text) = ask(&it, &CODE_RUNNERS);
    assert!(found.contains(&"\"eslint-cli\"".to_owned()) && text.contains("inside: nothing"), "{text}");
    let (found, text) = ask(&it, &all);
    assert_eq!(found, quoted(&all), "{text}");
}
