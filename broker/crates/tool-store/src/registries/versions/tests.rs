//! Versions of tools that a registry has, and those that are refused.

use super::*;
use crate::{
    Catalogue, UserSettings,
    testing::{Answer, Registry as Server},
};

/// The files of a tool at a version, or the error with its hint.
fn found(tool: &Tool, version: &str, server: &Server) -> String {
    let variables = ["NPM_CONFIG_REGISTRY", "PIP_INDEX_URL"].map(|it| (it.to_owned(), server.url.clone()));
    let registries = Registries::new(UserSettings { variables: variables.into(), ..UserSettings::default() });
    let text = match registries.at_version(tool, tool.package.as_ref().unwrap(), version, &Cancel::default())
    {
        Ok(locked) => locked.files.iter().map(|it| format!("{it}\n")).collect(),
        Err(error) => error.to_string() + &error.hint().map(|it| format!(" ({it})")).unwrap_or_default(),
    };
    text.replace(server.url.trim_start_matches("http://").trim_end_matches('/'), "HOST")
}

fn tool(package: &str) -> Tool {
    let text =
        format!("name = 'a'\nkind = 'checker'\nlicence = 'MIT'\nprograms = {{}}\npackage = '{package}'\n");
    toml::from_str(&text).unwrap()
}

/// A digest in hexadecimal digits.
const HEX: &str = "0f00000000000000000000000000000000000000000000000000000000000000";

