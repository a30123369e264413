//! What is said of small files.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::{
    testing::{self, select, settings},
    *,
};

use crate::Dockerfile;

/// What is said of `path` where these files are.
fn report(files: &[(&str, &str)], settings: Settings, path: &str) -> Result<Report, String> {
    let project = testing::Project::<Dockerfile>::new(files).try_with(settings);
    project.map_err(|it| format!("{it:?}"))?.report(path, "")
}

/// `line code "text it is about"` of each finding; `excluded`, or what is wrong with the configuration.
fn told(files: &[(&str, &str)], settings: Settings, path: &str) -> String {
    let project = testing::Project::<Dockerfile>::new(files).try_with(settings);
    project.map_or_else(|it| format!("{it:?}"), |mut it| it.lines(path))
}

fn check(text: &str) -> String {
    told(&[("Dockerfile", text)], settings(), "Dockerfile")
}

/// With no more than these rules.
fn only(codes: &[&str], text: &str) -> String {
    told(&[("Dockerfile", text)], select(codes), "Dockerfile")
}

/// The text with all fixes made.
fn fixed(text: &str) -> String {
    let report = report(&[("Dockerfile", text)], settings(), "Dockerfile").unwrap();
    let mut edits: Vec<Edit> =
        report.diagnostics.into_iter().flat_map(|it| it.fixes).flat_map(|it| it.edits).collect();
    edits.sort_by_key(|it| std::cmp::Reverse(it.span.start));
    let mut text = text.to_owned();
    for it in edits {
        text.replace_range(it.span.start as usize..it.span.end as usize, &it.replacement);
    }
    text
}

#[test]
fn what_is_right_has_no_findings() {
    let text = "# syntax=docker/dockerfile:1\nARG V=1\nFROM --platform=$BUILDPLATFORM alpine:$V AS base\n\
                ARG TARGETARCH\nSHELL [\"/bin/sh\", \"-ec\"]\nWORKDIR /app\nWORKDIR sub\nENV A=1 \\\n  # why\n  B=\"x y\"\n\
                COPY --chown=1:1 a b ./\nRUN --mount=type=cache,target=/c python3 <<EOF\nimport x\nFROM no\nEOF\n\
                COPY <<-'E' <<F /x/\n\tone\n\tE\ntwo\nF\nEXPOSE 80/tcp $A\nHEALTHCHECK --interval=5s CMD x\nONBUILD COPY . .\n\
                FROM base\nUSER app\nCOPY --from=0 /x /x\nCOPY --from=base /x /y\nCMD [\"x\"]\n";
    assert_eq!(check(text), "");
    assert_eq!(check(&text.replace('\n', "\r\n")), "");
    assert_eq!(check("# escape=`\nFROM a:1\nCOPY a `\n  C:\\b\\\n"), "");
}

#[test]
fn what_cannot_be_built() {
    assert_eq!(check(""), "1 syntax-error \"\"");
    assert_eq!(check("FROM a:1\nBADCMD x\n"), "2 syntax-error \"BADCMD\"");
    assert_eq!(check("RUN x\nFROM a:1\n"), "1 syntax-error \"RUN\"");
    assert_eq!(check("FROM a:1 AS\n"), "1 syntax-error \"FROM\"");
    assert_eq!(check("FROM a:1 AS 1a\n"), "1 syntax-error \"FROM\"");
    assert_eq!(
        check("FROM a:1\nCOPY x\nENV a=1 b\nENV a\nSHELL sh -c\nHEALTHCHECK x\nONBUILD FROM b\n")
            .matches("syntax-error")
            .count(),
        6
    );
    assert_eq!(check("FROM a:1\nCOPY --form=b x /y\n"), "2 syntax-error \"COPY\"");
    assert_eq!(check("FROM a:1\nRUN cat <<EOF\nx\n"), "2 syntax-error \"<<EOF\"");
    assert_eq!(check("# escape=x\nFROM a:1\n"), "1 syntax-error \"# escape=x\"");
    assert_eq!(check("# check=skipp=all\nFROM a:1\n"), "1 syntax-error \"# check=skipp=all\"");
    let text = "FROM a:1\nWRONG\n";
    assert_eq!(only(&["DL3000"], text), "", "only what was asked for");
}

