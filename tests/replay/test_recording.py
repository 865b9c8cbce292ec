"""Reading recordings: the format, several APIs, and what is said of files that do not follow it."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from envscaler.errors import ReplayFormatError
from envscaler.replay import read_cases, read_known


def case(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "case_id": "one",
        "initial_state": {"n": 1},
        "calls": [{"tool": "t", "arguments": {}, "result": 1, "error": None, "error_kind": None, "changed": False}],
        "final_state_diff": [],
        "final_state_sha256": "",
    }
    row.update(changes)
    return {key: value for key, value in row.items() if value is not ...}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) if not isinstance(row, str) else row for row in rows), encoding="utf-8")
    return path


def test_states_that_cases_share_are_read_and_patched_once(tmp_path: Path) -> None:
    (tmp_path / "start.json").write_text('{"a": {"x": 1}, "b": {}}', encoding="utf-8")
    patch = [{"op": "replace", "path": "/a/x", "value": 2}]
    shared = {"initial_state": ..., "initial_state_ref": "start.json"}
    file = write(
        tmp_path / "r.jsonl",
        case(**shared),
        "",
        case(**shared, final_state_diff=patch),
        case(**shared, initial_state_patch=patch),
        case(**shared, initial_state_patch=patch),
    )
    one, two, three, four = read_cases(file)
    assert one.initial is two.initial
    assert three.initial is four.initial == {"a": {"x": 2}, "b": {}}
    assert two.final == {"a": {"x": 2}, "b": {}}
    assert one.initial == {"a": {"x": 1}, "b": {}}
    assert (one.line, two.line) == (1, 3)
    assert three.initial["b"] is one.initial["b"]


def test_compressed(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "r.jsonl.xz", "wt", encoding="utf-8") as stream:
        stream.write(json.dumps(case()))
    assert [c.id for c in read_cases(tmp_path / "r.jsonl.xz")] == ["one"]


def test_one_api_of_several(tmp_path: Path) -> None:
    call = case()["calls"][0]
    row = case(
        initial_state={"Bank": {"n": 1}, "Mail": {"m": 1}},
        calls=[call | {"class": "Mail"}, call | {"class": "Bank"}],
        final_state_diff=[{"op": "replace", "path": "/Bank/n", "value": 2}],
        random_seed={"Bank": 7},
    )
    file = write(tmp_path / "r.jsonl", row, case(initial_state={"Mail": {}}, calls=[]))
    apis: set[str] = set()
    (one,) = read_cases(file, "Bank", apis)
    assert one.initial == {"n": 1}
    assert one.final == {"n": 2}
    assert one.seed == 7
    assert [c.number for c in one.calls] == [2]
    assert apis == {"Bank", "Mail"}
    with pytest.raises(ReplayFormatError, match="call 1 is of API 'Mail': name the API to replay with --api"):
        list(read_cases(file))


def test_requestor_is_the_actor(tmp_path: Path) -> None:
    calls = [case()["calls"][0] | {"requestor": who} for who in ("assistant", "user")]
    (one,) = read_cases(write(tmp_path / "r.jsonl", case(calls=calls)))
    assert [c.actor for c in one.calls] == ["agent", "user"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "not a recorded case"),
        ("[]", "not a recorded case"),
        ("[" * 100_000, "nested too deeply|not a recorded case"),
        (case(case_id=...), "a case needs 'case_id'"),
        (case(calls=...), "a case needs 'calls'"),
        (case(initial_state=...), "a case needs 'initial_state_ref'"),
        (case(initial_state=..., initial_state_ref="../up.json"), "outside the recording's folder"),
        (case(initial_state=..., initial_state_ref="none.json"), "No such file"),
        (case(final_state_diff=[{"op": "remove", "path": "/x"}]), "state patch: operation 0"),
        (case(calls=[{"tool": "t", "error_kind": "odd"}]), 'call 1 has error_kind "odd"; known: null, returned'),
    ],
)
def test_what_does_not_follow_the_format(tmp_path: Path, row: Any, message: str) -> None:
    file = write(tmp_path / "r.jsonl", case(), row)
    with pytest.raises(ReplayFormatError, match=message) as caught:
        list(read_cases(file))
    assert str(caught.value).startswith(f"{file}:2: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl.xz").write_bytes(b"not xz")
    (tmp_path / "r.jsonl").write_bytes(b'{"case_id": "\xff"}')
    for name in ("r.jsonl.xz", "r.jsonl", "none.jsonl"):
        with pytest.raises(ReplayFormatError, match=name):
            list(read_cases(tmp_path / name))


def test_known_differences(tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text(
        "- {case: one, call: 3, reason: crash}\n- {case: one, call: state, reason: aliasing}\n", encoding="utf-8"
    )
    assert [(k.case, k.call, k.reason) for k in read_known(file)] == [("one", 3, "crash"), ("one", "state", "aliasing")]
    file.write_text("# none\n", encoding="utf-8")
    assert read_known(file) == []
    for text in ("{a: 1}", "- {case: one}", "- {case: a, call: true, reason: b}", "[", "- 1"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ReplayFormatError, match=r"known\.yaml"):
            read_known(file)
