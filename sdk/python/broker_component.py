"""What stands between the host and the rules of `plugin.py`. Not for plugin authors."""

import json
import os.path
import re
import traceback
from collections.abc import Iterable

import broker
import plugin  # whose rules make themselves known
from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import host, syntax
from wit_world.imports import types as wit

# What `File.text` has for a byte that is not UTF-8, and no text of the host may have.
_LONE = re.compile("[\ud800-\udfff]")

# Modules of the standard library in which an attempt to reach the network ends.
_NETWORK = ("/socket.py", "/ssl.py", "/http/client.py", "/urllib/request.py")

_wanted: set[str] = {it.code for it in broker.rules if it.default}


class Lint(exports.Lint):
    def configure(self, settings: wit.Settings) -> None:
        broker._settings = broker.Settings(settings.root, settings.isolated, settings.config)
        broker._linter_options = json.loads(host.linter_options() or "{}")
        codes = {it.code for it in broker.rules}
        expanded = lambda selectors: {code for it in selectors for code in (codes if it == "ALL" else {it})}
        selected = {it.code for it in broker.rules if it.default}
        if settings.select is not None:
            selected = expanded(settings.select)
        _wanted.clear()
        _wanted.update(selected - expanded(settings.ignore))
        unknown = [it for it in [*(settings.select or []), *settings.ignore] if it != "ALL" and it not in codes]
        if unknown:
            raise Err(wit.SettingsError_UnknownSelectors(unknown))

    def rules(self) -> list[wit.Rule]:
        fix = lambda it: wit.FixAvailability[it.fix.upper()]
        return [
            wit.Rule(it.code, it.code, it.summary, it.explanation, it.url, fix(it), it.default)
            for it in broker.rules
        ]

    def check(self, file: wit.SourceFile) -> wit.Report:
        file = broker.File(file.path, file.content, file.named)
        try:
            found = [it for rule in broker.rules if rule.code in _wanted for it in _found(rule, file)]
        except broker.LeftOut as why:
            log(f"{file.path} is left out: {why}", "info")
            return wit.Report([], [], wit.Completeness_Excluded())
        return wit.Report(found, [], wit.Completeness_Complete())


def _found(rule: broker.Rule, file: broker.File) -> list[wit.Diagnostic]:
    try:
        found = rule.check(file)
        if not isinstance(found, Iterable):
            what = "nothing" if found is None else f"a {type(found).__name__}"
            raise TypeError(f"it returns {what}; `yield` findings, or return a list of them")
        return [_diagnostic(rule.code, it, file) for it in found]
    except broker.LeftOut:
        raise
    except broker.Problem as problem:
        why = str(problem)
    except (Exception, SystemExit) as error:
        why = _broken(error)
    raise Err(_clean(f"rule {rule.code}: {why}"))


def query(file: broker.File, text: str, language: str | None) -> list[broker.Capture]:
    try:
        found = syntax.query(syntax.Source_File(file.path), language and _clean(language), _clean(text))
    except Err as error:
        raise broker.Problem(_told(error.value)) from None
    if found.cut:
        raise broker.Problem("the query finds too much, or has too many beginnings of matches")
    rows = zip(*[iter(found.table)] * 5)
    text_of = lambda start, end: file.content[start:end].decode("utf-8", "replace")
    return [
        broker.Capture(start, end, text_of(start, end), found.names[capture], in_match, pattern)
        for in_match, pattern, capture, start, end in rows
    ]


def log(message: str, level: str) -> None:
    host.log(host.Level[level.upper()], _clean(message))


def _broken(error: BaseException) -> str:
    """A bug of the plugin's, and where in its own sources it is."""
    what = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    if _wants_network(error, frames):
        what += "; a plugin reaches no network"
    elif isinstance(error, ModuleNotFoundError):
        what += "; import it at the top of a module, when the plugin is built"
    folder = os.path.dirname(plugin.__file__)
    frames = [it for it in frames if it.filename.startswith(folder)]
    at = "".join(f" (in {it.name}, {os.path.basename(it.filename)}:{it.lineno})" for it in frames[-1:])
    return what + at


def _wants_network(error: BaseException, frames: Iterable[traceback.FrameSummary]) -> bool:
    """Whether it comes of reaching for the network. Sockets look up a codec of names before they open anything, and the codec
    is not there."""
    is_of_names = isinstance(error, LookupError) and str(error) == "unknown encoding: idna"
    is_module = isinstance(error, ModuleNotFoundError) and error.name in ("ssl", "_ssl", "_socket")
    return is_of_names or is_module or any(it.filename.endswith(_NETWORK) for it in frames)


def _clean(text: str) -> str:
    return _LONE.sub("\ufffd", text)


def _told(problem: syntax.Problem) -> str:
    match problem:
        case syntax.Problem_UnknownLanguage(what):
            return f"there is no grammar for {what}"
        case syntax.Problem_BadQuery(why):
            return f"the query is wrong: {why}"
        case syntax.Problem_Unparsed(why):
            return f"it was not parsed: {why}"
        case _:
            return problem.value


def _diagnostic(code: str, it: broker.Finding, file: broker.File) -> wit.Diagnostic:
    if not isinstance(it, broker.Finding):
        raise TypeError(f"it yields a {type(it).__name__}, not a Finding")
    it._check()
    tags = wit.Tags(0)
    if it.unnecessary:
        tags |= wit.Tags.UNNECESSARY
    if it.deprecated:
        tags |= wit.Tags.DEPRECATED
    severity = wit.Severity[it.severity.upper()]
    fixes = [_fix(that, file) for that in it.fixes]
    related = [_related(that) for that in it.related]
    span = wit.Span(it.start, it.end)
    return wit.Diagnostic(code, None, _clean(it.message), severity, None, span, tags, None, fixes, related)


def _related(it: broker.Related) -> wit.Related:
    path = None if it.path is None else _clean(it.path)
    return wit.Related(path, wit.Span(it.start, it.end), _clean(it.message))


def _fix(it: broker.Fix, file: broker.File) -> wit.Fix:
    message = None if it.message is None else _clean(it.message)
    applicability = it.applicability if _can_be_written(it, file) else "display-only"
    edits = sorted(it.edits, key=lambda that: that.start)
    edits = [wit.Edit(wit.Span(that.start, that.end), _clean(that.replacement)) for that in edits]
    return wit.Fix(message, wit.Applicability[applicability.replace("-", "_").upper()], edits)


def _can_be_written(fix: broker.Fix, file: broker.File) -> bool:
    """Bytes that are not UTF-8 are in no text, and what stands for them would be written in their place."""
    text = "".join(it.replacement for it in fix.edits)
    return not _LONE.search(text) and not ("\ufffd" in text and _LONE.search(file.text))
