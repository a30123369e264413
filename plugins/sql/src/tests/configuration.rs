//! Which configuration holds, and what it says.

use sqruff_lib_core::dialects::init::dialect_readout;

use super::*;
use crate::config::Config;

const SQL: &str = "SELECT a, b from tbl\n";
const POSTGRES: &str = "[sqruff]\ndialect = postgres\n";

#[test]
fn each_file_that_sqruff_reads() {
    let check = |name: &str, text: &str| Repo::new(&[(name, text), ("a.sql", SQL)]).check("a.sql");
    assert_eq!(check("readme", ""), "", "nothing is configured");
    let ini = "[sqlfluff]\nrules = CP01\n";
    for name in [".sqlfluff", ".sqruff", ".sqruff.ini"] {
        assert_eq!(check(name, ini), "CP01", "{name}");
    }
    assert_eq!(check("pyproject.toml", "[tool.sqlfluff]\nrules = ['capitalisation.keywords']\n"), "CP01");
    assert_eq!(check("sqruff.toml", "[sqruff]\nrules = 'capitalisation'\n"), "CP01");
    assert_eq!(check("pyproject.toml", "[project]\nname = 'a'\n"), "", "that says nothing of SQL");
    assert_eq!(check(".sqlfluff", "[sqlfluff]\nrules = L010\n"), "CP01", "as sqlfluff called it before 2.0");
    assert_eq!(check("setup.cfg", "[sqlfluff]\nrules = CP01\n"), "", "not read by sqruff");
}

#[test]
fn the_nearer_counts_over_the_farther() {
    let files = [
        (
            ".sqlfluff",
            "[sqlfluff]\ndialect = ansi\nrules = CP01,LT01\n[sqlfluff:rules:capitalisation.keywords]\ncapitalisation_policy = lower\n",
        ),
        ("in/.sqruff", "[sqruff]\nexclude_rules = LT01\n"),
        ("a.sql", "SELECT a,b from tbl\n"),
        ("in/deep/a.sql", "SELECT a,b from tbl\n"),
    ];
    let mut repo = Repo::new(&files);
    assert_eq!(repo.check("a.sql"), "CP01 LT01");
    assert_eq!(repo.report("a.sql", "").unwrap().diagnostics[0].span.start, 0, "the policy is kept");
    assert_eq!(repo.check("in/deep/a.sql"), "CP01");
    let mut repo = Repo::new(&files).with(Settings { isolated: true, ..settings() });
    assert_eq!(repo.check("a.sql"), "");
    let mut repo = Repo::new(&files).with(Settings { config: Some("in/.sqruff".to_owned()), ..settings() });
    assert_eq!(repo.check("a.sql"), "CP01");
}

