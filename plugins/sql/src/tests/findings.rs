//! Findings in a file.

use super::*;

const POSTGRES: (&str, &str) = (".sqruff", "[sqruff]\ndialect = postgres\n");

fn found(text: &str) -> Vec<Diagnostic> {
    Repo::new(&[POSTGRES, ("a.sql", text)]).report("a.sql", "").unwrap().diagnostics
}

/// Text after the fixes of the findings with this code.
fn fixed(text: &str, code: &str) -> String {
    let mut edits: Vec<Edit> = found(text)
        .into_iter()
        .filter(|it| it.code == code)
        .flat_map(|it| it.fixes.into_iter().flat_map(|it| it.edits))
        .collect();
    edits.sort_by_key(|it| it.span.start);
    let mut text = text.to_owned();
    for it in edits.into_iter().rev() {
        text.replace_range(it.span.start as usize..it.span.end as usize, &it.replacement);
    }
    text
}

#[test]
fn a_finding() {
    let [found] = &found("SELECT a from tbl\n")[..] else { panic!() };
    assert_eq!((found.code.as_str(), found.name.as_deref()), ("CP01", Some("capitalisation.keywords")));
    assert_eq!(found.message, "Keywords must be consistently upper case");
    assert_eq!((found.severity, found.span.start, found.span.end), (Severity::Warning, 9, 13));
    assert!(found.url.as_ref().is_some_and(|it| it.ends_with("#capitalisationkeywords")));
    assert_eq!(found.fixes[0].applicability, Applicability::Safe);
}

#[test]
fn fixes_are_in_bytes_of_the_file() {
    assert_eq!(fixed("SELECT 'é' from tbl\n", "CP01"), "SELECT 'é' FROM tbl\n");
    assert_eq!(
        fixed("\u{feff}SELECT 'é',  b\r\nfrom tbl\r\n", "CP01"),
        "\u{feff}SELECT 'é',  b\r\nFROM tbl\r\n"
    );
    assert_eq!(fixed("SELECT a,b\r\nFROM tbl\r\n", "LT01"), "SELECT a, b\r\nFROM tbl\r\n");
    assert_eq!(fixed("SELECT a\r\nFROM tbl", "LT12"), "SELECT a\r\nFROM tbl\r\n");
    assert_eq!(
        fixed("SELECT a FROM tbl WHERE a <> NULL\n", "CV05"),
        "SELECT a FROM tbl WHERE a IS NOT NULL\n"
    );
}

#[test]
fn how_sure_a_fix_is() {
    let sure = |text: &str, code: &str| {
        let found = found(text).into_iter().find(|it| it.code == code).unwrap();
        found.fixes[0].applicability
    };
    assert_eq!(sure("SELECT a,b FROM tbl\n", "LT01"), Applicability::Safe);
    assert_eq!(sure("SELECT a FROM tbl WHERE a <> NULL\n", "CV05"), Applicability::Unsafe);
}

/// The answer of a file of no known dialect has what is not read of it.
#[test]
fn queries_that_no_dialect_reads_are_told() {
    let told = |text: &str| {
        let _before = testing::logged();
        let mut repo = Repo::new(&[("a.sql", text)]);
        (repo.check("a.sql"), testing::logged())
    };
    let right = "SELECT a FROM t WHERE a = NULL;\n";
    let foreign = "SELECT a FROM t PIVOT WITHIN (b) => c WHERE a = NULL;\n";
    assert_eq!(told(right), ("CV05".to_owned(), Vec::new()));
    let line = |it: &str| vec![format!("a.sql is read in part: {it}; name the dialect in .sqlfluff")];
    let of_two = line("1 of 2 queries are of no dialect that is tried (first: line 3)");
    assert_eq!(told(&format!("{right}\n{foreign}")), ("CV05".to_owned(), of_two));
    assert_eq!(told(&format!("{right}-- Why.\n\t-- More.\n{foreign}")).1[0].matches("line 4").count(), 1);
    let of_three = line("2 of 3 queries are of no dialect that is tried (first: line 1)");
    assert_eq!(told(&format!("{foreign}{right}{foreign}")), ("CV05".to_owned(), of_three));
    let marked = line("1 of 2 queries are of no dialect that is tried (first: line 2)");
    assert_eq!(told(&format!("\u{feff}{right}{foreign}")).1, marked);
    let long = format!("SELECT a FROM t WHERE a = NULL AND b IN ({}1);\n", "1, ".repeat(20_000));
    let of_long =
        line("1 of 2 queries are of no dialect that is tried, or are too long to try (first: line 2)");
    assert_eq!(told(&format!("{right}{long}")).1, of_long);
    assert_eq!(told(foreign).0, "excluded", "nothing is read");
    let named = [("a.sql", &*format!("{right}{foreign}")), (".sqlfluff", "[sqlfluff]\ndialect = ansi\n")];
    let _before = testing::logged();
    assert!(Repo::new(&named).check("a.sql").contains("PRS"), "where a dialect is named, it is a finding");
    assert!(testing::logged().is_empty());
}

