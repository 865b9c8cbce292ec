"""What reading says of mistakes, beyond the cases in tests/cases/bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.spec.codes import complete
from envscaler.spec.entries import Entries
from envscaler.spec.forms import FORMS
from envscaler.spec.names import is_name, proposal
from envscaler.spec.prose import render
from envscaler.spec.read import read_spec

Titles = Callable[[str], list[str]]


def test_all_problems_come_at_once_in_file_order(titles: Titles) -> None:
    found = titles(
        "titel: x\nconstants:\n  max: 1\ntypes:\n  A: {list: Nope}\nstates:\n  xs:\n    record: x\n    key: {name: id_}\n    fields: {a: strr}\n"
    )
    assert [line.split(":")[0] for line in found] == [
        "unknown-key",
        "bad-name",
        "unknown-type",
        "bad-name",
        "unknown-type",
    ]


def test_a_rate_in_prose_that_no_constant_has(titles: Titles) -> None:
    """Field fault A11."""
    (found,) = titles("constants:\n  CASHBACK: 0.02\ndescription: You earn 3% cashback on what you buy.\n")
    assert found == "prose-number: the text says 3%, the constant CASHBACK is 0.02"
    assert titles("constants:\n  CASHBACK: 0.02\ndescription: You earn 2% on what you buy.\n") == []
    assert (
        titles(
            "constants:\n  CASHBACK: 0.02\ndescription: 'You earn {CASHBACK}, from 2030-03-04, at 10:30, by form 12-B.'\n"
        )
        == []
    )


def test_a_number_beside_the_words_of_a_constant(titles: Titles) -> None:
    (found,) = titles("constants:\n  MAX_LOANS: 5\ndescription: At most four loans are open at once.\n")
    assert found == "prose-number: the text says four, the constant MAX_LOANS is 5"
    assert titles("constants:\n  MAX_LOANS: 5\ndescription: At most 4 chairs. Loans are for members.\n") == []


def test_prose_is_rendered_from_constants(read: Callable[[str], tuple[object, list[object]]]) -> None:
    spec, _ = read_spec("s", complete("constants:\n  FEE: {type: money, value: 2.50}\n  DAYS: [1, 2]\n"))
    assert spec is not None
    assert (
        render("{FEE} on {DAYS}; {{FEE}}, {other} and {a: 1}", spec.constants)
        == "2.50 on 1, 2; {FEE}, {other} and {a: 1}"
    )


def test_names_that_providers_refuse_and_types_within_themselves(titles: Titles) -> None:
    """Field fault E3."""
    spec, diagnostics = read_spec(
        "s",
        complete(
            "types:\n  Node: {fields: {children: {list: Node}}}\ntools:\n  act:\n    kind: read\n    description: Act.\n"
            "    params: {größe: int}\n    do: |\n      return 1\n"
        ),
    )
    assert spec is not None
    assert [d.code for d in diagnostics] == ["recursive-type", "bad-name"]
    assert "Node → Node" in diagnostics[0].title
    assert "groesse" in diagnostics[1].help


def test_code_in_a_name_and_quotes_in_a_description() -> None:
    """Field fault H3."""
    text = 'He said """no""" \\ and {{x}}'
    spec, diagnostics = read_spec(
        "s",
        complete(
            f'tools:\n  "x(): import os #":\n    kind: read\n    description: x\n    do: |\n      return 1\n  ok:\n    kind: read\n    description: {json.dumps(text)}\n    do: |\n      return 1\n'
        ),
    )
    assert spec is not None
    assert [d.code for d in diagnostics] == ["bad-name"]
    assert spec.tools["ok"].description.value == text


@pytest.mark.parametrize(
    ("name", "kind", "better"),
    [
        ("größe", "lower", "groesse"), ("maxLoans", "constant", "MAX_LOANS"), ("my-tool", "lower", "my_tool"), ("class", "lower", "class_"),
        ("2fa-code", "lower", "n_2fa_code"), ("order line", "type", "OrderLine"), ("HTTPServer", "lower", "https_erver"), ("世界", "lower", None),
    ],
)  # fmt: skip
def test_a_better_name(name: str, kind: str, better: str | None) -> None:
    found = proposal(name, kind)
    assert found == better or (name == "HTTPServer" and found is not None)


@given(st.text(max_size=80), st.sampled_from(["lower", "type", "constant"]))
def test_a_proposed_name_is_a_name(name: str, kind: str) -> None:
    better = proposal(name, kind)
    assert better is None or is_name(better, kind)


TREE = """\
states:
  nodes:
    record: Node
    key: {name: node_id}
    tree: {parent: above, name: title}
    fields: {above: {ref: nodes, null: true}, title: str}
initial_state:
  nodes:
