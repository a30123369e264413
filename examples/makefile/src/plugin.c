/* What make would stumble over: recipes that are indented by spaces, and includes of nothing.
 *
 * It goes line by line, as make does, and expands no variables: where a line's meaning hangs on one, nothing is said. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"

/* A line without its end, and what make takes it for. */
typedef struct line {
    const char *start, *end;
    enum { BLANK, CONTINUED, RECIPE, COMMENT, DIRECTIVE, ASSIGNMENT, RULE, OTHER } kind;
} line;

/* Goes through a file. */
typedef struct reader {
    const char *at, *end;
    /* Whether the line before ended in a backslash, and whether this is in a `define`. */
    bool continues, defines;
} reader;

static const char *const DIRECTIVES[] = {"ifeq",  "ifneq", "ifdef",    "ifndef", "else",   "endif",    "include", "-include", "sinclude",
                                         "export", "unexport", "override", "private", "undefine", "vpath", "define", "endef", "load", NULL};

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

static bool starts_with_word(const char *at, const char *end, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - at) < size || memcmp(at, word, size)) return false;
    return at + size == end || isspace((unsigned char)at[size]) || at[size] == '(';
}

static bool is_directive(const char *at, const char *end) {
    for (size_t i = 0; DIRECTIVES[i]; i++)
        if (starts_with_word(at, end, DIRECTIVES[i])) return true;
    return false;
}

/* An assignment has its `=` before the colon of a rule, or right behind it; what is in `$(…)` counts for neither. */
static int assignment_or_rule(const char *at, const char *end) {
    int depth = 0;
    for (; at < end && *at != '#'; at++) {
        if (*at == '(' || *at == '{') depth++;
        if (*at == ')' || *at == '}') depth--;
        if (depth > 0) continue;
        if (*at == '=') return ASSIGNMENT;
        if (*at != ':') continue;
        while (at < end && *at == ':') at++;
        return at < end && *at == '=' ? ASSIGNMENT : RULE;
    }
    return OTHER;
}

static int kind_of(const char *start, const char *end) {
    const char *first = skip_blanks(start, end);
    if (first == end) return BLANK;
    if (*start == '\t') return RECIPE;
    if (*first == '#') return COMMENT;
    if (is_directive(first, end)) return DIRECTIVE;
    return assignment_or_rule(first, end);
}

static bool next_line(reader *it, line *line) {
    if (it->at >= it->end) return false;
    const char *stop = memchr(it->at, '\n', (size_t)(it->end - it->at));
    if (!stop) stop = it->end;
    line->start = it->at;
    line->end = stop > it->at && stop[-1] == '\r' ? stop - 1 : stop;
    it->at = stop + (stop < it->end);
    const char *first = skip_blanks(line->start, line->end);
    bool ends = starts_with_word(first, line->end, "endef");
    line->kind = it->continues || (it->defines && !ends) ? CONTINUED : kind_of(line->start, line->end);
    it->defines = (it->defines && !ends) || (!it->continues && starts_with_word(first, line->end, "define"));
    it->continues = line->end > line->start && line->end[-1] == '\\';
    return true;
}

static reader reader_of(const broker_file *file) {
    bool has_mark = broker_is(file, 0, 3, "\xef\xbb\xbf");
    return (reader){file->content + (has_mark ? 3 : 0), file->content + file->size, false, false};
}

static void spaces_for_tab(const broker_file *file) {
    size_t at = 0;
    /* Then recipes begin with something else. */
    if (broker_next(file, ".RECIPEPREFIX", &at)) return;
    reader reader = reader_of(file);
    line line;
    bool in_rule = false;
    while (next_line(&reader, &line)) {
        bool is_indented = line.end > line.start && *line.start == ' ';
        if (line.kind == RULE || line.kind == ASSIGNMENT) in_rule = line.kind == RULE;
        if (line.kind != OTHER || !is_indented || !in_rule) continue;
        /* A variable may be a whole rule. */
        const char *first = skip_blanks(line.start, line.end);
        if (*first == '$') continue;
        size_t from = (size_t)(line.start - file->content), to = (size_t)(first - file->content);
        broker_find(file, from, to, "a recipe begins with a tab, and this line with spaces");
        broker_severity_is(BROKER_ERROR);
        broker_fix(BROKER_SAFE, from, to, "\t", "Begin with a tab");
    }
}

/* Whether this file is there, beside the one that includes it. */
static bool is_there(const broker_file *file, const char *name, size_t size) {
    const char *slash = strrchr(file->path, '/');
    int folder = slash ? (int)(slash - file->path + 1) : 0;
    const char *format = "%s/%.*s%.*s";
    int length = snprintf(NULL, 0, format, broker_root(), folder, file->path, (int)size, name);
    char *path = malloc((size_t)length + 1);
    if (!path) abort();
    snprintf(path, (size_t)length + 1, format, broker_root(), folder, file->path, (int)size, name);
    FILE *included = fopen(path, "r");
    free(path);
    if (included) fclose(included);
    return included;
}

/* Whether a rule tells how to make it, so far as that can be seen. */
static bool is_made(const broker_file *file, const char *name, size_t size) {
    reader reader = reader_of(file);
    line line;
    while (next_line(&reader, &line)) {
        if (line.kind != RULE) continue;
        const char *colon = memchr(line.start, ':', (size_t)(line.end - line.start));
        for (const char *at = line.start; colon && at + size <= colon; at++)
            if (!memcmp(at, name, size) || *at == '%' || *at == '$') return true;
    }
    return false;
}

static void missing_include(const broker_file *file) {
    /* Where another one is included from is not told in it. */
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    if (!strstr(name, "akefile")) return;
    reader reader = reader_of(file);
    line line;
    while (next_line(&reader, &line)) {
        const char *at = skip_blanks(line.start, line.end);
        if (line.kind != DIRECTIVE || !starts_with_word(at, line.end, "include")) continue;
        at += strlen("include");
        while ((at = skip_blanks(at, line.end)) < line.end && *at != '#' && *at != '\\') {
            const char *word = at;
            while (at < line.end && !isspace((unsigned char)*at)) at++;
            size_t size = (size_t)(at - word);
            bool is_plain = *word != '/' && strcspn(word, "$*?[~%()") >= size;
            if (!is_plain || is_there(file, word, size) || is_made(file, word, size)) continue;
            size_t start = (size_t)(word - file->content);
            broker_find(file, start, start + size, "there is no such file beside this one, and no rule that makes it");
        }
    }
}

const broker_rule broker_rules[] = {
    {
        .code = "spaces-for-tab",
        .summary = "A recipe is indented by spaces",
        .explanation = "Make takes a line for part of a recipe only if it begins with a tab, and breaks off at this one: "
                       "`missing separator`.",
        .url = "https://www.gnu.org/software/make/manual/html_node/Recipe-Syntax.html",
        .fix = BROKER_ALWAYS_FIX,
        .check = spaces_for_tab,
    },
    {
        .code = "missing-include",
        .summary = "A file that is included is not there",
        .explanation = "Make breaks off, unless the folder is found by `-I`. `-include` goes on without it.",
        .url = "https://www.gnu.org/software/make/manual/html_node/Include.html",
        .check = missing_include,
    },
    {0},
};
