"""YAML text as a tree of nodes with their places: scalars stay the text that was written, nothing is constructed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.scanner import Scanner

from envscaler.diagnostics import Span
from envscaler.spec.report import Report, short

__all__ = ["MAX_DEPTH", "MAX_NODES", "Document", "Entry", "Mapping", "Node", "Scalar", "Sequence", "parse_yaml", "walk"]

MAX_DEPTH: Final = 40
MAX_NODES: Final = 16_000

Style = Literal["plain", "single", "double", "literal", "folded", "broken"]


@dataclass(slots=True, eq=False)
class Scalar:
    """Text as written (escapes and line folding undone). A `broken` one was already reported and stands for anything.

    ``start`` and ``end`` are offsets into the document's text, the end exclusive.
    """

    span: Span
    start: int
    end: int
    text: str
    style: Style

    @property
    def is_null(self) -> bool:
        """Whether it is YAML's null: nothing, `null` or `~`, unquoted."""
        return self.style == "plain" and self.text in ("", "null", "~")


@dataclass(slots=True, eq=False)
class Entry:
    """A key with its value."""

    key: Scalar
    value: Node


@dataclass(slots=True, eq=False)
class Mapping:
    """Keys in order, each once."""

    span: Span
    start: int
    end: int
    flow: bool
    entries: dict[str, Entry] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Sequence:
    span: Span
    start: int
    end: int
    flow: bool
    items: list[Node] = field(default_factory=list)


Node: TypeAlias = Scalar | Mapping | Sequence


@dataclass(eq=False)
class Document:
    """One file: its text with LF line ends and no BOM, and the root node."""

    path: str
    text: str
    root: Mapping

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.split("\n")

    def literal_lines(self, node: Scalar) -> tuple[int, int]:
        """1-based numbers of the first and last non-blank content line of a literal block; first > last when empty."""
        first = node.span.line + 1
        content = node.text.rstrip("\n \t").split("\n")
        last = node.span.line + len(content)
        if not content[-1].strip():
            return first, first - 1
        while not self.lines[first - 1].strip():
            first += 1
        return first, last

    def literal_source(self, node: Scalar) -> tuple[str, int, int]:
        """A literal block as (dedented source, line of its first line, column of its first character).

        Blank lines before and after are left out; the indentation taken off is that of the least indented line.
        """
        first, last = self.literal_lines(node)
        lines = self.lines[first - 1 : last]
        if not lines:
            return "", node.span.line, node.span.column
        margin = min(len(line) - len(line.lstrip(" ")) for line in lines if line.strip())
        source = "".join(line[margin:].rstrip(" ") + "\n" for line in lines)
        return source, first, margin + 1


class _TooDeep(Exception):
    """Collections nest past the bound; ``mark`` is where."""

    def __init__(self, mark: Any) -> None:
        super().__init__("too deep")
        self.mark = mark


