"""A drafting model by rules: it sends the parts of a given spec, and mends faulty ones from the prompt alone.

What it reads is what a model would: the faulty part's text, and for each problem a line with place, title, expectation and help.
It knows no other wording than that of the language's diagnostics, and invents only words where some are missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from envscaler.draft.plans import Plan, PlannedField, PlannedRule, PlannedState, PlannedTool
from envscaler.draft.themes import Theme
from envscaler.llm import Reply, Request
from envscaler.spec.entries import json_of
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report
from tests.assess.models import replied
from tests.fixing import mended

__all__ = ["Mending", "planned", "sections"]

_PROBLEM = re.compile(r"^- \[([\w-]+)\](?: at `(.*?)`(?: in `(.*?)`)?:)? (.*)$")
_FIRST = ("description", "clock", "constants", "types", "states", "rules", "initial_state")


def sections(text: str) -> dict[str, Any]:
    """A spec's text as JSON, as a model would send it."""
    document = parse_spec("spec.yaml", text, Report())
    assert document is not None
    found = json_of(document.root)
    assert isinstance(found, dict)
    return found


def planned(spec: dict[str, Any], **theme: Any) -> Plan:
    """The plan that a spec could have been written from."""
    base = {"name": "drafted", "title": "A desk", "summary": "A desk.", "introduction": "A desk."}
    return Plan(
        theme=Theme(**{**base, "usefulness": 7, "modelability": 7, **theme}),
        states=tuple(
            PlannedState(name=n, record=str(s.get("record", "R")), fields=(PlannedField(name="name"),))
            for n, s in _mapping(spec, "states")
        ),
        rules=tuple(PlannedRule(name=n, text=str(r.get("text", n))) for n, r in _mapping(spec, "rules")),
        tools=tuple(
            PlannedTool(name=n, kind="write" if t.get("kind") == "write" else "read", description=n)
            for n, t in _mapping(spec, "tools")
        ),
    )