#[test]
fn the_dialect_of_broker_counts_where_none_is_configured() {
    let check = |config: &str| {
        let files = [(".sqruff", config), ("a.sql", "SELECT a::int FROM b WHERE c ~ 'd'\n")];
        Repo::new(&files).check("a.sql")
    };
    testing::set_linter_options(Some(r#"{"dialect": "mysql"}"#));
    assert_eq!(check(""), "PRS");
    assert_eq!(check("[sqruff]\nrules = CP01\n"), "PRS", "which says nothing of dialects");
    assert_eq!(check(POSTGRES), "");
    testing::set_linter_options(None);
    assert_eq!(check(""), "");
}

#[test]
fn each_dialect_can_be_chosen() {
    let manifest = include_str!("../../broker-plugin.toml");
    let missing = dialect_readout().into_iter().filter(|it| !manifest.contains(&format!("\"{it}\"")));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn what_is_wrong_with_a_configuration_is_told() {
    let check = |name: &str, text: &str| Repo::new(&[(name, text), ("a.sql", SQL)]).check("a.sql");
    assert!(check("pyproject.toml", "[tool\n").starts_with("cannot use `pyproject.toml`: "));
    assert!(check(".sqruff", "[sqruff]\ndialect = dbase\n").contains("`dbase`"));
    assert!(check(".sqruff", "[sqruff]\nrules = XX99\n").contains("Unknown rule(s) in configuration: XX99"));
    assert!(check(".sqruff", "[sqruff]\nrules = 3\n").contains("`rules`"));
    assert!(check(".sqruff", "[sqruff]\nmax_parse_depth = many\n").starts_with("cannot use `.sqruff`: "));
}

#[test]
fn values_that_sqruff_cannot_read() {
    let check = |config: &str| {
        let told = Repo::new(&[(".sqruff", config), ("a.sql", SQL)]).check("a.sql");
        told.strip_prefix("cannot use `.sqruff`: ").map_or(told.clone(), str::to_owned)
    };
    assert_eq!(check("[sqruff]\nmax_line_length = abc\n"), "`max_line_length` has to be a number");
    assert_eq!(check("[sqruff]\ntemplater = nosuch\n"), "sqruff does not know the templater `nosuch`");
    assert_eq!(
        check("[sqruff]\nlarge_file_skip_byte_limit = abc\n"),
        "`large_file_skip_byte_limit` has to be a number"
    );
    assert_eq!(
        check("[sqruff:layout:type:comma]\nline_position = foo\n"),
        "sqruff does not know the value of `layout:type:comma:line_position`"
    );
    assert_eq!(
        check("[sqruff:rules:layout.long_lines]\nignore_comment_lines = maybe\n"),
        "`rules:layout.long_lines:ignore_comment_lines` has to be true or false"
    );
    let all = "indentation tab_space_size = x; indentation tab_space_size = -1; indentation indent_unit = no; \
               indentation trailing_comments = 3; layout:type:nosuch spacing_before = touch; layout type = 3; \
               layout:type:comma spacing_before = no; layout:type:comma spacing_before = align:no; \
               layout:type:comma keyword_line_position = no; layout:type:comma align_within = no; \
               rules allow_scalar = 3; rules:aliasing.table aliasing = no; rules:aliasing.unused alias_case_check = 1; \
               rules:capitalisation.keywords ignore_words = 3; rules:capitalisation.keywords ignore_words_regex = (; \
               rules:capitalisation.keywords capitalisation_policy = none; rules:references.special_chars ignore_words = 3; \
               rules:structure.subquery forbid_subquery_in = no; rules:convention.casting_style preferred_type_casting_style = no; \
               rules:ambiguous.column_references group_by_and_order_by_style = no; \
               rules:convention.quoted_literals preferred_quoted_literal_style = no; rules:references.keywords ignore_words_regex = [";
    for one in all.split("; ") {
        let (section, value) = one.split_once(' ').unwrap();
        let told = check(&format!("[sqruff]\nrules = all\n[sqruff:{section}]\n{value}\n"));
        assert!(
            told.contains(value.split(' ').next().unwrap()) || told.contains("`layout:type"),
            "{one}: {told}"
        );
    }
    let comment =
        |text: &str| Repo::new(&[("a.sql", &format!("-- sqlfluff:{text}\nSELECT 1\n"))]).check("a.sql");
    assert_eq!(comment("max_line_length:abc"), "PRS");
    assert_eq!(comment("rules:3"), "PRS");
    assert_eq!(comment("indentation:tab_space_size:x"), "PRS");
    let fine = "[sqruff]\nrules = CP01\nmax_line_length = -1\nlarge_file_skip_byte_limit = None\n\
                [sqruff:rules:capitalisation.keywords]\nignore_words = a,b\nignore_words_regex = ^a,b$\n\
                [sqruff:layout:type:comma]\nspacing_before = align:alias_expression:select_clause\n\
                line_position = alone:strict\nkeyword_line_position = leading\n[sqruff:indentation]\nskip_indentation_in = None\n";
    assert_eq!(check(fine), "CP01");
}

/// `None` for the rules turns on all of them, as with sqruff.
#[test]
fn no_list_of_rules() {
    let check = |rules: &str| {
        let config = format!("[sqruff]\ndialect = ansi\nrules = {rules}\n");
        Repo::new(&[(".sqruff", &config), ("a.sql", "SELECT a != 1 AS b, c <> 2 AS d FROM t\n")])
            .check("a.sql")
    };
    assert_eq!(check("None"), check("all"));
    assert_ne!(check("None"), check("core"));
}

#[test]
fn what_is_left_out() {
    let mut repo = Repo::new(&[
        (".sqlfluffignore", "old/\n"),
        (".sqruff", "[sqruff]\nrules = CP01\nignore_paths = *_gen.sql\n"),
        ("in/.sqruffignore", "/b.sql\n"),
        ("old/a.sql", SQL),
        ("in/b.sql", SQL),
        ("in/a.sql", SQL),
        ("in/a_gen.sql", SQL),
        ("b.sql", SQL),
    ]);
    assert_eq!(["old/a.sql", "in/b.sql", "in/a_gen.sql"].map(|it| repo.check(it)), ["excluded"; 3]);
    assert_eq!(["in/a.sql", "b.sql"].map(|it| repo.check(it)), ["CP01"; 2]);
    assert_eq!(repo.report("old/a.sql", "old/a.sql").unwrap().diagnostics.len(), 1, "named by the user");
    let mut repo = Repo::new(&[(".sqruff", "[sqruff]\nsql_file_exts = .sql\n"), ("a.ddl", SQL)]);
    assert_eq!(repo.check("a.ddl"), "excluded");
}

#[test]
fn large_files() {
    let large = format!("{}\nSELECT a FROM t, t;\n", "-- why\n".repeat(6_000));
    let why = Config::default().is_too_large(50_001).unwrap();
    assert!(Config::default().is_too_large(50_000).is_none() && why.contains("about a second"), "{why}");
    assert_eq!(Repo::new(&[("a.sql", &large)]).check("a.sql"), "AL04", "no project set sqruff's limit");
    let own = (".sqlfluff", "[sqlfluff]\nlarge_file_skip_byte_limit = 20000\n");
    assert_eq!(Repo::new(&[own, ("a.sql", &large)]).check("a.sql"), "excluded", "this one did");
    let query = format!("SELECT a FROM t, t WHERE b IN ({}0);\n", "123456789, ".repeat(5_000));
    assert_eq!(Repo::new(&[("a.sql", &query)]).check("a.sql"), "excluded", "one query of 50,000 bytes");
    let larger = format!("{}SELECT a FROM t, t;\n", "INSERT INTO t VALUES (1, NULL);\n".repeat(6_000));
    let mut repo = Repo::new(&[("a.sql", &larger)]);
    assert_eq!(repo.check("a.sql"), "AL04", "no file is too long");
    let postgres = (".sqruff", "[sqruff]\ndialect = postgres\n");
    let mut repo = Repo::new(&[postgres, ("a.sql", &larger)]);
    assert_eq!(repo.check("a.sql"), "excluded");
    assert_eq!(repo.check_explicit("a.sql"), "excluded", "named as well");
    let limit = |it: &str| format!("[sqruff]\nrules = CP01\nlarge_file_skip_byte_limit = {it}\n");
    assert_eq!(Repo::new(&[(".sqruff", &limit("10")), ("a.sql", SQL)]).check("a.sql"), "excluded");
    assert_eq!(Repo::new(&[(".sqruff", &limit("10")), ("a.sql", SQL)]).check_explicit("a.sql"), "excluded");
    assert_eq!(Repo::new(&[(".sqruff", &limit("0")), ("a.sql", SQL)]).check("a.sql"), "CP01");
}

#[test]
fn templaters() {
    let check = |templater: &str, text: &str| {
        let config = format!("[sqruff]\ndialect = ansi\nrules = CP01\ntemplater = {templater}\n");
        Repo::new(&[(".sqruff", &config), ("a.sql", text)]).check("a.sql")
    };
    for templater in ["raw", "jinja", "dbt", "python", "sqlmesh"] {
        assert_eq!(check(templater, SQL), "CP01", "{templater}");
    }
    assert_eq!(check("jinja", "SELECT {{ a }} from b\n"), "excluded", "it is made by a program in Python");
    assert_eq!(check("python", "SELECT {a} from b\n"), "excluded");
    assert_eq!(check("raw", "SELECT '{{ a }}' from b\n"), "CP01", "somebody said that it is none");
    assert_eq!(
        check("placeholder", SQL),
        "cannot use the templater: No param_regex nor param_style was provided to the placeholder templater."
    );
    let mut unconfigured = Repo::new(&[("a.sql", "SELECT {{ a }} from b\n")]);
    assert_eq!(unconfigured.check("a.sql"), "excluded", "nothing says that it is SQL");
    assert_eq!(unconfigured.check_explicit("a.sql"), "excluded", "named as well");
    let config = "[sqruff]\ndialect = ansi\nrules = CP01,LT01\ntemplater = placeholder\n[sqruff:templater:placeholder]\n\
                  param_style = colon\nname = x\n";
    let mut repo = Repo::new(&[(".sqruff", config), ("a.sql", "SELECT :name,  b from tbl\n")]);
    let report = repo.report("a.sql", "").unwrap();
    let found: Vec<_> =
        report.diagnostics.iter().map(|it| (it.code.as_str(), it.span.start, it.fixes.len())).collect();
    assert_eq!(found, [("LT01", 13, 0), ("CP01", 17, 0)], "at their places, without fixes");
}

#[test]
fn comments_configure() {
    let check = |text: &str| Repo::new(&[("a.sql", text)]).check("a.sql");
    assert_eq!(check("SELECT a::int from t;\n"), "");
    assert_eq!(check("-- sqlfluff:rules:CP01\nSELECT a from t\n"), "CP01");
    assert_eq!(
        check("-- sqruff:dialect:postgres\nSELECT FROM WHERE (;\n"),
        "PRS",
        "somebody said the dialect"
    );
    assert_eq!(check("-- sqlfluff:dialect:dbase\nSELECT 1\n"), "PRS");
    assert_eq!(check("-- sqlfluff:core:dialect:x:y\nSELECT 1\n"), "PRS");
    assert_eq!(
        check("-- sqlfluff:rules:XX99\nSELECT 1\n").split(':').next(),
        Some("the configuration of sqruff")
    );
}

#[test]
fn selectors() {
    let check = |select: Option<&[&str]>, ignore: &[&str], files: &[(&str, &str)]| {
        let settings = Settings { select: select.map(owned), ignore: owned(ignore), ..settings() };
        Repo::new(files).with(settings).check("a.sql")
    };
    let files = [(".sqruff", POSTGRES), ("a.sql", SQL)];
    assert_eq!(check(None, &[], &files), "CP01");
    assert_eq!(check(None, &["capitalisation"], &files), "");
    assert_eq!(check(Some(&["capitalisation.keywords"]), &[], &files[1..]), "CP01");
    assert_eq!(check(Some(&["ALL"]), &["references", "layout"], &files[1..]), "CP01");
    let broken = [("a.sql", "SELECT FROM WHERE a = NULL (;\n")];
    assert_eq!(check(None, &[], &broken), "excluded");
    assert_eq!(check(Some(&["PRS"]), &[], &broken), "PRS");
    let settings = Settings { select: Some(owned(&["F401", "core"])), ..settings() };
    let unknown = Sql::new().configure(&settings);
    assert!(matches!(unknown, Err(SettingsError::UnknownSelectors(it)) if it == ["F401"]));
}