/// Which dialect has which comments, sqruff knows.
#[test]
fn no_fix_makes_code_a_comment() {
    let fixes = |dialect: &str, text: &str| {
        let config = format!("[sqruff]\ndialect = {dialect}\nrules = LT09,LT15\n");
        let mut repo = Repo::new(&[(".sqruff", &config), ("a.sql", text)]);
        let found = repo.report("a.sql", "").unwrap().diagnostics;
        found.iter().map(|it| format!("{} {}", it.code, it.fixes.len())).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fixes("postgres", "SELECT -- c\n    a\nFROM t\n"), "LT09 0");
    assert_eq!(fixes("postgres", "SELECT -- c\r\n    a\r\nFROM t\r\n"), "LT09 0");
    assert_eq!(fixes("mysql", "SELECT # c\n    a\nFROM t\n"), "LT09 0");
    assert_eq!(fixes("snowflake", "SELECT // c\n    a\nFROM t\n"), "LT09 0");
    assert_eq!(fixes("postgres", "SELECT /* c */\n    a\nFROM t\n"), "LT09 1");
    assert_eq!(fixes("postgres", "SELECT\n    a\nFROM t -- c\n"), "LT09 1");
    assert_eq!(fixes("postgres", "SELECT a -- c\n\n\n\nFROM t\n"), "LT15 1 LT15 1");
    let config = "[sqruff]\ndialect = ansi\nrules = LT15\n";
    let mut repo = Repo::new(&[(".sqruff", config), ("a.sql", "SELECT a - 1\n\n\n\nFROM t\n")]);
    let found = repo.report("a.sql", "").unwrap().diagnostics;
    assert_eq!(found[0].fixes[0].applicability, Applicability::Safe, "a minus is no comment");
}

#[test]
fn what_does_not_parse() {
    let text = "SELECT 1;\n\nSELECT FROM WHERE (;\n";
    let [error] = &found(text)[..] else { panic!() };
    assert_eq!((error.code.as_str(), error.severity), ("PRS", Severity::Error));
    let [error] = &found("CREATE NONSENSE\neverywhere;\n")[..] else { panic!() };
    assert_eq!(error.message, "sqruff cannot parse this as postgres");
    assert_eq!((error.span.start, error.span.end), (0, 15), "the first line of it");
    let quiet = "[sqruff]\ndialect = postgres\nignore = parsing\n";
    assert_eq!(Repo::new(&[(".sqruff", quiet), ("a.sql", "CREATE NONSENSE;\n")]).check("a.sql"), "");
}

#[test]
fn what_does_not_parse_is_not_fixed() {
    let text = "SELECT a from t;\n\n    CREATE NONSENSE;\n";
    let found = found(text);
    assert!(found.len() > 1 && found.iter().all(|it| it.fixes.is_empty()), "{found:?}");
}

#[test]
fn without_a_configuration() {
    let check = |text: &str| Repo::new(&[("a.sql", text)]).check("a.sql");
    assert_eq!(check("select a ,b From tbl"), "", "a matter of taste");
    assert_eq!(check("SELECT a.x FROM t AS a, u AS a\n"), "AL04");
    assert_eq!(check("SELECT a.x::int FROM t AS a, u AS a;\n"), "AL04", "of PostgreSQL");
    assert_eq!(check("SELECT a.`x` FROM t AS a, u AS a;\n"), "AL04", "of MySQL");
    assert_eq!(check("SELECT NONSENSE FROM t AS a, u AS a SELECT;\n"), "excluded");
    assert_eq!(check("CREATE NONSENSE;\n"), "", "nothing that a rule looks for");
    assert_eq!(check("SELEC a FROM b\n"), "PRS", "of no dialect");
    assert_eq!(check("SELEC a FROM b -- noqa\n"), "PRS", "no dialect, no comment");
    assert_eq!(check(""), "");
}

