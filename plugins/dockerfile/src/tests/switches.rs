//! Comments, settings, and hadolint's configuration that switch rules off and on.

use super::*;

#[test]
fn comments_switch_rules_off() {
    let skip = "# check=skip=JSONArgsRecommended,FromAsCasing // why";
    assert_eq!(check(&format!("{skip}\nFROM a:1 as b\nCMD x\n")), "");
    assert_eq!(
        configured("# check=skip=JSONArgsRecommended, FromAsCasing\nFROM a:1 as b\nCMD x\n"),
        "2 FromAsCasing \"as\"",
        "the value ends where white space begins"
    );
    assert_eq!(check(&format!("#!/usr/bin/env x\n{skip}\nFROM a:1 as b\nCMD x\n")), "");
    assert_eq!(check(&format!("# x\n{skip}\n\nFROM a:1\nCMD x\n")), "5 JSONArgsRecommended \"CMD\"");
    assert_eq!(check("#!x\n# escape=`\nFROM a:1\nRUN a `\nRUN b\n"), "");
    let here = "FROM a:1\n# why\n# check=skip=JSONArgsRecommended // because\n# so\nCMD x\n";
    assert_eq!(check(here), "");
    assert_eq!(check(&here.replace("# so", "#")), "5 JSONArgsRecommended \"CMD\"");
    assert_eq!(check(&here.replace("# so", "")), "5 JSONArgsRecommended \"CMD\"");
    assert_eq!(check(&format!("{here}ENTRYPOINT x\n")), "6 JSONArgsRecommended \"ENTRYPOINT\"");
    assert_eq!(
        check("FROM a:1\n# check=skip=all\nrun x\n# check=experimental=all\nARG A\n"),
        "3 ConsistentInstructionCasing \"run\", 5 InvalidDefinitionDescription \"ARG\"",
        "the casing is that of the file"
    );
    assert_eq!(check("# check=skip=all\nFROM a as b\nCMD x\n"), "");
    assert_eq!(check("FROM a:1\n# hadolint ignore=DL3025,DL3006\nCMD x\n"), "");
    assert_eq!(
        check("# hadolint global ignore=DL3006\nFROM a\nFROM b\nCMD x\n"),
        "4 JSONArgsRecommended \"CMD\""
    );
    assert_eq!(configured("# hadolint ignore=DL3006\nFROM a\nFROM b\n"), "3 DL3006 \"b\"");
    let pragma = |comment: &str| check(&format!("FROM a:1\n{comment}\nRUN sudo x\n"));
    let right = [
        "# hadolint ignore=DL3004",
        "#\thadolint\tignore = DL3007 , DL3004 # why",
        "# hadolint ignore=DL3004,DL99#why",
        "# hadolint global ignore=DL3004\n\n# other",
    ];
    assert!(right.iter().all(|it| pragma(it).is_empty()));
    let wrong = [
        "# hadolint ignore=DL3004\n\n# other",
        "# hadolint ignore=DL3004\n# other",
        "# hadolint ignore=DL3004 because",
        "# hadolint ignore=DL3004; why",
        "# hadolint ignore=DL3004,foo",
        "# hadolint ignore=DL3004,",
    ];
    assert!(wrong.iter().all(|it| pragma(it).contains("DL3004")));
    let within = "FROM a:1\nRUN x \\\n# hadolint ignore=DL3004\n  && sudo x\n";
    assert_eq!(check(within), "4 DL3004 \"sudo\"", "it must be before the instruction");
    let severity = |text: &str| {
        report(&[("Dockerfile", text)], settings(), "Dockerfile").unwrap().diagnostics[0].severity
    };
    assert_eq!(severity("# check=error=true\nFROM a:1\nCMD x\n"), Severity::Error);
    assert_eq!(severity("FROM a:1\nCMD x\n"), Severity::Warning);
}

#[test]
fn hadolints_configuration() {
    let text = "FROM a\nLABEL x=\"\" y=1\nCMD x\n";
    let with = |config: &str, settings: Settings| {
        lines_of(&[("d/Dockerfile", text), (".hadolint.yaml", config)], settings, "d/Dockerfile")
    };
    assert_eq!(with("ignored: [DL3006, DL3025]\n", settings()), "");
    assert_eq!(
        with("ignored: [DL3006, DL3025]\n", Settings { isolated: true, ..settings() }),
        "3 JSONArgsRecommended \"CMD\""
    );
    assert_eq!(
        with("ignored: [DL3006]\n", select(&["DL3006"])),
        "1 DL3006 \"a\"",
        "a selected rule is reported"
    );
    assert_eq!(
        with(
            "ignored: [DL3006, DL3025]\ntrustedRegistries: [r.io]\nlabel-schema:\n  x: text\n  z: text\nstrict-labels: true\n",
            settings()
        ),
        "1 DL3049 \"FROM\", 1 DL3026 \"a\", 2 DL3051 \"x=\\\"\\\"\", 2 DL3050 \"y=1\""
    );
    let files = [("Dockerfile", "FROM a\n"), (".hadolint.yaml", "override:\n  error: [DL3006]\n  style:\n")];
    assert_eq!(report(&files, settings(), "Dockerfile").unwrap().diagnostics[0].severity, Severity::Error);
    assert_eq!(
        with("ignored: DL3006\n", settings()),
        "cannot use `.hadolint.yaml`: `ignored` should be a list of codes"
    );
    assert!(with("ignored: [\n", settings()).starts_with("cannot use `.hadolint.yaml`: "));
    let config = crate::config::Config::parse("ignored: [DL3003, SC1000]\nignord: []\n").unwrap();
    assert_eq!(config.remarks, ["hadolint has no option `ignord`", "`DL3003` is not checked here"]);
    let config =
        crate::config::Config::parse("override: {fatal: [DL3006]}\nlabel-schema: {a: url, b: ''}\n").unwrap();
    assert_eq!(
        config.remarks,
        [
            "whether the label `a` is of the type `url` is not checked here",
            "`override` has no severity `fatal`"
        ]
    );
    assert_eq!(
        with("label-schema: {a: bogus}\n", settings()),
        "cannot use `.hadolint.yaml`: `label-schema` has no type \"bogus\""
    );
}

#[test]
fn selection_knows_hadolints_codes() {
    assert_eq!(only(&["DL4000"], "FROM a\nMAINTAINER x\n"), "2 MaintainerDeprecated \"MAINTAINER\"");
    let error = report(&[("Dockerfile", "")], select(&["DL9999"]), "Dockerfile").unwrap_err();
    assert!(error.contains("DL9999"), "{error}");
}
