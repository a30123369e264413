//! Components that ask for sockets, after the network is taken from them.

#![allow(clippy::unwrap_used, reason = "tests may fail")]

use componentize::{is_module, with_manifest, without_network};
use wit_component::{DecodedWasm, decode};

/// Component that connects, and asks for the time.
const ASKS: &str = r#"(component
    (import "wasi:clocks/wall-clock@0.2.0" (instance (export "now" (func (result u64)))))
    (type $tcp (instance
        (type $codes (enum "unknown" "access-denied"))
        (export "error-code" (type $code (eq $codes)))
        (type $answer (result u64 (error $code)))
        (export "connect" (func (param "to" string) (result $answer)))
        (export "is-open" (func (result bool)))
    ))
    (import "wasi:sockets/tcp@0.2.0" (instance (type $tcp)))
    (component $empty (type $none bool) (export "none" (type $none)))
    (instance $lint (instantiate $empty))
    (export "broker:plugin/lint@0.1.0" (instance $lint))
)"#;

fn imports(component: &[u8]) -> Vec<String> {
    let DecodedWasm::Component(resolve, world) = decode(component).unwrap() else { panic!("no component") };
    resolve.worlds[world].imports.keys().map(|it| resolve.name_world_key(it)).collect()
}

#[test]
fn sockets_are_inside() {
    let asks = wat::parse_str(ASKS).unwrap();
    assert!(!is_module(&asks));
    assert_eq!(imports(&asks), ["wasi:clocks/wall-clock@0.2.0", "wasi:sockets/tcp@0.2.0"]);
    let left = without_network(asks).unwrap();
    assert_eq!(imports(&left), ["wasi:clocks/wall-clock@0.2.0"]);
    let again = without_network(left.clone()).unwrap();
    assert_eq!(again, left, "one that asks for none stays as it is");
    let manifest = "name = \"x\"";
    let whole = with_manifest(left.clone(), manifest);
    assert!(whole.ends_with(manifest.as_bytes()) && whole.starts_with(&left));
    decode(&whole).unwrap();
}
