"""Definitions with their documentation out of the packages, one JSON line each.

A function is kept without its documentation; what has none is kept only where it serves as a distractor in an evaluation.
"""

import gzip
import hashlib
import json
import multiprocessing
import os
import re
import sys
import tarfile
import zipfile

import docs
import languages
import licences
import packages

# Chunks are of so many lines, as those of the index.
MAX_LINES = 80
MAX_FILE = 400_000
# Definitions of one package that are kept, so that no package is most of a language.
MAX_TRAINING = 1500
MAX_OTHER = 5000

SKIPPED = re.compile(
    r"(^|/)(tests?|__tests__|specs?|testdata|testing|e2e|__mocks__|fixtures|node_modules|vendor|_vendor|vendored|third_?party|3rdparty|extern|externals?|deps|dependencies|bundled|contrib/libs|Godeps"
    r"|umd|cjs|amd|commonjs|legacy|debian|locale|locales|licenses?|_vendored_packages)/|\.min\.|\.d\.[mc]?ts$|\.pb\.|_pb2|\.generated\.|_generated|zz_generated|bindata|\.bundle\.|-bundle|polyfills?\."
    r"|(_test|_spec|\.test|\.spec|Tests?|_tests)\.\w+$|(^|/)(test_[^/]*|conftest)\.py$",
    re.I,
)
WRAPPERS = {
    "decorated_definition", "export_statement", "template_declaration", "lexical_declaration", "variable_declaration", "variable_declarator",
    "expression_statement", "assignment_expression", "pair", "public_field_definition", "field_definition", "ambient_declaration",
    "type_declaration", "linkage_specification",
}  # fmt: skip
VALUES = {"function_expression", "arrow_function"}
HOLDERS = {"variable_declarator", "assignment_expression", "pair", "public_field_definition", "field_definition"}
ATTRIBUTES = {"attribute_item", "inner_attribute_item", "decorator", "attribute_list", "visibility_modifier"}
IDENTIFIER = re.compile(r"[A-Za-z_]\w+")


def sources(row):
    """Names and texts of a package's files in our languages, in an order that is the same each time."""
    folder = packages.kept(row)
    allowed = licences.Files(folder).allows if row.registry == "debian" else lambda path: True
    found = []
    for name in sorted(os.listdir(folder)):
        path = f"{folder}/{name}"
        if name.endswith((".whl", ".zip")):
            with zipfile.ZipFile(path) as archive:
                for it in archive.infolist():
                    if wanted(it.filename, it.file_size, it.filename):
                        found.append((it.filename, archive.read(it)))
        elif name.endswith(".deb"):
            with packages.tar_of_deb(path) as archive:
                found += [(it.name, archive.extractfile(it).read()) for it in archive if it.isfile() and wanted(it.name, it.size, it.name)]
        elif re.search(r"\.(tgz|crate|tar\.\w+)$", name) and ".debian.tar" not in name:
            with tarfile.open(path) as archive:
                for it in archive:
                    inner = it.name.split("/", 1)[-1]
                    if it.isfile() and wanted(inner, it.size, it.name) and allowed(inner):
                        found.append((inner, archive.extractfile(it).read()))
    found.sort(key=lambda it: hashlib.sha1(it[0].encode()).digest())
    return found


def wanted(path, size, whole):
    return 200 < size < MAX_FILE and os.path.splitext(path)[1] in languages.BY_ENDING and not SKIPPED.search(path)


def is_written(text):
    """Whether a person wrote a text."""
    head = text[:1000]
    return b"DO NOT EDIT" not in head and b"@generated" not in head and b"enerated by" not in head and len(text) / (text.count(b"\n") + 1) < 120


def outer(node):
    """The statement that a definition is, with its decorators and exports."""
    while node.parent and node.parent.type in WRAPPERS and node.parent.start_point.row >= node.start_point.row - 12:
        node = node.parent
    return node


def comment_above(node):
    """The nodes of the comment right above a definition, and of the attributes between."""
    top, sibling = node, node.prev_sibling
    while sibling is None and top.parent and top.parent.start_byte == top.start_byte and top.parent.parent:
        top = top.parent
        sibling = top.prev_sibling
    row, found = node.start_point.row, []
    while sibling is not None:
        if sibling.type in ATTRIBUTES:
            row = sibling.start_point.row
        elif "comment" in sibling.type and row - sibling.end_point.row <= 1:
            before = sibling.prev_sibling
            if before is not None and before.end_point.row == sibling.start_point.row and before.end_point.column > 0 and "comment" not in before.type:
                break
            is_block = sibling.text.startswith(b"/*")
            if is_block and found:
                break
            found.append(sibling)
            row = sibling.start_point.row
            if is_block:
                break
        else:
            break
        sibling = sibling.prev_sibling
    return found[::-1]


def docstring(node):
    body = node.child_by_field_name("body")
    first = body.named_children[0] if body and body.named_children else None
    if first is not None and first.type == "expression_statement" and first.named_children:
        first = first.named_children[0]
    return first if first is not None and first.type == "string" else None