/// What `syntax-error` says of the line after `FROM`.
fn refusal(line: &str) -> String {
    let text = format!("FROM a:1\n{line}\n");
    let report = report(&[("Dockerfile", &*text)], select(&["syntax-error"]), "Dockerfile").unwrap();
    report.diagnostics.into_iter().map(|it| it.message).collect::<Vec<_>>().join("; ")
}

#[test]
fn flags() {
    assert_eq!(refusal("COPY --from=x:1 --from=y:1 a /b"), "`--from` may be there only once");
    assert_eq!(refusal("COPY --chown a /b"), "`--chown` needs a value: `--chown=…`");
    assert_eq!(refusal("COPY --link=maybe a /b"), "`--link` is true or false, and not `maybe`");
    assert_eq!(refusal("COPY --link= a /b"), "`--link` is true or false, and not ``");
    let from = "`--from` takes no variables: a stage of its own (`FROM image:$VERSION AS name`) does";
    assert_eq!(refusal("COPY --from=x:$X a /b"), from);
    assert_eq!(
        refusal("HEALTHCHECK --interval=abc CMD x"),
        "`--interval` needs a time as `1m30s`, and `abc` is none"
    );
    assert_eq!(
        refusal("HEALTHCHECK --timeout=5us CMD x"),
        "`--timeout` cannot be less than a millisecond, as `5us` is"
    );
    assert_eq!(refusal("HEALTHCHECK --retries=-1 CMD x"), "`--retries` needs a number, and `-1` is none");
    for right in [
        "COPY --link --parents=False --exclude=a --exclude=b a /b",
        "RUN --mount=type=cache,target=/a --mount=type=cache,target=/b x",
        "HEALTHCHECK --interval=1m30s --timeout=0 --start-period= --retries=3 CMD x",
        "HEALTHCHECK NONE",
        "COPY --from=\"x:1\" a /b",
    ] {
        assert_eq!(refusal(right), "", "{right}");
    }
}

#[test]
fn words_and_arrays() {
    assert_eq!(refusal("RUN [\"a\", 1]"), "RUN takes an array of strings, and `1` is none");
    assert_eq!(
        refusal("HEALTHCHECK CMD [\"a\", null]"),
        "HEALTHCHECK takes an array of strings, and `null` is none"
    );
    assert_eq!(
        refusal("COPY x <<EOF\nEOF"),
        "COPY copies a here-document to a place: it cannot be the destination"
    );
    assert!(refusal("COPY x <<EOF").contains("the here-document is never closed"));
    assert_eq!(
        refusal("COPY \"a b\" /c/"),
        "the quote in `\"a` is never closed: a path with spaces needs a JSON array"
    );
    assert_eq!(refusal("ENV a it's"), "the quote in `a it's` is never closed");
    for right in
        ["RUN [ \"$x\" = 1 ]", "COPY [\"it's\", \"/b\"]", "COPY 'a' \"$b\" /c/", "CMD it's", "ENV a=\"b c\""]
    {
        assert_eq!(refusal(right), "", "{right}");
    }
}

#[test]
fn what_is_no_dockerfile() {
    assert_eq!(check("# syntax=example/earthly\nVERSION 1\n"), "excluded");
    let told = |path: &str, text: &str| told(&[(path, text)], settings(), path);
    assert_eq!(told("Dockerfile.part", "RUN x\n"), "excluded");
    assert_eq!(told("Dockerfile.dockerignore", "node_modules\n"), "excluded");
    assert_eq!(told("web.dockerfile", "FROM a\n"), "1 DL3006 \"a\"");
}