class _BoundedScanner(Scanner):
    """The library's scanner takes quadratic time on nested brackets, so depth is bounded where the tokens arise."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803, the library's name
        if len(self.flow_context) + len(self.indents) > MAX_DEPTH:
            raise _TooDeep(self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)

    def add_indent(self, column: int) -> bool:
        if len(self.indents) > MAX_DEPTH:
            raise _TooDeep(self.reader.get_mark())
        return bool(super().add_indent(column))


class _Yaml(YAML):
    """The library looks through folders for plug-ins of its own each time it is made; there are none to find."""

    def official_plug_ins(self) -> list[str]:
        return []


def parse_yaml(path: str, text: str, report: Report) -> Document | None:
    """The document of ``text`` (scanned before: LF line ends, no BOM). Problems go to ``report``; never raises.

    None when there is no tree to work with: a syntax error, an empty file, a root that is no mapping.
    """
    builder = _Builder(path, text, report)
    if not _feed(builder, path, text, report):
        return None
    if isinstance(builder.root, Mapping):
        return Document(path, text, builder.root)
    where = builder.root.span if builder.root else Span(path, 1, 1, 1, 1)
    if not (isinstance(builder.root, Scalar) and builder.root.style == "broken"):
        title = "the file holds no mapping" if builder.root else "the file is empty"
        report.error("not-a-mapping", where, title, "expected `key: value` lines at the top")
    return None


def _feed(builder: _Builder, path: str, text: str, report: Report) -> bool:
    yaml = _Yaml(typ="safe", pure=True)
    yaml.Scanner = _BoundedScanner
    try:
        for event in yaml.parse(text):
            if not builder.take(event):
                return False
    except _TooDeep as error:
        _too_deep(report, _point(path, error.mark))
    except MarkedYAMLError as error:
        _syntax_error(report, path, text, error)
    except (
        YAMLError,
        ArithmeticError,
        AttributeError,
        LookupError,
        ValueError,
        RecursionError,
        AssertionError,
    ) as error:
        # beyond its own errors the library fails in undocumented ways on odd text, "\UFFFFFFFF" for example
        place = builder.last or Span(path, 1, 1, 1, 1)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        report.error("yaml-syntax", place, f"this is not YAML after here: {reason[:120]}")
    else:
        return True
    return False


def _point(path: str, mark: Any) -> Span:
    return Span(path, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)


def _too_deep(report: Report, span: Span) -> None:
    report.error("too-deep", span, f"collections nest more than {MAX_DEPTH} levels deep here")


_HINTS = (
    (re.compile(r"mapping values are not allowed"), "a text with `: ` in it needs quotes"),
    (re.compile(r"cannot start any token|found unexpected '%'"), "quote a text that begins with this character"),
    (re.compile(r"unknown escape character"), r"write a backslash as \\ between double quotes, or use single quotes"),
    (re.compile(r"end of stream|unexpected end"), "a quote or a bracket is not closed"),
    (
        re.compile(r"expected ',' or '[\]}]'"),
        "a comma or a closing bracket is missing, or a text with brackets needs quotes",
    ),
    (re.compile(r"expected ':'"), "the key has no colon after it, or the line above is not indented as the block"),
)
_QUOTE_ME = re.compile(r"""^\s*(?:-\s+)?[^\s'"#][^'"#]*?:\s+(?:[\[{].*[\]}]\s*[^\s,#\]}]|["'].*["']\s*[^\s#,\]}])""")


def _syntax_error(report: Report, path: str, text: str, error: MarkedYAMLError) -> None:
    mark = error.problem_mark or error.context_mark
    span = _point(path, mark) if mark else Span(path, 1, 1, 1, 1)
    problem = str(error.problem or error.context or "not YAML").replace("<", "").replace(">", "")
    hint = next((h for pattern, h in _HINTS if pattern.search(problem)), "")
    lines = text.split("\n")
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    if len(line) < 2000 and _QUOTE_ME.search(line):
        hint = "put the whole text in quotes: YAML takes the bracket or quote at its start as syntax"
    detail = str(error.context or "") if error.problem else ""
    opened: tuple[tuple[Span, str], ...] = ()
    if "flow" in detail and error.context_mark and error.context_mark is not mark:
        opened = ((_point(path, error.context_mark), "this bracket is not closed before"),)
    report.error("yaml-syntax", span, f"this is not YAML: {problem}", detail, hint, opened)


_STYLES: Final[dict[str | None, Style]] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}


