//! A real server, where one is named: `BROKER_TEST_TY=/path/to/ty cargo test -p language-servers`.

use std::time::Duration;

use language_servers::Pool;
use lint::Cancel;
use lsp_client::{Ended, Exit, Initialize, PositionEncoding, Positions, WorkspaceFolder, events};
use serde_json::{Value, json};

use crate::{
    fixture::{far, options, start, started},
    real_queries::setup,
};

#[test]
fn ty_answers() {
    let Some(ty) = std::env::var_os("BROKER_TEST_TY") else {
        println!("skipped: BROKER_TEST_TY does not name a `ty`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("file://{}", folder.path().display());
    let mut options = options("");
    options.launch.program = ty.into();
    options.launch.args = vec!["server".into()];
    options.launch.cwd = folder.path().to_owned();
    options.initialize = Initialize::new(vec![WorkspaceFolder { uri: uri.clone(), name: "w".into() }]);
    let (sink, _events) = events(1 << 20);
    let client = start(&options, &sink).unwrap();
    assert_eq!(client.encoding(), PositionEncoding::Utf8);

    client.wait_for("textDocument/diagnostic", far(), &Cancel::default()).unwrap();
    let text = "s = '𐐀'; x: int = 'a'\n";
    let document = format!("{uri}/a.py");
    let open = json!({ "uri": document, "languageId": "python", "version": 1, "text": text });
    client.notify("textDocument/didOpen", &json!({ "textDocument": open })).unwrap();
    let pull = json!({ "textDocument": { "uri": document } });
    let report: Value = client.request("textDocument/diagnostic", &pull, far(), &Cancel::default()).unwrap();
    let found = &report["items"][0];
    assert_eq!(found["code"], "invalid-assignment", "{report}");
    let range = serde_json::from_value(found["range"].clone()).unwrap();
    let span = Positions::new(text, client.encoding()).span(range);
    assert_eq!(&text[span.start as usize..span.end as usize], "'a'", "{report}");

    let ended = client.shutdown(Duration::from_secs(30));
    assert_eq!(ended, Ended { exit: Exit::Code(0), was_killed: false }, "{:?}", client.stderr());
}

#[test]
fn pyright_s_version_is_known() {
    for (name, variable) in [("pyright", "BROKER_TEST_PYRIGHT"), ("basedpyright", "BROKER_TEST_BASEDPYRIGHT")]
    {
        let Some(program) = std::env::var_os(variable) else {
            println!("skipped: {variable} does not name a server");
            continue;
        };
        let folder = tempfile::tempdir().unwrap();
        let linter = started(&Pool::default(), setup(name, program, folder.path())).unwrap();
        let version = linter.version(far(), &Cancel::default()).unwrap();
        let number = version.strip_prefix(name).unwrap().trim_start();
        assert!(number.starts_with(|it: char| it.is_ascii_digit()), "{version:?}");
    }
}
