"""The initial state in a file of its own: found inside the spec's folder, bounded, and read into the same nodes as YAML."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, Final

from envscaler.diagnostics import Span
from envscaler.spec import yamltree as y
from envscaler.spec.report import Report, short
from envscaler.spec.scan import decode, scan_text

__all__ = ["MAX_JSON", "load_data", "parse_json"]

MAX_JSON: Final = 16 << 20  # bytes of a JSON file
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def load_data(base: Path | None, node: y.Scalar, report: Report) -> y.Mapping | None:
    """The mapping in the file that ``node`` names, relative to ``base``; None with a diagnostic when it cannot be had."""
    path = _inside(base, node, report)
    if path is None:
        return None
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise OSError("it is no plain file")
        if info.st_size > MAX_JSON:
            raise OSError(f"it is larger than {MAX_JSON >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        _refuse(
            report,
            node,
            f"{short(node.text)} cannot be read: {error.strerror or error}",
            "expected a .json or .yaml file beside the spec",
        )
        return None
    shown = str(PurePosixPath(node.span.path).parent / node.text)
    return _parse(shown, data, path.suffix, report)


def _inside(base: Path | None, node: y.Scalar, report: Report) -> Path | None:
    name = PurePosixPath(node.text)
    if name.suffix not in (".json", ".yaml", ".yml"):
        _refuse(
            report, node, f"{short(node.text)} is no data file", "expected a name that ends in .json, .yaml or .yml"
        )
    elif name.is_absolute() or ".." in name.parts or not re.fullmatch(r"[\w.][\w. /-]{0,200}", node.text, re.ASCII):
        _refuse(
            report,
            node,
            f"{short(node.text)} may not be read",
            "the file is inside the folder of the spec, its path relative to it, with plain names",
        )
    elif base is None:
        _refuse(report, node, f"{short(node.text)} cannot be found", "the spec was read from text, so it has no folder")
    else:
        root = base.resolve()
        path = (root / node.text).resolve()
        if path.is_relative_to(root):
            return path
        _refuse(report, node, f"{short(node.text)} leads out of the folder of the spec", "the file is inside it")
    return None


def _refuse(report: Report, node: y.Scalar, title: str, detail: str) -> None:
    report.error("data-file", node.span, title, detail)


def _parse(path: str, data: bytes, suffix: str, report: Report) -> y.Mapping | None:
    if suffix == ".json":
        return parse_json(path, data, report)
    text = decode(path, data, report)
    clean = None if text is None else scan_text(path, text, report)
    document = None if clean is None else y.parse_yaml(path, clean, report)
    return document.root if document else None


def parse_json(path: str, data: bytes, report: Report) -> y.Mapping | None:
    """A JSON object as nodes, which all have the file's beginning as their place."""
    span = Span(path, 1, 1, 1, 1)
    try:
        text = data.decode("utf-8-sig")
        if _depth(text) > y.MAX_DEPTH:
            report.error("too-deep", span, f"the data nests more than {y.MAX_DEPTH} levels deep")
            return None
        root = _Nodes(span, report).parse(text)
    except json.JSONDecodeError as error:
        place = Span(path, error.lineno, error.colno, error.lineno, error.colno + 1)
        report.error("data-file", place, f"the file is not JSON: {error.msg[:1].lower()}{error.msg[1:]}")
        return None
    except (ValueError, RecursionError) as error:
        report.error("data-file", span, f"the file is not JSON: {str(error)[:200]}")
        return None
    if isinstance(root, y.Mapping):
        return root
    report.error("not-a-mapping", span, "the file holds no object", 'expected {"state": …}')
    return None


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        depth += 1 if char in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


class _Nodes:
    """Builds nodes while the parser runs; numbers keep their text."""

    def __init__(self, span: Span, report: Report) -> None:
        self.span = span
        self.report = report

    def parse(self, text: str) -> y.Node:
        number: Callable[[str], Any] = self._plain
        return self._node(
            json.loads(
                text,
                object_pairs_hook=self._mapping,
                parse_int=number,
                parse_float=number,
                parse_constant=self._constant,
            )
        )

    def _plain(self, text: str) -> y.Scalar:
        return y.Scalar(self.span, 0, 0, text, "plain")

    def _constant(self, text: str) -> y.Scalar:
        raise ValueError(f"{text} is no JSON number")

    def _mapping(self, pairs: list[tuple[str, Any]]) -> y.Mapping:
        node = y.Mapping(self.span, 0, 0, True)
        for name, value in pairs:
            if name in node.entries:
                self.report.error("duplicate-key", self.span, f"{short(name)} stands in an object twice")
            node.entries[name] = y.Entry(self._text(name), self._node(value))
        return node

    def _text(self, text: str) -> y.Scalar:
        if _SURROGATE.search(text):
            self.report.error("surrogate", self.span, f"half a character, a lone surrogate, in {short(text)}")
            return y.Scalar(self.span, 0, 0, "", "broken")
        return y.Scalar(self.span, 0, 0, text, "double")

    def _node(self, value: Any) -> y.Node:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return y.Sequence(self.span, 0, 0, True, [self._node(item) for item in value])
        if value is None or isinstance(value, bool):
            return self._plain({None: "null", True: "true", False: "false"}[value])
        node: y.Node = value
        return node
