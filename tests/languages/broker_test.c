/* The SDK for C without a host:
 *
 *     cc -Isdk/c -o broker_test tests/languages/broker_test.c sdk/c/broker.c && ./broker_test
 *
 * It stands apart from the SDK, all of whose sources are compiled into a plugin. */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"
#include "linter.h"

#define UNKNOWN "\xef\xbf\xbd"
static const char *const TEXT = "a\xff\xc3\xa4\xed\xa0\x80";
static const char *const READABLE = "a" UNKNOWN "\xc3\xa4" UNKNOWN UNKNOWN UNKNOWN;

static char logged[64];

/* What the bindings do, which can be compiled for WebAssembly only. Nothing is freed. */
void linter_string_dup(linter_string_t *string, const char *text) {
    string->len = strlen(text);
    string->ptr = memcpy(malloc(string->len + 1), text, string->len + 1);
}
void broker_plugin_host_log(broker_plugin_host_level_t level, linter_string_t *line) {
    (void)level;
    snprintf(logged, sizeof logged, "%.*s", (int)line->len, (const char *)line->ptr);
}
bool broker_plugin_host_linter_options(linter_string_t *json) {
    linter_string_dup(json, "{\"words\":[\"TODO\"]}");
    return true;
}
bool broker_plugin_syntax_query(broker_plugin_syntax_source_t *source, linter_string_t *language,
                                linter_string_t *query, broker_plugin_syntax_captures_t *captures,
                                broker_plugin_syntax_problem_t *problem) {
    (void)source, (void)language;
    if (!strcmp((const char *)query->ptr, "call")) {
        static linter_string_t names[2];
        static uint32_t table[] = {7, 1, 0, 0, 4, 7, 1, 1, 0, 2};
        linter_string_dup(&names[0], "call");
        linter_string_dup(&names[1], "name");
        *captures = (broker_plugin_syntax_captures_t){.names = {names, 2}, .table = {table, 10}};
        return true;
    }
    problem->tag = BROKER_PLUGIN_SYNTAX_PROBLEM_BAD_QUERY;
    linter_string_dup(&problem->val.bad_query, (const char *)query->ptr);
    return false;
}
void broker_plugin_syntax_problem_free(broker_plugin_syntax_problem_t *it) { (void)it; }
void broker_plugin_syntax_captures_free(broker_plugin_syntax_captures_t *it) { (void)it; }
void exports_broker_plugin_lint_settings_free(exports_broker_plugin_lint_settings_t *it) { (void)it; }
void exports_broker_plugin_lint_source_file_free(exports_broker_plugin_lint_source_file_t *it) { (void)it; }
void exports_broker_plugin_lint_report_free(exports_broker_plugin_lint_report_t *it) { (void)it; }

static void finds(const broker_file *file) {
    broker_find(file, 0, 1, "%s", file->content);
    broker_severity_is(BROKER_ERROR);
    broker_fix(BROKER_SAFE, 0, 1, "b", "%s", file->content);
    broker_fix(BROKER_SAFE, 0, 1, NULL, "plain");
    broker_edit(1, 2, file->content);
}
static void fixes(const broker_file *file) { (void)file, broker_fix(BROKER_SAFE, 0, 1, "", "fix"); }
static void weighs(const broker_file *file) { (void)file, broker_severity_is(BROKER_HINT); }
static void edits(const broker_file *file) {
    broker_find(file, 0, 1, "m");
    broker_edit(0, 1, "");
}
static void asks(const broker_file *file) {
    size_t count;
    broker_query(file, NULL, file->content, &count);
    broker_fail("what came of that");
}
static void captures(const broker_file *file) {
    size_t count;
    const broker_capture *it = broker_query(file, NULL, "call", &count);
    bool is_one_match = count == 2 && it[0].in_match == it[1].in_match && it[1].pattern == 1;
    if (!is_one_match || strcmp(it[1].name, "name") || it[1].end != 2) broker_fail("these are other captures");
}
static const char *options_file;
static void configures(const broker_file *file) {
    const char *options = broker_options(options_file);
    broker_find(file, 0, 1, "%s", options ? options : "none");
}
static void logs(const broker_file *file) { broker_log("%s", file->content); }
static void leaves(const broker_file *file) { broker_leave_out("it is %s", file->content); }

const broker_rule broker_rules[] = {
    {.code = "finds", .check = finds},   {.code = "fixes", .check = fixes}, {.code = "weighs", .check = weighs},
    {.code = "edits", .check = edits},   {.code = "asks", .check = asks},   {.code = "logs", .check = logs},
    {.code = "has-none", .check = NULL}, {.code = "leaves", .check = leaves},
    {.code = "captures", .check = captures}, {.code = "configures", .check = configures}, {0},
};

static int failed;

static void expect(const char *what, const char *got, const char *wanted) {
    if (!strcmp(got, wanted)) return;
    fprintf(stderr, "%s: `%s`, not `%s`\n", what, got, wanted);
    failed = 1;
}

static linter_string_t string(const char *text) { return (linter_string_t){(uint8_t *)text, strlen(text)}; }

/* What a user asks for. */
static const char *root = "", *config;
static bool isolated;

