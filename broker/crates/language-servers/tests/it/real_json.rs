//! JSON files that TypeScript's server does not check but sees, where it is named (see `isolation.rs`): each answer
//! is of the view's own, and whole.

use std::sync::Arc;

use language_servers::Server;
use overlay::View;

use crate::{
    bench::{Bench, said},
    real_queries::setup,
};

const IMPORTS: &str = "import d from './data.json';\nexport const x: number = d.a;\n";
const FILES: [(&str, &str); 5] = [
    ("a.ts", IMPORTS),
    ("b.ts", "export const n: number = null;\n"),
    ("data.json", r#"{"a": 1}"#),
    ("base.json", r#"{"compilerOptions": {"strict": false}}"#),
    ("tsconfig.json", r#"{"extends": "./base.json", "compilerOptions": {"noImplicitReturns": true}}"#),
];

const STRICT: &str = r#"{"compilerOptions": {"strict": true}}"#;
const NEW: &str = "import d from './new.json';\nexport const x: number = d.a;\n";
const TEXT: &str = "Type 'string' is not assignable to type 'number'.";
const NULL: &str = "Type 'null' is not assignable to type 'number'.";

fn check(bench: &Bench, edits: &[(&str, Option<&str>)], unit: &str, want: &str) {
    let view: Arc<dyn View> = bench.view(edits);
    assert_eq!(said(&bench.ask(&view, &[unit])[0]), want, "{edits:?}");
}

#[test]
fn typescript_sees_json_as_the_view_has_it() {
    let Some(program) = std::env::var_os("BROKER_TEST_TYPESCRIPT") else {
        println!("skipped: BROKER_TEST_TYPESCRIPT does not name a server");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let setup = setup("typescript", program, folder.path());
    let bench = Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup) };
    let none = |name: &str| format!("Cannot find module './{name}' or its corresponding type declarations.");
    let text = Some(r#"{"a": "text"}"#);
    for _ in 0..3 {
        check(&bench, &[], "a.ts", "");
        check(&bench, &[("data.json", text)], "a.ts", TEXT);
        check(&bench, &[("data.json", Some(r#"{"a": 2}"#))], "a.ts", "");
        check(&bench, &[("data.json", None)], "a.ts", &none("data.json"));
        check(&bench, &[("a.ts", Some(NEW))], "a.ts", &none("new.json"));
        check(&bench, &[("a.ts", Some(NEW)), ("new.json", text)], "a.ts", TEXT);
        check(&bench, &[("base.json", Some(STRICT))], "b.ts", NULL);
        check(&bench, &[], "b.ts", "");
        check(&bench, &[("other.json", text)], "a.ts", "");
    }
    let partial = " [`tsconfig.json` is another one on the disk, which is what typescript reads]";
    check(&bench, &[("tsconfig.json", Some(STRICT))], "a.ts", partial);
}
