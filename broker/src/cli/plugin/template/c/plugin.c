/* `x == None` asks `x`, which may answer anything; `x is None` asks Python. */

#include "broker.h"

/* What is found, in the language of tree-sitter's queries. */
#define QUERY "(comparison_operator operators: [\"==\" \"!=\"] @operator . (none))"

static void none_comparison(const broker_file *file) {
    size_t count;
    /* The host parses the file, once for all plugins. */
    const broker_capture *found = broker_query(file, "python", QUERY, &count);
    for (size_t i = 0; i < count; i++) {
        size_t start = found[i].start, end = found[i].end;
        const char *better = broker_is(file, start, end, "==") ? "is" : "is not";
        broker_find(file, start, end, "compare with None by `%s`", better);
        /* `==` may have been defined to mean something else. */
        broker_fix(BROKER_UNSAFE, start, end, better, "Use `%s`", better);
    }
}

const broker_rule broker_rules[] = {
    {
        .code = "none-comparison",
        .summary = "Comparison with None by `==` or `!=`",
        .explanation = "An object decides by itself what it is equal to; only `is` asks for None.",
        .fix = BROKER_ALWAYS_FIX,
        .check = none_comparison,
    },
    {0},
};