#[test]
fn templates() {
    let partial = |line: usize, tag: &str| {
        format!(
            "partial: line {line} has `{tag}`: the file looks like a template, and not like what is made of it"
        )
    };
    assert_eq!(check("{% if x %}\nFROM a:1\n"), partial(1, "{%"));
    assert_eq!(check("FROM a:1\n@VERSION@\n"), partial(2, "@"));
    assert_eq!(check("FROM {{ image }}\n"), partial(1, "{{"));
    let wrong = "2 syntax-error \"RUM\"";
    assert_eq!(check("FROM a:1\nRUM docker inspect -f '{{.Id}}' x\nCMD x\n"), wrong, "no tag: it is quoted");
    assert_eq!(check("FROM a:1\nRUM date \"+%Y%%\"\n"), wrong);
    assert_eq!(check("FROM a:1\nRUN x {{ y }}\nRUM y\n"), "3 syntax-error \"RUM\"");
}

#[test]
fn casing() {
    assert_eq!(
        check("FROM a:1 AS Base\nFROM a:1 as b\nrun x\nOnBuild RUN y\n"),
        "1 StageNameCasing \"Base\", 2 FromAsCasing \"as\", 3 ConsistentInstructionCasing \"run\", \
         4 ConsistentInstructionCasing \"OnBuild\""
    );
    assert_eq!(check("from a:1\nCOPY x /y\ncopy x /y\n"), "2 ConsistentInstructionCasing \"COPY\"");
    assert_eq!(fixed("FROM a:1\nFROM a:1 as b\nrun x\n"), "FROM a:1\nFROM a:1 AS b\nRUN x\n");
}

#[test]
fn stages() {
    assert_eq!(
        check("FROM a:1 AS b\nFROM a:1 AS B\nFROM a:1 AS scratch\n"),
        "2 DuplicateStageName \"B\", 2 StageNameCasing \"B\", 3 ReservedStageName \"scratch\""
    );
    assert_eq!(
        check(
            "FROM --platform=linux/amd64 a:1\nFROM --platform=linux/amd64 a:1 AS build_amd64\nFROM --platform=${TARGETPLATFORM} a:1\n"
        ),
        "1 FromPlatformFlagConstDisallowed \"--platform=linux/amd64\", \
         3 RedundantTargetPlatform \"--platform=${TARGETPLATFORM}\""
    );
    assert_eq!(fixed("FROM --platform=$TARGETPLATFORM a:1\n"), "FROM a:1\n");
}

#[test]
fn instructions() {
    assert_eq!(
        check("FROM a:1\nMAINTAINER me\nENV a b c\nLABEL a b\nEXPOSE 80/TCP 80:80\nCMD x\n"),
        "2 MaintainerDeprecated \"MAINTAINER\", 3 LegacyKeyValueFormat \"a b c\", 4 LegacyKeyValueFormat \"a b\", \
         5 ExposeProtoCasing \"80/TCP\", 5 ExposeInvalidFormat \"80:80\", 6 JSONArgsRecommended \"CMD\""
    );
    assert_eq!(
        fixed("FROM a:1\nMAINTAINER me\nENV a b c\nLABEL a b\nEXPOSE 80/TCP\nRUN a \\\n\n  b\n"),
        "FROM a:1\nLABEL org.opencontainers.image.authors=\"me\"\nENV a=\"b c\"\nLABEL a=b\nEXPOSE 80/tcp\nRUN a \\\n  b\n"
    );
    assert_eq!(
        check("FROM a:1 AS a\nSHELL [\"bash\", \"-c\"]\nFROM a\nCMD x\nCMD x\nWORKDIR x\nWORKDIR y\n"),
        "4 MultipleInstructionsDisallowed \"CMD\", 6 WorkdirRelativePath \"x\""
    );
    assert_eq!(
        check("FROM a:1\nARG DB_PASSWORD PUBLIC_KEY KEY_FILE\nENV apikey=1 keyboard=2\n"),
        "2 SecretsUsedInArgOrEnv \"DB_PASSWORD\", 3 SecretsUsedInArgOrEnv \"apikey\""
    );
    assert_eq!(check("FROM a:1\nRUN a \\\n\n  b\n"), "3 NoEmptyContinuation \"\"");
}

