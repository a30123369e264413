//! Files that cannot be built, and files that are no Dockerfiles.

use super::*;

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

/// Messages of `syntax-error` for the line after `FROM`.
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
    let lines = |path: &str, text: &str| lines_of(&[(path, text)], settings(), path);
    assert_eq!(lines("Dockerfile.part", "RUN x\n"), "excluded");
    assert_eq!(lines("Dockerfile.dockerignore", "node_modules\n"), "excluded");
    assert_eq!(lines("web.dockerfile", "FROM a\nCMD x\n"), "2 JSONArgsRecommended \"CMD\"");
}

#[test]
fn templates() {
    assert_eq!(check("{% if x %}\nFROM a:1\n"), "excluded");
    assert_eq!(check("FROM a:1\n@VERSION@\n"), "excluded");
    assert_eq!(check("FROM {{ image }}\n"), "excluded");
    let wrong = "2 syntax-error \"RUM\"";
    assert_eq!(check("FROM a:1\nRUM docker inspect -f '{{.Id}}' x\nCMD x\n"), wrong, "no tag: it is quoted");
    assert_eq!(check("FROM a:1\nRUM date \"+%Y%%\"\n"), wrong);
    assert_eq!(check("FROM a:1\nRUN x {{ y }}\nRUM y\n"), "3 syntax-error \"RUM\"");
}
