/* What stands between the bindings, which `wit-bindgen c` makes of the world, and the rules. Not for plugin authors. */

#include "broker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linter.h"

typedef broker_plugin_types_diagnostic_t diagnostic;
typedef broker_plugin_types_fix_t fix;
typedef broker_plugin_types_edit_t edit;

/* The bindings want it from an object file that tells the world; `broker plugin build` adds that by itself. */
void __component_type_object_force_link_linter(void) {}

/* One instance checks one file at a time, in one thread. */
static struct {
    char *root, *config, *options, *linter_options;
    bool isolated;
    /* As many as there are rules; none before it is configured. */
    bool *wanted;
    const broker_rule *rule;
    broker_plugin_types_list_diagnostic_t found;
    /* How many findings there were before this rule. */
    size_t before;
    char *failure, *left_out;
    broker_capture *captures;
    broker_plugin_syntax_captures_t answer;
} state;

/* Memory that was asked for is there, or the plugin ends. */
static void *grown(void *list, size_t count, size_t size) {
    /* Twice as large whenever the count is a power of two. */
    if (count & (count - 1)) return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list) abort();
    return list;
}

#define APPEND(list) ((list).ptr = grown((list).ptr, (list).len, sizeof *(list).ptr), &(list).ptr[(list).len++])
#define LAST(list) (&(list).ptr[(list).len - 1])

static char *copied(const void *text, size_t size) {
    char *copy = malloc(size + 1);
    if (!copy) abort();
    if (size) memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

static char *text_of(linter_string_t *text) { return copied(text->ptr, text->len); }

static linter_string_t borrowed(const char *text) {
    return (linter_string_t){(uint8_t *)text, text ? strlen(text) : 0};
}

/* A copy, which the bindings free. */
static linter_string_t owned(const char *text) {
    linter_string_t string;
    linter_string_dup(&string, text ? text : "");
    return string;
}

static linter_option_string_t maybe(const char *text) {
    linter_option_string_t option = {.is_some = text != NULL};
    if (text) option.val = owned(text);
    return option;
}

/* How many bytes the character has that begins here; 0 if none does. The zero at the end is in none. */
static size_t size_of_character(const char *text) {
    const uint8_t *at = (const uint8_t *)text;
    if (*at < 0x80) return 1;
    size_t size = *at < 0xc2 || *at > 0xf4 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    /* What could be shorter, halves of a pair, and what is past the last character. */
    bool is_none = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0) ||
                   (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] >= 0x90);
    return is_none ? 0 : size;
}

static bool is_utf8(const char *text) {
    for (size_t size; text && *text; text += size)
        if (!(size = size_of_character(text))) return false;
    return true;
}

/* A copy with U+FFFD for each byte that is not UTF-8, which the host would not take. */
static char *readable(const char *text) {
    if (!text) text = "";
    char *copy = malloc(3 * strlen(text) + 1), *to = copy;
    if (!copy) abort();
    while (*text) {
        size_t size = size_of_character(text);
        memcpy(to, size ? text : "\xef\xbf\xbd", size ? size : 3);
        to += size ? size : 3;
        text += size ? size : 1;
    }
    *to = 0;
    return copy;
}

static char *formatted(const char *format, va_list values) {
    va_list again;
    va_copy(again, values);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = malloc(size < 0 ? 1 : (size_t)size + 1);
    if (!text) abort();
    text[0] = 0;
    if (size > 0) vsnprintf(text, (size_t)size + 1, format, values);
    char *copy = readable(text);
    free(text);
    return copy;
}

/* The text of a `printf` with this format, in a string that the bindings free. */
#define FORMATTED(string, format)                  \
    do {                                           \
        va_list values;                            \
        va_start(values, format);                  \
        char *text = formatted(format, values);    \
        va_end(values);                            \
        (string) = owned(text);                    \
        free(text);                                \
    } while (0)

void broker_find(const broker_file *file, size_t start, size_t end, const char *message, ...) {
    (void)file;
    diagnostic *it = APPEND(state.found);
    memset(it, 0, sizeof *it);
    it->code = owned(state.rule->code);
    it->severity = BROKER_WARNING;
    it->span = (broker_plugin_types_span_t){(uint32_t)start, (uint32_t)end};
    FORMATTED(it->message, message);
}

/* What this rule found last; of the others, nothing is this one's to change. */
static diagnostic *found_last(const char *caller) {
    if (state.found.len > state.before) return LAST(state.found);
    broker_fail("%s before broker_find", caller);
    return NULL;
}

void broker_severity_is(broker_severity severity) {
    diagnostic *last = found_last("broker_severity_is");
    if (last) last->severity = (uint8_t)severity;
}

void broker_fix(broker_applicability applicability, size_t start, size_t end, const char *replacement,
                const char *message, ...) {
    diagnostic *last = found_last("broker_fix");
    if (!last) return;
    fix *it = APPEND(last->fixes);
    memset(it, 0, sizeof *it);
    it->applicability = (uint8_t)applicability;
    it->message.is_some = true;
    FORMATTED(it->message.val, message);
    broker_edit(start, end, replacement);
}