#[test]
fn variables() {
    assert_eq!(
        check("ARG A=1\nFROM $B:1\nFROM b:${A}\nFROM ${C:-d}:1\n"),
        "2 UndefinedArgInFrom \"$B\", 2 InvalidDefaultArgInFrom \"$B:1\""
    );
    assert_eq!(
        check("ARG A\nARG S=\"y:\"\nFROM a:$A\nFROM bus${S}\n"),
        "3 InvalidDefaultArgInFrom \"a:$A\", 4 InvalidDefaultArgInFrom \"bus${S}\""
    );
    assert_eq!(
        check("FROM scratch\nCOPY $foo /x\nARG foo=1\nCOPY $foo ${bar:-x} '$no' \\$no /x/\n"),
        "2 UndefinedVar \"$foo\""
    );
    assert_eq!(
        check(
            "ARG V=1\nFROM a:1\nENV HOME_OF=$JAVA_HOME X=$V Y=$TARGETARCH PATH=$PAHT:/x\nCOPY $LATER /x\nARG LATER=2\nRUN echo $no\n"
        ),
        "3 UndefinedVar \"$V\", 3 UndefinedVar \"$TARGETARCH\", 3 UndefinedVar \"$PAHT\", 4 UndefinedVar \"$LATER\""
    );
    assert_eq!(
        check("FROM a:1 AS base\nARG foo=x\nFROM base\nCOPY $foo /x\nENV A=$A:1\n"),
        "",
        "a stage inherits"
    );
    assert_eq!(check("FROM a:1\nENV A=1 B=$A\n"), "2 DL3044 \"$A\"");
    assert_eq!(
        check(
            "FROM scratch\nCOPY --chown=$WHO --link a /x\nCOPY [\"$Y\", \"/x\"]\nVOLUME [\"$Z\"]\nVOLUME [\"'$Z'\"]\n"
        ),
        "2 UndefinedVar \"$WHO\", 3 UndefinedVar \"$Y\", 4 UndefinedVar \"$Z\""
    );
    assert_eq!(
        check("ARG A=x B=$A C=\"${B}-${N:-y}\"\nFROM r/$C:1\nFROM ${C}-\nFROM ${C#x}-\n"),
        "3 InvalidDefaultArgInFrom \"${C}-\"",
        "what cannot be told is not"
    );
}

#[test]
fn large_files_take_no_longer_than_they_should() {
    let doubled = (1..400).map(|it| format!("ARG A{it}=$A{0}$A{0}\n", it - 1)).collect::<String>();
    assert_eq!(check(&format!("ARG A0=x\n{doubled}FROM alpine:$A399\n")), "");
    let chain = (0..3000).map(|it| format!("ENV VAR{it}=$VAR{}\n", it + 1)).collect::<String>();
    let told = only(&["UndefinedVar"], &format!("FROM scratch\n{chain}"));
    assert_eq!(told.matches("UndefinedVar").count(), 3000);
}

#[test]
fn hadolints_rules() {
    assert_eq!(
        check("FROM a\nFROM b:latest\nFROM r.io:5000/c\nFROM d@sha256:00\nFROM $X:1\n"),
        "1 DL3006 \"a\", 2 DL3007 \"b:latest\", 3 DL3006 \"r.io:5000/c\", 5 UndefinedArgInFrom \"$X\", \
         5 InvalidDefaultArgInFrom \"$X:1\""
    );
    assert_eq!(
        check(
            "FROM a:1 AS x\nUSER root\nFROM a:1 AS y\nUSER u\nUSER root:root\nEXPOSE 70000\nADD a /b\nADD a.tar.gz https://x /b/\nADD a.Z /b\nADD a.tZ /b\nADD a.tbz /b\nADD a.lz /b\nCOPY a b /c\nCOPY a rel\n"
        ),
        "5 DL3002 \"root:root\", 6 DL3011 \"70000\", 7 DL3020 \"ADD\", 13 DL3021 \"/c\", 14 DL3045 \"rel\""
    );
    assert_eq!(
        check(
            "FROM a:1 AS x\nCOPY --from=x a /b\nCOPY --from=y a /b\nCOPY --from=y:1 a /b\nCOPY --from=0 a /b\n"
        ),
        "2 DL3023 \"--from=x\", 3 DL3022 \"--from=y\", 5 DL3022 \"--from=0\""
    );
}

