"""The formatter changes layout only, and nothing the second time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import strategies as st
from tests.lengths import few_and_many

from envscaler.errors import SpecError
from envscaler.session.files import spec_files
from envscaler.spec.format import format_text, signature
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report

MESSY = """\


# top
name:   x
tools :
    # about a
    a:
            kind:    read   # why
            do: |
                    foo(  a )\x20\x20
                      bar

                    baz
         # after do
            params: { a : int , b: {list: str} , c: [ 1,2 , 3 ] }
    # next
    b:
      list:
      -   x: 1
          y:   2
      # in the list
      -
        z: 3
      - - a
        -   b
      long: this is
        a long
           text
      flow: {a: 1,
             b: 2,   # c
             c: [1,
                 2]}
      indented: |2
          more
         less
      text: |
        two spaces at the end\x20\x20



last: {}

"""

NEAT = """\
# top
name: x
tools:
  # about a
  a:
    kind: read   # why
    do: |
      foo(  a )
        bar

      baz
    # after do
    params: {a: int, b: {list: str}, c: [1, 2, 3]}
  # next
  b:
    list:
      - x: 1
        y: 2
      # in the list
      -
        z: 3
      - - a
        - b
    long: this is
      a long
      text
    flow: {a: 1,
           b: 2,   # c
           c: [1,
               2]}
    indented: |2
        more
       less
    text: |
      two spaces at the end\x20\x20

last: {}
"""


def test_an_example() -> None:
    assert format_text(MESSY) == NEAT
    assert format_text(NEAT) == NEAT


def test_line_ends_become_lf() -> None:
    assert format_text("\ufeffa: 1\r\nb: {c: 1}\r\n") == "a: 1\nb: {c: 1}\n"


def test_text_that_does_not_parse_is_an_error() -> None:
    with pytest.raises(SpecError) as error:
        format_text("a: [1", "bad.yaml")
    assert error.value.diagnostics[0].span.path == "bad.yaml"


@pytest.mark.slow
def test_shipped_specs_are_formatted() -> None:
    for path in spec_files([Path(__file__).parents[2] / "specs"])[0]:
        text = path.read_text(encoding="utf-8")
        assert format_text(text) == text, path.name


# -- any tree, in any layout

_WORDS = st.sampled_from(
    [
        "a",
        "no",
        "08540",
        "x y",
        "it's",
        "{b}",
        "a: b",
        "# no",
        "é",
        "",
        " lead",
        "end ",
        "- x",
        "1.50",
        "a\nb",
        "x\n\ny\n",
        "|",
    ]
)
_TREES = st.recursive(
    _WORDS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abcdef"), inner, max_size=3)),
    max_leaves=12,
)


class _Writer:
    """Writes a tree as YAML in a layout that ``draw`` makes up."""

    def __init__(self, draw: st.DataObject) -> None:
        self.draw = draw

    def pick(self, *options: str) -> str:
        return self.draw.draw(st.sampled_from(options))

    def quoted(self, text: str) -> str:
        if "'" in text or "\n" in text or self.pick("a", "b") == "a":
            return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        return f"'{text}'"

    def scalar(self, text: str, indent: int, flow: bool) -> str:
        plain = re.fullmatch(r"[a-z0-9.é][a-z0-9.é ]*(?<! )", text) is not None
        if plain and self.pick("plain", "quoted") == "plain":
            return text
        block = (
            text.strip()
            and not text.startswith((" ", "\n"))
            and not flow
            and all(line.strip() or not line for line in text.split("\n"))
        )
        if block and self.pick("block", "quoted") == "block":
            chomp = "-" if not text.endswith("\n") else ""
            margin = " " * (indent + int(self.pick("1", "2", "5")))
            return f"|{chomp}" + "".join(
                "\n" + (margin + line if line else "") for line in text.rstrip("\n").split("\n")
            )
        return self.quoted(text)

    def flow(self, node: object) -> str:
        space = self.pick("", " ", "  ")
        if isinstance(node, dict):
            return (
                "{"
                + space
                + f"{self.pick(',', ', ', ' ,  ')}".join(
                    f"{k}{self.pick('', ' ')}:{self.pick(' ', '  ')}{self.flow(v)}" for k, v in node.items()
                )
                + space
                + "}"
            )
        if isinstance(node, list):
            return "[" + space + self.pick(", ", " , ").join(self.flow(v) for v in node) + space + "]"
        return self.quoted(str(node))

    def value(self, node: object, indent: int) -> str:
        """What follows a colon or dash, beginning with a space or line break."""
        if isinstance(node, str):
            return self.pick(" ", "   ") + self.scalar(node, indent, False)
        assert isinstance(node, (dict, list))
        if not node or self.pick("block", "flow") == "flow":
            return self.pick(" ", "  ") + self.flow(node) + self.pick("", "  # said", " ")
        return self.pick("", "  ", "  # note") + "\n" + self.block(node, indent + int(self.pick("1", "2", "4")))

    def block(self, node: dict[str, object] | list[object], indent: int) -> str:
        lines = []
        for key, value in node.items() if isinstance(node, dict) else ((None, v) for v in node):
            lines.append(
                self.pick("", "", " " * indent + "# about\n", "\n", "\n\n", "   # odd\n" if indent > 3 else "# odd\n")
            )
            lines.append(" " * indent + ("-" if key is None else f"{key}:") + self.value(value, indent) + "\n")
        return "".join(lines).removesuffix("\n")


_COMMENT = re.compile(r"# (?:about|odd|note|said) *$", re.MULTILINE)


def formatting_keeps_the_tree_and_comments_and_is_idempotent(tree: dict[str, object], data: st.DataObject) -> None:
    text = _Writer(data).block(tree, 0) + "\n"
    report = Report()
    document = parse_spec("spec.yaml", text, report)
    if document is None or report.failed:
        return
    formatted = format_text(text)
    after = parse_spec("spec.yaml", formatted, report)
    assert after is not None
    assert signature(after.root) == signature(document.root)
    assert format_text(formatted) == formatted
    assert [c.strip() for c in re.findall(_COMMENT, formatted)] == [c.strip() for c in re.findall(_COMMENT, text)]


(
    test_formatting_keeps_the_tree_and_comments_and_is_idempotent,
    test_formatting_keeps_the_tree_and_comments_and_is_idempotent_at_length,
) = few_and_many(
    formatting_keeps_the_tree_and_comments_and_is_idempotent,
    st.dictionaries(st.sampled_from(["do", "name", "text"]), _TREES, min_size=1),
    st.data(),
    few=25,
)
