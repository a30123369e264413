"""`x == None` asks `x`, which may answer anything; `x is None` asks Python."""

from broker import File, rule

# What is found, in the language of tree-sitter's queries.
QUERY = '(comparison_operator operators: ["==" "!="] @operator . (none))'


@rule("none-comparison", fix="always")
def none_comparison(file: File):
    """Comparison with None by `==` or `!=`

    An object decides by itself what it is equal to; only `is` asks for None.
    """
    # The host parses the file, once for all plugins.
    for operator in file.query(QUERY, "python"):
        better = "is" if operator.text == "==" else "is not"
        # `==` may have been defined to mean something else.
        yield operator.finding(f"compare with None by `{better}`").fix(f"Use `{better}`", better, "unsafe")
