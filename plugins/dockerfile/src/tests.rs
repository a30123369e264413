//! Findings in small files.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::{
    testing::{self, select, settings},
    *,
};

use crate::Dockerfile;

mod dash;
mod pipes;
mod privileges;
mod refused;
mod splits;
mod switches;

/// Report on `path` in a project of `files`.
fn report(files: &[(&str, &str)], settings: Settings, path: &str) -> Result<Report, String> {
    let project = testing::Project::<Dockerfile>::new(files).try_with(settings);
    project.map_err(|it| format!("{it:?}"))?.report(path, "")
}

/// `line code "text it is about"` of each finding; `excluded`, or what is wrong with the configuration.
fn lines_of(files: &[(&str, &str)], settings: Settings, path: &str) -> String {
    let project = testing::Project::<Dockerfile>::new(files).try_with(settings);
    project.map_or_else(|it| format!("{it:?}"), |mut it| it.lines(path))
}

fn check(text: &str) -> String {
    lines_of(&[("Dockerfile", text)], settings(), "Dockerfile")
}

/// With hadolint configured, though to nothing.
fn configured(text: &str) -> String {
    lines_of(&[("Dockerfile", text), (".hadolint.yaml", "")], settings(), "Dockerfile")
}

/// With no more than these rules.
fn only(codes: &[&str], text: &str) -> String {
    lines_of(&[("Dockerfile", text)], select(codes), "Dockerfile")
}

/// Findings about arguments before the first `FROM`.
fn from_arguments(text: &str) -> String {
    only(&["UndefinedArgInFrom", "InvalidDefaultArgInFrom"], text)
}