/// Each statement is of a dialect of its own.
#[test]
fn statement_by_statement() {
    let check = |text: &str| Repo::new(&[("a.sql", text)]).lines("a.sql");
    let nonsense = "CREATE NONSENSE (;\nSELECT a FROM t WHERE b = NULL NONSENSE (;\n";
    assert_eq!(check(nonsense), "excluded");
    assert_eq!(check(&format!("{nonsense}DELETE FROM t WHERE é = NULL;\n")), "3 CV05 \"=\"");
    let two = "DELETE FROM `t` WHERE a = NULL;\nSELECT b::int FROM t WHERE a <> NULL;\n";
    assert_eq!(check(two), "1 CV05 \"=\", 2 CV05 \"<>\"");
    let body = "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 FROM a, a; $$ LANGUAGE sql;\n";
    assert_eq!(check(&format!("{body}SELECT 1 FROM a, a;\n")), "2 AL04 \"a\"");
    let trigger = "CREATE TRIGGER x AFTER INSERT ON t BEGIN\n  UPDATE t SET a = 1;\n  DELETE FROM t WHERE a = NULL;\nEND;\n";
    assert_eq!(check(trigger), "3 CV05 \"=\"");
    assert_eq!(check("\\set a 1\nDELETE FROM t WHERE a = NULL\n\\g\n"), "2 CV05 \"=\"");
    assert_eq!(
        check("DELETE FROM t WHERE a = NULL; -- noqa\nDELETE FROM t WHERE a = NULL;\n"),
        "2 CV05 \"=\""
    );
    assert_eq!(check(&format!("{nonsense}SELEC a FROM b;\n")), "3 PRS \"SELEC\"");
    let mut text = include_str!("../../fixtures/invalid/psql.sql").to_owned();
    let found = Repo::new(&[("a.sql", &text)]).report("a.sql", "").unwrap().diagnostics;
    let [Diagnostic { fixes, .. }] = &found[..] else { panic!("{found:?}") };
    for it in fixes[0].edits.iter().rev() {
        text.replace_range(it.span.start as usize..it.span.end as usize, &it.replacement);
    }
    assert_eq!(text, include_str!("../../fixtures/invalid/psql.sql.fixed"));
}

/// Commands of clients are no SQL.
#[test]
fn commands_of_clients() {
    let found = |config: &str, text: &str| {
        let mut repo = Repo::new(&[(".sqruff", config), ("a.sql", text)]);
        let told = |it: &Diagnostic| format!("{} {}", it.code, it.span.start);
        let report = repo.report("a.sql", "").unwrap();
        report.diagnostics.iter().map(told).collect::<Vec<_>>().join(", ")
    };
    let text = ".bail on\n.headers on\nDELETE FROM t WHERE a = NULL;\n.quit\n";
    assert_eq!(found("", text), "CV05 43");
    assert_eq!(found("", &format!("\u{feff}{text}")), "CV05 46");
    assert_eq!(found("", ".mode csv\nSELEC a FROM b;\n"), "PRS 10");
    let long = format!("SELECT a FROM t;\n.print {}\n", "x".repeat(100));
    assert_eq!(found("[sqruff]\ndialect = sqlite\n", &long), "", "no line of SQL");
    assert_eq!(found("[sqruff]\ndialect = postgres\n", ".mode csv\n"), "PRS 0", "not of psql");
    assert_eq!(
        found("", "-- sqlfluff:dialect:duckdb\n.mode csv\nSELECT a\nFROM t\nWHERE a = NULL;\n"),
        "CV05 61"
    );
    let text = "DELIMITER //\nDELETE FROM t WHERE a = NULL//\nDELIMITER ;\nDELETE FROM t WHERE a <> NULL;\n";
    assert_eq!(found("", text), "CV05 35, CV05 78");
    assert_eq!(found("[sqruff]\ndialect = mysql\nrules = CV05,LT01\n", text), "CV05 35, CV05 78");
}

/// Code that is a matter of taste, or right in some database.
#[test]
fn without_a_configuration_only_mistakes_are_told() {
    let check = |text: &str| Repo::new(&[("a.sql", text)]).check("a.sql");
    assert_eq!(
        check("SELECT a b, count(1) FROM t x UNION SELECT DISTINCT (c), d FROM (SELECT 1) GROUP BY 1\n"),
        ""
    );
    assert_eq!(check("SELECT a.id, b.id FROM a JOIN b ON a.id = b.a\n"), "");
    assert_eq!(check("SELECT a FROM t WHERE b IN (SELECT b FROM t WHERE c)\n"), "", "a scope of its own");
    assert_eq!(check("SELECT a FROM one.t, two.t\n"), "", "tables of two schemas");
    assert_eq!(check("UPDATE t SET a = NULL WHERE a = 1\n"), "");
    assert_eq!(check("SELECT NULL = NULL\n"), "", "shows what it gives");
    assert_eq!(check("DELETE FROM t WHERE a = NULL\n"), "CV05");
    assert_eq!(check("SELECT CASE WHEN a <> NULL THEN 1 END AS b FROM t\n"), "CV05");
    assert_eq!(check("SELECT a FROM t, t\n"), "AL04");
    assert_eq!(check("WITH a AS (SELECT 1), b AS (SELECT 2) SELECT * FROM b\n"), "ST03");
}

