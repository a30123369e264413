//! biome, where it is named (see `isolation.rs`): its processes otherwise share one server, with what each has open.
//! Ours do not share it, with each other or with the one that an editor has started.

use std::{path::Path, sync::Arc};

use language_servers::{Server, Setup};
use lint::Cancel;
use lsp_client::{Client, EventKind, Initialize, WorkspaceFolder, events};
use serde_json::json;

use crate::{
    bench::{Bench, said},
    fixture::{far, options, start},
    languages::program,
    real_queries::setup,
};

const RULES: &str = r#"{"linter": {"rules": {"correctness": {"noUnresolvedImports": "error"}}}}"#;
const IMPORTS: &str = "import { x } from './b.js';\n\nx();\n";
const OTHER: &str = "export const y = () => 1;\n";

/// Servers that run with this folder in their environment.
fn servers(folder: &Path) -> Vec<i64> {
    let holds = |file: &str, pid: i64, text: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(text)
    };
    let all = std::fs::read_dir("/proc").unwrap();
    let pids = all.filter_map(|it| it.unwrap().file_name().to_str()?.parse().ok());
    let folder = folder.to_str().unwrap();
    pids.filter(|it| holds("cmdline", *it, "__run_server") && holds("environ", *it, folder)).collect()
}

/// An editor's, with `b.js` open in another state.
fn of_an_editor(setup: &Setup) -> (Client, lsp_client::Events) {
    let uri = format!("file://{}", setup.root.display());
    let mut options = options("");
    options.launch = setup.launch.clone();
    options.launch.own_folder.clear();
    options.initialize = Initialize::new(vec![WorkspaceFolder { uri: uri.clone(), name: "w".into() }]);
    let (sink, events) = events(1 << 20);
    let client = start(&options, &sink).unwrap();
    client.wait_for("workspace/didChangeWatchedFiles", far(), &Cancel::default()).unwrap();
    for (version, (name, text)) in [("b.js", OTHER), ("a.js", IMPORTS)].into_iter().enumerate() {
        let uri = format!("{uri}/{name}");
        let item = json!({ "uri": uri, "languageId": "javascript", "version": version, "text": text });
        client.notify("textDocument/didOpen", &json!({ "textDocument": item })).unwrap();
    }
    (client, events)
}

#[test]
fn no_two_processes_share_what_is_open() {
    let Some(program) = program("biome") else { return };
    let (folder, around) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = folder.path().canonicalize().unwrap();
    for (name, text) in [("biome.json", RULES), ("a.js", IMPORTS), ("b.js", "export const x = () => 1;\n")] {
        std::fs::write(root.join(name), text).unwrap();
    }
    let temporary = around.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut setup = setup("biome", program, &root);
    let env = [("XDG_CACHE_HOME", around.path()), ("TMPDIR", &temporary)];
    setup.launch.env.extend(env.map(|(name, it)| (name.into(), Some(it.into()))));

    let (editor, events) = of_an_editor(&setup);
    let found = std::iter::from_fn(|| events.next(far(), &Cancel::default())).find_map(|it| match it.kind {
        EventKind::Diagnostics { uri, diagnostics, .. } if uri.ends_with("a.js") => Some(diagnostics),
        _ => None,
    });
    assert!(found.unwrap().get().contains("no export named x"));
    let bench = || Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup.clone()) };
    let (one, two) = (bench(), bench());
    for _ in 0..3 {
        let edited = one.view(&[("b.js", Some(OTHER))]);
        let base = two.view(&[]);
        let late = "[biome may still tell what it knew of other files before]";
        let found = format!("The path ./b.js has no export named x. {late}");
        assert_eq!(said(&one.ask(&edited, &["a.js"])[0]), found);
        assert_eq!(said(&two.ask(&base, &["a.js"])[0]), format!(" {late}"));
    }
    assert_eq!(servers(around.path()).len(), 3);
    drop((one, two));
    editor.kill();
    assert_eq!(servers(around.path()), Vec::<i64>::new());
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0);
}