#[test]
fn a_wheel_is_taken_for_each_platform() {
    let server = Server::new();
    let wheels = [
        "a-1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "a-1.1-py3-none-linux_armv6l.whl",
        "a-1.1-py3-none-macosx_10_12_x86_64.whl",
        "a-1.1-py3-none-macosx_10_9_universal2.whl",
        "a-1.1-py3-none-macosx_11_0_arm64.whl",
        "a-1.1-py3-none-macosx_14_0_arm64.whl",
        "a-1.1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
        "a-1.1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "a-1.1-py3-none-manylinux_2_28_x86_64.whl",
        "a-1.1-py3-none-manylinux_2_34_x86_64.whl",
        "a-1.1-py3-none-musllinux_1_2_x86_64.whl",
        "a-1.1-cp312-cp312-manylinux_2_28_x86_64.whl",
        "a-1.1-py3-none-win_amd64.whl",
        "a-1.1.tar.gz",
        "a-2.0-1-py2.py3-none-any.whl",
    ];
    let file = |it: &&str| serde_json::json!({ "filename": it, "url": format!("/{it}"), "hashes": { "sha256": HEX }, "size": it.len() });
    let page = serde_json::json!({ "files": wheels.iter().map(file).collect::<Vec<_>>() });
    server.put("/a/", Answer::Json(page.to_string()));
    insta::assert_snapshot!(found(&tool("pypi:a@9"), "1.1", &server), @"
pypi:a@1.1 sha256-DwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 36 file:a-1.1-py3-none-macosx_11_0_arm64.whl darwin-arm64
pypi:a@1.1 sha256-DwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 63 file:a-1.1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl linux-arm64
pypi:a@1.1 sha256-DwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 40 file:a-1.1-py3-none-manylinux_2_28_x86_64.whl linux-x64
");
    insta::assert_snapshot!(found(&tool("pypi:a@9"), "2.0", &server), @"pypi:a@2.0 sha256-DwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 28 file:a-2.0-1-py2.py3-none-any.whl");
    insta::assert_snapshot!(found(&tool("pypi:a@9"), "3.0", &server), @"HOST has no pypi:a@3.0 (a mirror may not have it: see which registry npm and pip are configured with)");
    assert_eq!(*server.asked.lock().unwrap(), ["/a/", "/a/", "/a/"]);
}

#[test]
fn an_index_in_html_has_digests_and_answers_have_sizes() {
    let server = Server::new();
    let page = |end: &str| Answer::Body(format!("<a href='/f/a-1-py3-none-any.whl{end}'>a</a>").into_bytes());
    server.put("/a/", page(&format!("#sha256={HEX}")));
    server.put("/f/a-1-py3-none-any.whl", Answer::Body(b"wheel".to_vec()));
    insta::assert_snapshot!(found(&tool("pypi:a@9"), "1", &server), @"pypi:a@1 sha256-DwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 5 file:a-1-py3-none-any.whl");
    server.put("/a/", page("#md5=0"));
    insta::assert_snapshot!(found(&tool("pypi:a@9"), "1", &server), @"HOST does not tell the digest of pypi:a@1");
}

fn npm(server: &Server, name: &str, manifest: &str) {
    let digest = Integrity::Sha512(Vec::new()).of(b"");
    let manifest = manifest.replace("DIST", &format!(r#""dist": {{"integrity": "{digest}"}}"#));
    let document = format!(r#"{{"versions": {{"1.0.0": {manifest}}}}}"#);
    server.put(&format!("/{}", name.replace('/', "%2f")), Answer::Json(document));
    let last = name.rsplit('/').next().unwrap();
    server.put(&format!("/{name}/-/{last}-1.0.0.tgz"), Answer::Body(name.as_bytes().to_vec()));
}

#[test]
fn a_package_of_npm_has_its_parts_for_platforms() {
    let server = Server::new();
    npm(
        &server,
        "@a/a",
        r#"{"optionalDependencies": {"@a/x64": "1.0.0", "@a/musl": "1.0.0", "@a/mac": "1.0.0", "@a/win": "1.0.0", "@a/arm64": "1.0.0", "watch": "^1.0.0"}, DIST}"#,
    );
    npm(&server, "@a/x64", r#"{"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"], DIST}"#);
    npm(&server, "@a/musl", r#"{"os": ["linux"], "cpu": ["x64"], "libc": ["musl"], DIST}"#);
    npm(&server, "@a/mac", r#"{"os": ["darwin"], DIST}"#);
    // A part that the registry lacks is left out: `@a/arm64`.
    npm(&server, "@a/win", r#"{"os": ["win32"], DIST}"#);
    insta::assert_snapshot!(found(&tool("npm:@a/a@9.0.0"), "1.0.0", &server), @"
npm:@a/a@1.0.0 sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg== 4
npm:@a/mac@1.0.0 sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg== 6 darwin-arm64
npm:@a/x64@1.0.0 sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg== 6 linux-x64
");
    insta::assert_snapshot!(found(&tool("npm:@a/a@9.0.0"), "1.0.1", &server), @"HOST has no npm:@a/a@1.0.1 (a mirror may not have it: see which registry npm and pip are configured with)");
    npm(&server, "@a/x64", r#"{"os": ["linux"], "dist": {"shasum": "0"}}"#);
    insta::assert_snapshot!(found(&tool("npm:@a/a@9.0.0"), "1.0.0", &server), @"HOST does not tell the digest of npm:@a/x64@1.0.0");
}

#[test]
fn a_version_that_is_laid_out_otherwise_is_refused() {
    let server = Server::new();
    npm(&server, "typescript", "{DIST}");
    insta::assert_snapshot!(found(Catalogue::own().find("typescript").unwrap(), "1.0.0", &server), @"npm:typescript@1.0.0 is for no platform that Broker knows, or laid out in another way than 7.0.2 (add 7.0.2, or install that version in the project or in `PATH`)");
}

#[test]
fn a_version_that_needs_other_packages_is_refused() {
    let server = Server::new();
    npm(&server, "a", r#"{"dependencies": {"left-pad": "1.0.0", "right-pad": "*"}, DIST}"#);
    insta::assert_snapshot!(found(&tool("npm:a@9.0.0"), "1.0.0", &server), @"a 1.0.0 cannot be added, since it needs other packages, whose versions npm and pip choose: left-pad, right-pad (`broker server add a@9.0.0` adds the version that Broker knows the packages of; or install 1.0.0 in the project or in `PATH`)");
    server.asked.lock().unwrap().clear();
    let mypy = found(Catalogue::own().find("mypy").unwrap(), "1.0.0", &server);
    assert!(mypy.starts_with("mypy 1.0.0 cannot be added, since it needs other packages, whose versions npm and pip choose: ast-serialize, librt, mypy-extensions and 2 more"), "{mypy}");
    assert!(
        found(Catalogue::own().find("eslint").unwrap(), "9.0.0", &server)
            .starts_with("eslint 9.0.0 cannot be added")
    );
    assert!(server.asked.lock().unwrap().is_empty());
}

#[test]
fn tools_whose_versions_files_name_can_be_had_at_them() {
    let tools = Catalogue::own().tools.iter().filter(|it| !it.versions_from.is_empty());
    for tool in tools {
        assert!(tool.other_packages().is_empty(), "{}", tool.name);
        assert!(tool.versions_from.iter().all(|it| it.contains('#')), "{}", tool.name);
    }
}