/// The text with all fixes made.
fn fixed(text: &str) -> String {
    let files = [("Dockerfile", text), (".hadolint.yaml", "")];
    let report = report(&files, settings(), "Dockerfile").unwrap();
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
fn casing() {
    assert_eq!(
        configured("FROM a:1 AS Base\nFROM a:1 as b\nrun x\nOnBuild RUN y\n"),
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
    assert_eq!(
        check(
            "FROM a:1\nENV POSTGRES_HOST_AUTH_METHOD=trust AUTH_TYPE=x TOKEN_URL=x KEY_PATH=x DB_PASSWORD_FILE=x\n\
             ENV TOKEN_EXPIRY=1 AUTH_TOKEN=x URL_TOKEN=x NPM_AUTH=x METHOD_KEY=x\n"
        ),
        "3 SecretsUsedInArgOrEnv \"AUTH_TOKEN\", 3 SecretsUsedInArgOrEnv \"URL_TOKEN\", \
         3 SecretsUsedInArgOrEnv \"NPM_AUTH\", 3 SecretsUsedInArgOrEnv \"METHOD_KEY\"",
        "the last word says what the value is"
    );
    assert_eq!(
        check(
            "FROM a:1\nENV GPG_KEY A035C8C19219BA821ECEA86B64E628F8D684696D\nENV GPG_KEY=\"0xE2B21B96\"\nARG GPG_KEY\n\
             ENV GPG_KEY=$OTHER\nENV GPG_KEY=hunter2 GPG_PRIVATE_KEY=A035C8C19219BA82\n"
        ),
        "2 LegacyKeyValueFormat \"GPG_KEY A035C8C19219BA821ECEA86B64E628F8D684696D\", \
         6 SecretsUsedInArgOrEnv \"GPG_KEY\", 6 SecretsUsedInArgOrEnv \"GPG_PRIVATE_KEY\"",
        "ids of public keys"
    );
    assert_eq!(
        check(
            "FROM a:1\nENV TLS_KEY=\"/etc/app/tls.key\" TRUST_PASSWORD='/run/secrets/pass' API_KEY=/x+y//z= DB_PASSWORD=/ WITH_AUTH=false\n"
        ),
        "2 SecretsUsedInArgOrEnv \"API_KEY\", 2 SecretsUsedInArgOrEnv \"DB_PASSWORD\"",
        "places of secrets"
    );
    assert_eq!(
        check(
            "FROM a:1\nENV PASSWORD= DB_TOKEN=\"\" AUTH_TOKEN='' API_KEY=$KEY SECRET=\"${A:-}${B}\"\nARG NPM_TOKEN=\nENV A_TOKEN \"\"\n"
        ),
        "4 LegacyKeyValueFormat \"A_TOKEN \\\"\\\"\"",
        "no secret is in the image"
    );
    assert_eq!(
        check("FROM a:1\nENV API_KEY=x$KEY SECRET=${A:-b}\nARG NPM_TOKEN\nARG TOKEN=a\n"),
        "2 SecretsUsedInArgOrEnv \"API_KEY\", 2 SecretsUsedInArgOrEnv \"SECRET\", 3 SecretsUsedInArgOrEnv \"NPM_TOKEN\", \
         4 SecretsUsedInArgOrEnv \"TOKEN\""
    );
    assert_eq!(check("FROM a:1\nRUN a \\\n\n  b\n"), "3 NoEmptyContinuation \"\"");
    assert_eq!(
        check("FROM a:1\nENTRYPOINT exec a $B\nCMD c\n"),
        "2 JSONArgsRecommended \"ENTRYPOINT\", 3 JSONArgsRecommended \"CMD\"",
        "as BuildKit, which looks at nothing but SHELL"
    );
}

#[test]
fn variables() {
    assert_eq!(
        from_arguments("ARG A=1\nFROM $B:1\nFROM b:${A}\nFROM ${C:-d}:1\n"),
        "2 UndefinedArgInFrom \"$B\", 2 InvalidDefaultArgInFrom \"$B:1\""
    );
    assert_eq!(
        from_arguments("ARG A\nARG S=\"y:\"\nFROM a:$A\nFROM bus${S}\n"),
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
            "FROM a:1\nARG V=1\nENV V=$V D=/a/${V}\nENV V=\"${V}\" D=$V\nENV V=$V V=2 D=$V\nENV V='$V' D=$V\n"
        ),
        "5 DL3044 \"$V\", 6 DL3044 \"$V\"",
        "a variable that is set to itself keeps its value"
    );
    assert_eq!(
        check(
            "FROM scratch\nCOPY --chown=$WHO --link a /x\nCOPY [\"$Y\", \"/x\"]\nVOLUME [\"$Z\"]\nVOLUME [\"'$Z'\"]\n"
        ),
        "2 UndefinedVar \"$WHO\", 3 UndefinedVar \"$Y\", 4 UndefinedVar \"$Z\""
    );
    assert_eq!(
        from_arguments("ARG A=x B=$A C=\"${B}-${N:-y}\"\nFROM r/$C:1\nFROM ${C}-\nFROM ${C#x}-\n"),
        "3 InvalidDefaultArgInFrom \"${C}-\"",
        "what is not known is not reported"
    );
}

#[test]
fn large_files_take_no_longer_than_they_should() {
    let doubled = (1..400).map(|it| format!("ARG A{it}=$A{0}$A{0}\n", it - 1)).collect::<String>();
    assert_eq!(check(&format!("ARG A0=x\n{doubled}FROM alpine:$A399\n")), "");
    let chain = (0..3000).map(|it| format!("ENV VAR{it}=$VAR{}\n", it + 1)).collect::<String>();
    let found = only(&["UndefinedVar"], &format!("FROM scratch\n{chain}"));
    assert_eq!(found.matches("UndefinedVar").count(), 3000);
}

#[test]
fn rules_of_those_who_chose_hadolint() {
    let text = "FROM a AS x\nFROM b:latest as y\nCOPY z rel\nENV k v\n";
    assert_eq!(check(text), "4 LegacyKeyValueFormat \"k v\"");
    let all = "1 DL3006 \"a\", 2 DL3007 \"b:latest\", 2 FromAsCasing \"as\", 3 DL3045 \"rel\"";
    assert_eq!(configured(text), format!("{all}, 4 LegacyKeyValueFormat \"k v\""));
    assert_eq!(only(&["FromAsCasing", "DL3006", "DL3007", "DL3045"], text), all, "the user asks for them");
    let mut project = testing::Project::<Dockerfile>::new(&[(".hadolint.yml", "ignored: [DL3007]\n")]);
    let on: Vec<bool> = ["DL3006", "DL3007"].iter().map(|it| project.is_on("Dockerfile", it)).collect();
    assert_eq!(on, [true, false]);
    assert!(!testing::Project::<Dockerfile>::new(&[]).is_on("Dockerfile", "DL3006"));
}

#[test]
fn hadolints_rules() {
    assert_eq!(
        configured("FROM a\nFROM b:latest\nFROM r.io:5000/c\nFROM d@sha256:00\nFROM $X:1\n"),
        "1 DL3006 \"a\", 2 DL3007 \"b:latest\", 3 DL3006 \"r.io:5000/c\", 5 UndefinedArgInFrom \"$X\""
    );
    assert_eq!(
        configured(
            "FROM a:1 AS x\nUSER root\nFROM a:1 AS y\nUSER u\nUSER root:root\nEXPOSE 70000\nADD a /b\nADD a.tar.gz https://x /b/\nADD a.Z /b\nADD a.tZ /b\nADD a.tbz /b\nADD a.lz /b\nCOPY a b /c\nCOPY a rel\n"
        ),
        "6 DL3011 \"70000\", 7 DL3020 \"ADD\", 13 DL3021 \"/c\", 14 DL3045 \"rel\""
    );
    assert_eq!(
        only(&["DL3002"], "FROM a:1 AS x\nUSER root\nFROM a:1 AS y\nUSER u\nUSER root:root\n"),
        "5 DL3002 \"root:root\""
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
    assert_eq!(
        check(
            "FROM a:1\nRUN sudo -u x a; sudo -E -u x a; sudo -Hu x a; sudo --user=x a; sudo -g y -u $X a\nRUN sudo -u root a\nRUN sudo -E a -u x\n"
        ),
        "3 DL3004 \"sudo\", 4 DL3004 \"sudo\"",
        "another user than root"
    );
    assert_eq!(
        check(
            "FROM a:1\nRUN echo a | b && printf '%s' a | b; true | b; : | b; yes | b\nRUN echo a | b | c\nRUN { a; echo b; } | c\nRUN echo $(a | b) | c\n"
        ),
        "3 DL4006 \"|\", 4 DL4006 \"|\"",
        "what cannot fail"
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
fn ignored_files() {
    let text = "# check=experimental=CopyIgnoredFile\nFROM a:1\nCOPY secret/x a.txt ok /d/\nCOPY --from=0 secret /x\n";
    let ignoring = |text: &str, ignore: &str| {
        lines_of(
            &[("sub/Dockerfile", text), ("sub/.dockerignore", ignore)],
            select(&["CopyIgnoredFile"]),
            "sub/Dockerfile",
        )
    };
    let both = "3 CopyIgnoredFile \"secret/x\", 3 CopyIgnoredFile \"a.txt\"";
    assert_eq!(ignoring(text, "# x\n/secret\n*.txt\n"), both);
    assert_eq!(ignoring(text, "secret\n*.txt\n!secret/x\n"), "", "with exceptions it is not known");
    let with_directive = [("Dockerfile", text), (".dockerignore", "ok\n")];
    assert!(lines_of(&with_directive, settings(), "Dockerfile").contains("CopyIgnoredFile \"ok\""));
    let without = text.replace("experimental", "skip");
    let without = [("Dockerfile", &*without), (".dockerignore", "ok\n")];
    assert!(!lines_of(&without, settings(), "Dockerfile").contains("CopyIgnoredFile"));
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
    assert_eq!(bytes("\u{feff}FROM a\nCMD x\n".as_bytes()), [10]);
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