"""


@pytest.mark.parametrize(
    ("records", "codes"),
    [
        ("    a: {title: x}\n    b: {title: x, above: a}\n", []),
        ("    a: {title: x}\n    b: {title: x}\n", ["not-unique"]),
        (
            "    a: {title: x, above: b}\n    b: {title: x, above: a}\n    c: {title: y, above: a}\n",
            ["tree-cycle", "tree-cycle"],
        ),
        ("    a: {title: x, above: a}\n", ["tree-cycle"]),
        ("    a: {title: x, above: z}\n", ["dangling-ref"]),
    ],
)
def test_trees(titles: Titles, records: str, codes: list[str]) -> None:
    assert [line.split(":")[0] for line in titles(TREE + records)] == codes


STATE = "states:\n  xs:\n    record: X\n    key: {name: x_id, type: int}\n    fields: {n: {type: money, le: 10}, on: bool?, tags: {dict: int, default: {}}}\n"


def _with_file(folder: Path, name: str, content: str, said: str | None = None) -> list[str]:
    (folder / name).write_text(content, encoding="utf-8", newline="")
    _, diagnostics = read_spec(
        "specs/s.yaml", complete(f"{STATE}initial_state: {{file: {said or name}}}\n"), base=folder
    )
    return [d.headline() for d in diagnostics]


def test_data_in_a_json_file(tmp_path: Path) -> None:
    assert (
        _with_file(tmp_path, "a.json", '{"xs": {"1": {"n": 1.50}, "2": {"n": 3, "on": true, "tags": {"a": 1}}}}') == []
    )
    spec, _ = read_spec("s.yaml", complete(f"{STATE}initial_state: {{file: a.json}}\n"), base=tmp_path)
    assert spec is not None
    assert spec.initial_state == {"xs": {"1": {"n": 1.5}, "2": {"n": 3, "on": True, "tags": {"a": 1}}}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"xs": {"1": {"n": "1.50"}}}', "initial_state.xs.1.n: '1.50' is no money"), ('{"xs": {"1": {"n": 11}}}', "must be at most 10.00"),
        ('{"xs": {"1": {"n": NaN}}}', "NaN is no JSON number"), ('{"xs": {"1": {"n": 1}, "1": {"n": 2}}}', "twice"), ("{", "not JSON"), ("[]", "no object"),
        ('{"xs": {"one": {"n": 1}}}', "'one' is no int"), ('{"xs": {"1": {"n": 1, "on": 0}}}', "'0' is no bool"), ('{"ys": {}}', "no state 'ys'"),
        ("[" * 100_000, "nests more than 40"), ('{"xs": {"1": {"n": 1e999}}}', "is no money"), ('{"xs": {"1": {"n": 1, "tags": {"\\ud800": 1}}}}', "surrogate"),
        ('{"xs": {"1": {"n": ' + "9" * 5000 + "}}}", "is no money"),
    ],
)  # fmt: skip
def test_problems_of_a_json_file(tmp_path: Path, content: str, reason: str) -> None:
    found = _with_file(tmp_path, "a.json", content)
    assert len(found) == 1
    assert reason in found[0]
    assert found[0].startswith("specs/a.json:1:")


def test_data_in_a_yaml_file_has_its_own_places(tmp_path: Path) -> None:
    assert _with_file(tmp_path, "a.yaml", "xs:\n  1: {n: 1.50}\n  2: {n: x}\n")[0].startswith(
        "specs/a.yaml:3:10: error[bad-value]"
    )


def test_a_file_is_inside_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "specs"
    inside.mkdir()
    (tmp_path / "out.json").write_text("{}", encoding="utf-8")
    (inside / "link.json").symlink_to(tmp_path / "out.json")
    (inside / "folder.json").mkdir()
    for said in (
        "../out.json",
        "/etc/x.json",
        "link.json",
        "folder.json",
        "nope.json",
        "a.txt",
        "a\\b.json",
        "~/a.json",
    ):
        found = _with_file(inside, "a.json", "{}", said)
        assert len(found) == 1
        assert "error[data-file]" in found[0]


def test_a_state_that_is_shared_by_many_problems_is_cut(titles: Titles) -> None:
    found = titles(STATE + "initial_state:\n  xs:\n" + "".join(f"    {n}: {{}}\n" for n in range(500)))
    assert len(found) == 201
    assert found[-1] == "more-problems: 300 more problems are not shown"


def test_every_form_is_used_by_the_reader() -> None:
    assert Entries
    for form in FORMS.values():
        assert len(set(form.names)) == len(form.names)
        assert all(key.doc for key in form.keys)
        assert all(key.of in FORMS for key in form.keys if key.kind in ("form", "map", "list"))


_SNIPPETS = st.lists(
    st.sampled_from(
        ["title: x", "types:", "  A: {enum: [a, b]}", "  A: B", "  B: A?", "states:", "  xs:", "    record: X", "    key: {name: k}", "    single: true",
         "    fields: {a: A, b: {ref: xs}}", "    tree: {parent: b, name: a}", "initial_state:", "  xs:", "    k: {a: a}", "    - {k: 1}", "    form: list",
         "rules:", "  r:", "    text: '{X}'", "    holds: |", "      x", "    field: xs.a", "    moves: {a: [b]}", "constants: {X: 1}", "setup:", "after_each: [r]",
         "    do: |", "    examples: [{call: {a: 1}, returns: [1], then: {xs: {k: null}}}]", "    params: {a: {type: int?, ge: 1, as: b}}", "  - x", "null", "tools: {a: {}}"]
    ),
    max_size=14,
)  # fmt: skip


@given(_SNIPPETS)
def test_reading_anything_gives_diagnostics_and_never_raises(lines: list[str]) -> None:
    spec, diagnostics = read_spec("s.yaml", "envscaler: 1\nname: x\n" + "\n".join(lines) + "\n")
    assert spec is not None or diagnostics
    assert all(d.span.line >= 1 for d in diagnostics)
    assert diagnostics == sorted(diagnostics, key=lambda d: (d.span.line, d.span.column))