class _Builder:
    """Builds the tree from events with a stack of its own, so that depth costs no recursion."""

    def __init__(self, path: str, text: str, report: Report) -> None:
        self.path = path
        self.text = text
        self.report = report
        self.root: Node | None = None
        self.last: Span | None = None
        self.count = 0
        self.documents = 0
        self.open: list[Mapping | Sequence] = []
        self.tagged: set[int] = set()  # ids of open collections whose tag was reported: what they mean is unknown
        self.keys: list[Scalar | None] = []  # for each open collection: the key that waits for its value

    def take(self, event: Any) -> bool:
        """Use one event; False when reading on makes no sense."""
        if isinstance(event, ScalarEvent):
            self._put(self._scalar(event))
        elif isinstance(event, MappingStartEvent):
            return self._begin(
                Mapping(self._span(event), event.start_mark.index, event.end_mark.index, bool(event.flow_style)), event
            )
        elif isinstance(event, SequenceStartEvent):
            return self._begin(
                Sequence(self._span(event), event.start_mark.index, event.end_mark.index, bool(event.flow_style)), event
            )
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            self._end(event)
        elif isinstance(event, AliasEvent):
            self._alias(event)
        elif isinstance(event, DocumentStartEvent):
            return self._document(event)
        return self._bounded()

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        self.last = Span(self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        return self.last

    def _bounded(self) -> bool:
        if self.count <= MAX_NODES:
            return True
        self.report.error(
            "too-large",
            self.last or Span(self.path, 1, 1, 1, 1),
            f"the file holds more than {MAX_NODES:,} keys and values",
            help="move the data into a JSON file: `initial_state: {file: state.json}`",
        )
        return False

    def _document(self, event: Any) -> bool:
        self.documents += 1
        span = self._span(event)
        if event.version or event.tags:
            self.report.error(
                "directive",
                Span(self.path, 1, 1, 1, 2),
                "directives (`%YAML`, `%TAG`) are not part of the language",
                help="remove the line",
            )
        if self.documents == 1:
            return True
        self.report.error(
            "multiple-documents",
            span,
            "a second document starts here",
            "a file holds one spec",
            "put it into a file of its own",
        )
        return False

    def _alias(self, event: Any) -> None:
        span = self._span(event)
        self.report.error(
            "anchor",
            span,
            f"aliases (`*{event.anchor}`) are not part of the language",
            "what two places share is a named type, a constant or a helper",
            "write the value out, or quote a text that begins with *",
        )
        self._put(Scalar(span, event.start_mark.index, event.end_mark.index, "", "broken"))

    def _properties(self, event: Any, span: Span) -> None:
        if event.anchor is not None:
            self.report.error(
                "anchor",
                span,
                f"anchors (`&{event.anchor}`) are not part of the language",
                "what two places share is a named type, a constant or a helper",
                "remove it, or quote a text that begins with &",
            )
        if event.tag is not None:
            self.report.error(
                "tag",
                span,
                f"tags (`{str(event.tag)[:40]}`) are not part of the language",
                "the declared type of the place decides what a value is",
                "remove it, or quote a text that begins with !",
            )

    def _scalar(self, event: Any) -> Scalar:
        span = self._span(event)
        style = _STYLES.get(event.style, "plain")
        self._properties(event, span)
        node = Scalar(span, event.start_mark.index, event.end_mark.index, event.value, style)
        if style in ("literal", "folded"):
            node.span = Span(self.path, span.line, span.column, span.line, span.column + 1)
            node.end = self._literal_end(node)
        if style == "folded":
            self.report.error(
                "folded",
                node.span,
                "folded texts (`>`) are not part of the language",
                "they lose line breaks silently",
                "use a literal block (`|`)",
            )
        if style == "double" and _SURROGATE.search(node.text):
            node.text = _PAIR.sub(
                lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), node.text
            )
        if _SURROGATE.search(node.text):
            self.report.error(
                "surrogate",
                span,
                "half a character: a lone surrogate",
                help=r"write a character beyond U+FFFF whole, or as \U0001F600",
            )
            node.style = "broken"
        return node

    def _literal_end(self, node: Scalar) -> int:
        """Offset of the end of the last content line; the library says where the next token starts."""
        end = self.text.find("\n", node.start)
        for _ in node.text.rstrip("\n \t").split("\n") if node.text.strip() else ():
            end = self.text.find("\n", end + 1)
        return end if end >= 0 else len(self.text)

    def _begin(self, node: Mapping | Sequence, event: Any) -> bool:
        self._properties(event, node.span)
        if event.tag is not None:
            self.tagged.add(id(node))
        if len(self.open) >= MAX_DEPTH:
            _too_deep(self.report, node.span)
            return False
        self.open.append(node)
        self.keys.append(None)
        return self._bounded()

    def _end(self, event: Any) -> None:
        node = self.open.pop()
        self.keys.pop()
        if node.flow:
            node.end = event.end_mark.index
            node.span = Span(
                self.path, node.span.line, node.span.column, event.end_mark.line + 1, event.end_mark.column + 1
            )
        else:
            _close_block(node)
        self._put(Scalar(node.span, node.start, node.end, "", "broken") if id(node) in self.tagged else node)

    def _put(self, node: Node) -> None:
        self.count += 1
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif (key := self.keys[-1]) is not None:
            self.keys[-1] = None
            self._entry(parent, key, node)
        else:
            self.keys[-1] = self._key(node)

    def _key(self, node: Node) -> Scalar:
        if isinstance(node, Scalar) and node.style not in ("literal", "folded"):
            return node
        self.report.error(
            "complex-key",
            node.span,
            "a key is one plain or quoted text",
            help="a text in curly brackets needs quotes" if isinstance(node, Mapping) else "",
        )
        return Scalar(node.span, node.start, node.end, "", "broken")

    def _entry(self, parent: Mapping, key: Scalar, value: Node) -> None:
        if key.style == "broken":
            return
        if key.text == "<<" and key.style == "plain":
            self.report.error(
                "merge-key", key.span, "merge keys (`<<`) are not part of the language", help="write the entries out"
            )
        elif (before := parent.entries.get(key.text)) is not None:
            self.report.error(
                "duplicate-key",
                key.span,
                f"{short(key.text)} stands here twice",
                help="remove or rename one of them",
                related=((before.key.span, "the first is here"),),
            )
        else:
            parent.entries[key.text] = Entry(key, value)


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # JSON writes characters beyond U+FFFF as two escapes
_SURROGATE = re.compile("[\ud800-\udfff]")


def _close_block(node: Mapping | Sequence) -> None:
    """The library ends a block collection where the next token starts; ours ends where its last child does."""
    children: list[Node] = [e.value for e in node.entries.values()] if isinstance(node, Mapping) else node.items
    if children:
        node.end = max(node.end, children[-1].end)
    first = _first(node)
    if first is not None:
        node.span = first.span


def _first(node: Mapping | Sequence) -> Node | None:
    if isinstance(node, Mapping):
        return next(iter(node.entries.values())).key if node.entries else None
    return node.items[0] if node.items else None


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, keys included, in file order."""
    stack: list[Node] = [node]
    while stack:
        at = stack.pop()
        yield at
        if isinstance(at, Mapping):
            for entry in reversed(at.entries.values()):
                stack += (entry.value, entry.key)
        elif isinstance(at, Sequence):
            stack += reversed(at.items)
