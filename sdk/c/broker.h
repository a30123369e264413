/* Write a Broker plugin in C: a rule is a function that reports what it finds.
 *
 *     #include "broker.h"
 *
 *     static void todo(const broker_file *file) {
 *         size_t at = 0;
 *         while (broker_next(file, "TODO", &at)) {
 *             broker_find(file, at, at + 4, "resolve this TODO");
 *             at += 4;
 *         }
 *     }
 *
 *     const broker_rule broker_rules[] = {
 *         {.code = "todo", .summary = "A TODO is left in the code", .check = todo},
 *         {0},
 *     };
 *
 * Offsets are in bytes. Other files of the workspace are read with `fopen` below `broker_root()`, the plugin's own
 * configuration with `broker_options`; what was read is part of what the answer rests on. There is no network and nothing to write to, the clock stands still, and random numbers
 * repeat.
 */
#ifndef BROKER_H
#define BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file to check. */
typedef struct broker_file {
    /* Relative to the workspace, with `/`. */
    const char *path;
    /* Not necessarily UTF-8; followed by a zero, and there may be others in it. */
    const char *content;
    size_t size;
    /* What the user named and what led here: this file, or a folder that it is in. */
    const char *named;
} broker_file;

typedef enum { BROKER_ERROR, BROKER_WARNING, BROKER_INFO, BROKER_HINT } broker_severity;

/* `SAFE` keeps what the program means, and `--fix` applies it. */
typedef enum { BROKER_SAFE, BROKER_UNSAFE, BROKER_DISPLAY_ONLY } broker_applicability;

typedef enum { BROKER_NO_FIX, BROKER_SOMETIMES_FIX, BROKER_ALWAYS_FIX } broker_fix_availability;

typedef struct broker_rule {
    const char *code;
    /* One line. */
    const char *summary;
    /* Markdown. */
    const char *explanation;
    const char *url;
    broker_fix_availability fix;
    /* Off when nothing is configured. */
    bool off_by_default;
    void (*check)(const broker_file *file);
} broker_rule;

/* The plugin's own; the last one has no code. */
extern const broker_rule broker_rules[];

/* Reports that something is wrong with the bytes from `start` to `end`, in one sentence as of `printf`. It is a warning,
 * of the rule that is under way. */
void broker_find(const broker_file *file, size_t start, size_t end, const char *message, ...)
    __attribute__((format(printf, 4, 5)));

/* Of what this rule found last: how severe it is. */
void broker_severity_is(broker_severity severity);

/* Of what this rule found last: a fix that replaces the bytes from `start` to `end`. `message` is in the imperative. One that
 * would write bytes that are not UTF-8 is only displayed. */
void broker_fix(broker_applicability applicability, size_t start, size_t end, const char *replacement, const char *message,
                ...) __attribute__((format(printf, 5, 6)));

/* Of the fix that was made last: one more replacement, after the others. */
void broker_edit(size_t start, size_t end, const char *replacement);

/* Says that no answer can be given, since something is wrong with the plugin or its configuration. What is wrong with the
 * file is a finding. */
void broker_fail(const char *message, ...) __attribute__((format(printf, 1, 2)));

/* Leaves this file out, for all rules, with a reason such as `it is a template`. The reason becomes a part of the answer. For
 * content that the plugin cannot judge, not for errors. */
void broker_leave_out(const char *why, ...) __attribute__((format(printf, 1, 2)));

/* Whether `text` stands at or after `*at`; then `*at` is where. */
bool broker_next(const broker_file *file, const char *text, size_t *at);

/* Whether the bytes from `start` to `end` are `text`. */
bool broker_is(const broker_file *file, size_t start, size_t end, const char *text);

/* What a query found. */
typedef struct broker_capture {
    /* Without the `@`. */
    const char *name;
    /* Bytes of the file. */
    size_t start, end;
    /* Captures of one match have the same number. */
    uint32_t in_match;
    /* Which of the query's patterns it is, from 0. */
    uint32_t pattern;
} broker_capture;

/* What a query in the language of tree-sitter finds in the file; `*count` is how many. The host parses it, once for all
 * plugins, in `language`, or in that of the file's name if it is NULL. It is gone after the next query and after the
 * file. */
const broker_capture *broker_query(const broker_file *file, const char *language, const char *query, size_t *count);

/* Where the workspace is, without a slash at the end; empty if that is `/`. */
const char *broker_root(void);

/* Whether to read no configuration files. */
bool broker_isolated(void);

/* The configuration file to read and no other, relative to the workspace; NULL if none was named. */
const char *broker_config(void);

/* The text of the plugin's configuration file, which `config-files` of the manifest names as well: the one of this name in the
 * workspace's folder, or the one that the user named; NULL if there is none, if none is to be read, or after `broker_fail`
 * because it cannot be read. It stays as it is until it is asked for again, and is followed by a zero. */
const char *broker_options(const char *name);

/* What `broker.toml` has in the table `[linters.NAME]` of this plugin, as a JSON object whose values are as `options` of the
 * manifest describes them; NULL if there is no such table. */
const char *broker_linter_options(void);

/* A line for Broker's log, which `--verbose` shows when the plugin is run and not its earlier answer taken. What is printed
 * goes nowhere. */
void broker_log(const char *message, ...) __attribute__((format(printf, 1, 2)));

#endif
