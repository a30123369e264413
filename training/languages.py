"""What is a definition in each language, and where its documentation stands."""

import functools
from typing import NamedTuple

import tree_sitter


class Language(NamedTuple):
    name: str
    module: str
    endings: tuple
    # Node types of functions and of types.
    functions: tuple
    types: tuple
    grammar: str = "language"


LANGUAGES = [
    Language("python", "tree_sitter_python", (".py",), ("function_definition",), ("class_definition",)),
    Language(
        "javascript",
        "tree_sitter_javascript",
        (".js", ".mjs", ".cjs", ".jsx"),
        ("function_declaration", "generator_function_declaration", "method_definition", "function_expression", "arrow_function"),
        ("class_declaration",),
    ),
    Language(
        "typescript",
        "tree_sitter_typescript",
        (".ts", ".mts", ".cts", ".tsx"),
        ("function_declaration", "generator_function_declaration", "method_definition", "function_expression", "arrow_function"),
        ("class_declaration", "abstract_class_declaration", "interface_declaration"),
        "language_tsx",
    ),
    Language("rust", "tree_sitter_rust", (".rs",), ("function_item",), ("struct_item", "enum_item", "trait_item")),
    Language("go", "tree_sitter_go", (".go",), ("function_declaration", "method_declaration"), ("type_declaration",)),
    Language(
        "java",
        "tree_sitter_java",
        (".java",),
        ("method_declaration", "constructor_declaration"),
        ("class_declaration", "interface_declaration", "enum_declaration"),
    ),
    Language("c", "tree_sitter_c", (".c",), ("function_definition",), ()),
    Language(
        "cpp",
        "tree_sitter_cpp",
        (".cc", ".cpp", ".cxx", ".hpp", ".hxx", ".hh", ".h"),
        ("function_definition",),
        ("class_specifier", "struct_specifier"),
    ),
    Language("ruby", "tree_sitter_ruby", (".rb",), ("method", "singleton_method"), ("class", "module")),
    Language(
        "csharp",
        "tree_sitter_c_sharp",
        (".cs",),
        ("method_declaration", "constructor_declaration"),
        ("class_declaration", "struct_declaration", "interface_declaration"),
    ),
    Language(
        "php",
        "tree_sitter_php",
        (".php",),
        ("function_definition", "method_declaration"),
        ("class_declaration", "interface_declaration", "trait_declaration"),
        "language_php",
    ),
]

BY_ENDING = {ending: it for it in LANGUAGES for ending in it.endings}


@functools.cache
def parser(language):
    module = __import__(language.module)
    return tree_sitter.Parser(grammar(language, module))


def grammar(language, module):
    return tree_sitter.Language(getattr(module, language.grammar)())


@functools.cache
def query(language):
    module = __import__(language.module)
    text = " ".join(f"({it}) @definition" for it in language.functions + language.types)
    return tree_sitter.Query(grammar(language, module), text)


def definitions(language, root):
    found = tree_sitter.QueryCursor(query(language)).captures(root).get("definition", [])
    return sorted(found, key=lambda it: (it.start_byte, -it.end_byte))