def name_of(node):
    """The name of a definition, or None."""
    if node.type in VALUES:
        holder = node.parent
        if holder is None or holder.type not in HOLDERS:
            return None
        name = holder.child_by_field_name("name") or holder.child_by_field_name("left") or holder.child_by_field_name("key") or holder.child_by_field_name("property")
        return name.text.decode("utf8", "replace").split(".")[-1].strip("'\"#") if name else None
    name = node.child_by_field_name("name")
    if node.type == "type_declaration":
        spec = node.named_children[0] if node.named_children else None
        name = spec.child_by_field_name("name") if spec else None
    if name is None:
        inner = node.child_by_field_name("declarator")
        while inner is not None and inner.type not in ("identifier", "field_identifier", "qualified_identifier", "operator_name", "destructor_name", "type_identifier"):
            inner = inner.child_by_field_name("declarator") or next((it for it in inner.named_children if "declarator" in it.type or "identifier" in it.type), None)
        name = inner
    return name.text.decode("utf8", "replace") if name else None


def around(node, types):
    """The names of the types around a definition."""
    found, node = [], node.parent
    while node:
        if node.type in types:
            found.append(name_of(node) or "")
        elif node.type == "impl_item":
            of = [node.child_by_field_name("type"), node.child_by_field_name("trait")]
            found.append(" ".join(it.text.decode("utf8", "replace") for it in of if it))
        node = node.parent
    return found[::-1]


def is_inside(node, functions):
    """Whether a definition is a part of a function that is one chunk; a longer one is cut."""
    node = node.parent
    while node:
        if node.type in functions and node.end_point.row - node.start_point.row < MAX_LINES:
            return True
        node = node.parent
    return False


def of_file(language, text):
    """The definitions of a text: name, symbol, code, documentation or None."""
    root = languages.parser(language).parse(text).root_node
    for node in languages.definitions(language, root):
        name = name_of(node)
        if not name or len(name) > 80 or node.child_count == 0:
            continue
        is_function = node.type in language.functions
        whole = outer(node)
        cut = []
        if language.name == "python":
            string = docstring(node)
            raw = string.text if string else b""
            cut += [(string.start_byte, string.end_byte)] if string else []
        else:
            comment = comment_above(whole)
            raw = b"\n".join(it.text for it in comment)
        raw = raw.decode("utf8", "replace")
        if is_function and is_inside(node, language.functions):
            continue
        if not is_function:
            if not raw:
                continue
            cut += comments(whole)
        code = without(text, whole.start_byte, whole.end_byte, cut)
        code = "\n".join(code.splitlines()[:MAX_LINES])
        if len(IDENTIFIER.findall(code)) < 8 or (is_function and node.child_by_field_name("body") is None):
            continue
        symbol = ".".join([*around(node, language.types), name])
        yield name, symbol, code, docs.question(raw, name.split("::")[-1]) if raw else None, is_function


def comments(node):
    found, cursor = [], [node]
    while cursor:
        now = cursor.pop()
        if "comment" in now.type or (now.type == "expression_statement" and now.named_child_count == 1 and now.named_children[0].type == "string"):
            found.append((now.start_byte, now.end_byte))
        else:
            cursor.extend(now.children)
    return found


def without(text, start, end, cut):
    parts, at = [], start
    for first, last in sorted(cut):
        if first >= at and last <= end:
            parts.append(text[at:first])
            at = last
    return b"".join([*parts, text[at:end]]).decode("utf8", "replace")


def target_of(row):
    return f"{packages.CACHE}/pairs/{row.split}/{row.registry}-{row.name.replace('/', '+')}.jsonl.gz"


def of_package(row):
    """Writes the definitions of a package, and returns how many have documentation."""
    target = target_of(row)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    is_training = row.split == "train"
    seen, seen_docs, written, counts = set(), {}, [], {}
    for path, text in sources(row):
        language = languages.BY_ENDING[os.path.splitext(path)[1]]
        if counts.get(language.name, 0) >= (MAX_TRAINING if is_training else MAX_OTHER) or not is_written(text):
            continue
        for name, symbol, code, question, is_function in of_file(language, text):
            if is_training and question is None or not is_training and not is_function:
                continue
            key = hashlib.sha1(re.sub(r"\W+", " ", code).encode()).digest()
            if key in seen:
                continue
            seen.add(key)
            if question:
                seen_docs[question[0]] = seen_docs.get(question[0], 0) + 1
            counts[language.name] = counts.get(language.name, 0) + 1
            written.append((language.name, path, name, symbol, code, question, is_function))
    documented = 0
    with gzip.open(f"{target}.new", "wt", encoding="utf8", compresslevel=1) as file:
        for language, path, name, symbol, code, question, is_function in written:
            # What is said of several definitions names none of them.
            if question and seen_docs[question[0]] > 1:
                question = None
            if question is None and is_training:
                continue
            documented += question is not None
            entry = dict(language=language, path=path, name=name, symbol=symbol, code=code, function=is_function)
            if question:
                entry.update(first=question[0], whole=question[1])
            file.write(json.dumps(entry) + "\n")
    os.rename(f"{target}.new", target)
    return row, len(written), documented


def guarded(row):
    try:
        return of_package(row)
    except Exception as error:
        return row, 0, f"{type(error).__name__}: {error}"


def main():
    only = set(sys.argv[1:])
    rows = [it for it in packages.read() if it.split != "base" and (not only or only & {it.name, it.split, it.registry})]
    rows = [it for it in rows if packages.kept(it) and not os.path.exists(target_of(it))]
    with multiprocessing.Pool(2) as pool:
        for row, count, documented in pool.imap_unordered(guarded, rows):
            print(f"{row.registry}\t{row.split}\t{row.name}\t{count}\t{documented}", flush=True)


if __name__ == "__main__":
    main()