#[test]
fn what_is_run() {
    assert_eq!(
        check(
            "FROM a:1\nRUN sudo x && apt install y; x=$(curl a | sh)\nRUN apt-get install \\\n  # why\n  y\nRUN ln -sf /bin/bash /bin/sh\n"
        ),
        "2 DL3004 \"sudo\", 2 DL3027 \"apt\", 2 DL4006 \"|\", 3 DL3014 \"install\", 6 DL4005 \"ln\""
    );
    assert_eq!(
        check(
            "FROM a:1\nRUN echo 'a | b' \"sudo\" || x # | y\nRUN set -o pipefail; a | b\nRUN apt-get -qq install y\nRUN if x; then apt-get -y install z; fi\n"
        ),
        ""
    );
    assert_eq!(
        check(
            "FROM a:1\nSHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]\nRUN a | b\nSHELL [\"pwsh\", \"-c\"]\nRUN a | b; sudo x\n"
        ),
        ""
    );
    assert_eq!(
        check(
            "FROM a:1\nRUN case \"$a\" in amd64) x;; arm64|aarch64) y;; (b|c) z;; *) z;; esac; [[ $a =~ ^(a|b)$ ]]; x >| y\n"
        ),
        "",
        "no pipes"
    );
    assert_eq!(
        check(
            "FROM a:1\nRUN case x in a|b) sudo c;; esac | d\nRUN [[ $(a | b) ]] && case x in a) b | c;; esac\nRUN (a; b) | c\n"
        ),
        "2 DL3004 \"sudo\", 2 DL4006 \"|\", 3 DL4006 \"|\", 4 DL4006 \"|\""
    );
    let codes = ["DL3008", "DL3018"];
    assert_eq!(
        only(
            &codes,
            "FROM a:1\nRUN apt-get install -y a=1 c/stable 2>/dev/null >x 2>&1 &>>y <z 3> 'a b' && apk add a=1 > x b\n"
        ),
        "2 DL3018 \"b\""
    );
    assert_eq!(
        only(&codes, "FROM a:1\nRUN apt-get install -y -t x a=1 b c\nRUN apk add --virtual .x y~=1 z\n"),
        "2 DL3008 \"b c\", 3 DL3018 \"z\""
    );
    assert_eq!(fixed("FROM a:1\nRUN apt-get install x\n"), "FROM a:1\nRUN apt-get install -y x\n");
}