/// PostgreSQL refuses what sqruff would make of these.
#[test]
fn what_is_wrong_in_the_crate() {
    // Layout is not what this is about.
    let codes = |text: &str| {
        let codes = found(text).into_iter().map(|it| it.code).filter(|it| !it.starts_with("LT"));
        codes.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(codes("SELECT * FROM json_to_recordset('[]') AS x(id integer)\n"), "");
    assert_eq!(codes("SELECT * FROM tbl AS x\n"), "AL05");
    assert_eq!(found("SELECT * FROM tbl AS x\n")[0].message, "Alias 'x' is never used in SELECT statement");
    assert_eq!(codes("SELECT f.a FROM test.f(1)\n"), "");
    assert_eq!(codes("SELECT g.a FROM test.f(1)\n"), "RF01");
}

#[test]
fn comments_suppress() {
    let codes = |text: &str| found(text).iter().map(|it| it.code.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(codes("SELECT a from tbl -- noqa\n"), "");
    assert_eq!(codes("SELECT a,b from tbl -- noqa: CP01\n"), "LT01");
    assert_eq!(codes("-- noqa: disable=all\nSELECT a,b from tbl\n"), "");
}

#[test]
fn severities() {
    let config = "[sqruff]\ndialect = ansi\nwarnings = CP01,layout.spacing\n";
    let mut repo = Repo::new(&[(".sqruff", config), ("a.sql", "SELECT a,b from tbl\n")]);
    let report = repo.report("a.sql", "").unwrap();
    assert!(
        report.diagnostics.len() == 2 && report.diagnostics.iter().all(|it| it.severity == Severity::Info)
    );
}

#[test]
fn bytes_that_are_no_text() {
    let mut repo = Repo::new(&[("a.sql", "")]);
    fs::write(repo.root.path().join("a.sql"), b"SELECT '\xff'\n").unwrap();
    let report = repo.report("a.sql", "").unwrap();
    assert_eq!((report.diagnostics[0].code.as_str(), report.diagnostics[0].span.start), ("LXR", 8));
}

/// Whatever a text is cut to, there is an answer, and its places are in the text.
#[test]
fn truncated_texts() {
    let text = "WITH c AS (SELECT 'é' AS x, $$q$$::int[1] /* d */ from t) -- noqa: CP0\r\nSELECT \"a\",b,\r\n\tCASE WHEN x\r\n";
    let mut repo = Repo::new(&[POSTGRES]);
    for end in (0..text.len()).filter(|it| text.is_char_boundary(*it)) {
        let content = text.as_bytes()[..end].to_vec();
        let file = SourceFile { path: "a.sql".to_owned(), content, named: String::new() };
        for it in repo.plugin.check(&file).unwrap().diagnostics {
            let edits = it.fixes.iter().flat_map(|it| &it.edits).map(|it| it.span);
            for span in edits.chain([it.span]) {
                assert!(text[..end].get(span.start as usize..span.end as usize).is_some(), "{end} {it:?}");
            }
        }
    }
}

#[test]
fn rules() {
    let rules = Sql::new().rules();
    assert!(rules.is_sorted_by(|a, b| a.code < b.code));
    assert!(rules.iter().all(|it| !it.summary.is_empty() && !it.explanation.is_empty()));
    let on: Vec<_> = rules.iter().filter(|it| it.default).map(|it| it.code.as_str()).collect();
    assert_eq!(on, ["AL04", "CV05", "PRS", "ST03"]);
    assert!(rules.iter().any(|it| it.code == "CP01" && it.fix == FixAvailability::Sometimes));
}

#[test]
fn the_sample_is_sql() {
    let mut repo =
        Repo::new(&[("a.sql", include_str!("../warm_up.sql")), (".sqruff", "[sqruff]\ndialect = ansi\n")]);
    let found = repo.check("a.sql");
    assert!(found.contains("AM02"), "{found}");
}