void broker_edit(size_t start, size_t end, const char *replacement) {
    diagnostic *last = found_last("broker_edit");
    if (!last) return;
    if (!last->fixes.len) {
        broker_fail("broker_edit before broker_fix");
        return;
    }
    edit *it = APPEND(LAST(last->fixes)->edits);
    it->span = (broker_plugin_types_span_t){(uint32_t)start, (uint32_t)end};
    char *text = readable(replacement);
    it->replacement = owned(text);
    free(text);
    /* What stands for a byte that is not UTF-8 is not to be written in its place. */
    if (!is_utf8(replacement)) LAST(last->fixes)->applicability = BROKER_DISPLAY_ONLY;
}

void broker_fail(const char *message, ...) {
    /* The first one led to the others. */
    if (state.failure) return;
    va_list values;
    va_start(values, message);
    state.failure = formatted(message, values);
    va_end(values);
}

void broker_leave_out(const char *why, ...) {
    if (state.left_out) return;
    va_list values;
    va_start(values, why);
    state.left_out = formatted(why, values);
    va_end(values);
}

void broker_log(const char *message, ...) {
    va_list values;
    va_start(values, message);
    char *text = formatted(message, values);
    va_end(values);
    linter_string_t line = borrowed(text);
    broker_plugin_host_log(BROKER_PLUGIN_HOST_LEVEL_INFO, &line);
    free(text);
}

bool broker_next(const broker_file *file, const char *text, size_t *at) {
    size_t size = strlen(text);
    for (; *at + size <= file->size; ++*at) {
        const char *first = memchr(file->content + *at, text[0], file->size - *at);
        if (!first || !size) return false;
        *at = (size_t)(first - file->content);
        if (broker_is(file, *at, *at + size, text)) return true;
    }
    return false;
}

bool broker_is(const broker_file *file, size_t start, size_t end, const char *text) {
    size_t size = strlen(text);
    return end <= file->size && start <= end && end - start == size && !memcmp(file->content + start, text, size);
}

/* Of what a problem is made, in words for people. */
static void problem(broker_plugin_syntax_problem_t *it) {
    static const char *const words[] = {"there is no grammar for ", "", "it was not parsed: ", "the query is wrong: "};
    char *text = text_of(&it->val.unreadable);
    broker_fail("%s%s", words[it->tag], text);
    free(text);
    broker_plugin_syntax_problem_free(it);
}

static void forget_captures(void) {
    for (size_t i = 0; i < state.answer.table.len / 5; i++) free((char *)state.captures[i].name);
    free(state.captures);
    state.captures = NULL;
    broker_plugin_syntax_captures_free(&state.answer);
    memset(&state.answer, 0, sizeof state.answer);
}

const broker_capture *broker_query(const broker_file *file, const char *language, const char *query, size_t *count) {
    *count = 0;
    forget_captures();
    broker_plugin_syntax_source_t source = {.tag = BROKER_PLUGIN_SYNTAX_SOURCE_FILE, .val.file = borrowed(file->path)};
    char *asked = readable(query);
    linter_string_t in = borrowed(language), text = borrowed(asked);
    broker_plugin_syntax_problem_t error;
    bool is_answered = broker_plugin_syntax_query(&source, language ? &in : NULL, &text, &state.answer, &error);
    free(asked);
    if (!is_answered) {
        memset(&state.answer, 0, sizeof state.answer);
        problem(&error);
        return NULL;
    }
    if (state.answer.cut) broker_fail("the query finds too much, or has too many beginnings of matches");
    *count = state.answer.table.len / 5;
    state.captures = calloc(*count + 1, sizeof *state.captures);
    if (!state.captures) abort();
    for (size_t i = 0; i < *count; i++) {
        const uint32_t *row = state.answer.table.ptr + 5 * i;
        char *name = text_of(&state.answer.names.ptr[row[2]]);
        state.captures[i] = (broker_capture){.name = name, .start = row[3], .end = row[4], .in_match = row[0], .pattern = row[1]};
    }
    return state.captures;
}

const char *broker_root(void) { return state.root ? state.root : ""; }
bool broker_isolated(void) { return state.isolated; }
const char *broker_config(void) { return state.config; }

const char *broker_linter_options(void) {
    linter_string_t json;
    if (state.linter_options || !broker_plugin_host_linter_options(&json)) return state.linter_options;
    state.linter_options = text_of(&json);
    free(json.ptr);
    return state.linter_options;
}

/* All of a file with a zero behind it; NULL if it cannot be read, with the reason in `errno`. */
static char *content_of(FILE *file) {
    char *content = NULL;
    size_t size = 0, capacity = 0, part;
    do {
        if (capacity - size < 2) {
            capacity = capacity ? 2 * capacity : 4096;
            content = realloc(content, capacity);
            if (!content) abort();
        }
        part = fread(content + size, 1, capacity - size - 1, file);
        size += part;
    } while (part);
    content[size] = 0;
    if (!ferror(file)) return content;
    free(content);
    return NULL;
}