#[test]
fn comments_switch_rules_off() {
    let skip = "# check=skip=JSONArgsRecommended,FromAsCasing // why";
    assert_eq!(check(&format!("{skip}\nFROM a:1 as b\nCMD x\n")), "");
    assert_eq!(
        check("# check=skip=JSONArgsRecommended, FromAsCasing\nFROM a:1 as b\nCMD x\n"),
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
    assert_eq!(check("# hadolint ignore=DL3006\nFROM a\nFROM b\n"), "3 DL3006 \"b\"");
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
fn ignored_files() {
    let text = "# check=experimental=CopyIgnoredFile\nFROM a:1\nCOPY secret/x a.txt ok /d/\nCOPY --from=0 secret /x\n";
    let told = |text: &str, ignore: &str| {
        told(
            &[("sub/Dockerfile", text), ("sub/.dockerignore", ignore)],
            select(&["CopyIgnoredFile"]),
            "sub/Dockerfile",
        )
    };
    let both = "3 CopyIgnoredFile \"secret/x\", 3 CopyIgnoredFile \"a.txt\"";
    assert_eq!(told(text, "# x\n/secret\n*.txt\n"), both);
    assert_eq!(told(text, "secret\n*.txt\n!secret/x\n"), "", "with exceptions nobody can tell");
    let with_directive = [("Dockerfile", text), (".dockerignore", "ok\n")];
    assert!(super::tests::told(&with_directive, settings(), "Dockerfile").contains("CopyIgnoredFile \"ok\""));
    let without = text.replace("experimental", "skip");
    let without = [("Dockerfile", &*without), (".dockerignore", "ok\n")];
    assert!(!super::tests::told(&without, settings(), "Dockerfile").contains("CopyIgnoredFile"));
}

#[test]
fn hadolints_configuration() {
    let text = "FROM a\nLABEL x=\"\" y=1\nCMD x\n";
    let told = |config: &str, settings: Settings| {
        told(&[("d/Dockerfile", text), (".hadolint.yaml", config)], settings, "d/Dockerfile")
    };
    assert_eq!(told("ignored: [DL3006, DL3025]\n", settings()), "");
    assert_eq!(
        told("ignored: [DL3006]\n", Settings { isolated: true, ..settings() }),
        "1 DL3006 \"a\", 3 JSONArgsRecommended \"CMD\""
    );
    assert_eq!(told("ignored: [DL3006]\n", select(&["DL3006"])), "1 DL3006 \"a\"", "who asks is told");
    assert_eq!(
        told(
            "ignored: [DL3006, DL3025]\ntrustedRegistries: [r.io]\nlabel-schema:\n  x: text\n  z: text\nstrict-labels: true\n",
            settings()
        ),
        "1 DL3049 \"FROM\", 1 DL3026 \"a\", 2 DL3051 \"x=\\\"\\\"\", 2 DL3050 \"y=1\""
    );
    let files = [("Dockerfile", "FROM a\n"), (".hadolint.yaml", "override:\n  error: [DL3006]\n  style:\n")];
    assert_eq!(report(&files, settings(), "Dockerfile").unwrap().diagnostics[0].severity, Severity::Error);
    assert_eq!(
        told("ignored: DL3006\n", settings()),
        "cannot use `.hadolint.yaml`: `ignored` should be a list of codes"
    );
    assert!(told("ignored: [\n", settings()).starts_with("cannot use `.hadolint.yaml`: "));
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
        told("label-schema: {a: bogus}\n", settings()),
        "cannot use `.hadolint.yaml`: `label-schema` has no type \"bogus\""
    );
}

#[test]
fn selection_knows_hadolints_codes() {
    assert_eq!(only(&["DL4000"], "FROM a\nMAINTAINER x\n"), "2 MaintainerDeprecated \"MAINTAINER\"");
    let error = report(&[("Dockerfile", "")], select(&["DL9999"]), "Dockerfile").unwrap_err();
    assert!(error.contains("DL9999"), "{error}");
}

#[test]
fn odd_files() {
    let report = |content: &[u8]| {
        let file =
            SourceFile { path: "Dockerfile".to_owned(), content: content.to_vec(), named: String::new() };
        let mut plugin = Dockerfile::new();
        plugin.configure(&Settings { isolated: true, ..settings() }).unwrap();
        plugin.check(&file).unwrap()
    };
    let bytes =
        |content: &[u8]| report(content).diagnostics.iter().map(|it| it.span.start).collect::<Vec<_>>();
    assert_eq!(bytes("\u{feff}FROM a\n".as_bytes()), [8]);
    let legacy = report(b"# \xff\nFROM a AS b\nMAINTAINER x\n");
    assert!(matches!(legacy.completeness, Completeness::Complete));
    assert!(!legacy.diagnostics.is_empty() && legacy.diagnostics.iter().all(|it| it.fixes.is_empty()));
    for text in [
        format!("FROM a:1\nRUN {}", "$(".repeat(10_000)),
        format!("FROM a:1\nRUN {}{}", "$(".repeat(10_000), ")".repeat(10_000)),
        format!("FROM ${{a:-{}", "${b:-".repeat(10_000)),
        format!("FROM {}{}\n", "${b:-".repeat(10_000), "}".repeat(10_000)),
        format!("FROM a:1\nENV A={}", "x".repeat(1_000_000)),
        "FROM a:1\nRUN \\".to_owned(),
        "FROM é\\".to_owned(),
        "FROM a:1\nCMD [".to_owned() + &"[".repeat(10_000),
    ] {
        report(text.as_bytes());
    }
}