/* What the host is told of a file in which two rules look, or one: the report, or why there is none. */
static const char *check(const char *first, const char *second, exports_broker_plugin_lint_report_t *report) {
    linter_string_t selected[] = {string(first), string(second)}, error = {0};
    exports_broker_plugin_lint_settings_t settings = {
        .root = string(root), .select = {true, {selected, 2}}, .isolated = isolated,
        .config = {config != NULL, config ? string(config) : string("")},
    };
    exports_broker_plugin_lint_settings_error_t unknown;
    exports_broker_plugin_lint_configure(&settings, &unknown);
    exports_broker_plugin_lint_source_file_t file = {.path = string("a"), .content = {(uint8_t *)TEXT, strlen(TEXT)}};
    return exports_broker_plugin_lint_check(&file, report, &error) ? "" : (const char *)error.ptr;
}

static void what_is_not_utf8_is_told_and_not_written(void) {
    exports_broker_plugin_lint_report_t report;
    expect("finds", check("finds", "finds", &report), "");
    broker_plugin_types_diagnostic_t *it = report.diagnostics.ptr;
    expect("message", (char *)it->message.ptr, READABLE);
    expect("message of a fix", (char *)it->fixes.ptr[0].message.val.ptr, READABLE);
    expect("nothing", (char *)it->fixes.ptr[1].edits.ptr[0].replacement.ptr, "");
    expect("replacement", (char *)it->fixes.ptr[1].edits.ptr[1].replacement.ptr, READABLE);
    expect("severity", it->severity == BROKER_ERROR ? "error" : "another", "error");
    expect("first fix", it->fixes.ptr[0].applicability == BROKER_SAFE ? "safe" : "another", "safe");
    expect("second fix", it->fixes.ptr[1].applicability == BROKER_DISPLAY_ONLY ? "displayed" : "another", "displayed");
    check("logs", "logs", &report);
    expect("log", logged, READABLE);
}

static void a_rule_changes_what_it_found_itself(void) {
    static const char *const wanted[][2] = {
        {"fixes", "rule fixes: broker_fix before broker_find"},
        {"weighs", "rule weighs: broker_severity_is before broker_find"},
        {"edits", "rule edits: broker_edit before broker_fix"},
        {"has-none", "rule has-none: it has no check"},
    };
    exports_broker_plugin_lint_report_t report;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        expect(wanted[i][0], check("finds", wanted[i][0], &report), wanted[i][1]);
    char first[64];
    snprintf(first, sizeof first, "rule asks: the query is wrong: %s", READABLE);
    expect("asks", check("asks", "has-none", &report), first);
    expect("after that", check("finds", "finds", &report), "");
}

static void a_file_is_left_out_for_what_it_contains(void) {
    exports_broker_plugin_lint_report_t report;
    expect("leaves", check("finds", "leaves", &report), "");
    int is_excluded = report.completeness.tag == BROKER_PLUGIN_TYPES_COMPLETENESS_EXCLUDED;
    expect("completeness", is_excluded && !report.diagnostics.len ? "excluded" : "another", "excluded");
    char reason[64];
    snprintf(reason, sizeof reason, "a is left out: it is %s", READABLE);
    expect("reason", logged, reason);
    expect("after that", check("finds", "finds", &report), "");
    expect("completeness", report.diagnostics.len == 1 ? "found" : "another", "found");
}

static void write_file(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) abort();
}

static void expect_options(const char *name, const char *wanted) {
    exports_broker_plugin_lint_report_t report;
    options_file = name;
    const char *failure = check("configures", "configures", &report);
    expect(name, *failure ? failure : (const char *)report.diagnostics.ptr[0].message.ptr, wanted);
}

static void options_are_those_that_the_user_means(void) {
    char folder[] = "/tmp/broker_test.XXXXXX";
    if (!(root = mkdtemp(folder))) abort();
    write_file("own.ini", "own \xc3\xa4");
    write_file("other.ini", "other");
    write_file("odd.ini", "\xff");
    expect_options("own.ini", "own \xc3\xa4");
    expect_options("none.ini", "none");
    expect_options("odd.ini", "rule configures: cannot read odd.ini: it is not UTF-8");
    config = "other.ini";
    expect_options("own.ini", "other");
    config = "none.ini";
    expect_options("own.ini", "rule configures: there is no none.ini");
    config = NULL, isolated = true;
    expect_options("own.ini", "none");
    isolated = false;
    const char *const names[] = {"own.ini", "other.ini", "odd.ini"};
    for (size_t i = 0; i < 3; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", root, names[i]);
        remove(path);
    }
    remove(root);
    root = "";
}

static void captures_of_one_match_have_its_number(void) {
    exports_broker_plugin_lint_report_t report;
    expect("captures", check("captures", "captures", &report), "");
}

int main(void) {
    expect("options of broker.toml", broker_linter_options(), "{\"words\":[\"TODO\"]}");
    captures_of_one_match_have_its_number();
    options_are_those_that_the_user_means();
    a_file_is_left_out_for_what_it_contains();
    what_is_not_utf8_is_told_and_not_written();
    a_rule_changes_what_it_found_itself();
    return failed;
}
