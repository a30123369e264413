"""What stands between the host and the rules of `plugin.py`. Not for plugin authors."""

import os.path
import traceback

import broker
import plugin  # noqa: F401, whose rules make themselves known
from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import host, syntax
from wit_world.imports import types as wit

_wanted: set[str] = {it.code for it in broker.rules if it.default}


class Lint(exports.Lint):
    def configure(self, settings: wit.Settings) -> None:
        broker._settings = broker.Settings(settings.root, settings.isolated, settings.config)
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
            found = [
                _diagnostic(rule.code, it)
                for rule in broker.rules
                if rule.code in _wanted
                for it in rule.check(file)
            ]
        except broker.Problem as problem:
            raise Err(str(problem)) from None
        except Exception as error:
            raise Err(_broken(error)) from None
        return wit.Report(found, [], wit.Completeness_Complete())


def query(file: broker.File, text: str, language: str | None) -> list[broker.Place]:
    try:
        found = syntax.query(syntax.Source_File(file.path), language, text)
    except Err as error:
        raise broker.Problem(_told(error.value)) from None
    if found.cut:
        raise broker.Problem("the query has too many beginnings of matches")
    rows = zip(*[iter(found.table)] * 5)
    text_of = lambda start, end: file.content[start:end].decode("utf-8", "replace")
    return [
        broker.Place(start, end, text_of(start, end), found.names[capture], match, pattern)
        for match, pattern, capture, start, end in rows
    ]


def log(message: str, level: str) -> None:
    host.log(host.Level[level.upper()], message)


def _broken(error: Exception) -> str:
    """A bug of the plugin's, and where it is."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} (in {at.name}, {os.path.basename(at.filename)}:{at.lineno})"


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


def _diagnostic(code: str, it: broker.Finding) -> wit.Diagnostic:
    tags = wit.Tags(0)
    if it.unnecessary:
        tags |= wit.Tags.UNNECESSARY
    if it.deprecated:
        tags |= wit.Tags.DEPRECATED
    severity = wit.Severity[it.severity.upper()]
    related = [wit.Related(that.path, wit.Span(that.start, that.end), that.message) for that in it.related]
    fixes = [_fix(that) for that in it.fixes]
    return wit.Diagnostic(
        code, None, it.message, severity, None, wit.Span(it.start, it.end), tags, None, fixes, related
    )


def _fix(it: broker.Fix) -> wit.Fix:
    applicability = wit.Applicability[it.applicability.replace("-", "_").upper()]
    edits = sorted(it.edits, key=lambda that: that.start)
    return wit.Fix(
        it.message, applicability, [wit.Edit(wit.Span(e.start, e.end), e.replacement) for e in edits]
    )
