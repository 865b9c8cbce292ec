"""From the text of a spec to the declared model, with every problem of the file reported in one go."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

from envscaler.diagnostics import Diagnostic
from envscaler.spec import yamltree as y
from envscaler.spec.datafile import load_data
from envscaler.spec.entries import Context, Entries, json_of
from envscaler.spec.model import HelperDef, Spec, Text
from envscaler.spec.names import check_name, named_entries
from envscaler.spec.prose import check_prose
from envscaler.spec.read_data import DataReader
from envscaler.spec.read_examples import read_examples
from envscaler.spec.read_rules import read_constants, read_rules
from envscaler.spec.read_states import StateReader
from envscaler.spec.read_tools import read_errors, read_functions, read_tools
from envscaler.spec.read_types import TypeReader
from envscaler.spec.report import Report, short
from envscaler.spec.scalars import NotA, datetime_text
from envscaler.spec.scan import scan_text

__all__ = ["LANGUAGE", "parse_spec", "read_spec"]

LANGUAGE: Final = 1
_CLOCK: Final = "2030-01-01T00:00:00Z"
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,39}\Z")


def read_spec(path: str, text: str, *, base: Path | None = None) -> tuple[Spec | None, list[Diagnostic]]:
    """Read a spec. ``path`` is how diagnostics call the file; ``base`` is the folder its data files are in.

    Gives the model of what could be read, None when the text is no YAML mapping, and all diagnostics in file order.
    The model is whole only when no diagnostic is an error. Nothing in the text is executed, imported or compiled.
    """
    report = Report()
    document = parse_spec(path, text, report)
    if document is None:
        return None, report.items
    spec = _Reader(document, report, base).read()
    return spec, report.items


def parse_spec(path: str, text: str, report: Report) -> y.Document | None:
    """The node tree of a text, scanned and parsed; None when there is none."""
    clean = scan_text(path, text, report)
    return None if clean is None else y.parse_yaml(path, clean, report)


class _Reader:
    """Reads the sections in the order in which they depend on each other."""

    def __init__(self, document: y.Document, report: Report, base: Path | None) -> None:
        self.document = document
        self.report = report
        self.context = Context(document, report, base)
        self.root = Entries(self.context, document.root, "spec", "the spec", document.root.span)

    def read(self) -> Spec:
        root, context = self.root, self.context
        head = self._head()
        types = self._types()
        states_reader = StateReader(context, root.mapping("states"))
        types.read_all()
        constants = read_constants(context, types, root.mapping("constants"))
        states = states_reader.read(types)
        rules = read_rules(context, states, root.mapping("rules"))
        helpers = read_functions(context, types, root.mapping("helpers"), "helper")
        setup = read_functions(context, types, root.mapping("setup"), "setup")
        tools, tool_entries = read_tools(context, types, root.mapping("tools"))
        if root.has("tools") and not tools and not self.report.failed:
            self.report.error(
                "missing-key",
                root.key_span("tools"),
                "the spec has no tool",
                "an environment without tools does nothing",
            )
        data = DataReader(context, states)
        initial = self._initial(data)
        known = {name: data.keys(name) for name in data.records}
        for name, entries in tool_entries.items():
            examples = read_examples(context, tools[name], entries, states, rules, known)
            tools[name] = dataclasses.replace(tools[name], examples=examples)
        after_each = self._after_each(helpers)
        check_prose(context.prose, constants, self.document.lines, self.report)
        return Spec(
            path=self.document.path,
            source=self.document.text,
            **head,
            constants=constants,
            types=context.types,
            type_spans=types.spans,
            states=states,
            rules=rules,
            helpers=helpers,
            setup=setup,
            after_each=after_each,
            tools=tools,
            initial_state=initial,
            hash=_hash(self.document, initial),
        )

    def _head(self) -> dict[str, Any]:
        root = self.root
        language = root.integer("envscaler")
        if language is not None and language != LANGUAGE:
            self.report.error(
                "bad-version",
                root.key_span("envscaler"),
                f"this is envscaler for language version {LANGUAGE}, the spec says {language}",
                help=f"envscaler: {LANGUAGE}",
            )
        name = self._name()
        clock = self._clock()
        return {
            "language": language or LANGUAGE,
            "name": name,
            "version": self._version(),
            "title": root.text("title") or name.replace("_", " ").capitalize(),
            "description": root.prose("description") or Text("", root.span),
            "clock": clock,
            "zoned": self.context.zoned,
            "errors": read_errors(self.context, root),
            "policy": root.choice("arguments", "lenient"),
            "unknown_tool": root.prose("unknown_tool", ("name",)),
        }

    def _name(self) -> str:
        node = self.root.scalar("name", "a name")
        good = node is not None and check_name(node, "lower", "a spec", self.report, reserved=())
        return node.text if node is not None and good else "unnamed"

    def _version(self) -> str:
        node = self.root.scalar("version")
        if node is None:
            return "0.1.0"
        if not _VERSION.match(node.text):
            self.report.error(
                "bad-value",
                node.span,
                f"{short(node.text)} is no version",
                "expected something like 1.0.2: letters, digits, . + -",
            )
        return node.text

    def _clock(self) -> str:
        node = self.root.scalar("clock", "a datetime")
        if node is None:
            return _CLOCK
        try:
            clock = datetime_text(node.text, zoned=None)
        except NotA as reason:
            self.report.error("bad-value", node.span, f"clock: {short(node.text)} is no datetime", str(reason))
            return _CLOCK
        self.context.zoned = clock.endswith("Z")
        return clock

    def _types(self) -> TypeReader:
        mapping = self.root.mapping("types")
        if mapping is not None:
            good = dict(named_entries(mapping, "type", "a type", self.report))
            for entry in good.values():
                self.context.claim(entry.key, "a type")
            renamed = {e.key.span: name for name, e in good.items()}
            self.context.renamed = {k: renamed[e.key.span] for k, e in mapping.entries.items() if e.key.span in renamed}
            mapping = y.Mapping(mapping.span, mapping.start, mapping.end, mapping.flow, good)
        return TypeReader(self.context, mapping)

    def _after_each(self, helpers: dict[str, HelperDef]) -> tuple[Text, ...]:
        sequence = self.root.sequence("after_each")
        found = []
        for item in sequence.items if sequence else ():
            if not isinstance(item, y.Scalar):
                self.report.error("wrong-kind", item.span, "after_each is a list of names of helpers")
            elif item.text in helpers:
                found.append(Text(item.text, item.span))
            elif item.style != "broken" and self.context.taken.get(item.text, ("",))[0] != "a helper":
                self.report.unknown(
                    "unknown-helper",
                    item.span,
                    f"after_each: there is no helper {short(item.text)}",
                    item.text,
                    list(helpers),
                    "helpers",
                )
        return tuple(found)

    def _initial(self, data: DataReader) -> dict[str, Any]:
        root = self.root
        mapping = root.mapping("initial_state")
        entry = mapping.entries.get("file") if mapping else None
        if entry is not None and "file" not in data.states:
            assert mapping is not None
            form = Entries(self.context, mapping, "file", "initial_state", root.key_span("initial_state"))
            node = form.scalar("file", "a path")
            mapping = load_data(self.context.base, node, self.report) if node else None
            if mapping is None:
                return {}
            return data.read(mapping, node.span if node else root.span)
        if root.has("initial_state") and mapping is None:
            return {}
        return data.read(mapping, root.key_span("initial_state" if mapping else "states"))


# -- the hash


def _hash(document: y.Document, initial: dict[str, Any]) -> str:
    """`sha256:…` of the content: keys and values in their order, whatever their layout, quotes and comments."""
    content = [_canonical(document, document.root), initial]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _canonical(document: y.Document, node: y.Node, key: str = "") -> Any:
    if isinstance(node, y.Mapping):
        return {"map": [[k, _canonical(document, e.value, k)] for k, e in node.entries.items()]}
    if isinstance(node, y.Sequence):
        return [_canonical(document, item) for item in node.items]
    if node.style == "literal" and key in ("do", "holds"):
        return document.literal_source(node)[0]
    try:
        resolved = json_of(node)
    except NotA:
        resolved = node.text
    return node.text if isinstance(resolved, str) else {"plain": node.text}