const char *broker_options(const char *name) {
    free(state.options);
    state.options = NULL;
    if (state.isolated) return NULL;
    const char *named = state.config ? state.config : name, *root = broker_root();
    size_t size = strlen(root) + strlen(named) + 2;
    char *path = malloc(size);
    if (!path) abort();
    snprintf(path, size, "%s/%s", root, named);
    FILE *file = fopen(path, "r");
    free(path);
    if (!file && errno == ENOENT) {
        if (state.config) broker_fail("there is no %s", named);
        return NULL;
    }
    state.options = file ? content_of(file) : NULL;
    if (!state.options) broker_fail("cannot read %s: %s", named, strerror(errno));
    else if (!is_utf8(state.options)) {
        broker_fail("cannot read %s: it is not UTF-8", named);
        free(state.options);
        state.options = NULL;
    }
    if (file) fclose(file);
    return state.options;
}

static size_t rule_count(void) {
    size_t count = 0;
    while (broker_rules[count].code) count++;
    return count;
}

/* Wants or drops the rules that a selector means; whether there are any. */
static bool select_rules(linter_string_t *selector, bool wanted) {
    char *name = text_of(selector);
    bool is_all = !strcmp(name, "ALL"), is_known = is_all;
    for (size_t i = 0; broker_rules[i].code; i++) {
        if (!is_all && strcmp(broker_rules[i].code, name)) continue;
        state.wanted[i] = wanted;
        is_known = true;
    }
    free(name);
    return is_known;
}

static void select_all(linter_list_string_t *selectors, bool wanted, linter_list_string_t *unknown) {
    for (size_t i = 0; i < selectors->len; i++) {
        if (select_rules(&selectors->ptr[i], wanted)) continue;
        char *name = text_of(&selectors->ptr[i]);
        *APPEND(*unknown) = owned(name);
        free(name);
    }
}

bool exports_broker_plugin_lint_configure(exports_broker_plugin_lint_settings_t *settings,
                                          exports_broker_plugin_lint_settings_error_t *error) {
    state.root = text_of(&settings->root);
    state.isolated = settings->isolated;
    if (settings->config.is_some) state.config = text_of(&settings->config.val);
    state.wanted = calloc(rule_count() + 1, sizeof *state.wanted);
    if (!state.wanted) abort();
    for (size_t i = 0; broker_rules[i].code; i++)
        state.wanted[i] = !settings->select.is_some && !broker_rules[i].off_by_default;
    linter_list_string_t unknown = {0};
    if (settings->select.is_some) select_all(&settings->select.val, true, &unknown);
    select_all(&settings->ignore, false, &unknown);
    exports_broker_plugin_lint_settings_free(settings);
    if (!unknown.len) return true;
    error->tag = BROKER_PLUGIN_TYPES_SETTINGS_ERROR_UNKNOWN_SELECTORS;
    error->val.unknown_selectors = unknown;
    return false;
}

void exports_broker_plugin_lint_rules(exports_broker_plugin_lint_list_rule_t *rules) {
    memset(rules, 0, sizeof *rules);
    for (const broker_rule *it = broker_rules; it->code; it++) {
        *APPEND(*rules) = (broker_plugin_types_rule_t){
            .code = owned(it->code),
            .name = owned(it->code),
            .summary = owned(it->summary),
            .explanation = owned(it->explanation),
            .url = maybe(it->url),
            .fix = (uint8_t)it->fix,
            .default_ = !it->off_by_default,
        };
    }
}

static void run(const broker_rule *rule, const broker_file *file) {
    state.rule = rule;
    state.before = state.found.len;
    if (rule->check) rule->check(file);
    else broker_fail("it has no check");
}

static void say(linter_string_t *string, const char *format, ...) { FORMATTED(*string, format); }

bool exports_broker_plugin_lint_check(exports_broker_plugin_lint_source_file_t *source,
                                      exports_broker_plugin_lint_report_t *report, linter_string_t *error) {
    char *path = text_of(&source->path), *named = text_of(&source->named);
    char *content = copied(source->content.ptr, source->content.len);
    broker_file file = {path, content, source->content.len, named};
    exports_broker_plugin_lint_source_file_free(source);
    memset(&state.found, 0, sizeof state.found);
    for (size_t i = 0; broker_rules[i].code && !state.failure && !state.left_out; i++)
        if (!state.wanted || state.wanted[i]) run(&broker_rules[i], &file);
    forget_captures();
    memset(report, 0, sizeof *report);
    report->diagnostics = state.found;
    report->completeness.tag = BROKER_PLUGIN_TYPES_COMPLETENESS_COMPLETE;
    if (state.left_out && !state.failure) {
        broker_log("%s is left out: %s", path, state.left_out);
        exports_broker_plugin_lint_report_free(report);
        memset(report, 0, sizeof *report);
        report->completeness.tag = BROKER_PLUGIN_TYPES_COMPLETENESS_EXCLUDED;
    }
    free(state.left_out);
    state.left_out = NULL;
    free(path);
    free(named);
    free(content);
    if (!state.failure) return true;
    exports_broker_plugin_lint_report_free(report);
    say(error, "rule %s: %s", state.rule->code, state.failure);
    free(state.failure);
    state.failure = NULL;
    return false;
}