def _mapping(spec: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    found = spec.get(name)
    return [(n, v if isinstance(v, dict) else {}) for n, v in found.items()] if isinstance(found, dict) else []


class Mending:
    """Sends ``spec``, section by section; ``again`` holds the prompts that sent parts back."""

    def __init__(self, spec: dict[str, Any], *, cut: bool = False) -> None:
        self.spec = spec
        self.cut = cut
        self.again: list[str] = []

    def __call__(self, request: Request) -> Reply:
        text = request.messages[-1].content
        if "Write its states" in text:
            return replied("Parts", {k: self.spec[k] for k in _FIRST if k in self.spec})
        if "Write the helpers" in text:
            return replied("Parts", {k: self.spec[k] for k in ("helpers", "after_each") if k in self.spec})
        if "Write these tools" in text:
            wanted = re.findall(r"^- (.+?) \((?:read|write)\):", text, re.M)
            tools = self.spec.get("tools", {})
            return replied("Parts", {"tools": {n: tools[n] for n in wanted if n in tools}})
        self.again.append(text)
        return replied("Parts", self._mended(text))

    def _mended(self, text: str) -> dict[str, Any]:
        told = text.partition("These parts are not right yet.")[2].partition("\nNot written yet")[0]
        made: dict[str, Any] = {}
        for block in re.split(r"\n\n(?=[\w.]+[^\n]*:\n)", told)[1:]:
            rows = block.partition("\n\nWhere an example")[0].partition("\n\nYour last")[0].split("\n")
            path = rows[0].removesuffix(":")
            problems = [row for row in rows[1:] if _PROBLEM.match(row)]
            part = "\n".join(row for row in rows[1:] if row not in problems and not re.match(r"- and \d+ more$", row))
            for problem in problems:
                part = self._with(part, problem)
            _put(made, path, part)
        for path in re.findall(r"^(initial_state\.file):\n(?:.*\n)*?- \[data-file\]", told, re.M):
            made["initial_state"] = {path.partition(".")[2]: None}  # taken out
        if examples := re.search(r"name the example in `as_run`, (.*?), instead", text):
            made["as_run"] = examples[1].split(", ")
        return made

    def _with(self, part: str, row: str) -> str:
        match = _PROBLEM.match(row)
        assert match is not None
        exact, line, said = match[2] or "", match[3] or match[2] or "", match[4]
        rows = part.split("\n")
        at = next((n for n, one in enumerate(rows) if line and line in one), None)
        if at is not None and "logic stands in a literal block" in said:
            margin = rows[at][: len(rows[at]) - len(rows[at].lstrip())]
            return "\n".join([*rows[:at], f"{margin}do: |", f'{margin}  return "done"', *rows[at + 1 :]])
        if (
            at is not None
            and exact
            and (better := mended(rows[at], exact, said, max(rows[at].find(line), 0))) is not None
        ):
            rows[at] = better
            return "\n".join(rows)
        for pattern, rule in _RULES:
            if found := re.search(pattern, said):
                new = rule(rows, at, exact, found)
                if new is not None and new != rows:
                    return "\n".join(new)
        if self.cut and at is not None and any(row.strip() == "do: |" for row in rows[:at]):
            margin = rows[at][: len(rows[at]) - len(rows[at].lstrip())]
            return "\n".join([*rows[:at], f'{margin}return "done"', *rows[at + 1 :]])
        return part


def _put(made: dict[str, Any], path: str, part: str) -> None:
    section, _, name = path.partition(".")
    document = parse_spec("part.yaml", f"{section}:\n{part}\n" if name else part, Report())
    if document is None:
        return
    found = json_of(document.root)
    if name and isinstance(found.get(section), dict):
        made.setdefault(section, {}).update(found[section])
    elif not name:
        made.update(found)


# -- rules: what is said, and what follows for the rows. ``at`` is the row that the problem is on, ``exact`` the text in it.

Rows = list[str]
Rule = Callable[[Rows, "int | None", str, "re.Match[str]"], "Rows | None"]


def _swap(right: Callable[[str, re.Match[str]], str]) -> Rule:
    """Another text for the exact one."""

    def rule(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
        if at is None or not exact:
            return None
        new = right(exact, found)
        start = 0
        if re.fullmatch(r"\w+", exact):  # a whole word
            return [
                *rows[:at],
                re.sub(rf"(?<!\w){re.escape(exact)}(?!\w)", lambda _: new, rows[at], count=1),
                *rows[at + 1 :],
            ]
        return [*rows[:at], rows[at][:start] + rows[at][start:].replace(exact, new, 1), *rows[at + 1 :]]

    return rule


def _before(made: Callable[[re.Match[str]], str]) -> Rule:
    """A line before the one that is wrong."""

    def rule(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
        if at is None:
            return None
        margin = " " * (len(rows[at]) - len(rows[at].lstrip()))
        return [*rows[:at], margin + made(found), *rows[at:]]

    return rule


def _without_line(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    return None if at is None else rows[:at] + rows[at + 1 :]


def _without_key(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    """A key out of a mapping, with its value."""
    key = found[1] if found.groups() else exact
    if at is None:
        return None
    value = r"(?:\{[^{}]*\}|\[[^\[\]]*\]|\"[^\"]*\"|[^,{}\[\]]+)"
    line = re.sub(rf",? *\b{re.escape(key)}: {value}(?=[,}}])", "", rows[at], count=1).replace("{, ", "{")
    if line != rows[at]:
        return [*rows[:at], line, *rows[at + 1 :]]
    if rows[at].strip().startswith((f"{key}:", f"- {key}:")):
        margin = len(rows[at]) - len(rows[at].lstrip())
        end = at + 1
        while end < len(rows) and len(rows[end]) - len(rows[end].lstrip()) > margin:
            end += 1
        return rows[:at] + rows[end:]
    return None


def _set_key(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    key, value = found[1], found[2]
    for n, row in enumerate(rows):
        if row.strip().startswith(f"{key}:"):
            return [*rows[:n], re.sub(r":.*", f": {value}", row), *rows[n + 1 :]]
    return None


def _add_key(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    """A key that is missing, with something to begin with."""
    key = found[1]
    value = {"do": '|\n      return "done"', "kind": "read", "record": "Thing", "value": "1", "fields": "{name: str}",
             "call": "{}", "key": '{name: thing_id, make: "T-{n}"}'}.get(key, "It is so.")  # fmt: skip
    if at is None:
        return None
    if rows[at].rstrip().endswith("}") and ": {" in rows[at]:
        short = value if "\n" not in value else '"x"'
        return [*rows[:at], rows[at].rstrip()[:-1].rstrip() + f", {key}: {short}}}", *rows[at + 1 :]]
    margin = " " * (len(rows[at]) - len(rows[at].lstrip()) + 2)
    return [*rows[: at + 1], *f"{margin}{key}: {value}".split("\n"), *rows[at + 1 :]]


def _add_field(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    if at is None:
        return None
    return [*rows[:at], rows[at].replace("{", f"{{{found[1]}: something, ", 1).replace(", }", "}"), *rows[at + 1 :]]


def _everywhere(right: Callable[[str], str]) -> Rule:
    """Another name for a local, in all of the logic."""

    def rule(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
        first = next((n for n, row in enumerate(rows) if row.strip().startswith(("do:", "holds:"))), 0)
        return [*rows[:first], *(re.sub(rf"\b{re.escape(exact)}\b", right(exact), row) for row in rows[first:])]

    return rule


def _last(made: str) -> Rule:
    def rule(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
        first = next(n for n, row in enumerate(rows) if row.strip() == "do: |")
        margin = " " * (len(rows[first]) - len(rows[first].lstrip()) + 2)
        end = first + 1
        while end < len(rows) and (rows[end].startswith(margin) or not rows[end].strip()):
            end += 1
        return [*rows[:end], margin + made, *rows[end:]]

    return rule


def _bound(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    if at is None:
        return None
    margin = " " * (len(rows[at]) - len(rows[at].lstrip()))
    return [
        *rows[:at],
        f'{margin}bound = {exact} or fail("None.")',
        rows[at].replace(exact, "bound", 1),
        *rows[at + 1 :],
    ]


def _loop(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    """`for x in c` becomes a loop over what is said."""
    new, old = found[1], found[2]
    for n, row in enumerate(rows):
        if re.search(rf"\bin {re.escape(old)}(?=[:\]) ])", row) or row.rstrip().endswith(f"in {old}:"):
            return [*rows[:n], re.sub(rf"\bin {re.escape(old)}(?=[:\]) ])", f"in {new}", row, count=1), *rows[n + 1 :]]
    for n, row in enumerate(rows):  # over its records
        if f"in {old}." in row:
            return [*rows[:n], re.sub(rf"in ({re.escape(old)}\.\w+\(\))", r"in list(\1)", row, count=1), *rows[n + 1 :]]
    return None


def _moves(rows: Rows, at: int | None, exact: str, found: re.Match[str]) -> Rows | None:
    return (
        None
        if at is None
        else [*rows[:at], re.sub(r"moves: \{", f"moves: {{{found[1]}: [], ", rows[at]), *rows[at + 1 :]]
    )


def _quoted(exact: str, text: str) -> str:
    return f'"{text}"' if exact.startswith('"') and not text.startswith('"') else text


_RULES: list[tuple[str, Rule]] = [
    (r"declare '(\w+): (\w+)'", _set_key),
    (r"; (\S+)(?: or a more telling name)? would do", _swap(lambda exact, m: _quoted(exact, m[1]))),
    (r"call it (\w+) and give its outside name", _swap(lambda _, m: m[1])),
    (r"did you mean \{(\w+)\}\?", _swap(lambda _, m: f"{{{m[1]}}}")),
    (r"write \{(\w+)\}", _swap(lambda _, m: f"{{{m[1]}}}")),
    (r"for plain brackets write (\S+)", _swap(lambda _, m: m[1])),
    (r"bind it: x = ", _bound),
    (r"test '(.+?)' first", _before(lambda m: f'require({m[1]}, "Not so.")')),
    (r"test `(.+?)` first, or use (\S+)", _swap(lambda _, m: m[2])),
    (r"test `(.+?)` first", _before(lambda m: f'require({m[1]}, "Not so.")')),
    (r"write (\w+\[\w+\]\.\w+), or loop over", _swap(lambda _, m: m[1])),
    (r"go through (list\((\S+?)\))", _loop),
    (r"write through the collection: (\S+)", _swap(lambda _, m: m[1])),
    (r"end with return or fail", _last('fail("Nothing is known.")')),
    (r"write require\(…, message\)", _swap(lambda exact, _: f'require({exact}, "Not so.")')),
    (r"return it, or bind it", _swap(lambda exact, _: f"return {exact}")),
    (r"write the condition alone, without 'return'", lambda rows, at, exact, m: [re.sub(r"^(\s*)return ", r"\1", r) for r in rows]),
    (r"write x\.field", _swap(lambda exact, _: exact)),
    (r"write '(.+?)'(?!\w)", _swap(lambda _, m: m[1])),
    (r"write (\"[^\"]*\"|[\w.]+\[\"\w+\"\]|[\w.]+) ?(?:$|;|without \(\))", _swap(lambda _, m: m[1])),
    (r"call it: (\S+)\(…\)", _swap(lambda exact, m: f"{exact}()")),
    (r"store its key: (\{ref: \w+\})", _swap(lambda _, m: m[1])),
    (r"a list of T is written", _swap(lambda exact, _: f"{{list: {exact.strip('[]')}}}")),
    (r"remove 'as: (\w+)'", lambda rows, at, exact, m: _without_key(rows, at, "as", re.match(r"(as)", "as"))),  # type: ignore[arg-type]
    (r"'(\w+)' has no meaning here", _without_key),
    (r"has no key '(\w+)'; allowed keys: [^;]*$", _without_key),
    (r"has both '\w+' and '(\w+)'", _without_key),
    (r"is single and has '(\w+)'", _without_key),
    (r"needs the key '(\w+)'", _add_key),
    (r"add `(description)`?:", _add_key),
    (r": (\w+) is missing;", _add_field),
    (r"(\w+): \[\] when it is final", _moves),
    (r"such as (\"[^\"]*\"|\S+?)(?:[,;]| or |$)", _swap(lambda exact, m: _quoted(exact, m[1]))),
    (r"text with one (\{n\})", _swap(lambda exact, _: '"K-{n}"')),
    (r"(?:expected one of|members|keys|parts of \w+|collections|rules): (?!none)(\w[\w-]*)", _swap(lambda exact, m: _quoted(exact, m[1]))),
    (r"must be at (?:least|most) (-?[\d.]+)", _swap(lambda _, m: m[1])),
    (r"whole numbers stay below", _swap(lambda *_: "9007199254740991")),
    (r"an amount has at most two decimals|money has two decimals", _swap(lambda exact, _: exact[: exact.find(".") + 3])),
    (r"another record of \w+ has (\w+) '(.*?)', too", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], rows[at].replace(f"{m[1]}: {m[2]}", f"{m[1]}: {m[2]} again"), *rows[at + 1 :]]),
    (r"stands in the enum twice", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], "".join(rows[at].rsplit(f", {exact}", 1)), *rows[at + 1 :]]),
    (r"remove one of the two|remove the field", lambda rows, at, exact, m: _without_key(rows, at, exact, re.match(r"", ""))),  # type: ignore[arg-type]
    (r"is never (?:null|absent)", _without_line),
    (r"never reached; remove it|is never used; remove it|stands outside of a loop", _without_line),
    (r"take another name|rename the local", _everywhere(lambda name: f"{name}_")),
    (r"'(\w+)' is given twice|'\w+' takes (?:one|no|\w+) arguments?", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], rows[at].replace(f", {exact}", "", 1).replace(f"({exact})", "()", 1), *rows[at + 1 :]]),
    (r"also needs (\w+); fields", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], re.sub(r"\((.*)\)", lambda a: f'({m[1]}="x")', rows[at], count=1), *rows[at + 1 :]]),
    (r"stands twice in the dict", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], re.sub(rf", {re.escape(exact)}: [^,}}]+(?=[,}}])", "", rows[at], count=1), *rows[at + 1 :]]),
    (r"no value is within these bounds", lambda rows, at, exact, m: _without_key(rows, at, exact, re.match(r"", ""))),  # type: ignore[arg-type]
    (r"formats numbers; this is", _swap(lambda exact, _: re.sub(r":[^:{}]*\}$", "}", exact))),
    (r"a format is constant", _swap(lambda exact, _: re.sub(r":\{.*\}\w*\}$", "}", exact))),
    (r"is the outside name of another one", lambda rows, at, exact, m: _without_key(rows, at, "json", re.match(r"(json)", "json"))),  # type: ignore[arg-type]
    (r"the pattern cannot be used", lambda rows, at, exact, m: _without_key(rows, at, "pattern", re.match(r"(pattern)", "pattern"))),  # type: ignore[arg-type]
    (r"an enum lists texts or whole numbers", _swap(lambda *_: "[one, other]")),
    (r"'(?:\.\w+)' begins with an underscore", _swap(lambda exact, _: re.sub(r"\.__\w+$", "", exact))),
    (r"begins with an underscore", _everywhere(lambda name: name.strip("_") or "it_")),
    (r"; (\w+) leads round to it", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], re.sub(rf"\b{m[1]}: [^,}}]+", f"{m[1]}: null", rows[at]), *rows[at + 1 :]]),
    (r": (\w+) is [\w ]+; expected `?(\{.*?\}|\w+)`?", lambda rows, at, exact, m:
        [re.sub(rf"([{{ ]{m[1]}): (?:\{{[^}}]*\}}|\w+\??)", rf"\1: {m[2]}", row) if "fields" in row or ": {" not in row else row for row in rows]),
    (r"; declare it: (\w+: \{const: \w+\})", lambda rows, at, exact, m:
        [re.sub(r"fields: \{", f"fields: {{{m[1]}, ", row) if n == 1 or n == 0 else row for n, row in enumerate(rows)]),
    (r"assign '(\w+)' before", lambda rows, at, exact, m: [x for row in rows for x in
        ([row, "      " + m[1] + ' = ""'] if row.strip() == "do: |" else [row])]),
    (r"draws no random values", _swap(lambda *_: "1")),
    (r"a rule changes (\w+); it only reads", _swap(lambda _, m: f"len({m[1]})")),
    (r"rename one of them|each name is bound once", _swap(lambda exact, _: f"{exact}2")),
    (r"expected (true)\b", _swap(lambda _, m: m[1])),
    (r"has no field '\w+'; fields(?: of \w+)?: (?:\w+_id, )?(\w+)", _swap(lambda exact, m: re.sub(r"^\w+", m[1], exact))),
    (r"; a call returns or fails", _without_key),
    (r"has no value; expected its type", lambda rows, at, exact, m: None if at is None else
        [*rows[:at], rows[at].replace(f"{exact}: null", f"{exact}: str"), *rows[at + 1 :]]),
    (r"after_each: there is no helper", lambda rows, at, exact, m: ["after_each: []"]),
    (r"helpers do not call themselves: (\w+)((?: → \w+)*)", lambda rows, at, exact, m:
        [re.sub(rf"\b(?:{'|'.join([m[1], *re.findall(r'[A-Za-z_]+', m[2])])})\([^()]*\)", "0", row) for row in rows]),
    (r"make the inner ones records of a collection", _swap(lambda *_: "str")),
    (r"one cannot go through", _swap(lambda exact, _: f"[{exact}]")),
    (r"expected a list: lists of fields", _swap(lambda exact, _: f"[[{exact}]]")),
    (r"expected a mapping of keys to records, got a list", _swap(lambda *_: "{}")),
    (r"'errors'.*\{message\}|\{message\}", lambda rows, at, exact, m: _without_key(rows, at, "errors", re.match(r"(errors)", "errors"))),  # type: ignore[arg-type]
]  # fmt: skip
