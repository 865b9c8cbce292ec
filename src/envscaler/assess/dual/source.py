"""What models are shown of a tool: its own part of the spec, and of the rest only what that part is about."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cached_property

from envscaler.plugin.records import Subject
from envscaler.spec import yamltree as y
from envscaler.spec.checked import Effects
from envscaler.spec.model import Spec, ToolDef
from envscaler.spec.prose import constant_text, render
from envscaler.spec.refusals import tool_refusals
from envscaler.spec.report import Report
from envscaler.spec.scan import scan_text
from envscaler.spec.types import MISSING, Key, ListOf, Type, strip_null

__all__ = ["Source"]

_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"\{([A-Za-z_]\w*)\}")
_PIECE, _CONSTANT_TEXT = 6000, 400  # characters that are shown
_TOOL_PARTS = ("kind", "actor", "description", "params", "returns", "errors", "do")


class Source:
    """A checked spec, cut into the pieces that prompts show. Nothing of the state is in them."""

    def __init__(self, subject: Subject) -> None:
        assert subject.checked.spec is not None
        self.checked = subject.checked
        self.spec: Spec = subject.checked.spec
        report = Report()
        clean = scan_text(subject.path, subject.source, report)
        document = None if clean is None else y.parse_yaml(subject.path, clean, report)
        assert document is not None, "a checked spec can be parsed"
        self._text, self._root = document.text, document.root

    def of_tool(self, name: str) -> str:
        """All that is needed to say what a call must do: the tool as it is written, the helpers it calls, the types, fields,
        constants and rules that these name."""
        tool = self.spec.tools[name]
        effects = self.effects(name)
        pieces = [self._piece("tools", name, _TOOL_PARTS)]
        helpers = list(self._helpers(name))
        if tool.kind == "write":
            helpers += [h.value for h in self.spec.after_each if h.value not in helpers]
        pieces += [f"helper {self._piece('helpers', helper, ('params', 'returns', 'do'))}" for helper in helpers]
        pieces += self._types("\n".join(pieces))
        words = set(_WORD.findall("\n".join(pieces)))
        pieces += [f"fields of {self._piece('states', s, ('key', 'fields'))}" for s in sorted(effects.adds)]
        constants = {n: _cut(constant_text(c), _CONSTANT_TEXT) for n, c in self.spec.constants.items() if n in words}
        if constants:
            pieces.append("constants: " + ", ".join(f"{n} = {value}" for n, value in constants.items()))
        rules = dict(self.rules(tool, effects))
        if rules:
            pieces.append("rules:\n" + "\n".join(f"- {n}: {text}" for n, text in rules.items()))
        pieces.append(f"now = {self.spec.clock}")
        return "\n\n".join(_cut(piece, _PIECE) for piece in pieces)

    def card(self, name: str) -> str:
        """What whoever calls the tool must know: description and parameters, with the types they name."""
        piece = self._piece("tools", name, ("actor", "description", "params"))
        return _CONSTANT.sub(self._constant, "\n".join([piece, *self._types(piece)]))

    def _constant(self, match: re.Match[str]) -> str:
        constant = self.spec.constants.get(match[1])
        return match[0] if constant is None else constant_text(constant)

    def signature(self, name: str) -> str:
        """`transfer(from_account, to_account, amount, text?)`"""
        tool = self.spec.tools[name]
        names = [p.field.json + ("" if p.field.default is MISSING else "?") for p in tool.params]
        return f"{name}({', '.join(names)})"

    def effects(self, name: str) -> Effects:
        """What a tool may read and write."""
        return self.checked.tools[name].effects

    def collections(self, name: str) -> list[str]:
        """The collections that a tool's parameters name records of; where they name none, one that it reads."""
        named = [c for p in self.spec.tools[name].params if (c := _collection(p.field.type)) is not None]
        read = sorted(state for state, _ in self.effects(name).reads)
        return [c for c in dict.fromkeys(named or read[:1]) if c in self.spec.states]

    def owners(self, owner: str) -> list[str]:
        """The tools that run the logic of ``owner``, `tool x` or `helper y`."""
        kind, _, name = owner.partition(" ")
        if kind == "tool":
            return [name] if name in self.spec.tools else []
        return [tool for tool in self.spec.tools if name in self._helpers_of[tool]]

    def rules(self, tool: ToolDef, effects: Effects) -> Iterator[tuple[str, str]]:
        """The rules that the tool cites, or that speak of states it changes; what is only told to agents is not enforced."""
        changed = effects.edits | effects.adds | effects.removes
        cited = {refusal.rule for refusal in tool_refusals(self.checked, tool)}
        for name, rule in self.spec.rules.items():
            about = rule.field[0] if rule.field else rule.each
            read = (
                {state for state, _ in self.checked.rules[name].effects.reads} if name in self.checked.rules else set()
            )
            if not rule.policy and (name in cited or about in changed or (rule.holds and read & changed)):
                yield name, render(rule.text.value, self.spec.constants)

    def line(self, number: int) -> str:
        """A line of the spec without its indentation."""
        return self._rows[number - 1].strip() if 1 <= number <= len(self._rows) else ""

    # -- pieces

    def _types(self, text: str) -> list[str]:
        """The types that a text names, and those that these name."""
        found: dict[str, str] = {}
        names, left = self._named("types"), [text]
        while left:
            words = set(_WORD.findall(left.pop(0)))
            for name in names:
                if name in words and name not in found:
                    found[name] = f"type {self._piece('types', name)}"
                    left.append(found[name])
        return list(found.values())

    @cached_property
    def _rows(self) -> list[str]:
        return self._text.split("\n")

    def _named(self, section: str) -> list[str]:
        found = self._root.entries.get(section)
        return list(found.value.entries) if found is not None and isinstance(found.value, y.Mapping) else []

    @cached_property
    def _helpers_of(self) -> Mapping[str, list[str]]:
        return {tool: list(self._helpers(tool)) for tool in self.spec.tools}

    def _helpers(self, tool: str) -> Iterator[str]:
        """The helpers that a tool runs, each after whatever calls it first."""
        seen: dict[str, None] = {}
        left = sorted(self.checked.tools[tool].own.calls)
        while left:
            helper = left.pop(0)
            if helper not in seen and helper in self.checked.helpers:
                seen[helper] = None
                left += sorted(self.checked.helpers[helper].own.calls)
        return iter(seen)

    def _piece(self, section: str, name: str, parts: tuple[str, ...] = ()) -> str:
        """An entry of a section as it is written, or the named keys of it."""
        top = self._root.entries[section].value
        assert isinstance(top, y.Mapping)
        entry = top.entries[name]
        value = entry.value
        if not isinstance(value, y.Mapping) or value.flow or not parts:
            return textwrap.dedent(self._lines(entry, flow=top.flow))
        kept = [self._lines(inner) for key, inner in value.entries.items() if key in parts]
        body = "\n".join(textwrap.dedent(text) for text in kept)
        return f"{name}:\n{textwrap.indent(body, '  ')}"

    def _lines(self, entry: y.Entry, flow: bool = False) -> str:
        start = entry.key.start if flow else self._text.rfind("\n", 0, entry.key.start) + 1
        return self._text[start : entry.value.end].rstrip()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _collection(of: Type) -> str | None:
    kind = strip_null(of)
    key = strip_null(kind.item) if isinstance(kind, ListOf) else kind
    return key.collection if isinstance(key, Key) else None
