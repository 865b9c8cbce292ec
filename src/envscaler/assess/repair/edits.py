"""Small edits of a spec as a model gives them, and their application: what they do not name stays, comments everywhere."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field, model_validator

from envscaler.errors import SpecError, UsageError
from envscaler.spec import yamltree as y
from envscaler.spec.edit import SpecEditor
from envscaler.spec.entries import json_of
from envscaler.spec.report import Report
from envscaler.spec.scan import scan_text

__all__ = ["Edit", "EditError", "EditsReply", "apply", "document"]

_LOGIC = ("do", "holds")
_GUARDED = ("tools", "rules", "states")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_HEADER = re.compile(r"\A\|[0-9+-]*[ \t]*\n")


class Edit(BaseModel):
    """Give `path` another value, or replace the lines `first` to `last`, by `text`; null removes."""

    path: str | None = None
    first: int | None = Field(default=None, ge=1)
    last: int | None = Field(default=None, ge=0)
    text: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Edit:
        if (self.path is None) == (self.first is None):
            raise ValueError("give either path, or first and last")
        if self.first is not None:
            last = self.first if self.last is None else self.last
            if last < self.first - 1:
                raise ValueError(f"last ({last}) is before first ({self.first})")
            self.last = last
        return self

    @property
    def place(self) -> str:
        """`tools.transfer.do` or `lines 12-14`"""
        if self.path is not None:
            return self.path
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


class EditsReply(BaseModel):
    """The edits of the spec."""

    model_config = ConfigDict(title="Edits")

    reason: str = ""
    edits: list[Edit]


class EditError(Exception):
    """Edits that are not applied; the message says why, for whoever made them."""


def apply(text: str, path: str, edits: Sequence[Edit]) -> str:
    """The spec's text with the edits: those of lines first, whose numbers are the text's as it is, then those of paths.

    Raises EditError for an edit that leads nowhere, what cannot be parsed afterwards though it could before, a comment that is
    lost, and a tool, rule, state or example that is taken away.
    """
    after = _with_lines(text, [edit for edit in edits if edit.path is None])
    for edit in edits:
        if edit.path is not None:
            after = _with_path(after, path, edit)
    before, made = document(text, path), document(after, path)
    if before is not None and made is None:
        raise EditError(f"the spec could not be parsed afterwards: {_why(after, path)}")
    if before is not None and made is not None:
        _nothing_gone(before.root, made.root)
    lost = _comments(text, before) - _comments(after, made)
    if lost:
        raise EditError(f"a comment would be lost; keep it: {next(iter(lost))}")
    return after


def document(text: str, path: str) -> y.Document | None:
    """The tree of a text, None where it cannot be parsed."""
    report = Report()
    clean = scan_text(path, text, report)
    found = None if clean is None else y.parse_yaml(path, clean, report)
    return None if report.failed else found


def _why(text: str, path: str) -> str:
    try:
        SpecEditor(text, path)
    except SpecError as error:
        return str(error)
    return "it holds nothing"


# -- edits of lines


def _with_lines(text: str, edits: Sequence[Edit]) -> str:
    lines = text.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    below = len(lines) + 1
    for edit in sorted(edits, key=lambda e: (e.first or 0, e.last or 0), reverse=True):
        assert edit.first is not None
        assert edit.last is not None
        if edit.last > len(lines):
            raise EditError(f"{edit.place}: the spec has {len(lines)} lines")
        if edit.last >= below:
            raise EditError(f"{edit.place}: another edit is of the same lines")
        below = edit.first
        new = [] if edit.text is None else edit.text.strip("\n").split("\n")
        lines[edit.first - 1 : edit.last] = [line.rstrip("\r") + end for line in new]
    return "\n".join(lines)


# -- edits of a path


def _with_path(text: str, path: str, edit: Edit) -> str:
    assert edit.path is not None
    where = edit.path.strip()
    try:
        editor = SpecEditor(text, path)
        if edit.text is None:
            editor.delete(where)
        elif where.rpartition(".")[2] in _LOGIC or _literal(editor, where):
            editor.set_block(where, textwrap.dedent(_HEADER.sub("", edit.text)))
        else:
            _set(editor, where, edit.text)
    except (SpecError, UsageError) as error:
        raise EditError(f"{where}: {error}") from None
    return editor.text


def _literal(editor: SpecEditor, where: str) -> bool:
    node = _node(editor, where)
    return isinstance(node, y.Scalar) and node.style == "literal"


def _node(editor: SpecEditor, where: str) -> y.Node | None:
    found = document(editor.text, editor.path)
    node: y.Node | None = None if found is None else found.root
    for step in where.split("."):
        if isinstance(node, y.Mapping) and step in node.entries:
            node = node.entries[step].value
        elif isinstance(node, y.Sequence) and step.isdecimal() and int(step) < len(node.items):
            node = node.items[int(step)]
        else:
            return None
    return node


def _set(editor: SpecEditor, where: str, text: str) -> None:
    """Set a value given as YAML text; a text that YAML reads as something else than one value is that text."""
    found = document(f"value:\n{textwrap.indent(textwrap.dedent(text).strip(), '  ')}\n", "edit")
    if found is None:
        raise UsageError("the new text is not YAML")
    value = found.root.entries["value"].value
    logic = isinstance(value, y.Mapping) and any(
        isinstance(n, y.Scalar) and n.style == "literal" for n in y.walk(value)
    )
    if logic:
        raise UsageError("a value with logic in it cannot be set as a whole: edit its `do`, or its lines")
    editor.set(where, json_of(value))


# -- what must stay


def _comments(text: str, found: y.Document | None) -> Counter[str]:
    """Comments by how often they stand there, those within logic included."""
    if found is None:
        return Counter(m[0].rstrip() for line in text.split("\n") for m in _COMMENT.finditer(line))
    scalars = [node for node in y.walk(found.root) if isinstance(node, y.Scalar)]
    for node in list(y.walk(found.root)):
        if isinstance(node, y.Mapping):
            scalars += [entry.key for entry in node.entries.values()]
    covered = sorted((node.start, node.end) for node in scalars if node.end > node.start)
    counted = Counter(_between(found.text, covered))
    for node in scalars:
        if node.style == "literal":
            counted.update(_of_logic(node.text))
    return counted


def _between(text: str, covered: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The YAML comments: what begins with # outside of every scalar."""
    at = 0
    for start, end in [*covered, (len(text), len(text))]:
        for line in text[at:start].split("\n"):
            match = _COMMENT.search(line)
            if match is not None:
                yield match[0].rstrip()
        at = max(at, end)


def _of_logic(source: str) -> Iterator[str]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.rstrip()
    except (tokenize.TokenError, SyntaxError):
        return


def _nothing_gone(before: y.Mapping, after: y.Mapping) -> None:
    for section in _GUARDED:
        had, has = _names(before, section), _names(after, section)
        for name in had:
            if name not in has:
                raise EditError(f"{section}.{name} would be gone; mend it instead")
    for tool in _names(before, "tools"):
        if _examples(after, tool) < _examples(before, tool):
            raise EditError(f"an example of {tool} would be gone; mend it or the tool instead")


def _names(root: y.Mapping, section: str) -> list[str]:
    entry = root.entries.get(section)
    return list(entry.value.entries) if entry is not None and isinstance(entry.value, y.Mapping) else []


def _examples(root: y.Mapping, tool: str) -> int:
    node: y.Node = root
    for step in ("tools", tool, "examples"):
        if not isinstance(node, y.Mapping) or step not in node.entries:
            return 0
        node = node.entries[step].value
    return len(node.items) if isinstance(node, y.Sequence) else 0
