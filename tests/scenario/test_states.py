"""States kept by content hash: once each, whole, shared by processes, and never taken for another."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from pathlib import Path

import pytest
from hypothesis import strategies as st

from envscaler.errors import UsageError
from envscaler.scenario.states import StateStore, content_hash
from tests.lengths import few_and_many

STATE = {
    "customers": {"C-2": {"name": "Zoë"}, "C-1": {"name": "Bo"}},
    "log": [1, {"a": None}],
    "till": {"cash": 1.5},
    "none": {},
    "mixed": {"a": 1, "b": {}},
}
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> StateStore:
    return StateStore(tmp_path / "deep" / "states" if request.param == "folder" else None)


def test_what_was_put_comes_back_fresh_and_in_its_order(store: StateStore) -> None:
    name = store.put(STATE)
    found = store.get(name)
    assert found == STATE
    assert list(found["customers"]) == ["C-2", "C-1"]
    found["customers"].clear()
    assert store.get(name) == STATE
    assert name == content_hash(STATE)
    assert name in store
    assert list(store) == [name]


def test_equal_states_are_one_and_their_order_counts(store: StateStore) -> None:
    assert store.put({"a": {"x": 1, "y": 2}}) == store.put({"a": {"x": 1, "y": 2}})
    assert store.put({"a": {"x": 1, "y": 3}}) != store.put({"a": {"x": 1, "y": 2}})
    assert store.put({"a": {"y": 2, "x": 1}}) != store.put({"a": {"x": 1, "y": 2}})
    assert len(list(store)) == 3
    assert list(store.get(store.put({"a": {"y": 2, "x": 1}}))["a"]) == ["y", "x"]


def test_a_state_is_not_the_callers_object(store: StateStore) -> None:
    state = {"a": {"x": [1]}}
    name = store.put(state)
    state["a"]["x"].append(2)
    assert store.get(name) == {"a": {"x": [1]}}


def any_json_object_comes_back(state: dict[str, object]) -> None:
    store = StateStore()
    try:
        name = store.put(state)
    except UsageError:
        assert any("\ud800" <= c <= "\udfff" for c in json.dumps(state, ensure_ascii=False))
    else:
        assert store.get(name) == state
        assert store.put(store.get(name)) == name


test_any_json_object_comes_back, test_any_json_object_comes_back_at_length = few_and_many(
    any_json_object_comes_back, st.dictionaries(st.text(max_size=6), PLAIN, max_size=4), few=30
)


@pytest.mark.parametrize("bad", [{"a": float("nan")}, {"a": "\ud800"}, {"a": {1, 2}}])
def test_what_is_not_json_is_refused(store: StateStore, bad: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="a state that is not JSON cannot be kept"):
        store.put(bad)


@pytest.mark.parametrize("bad", ["", "sha256:", "sha256:" + "A" * 64, "../../etc/passwd", "sha256:../x", "\x1b[31m"])
def test_only_hashes_name_states(store: StateStore, bad: str) -> None:
    with pytest.raises(UsageError, match="is not the hash of a state") as caught:
        store.get(bad)
    assert "\x1b" not in str(caught.value)


def test_one_that_is_not_there(store: StateStore) -> None:
    name = "sha256:" + "0" * 64
    assert name not in store
    assert list(store) == []
    with pytest.raises(UsageError, match="no state sha256:000"):
        store.get(name)


def test_files_are_plain_json_with_a_record_on_each_line(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    name = store.put(STATE)
    [file] = tmp_path.iterdir()
    assert file.name == name.removeprefix("sha256:") + ".json"
    text = file.read_text(encoding="utf-8")
    assert json.loads(text) == STATE
    assert '\n  "C-2": {"name": "Zoë"},\n' in text


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    name = store.put(STATE)
    [file] = tmp_path.iterdir()
    for text, message in (
        (file.read_text(encoding="utf-8").replace("1.5", "1.6"), "holds another state"),
        ("[]", "holds another state"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=message) as caught:
            store.get(name)
        assert str(file) in str(caught.value)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file"):
        StateStore(tmp_path / "file").put(STATE)


def test_the_store_of_a_file_of_scenarios_stands_beside_it(tmp_path: Path) -> None:
    assert StateStore.beside(tmp_path / "bank.jsonl").folder == tmp_path / "bank.states"


def _put_all(folder: Path, numbers: range) -> None:
    store = StateStore(folder)
    for n in numbers:
        store.get(store.put({"numbers": {str(i): {"n": n + i} for i in range(50)}}))


def test_processes_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_put_all, args=(tmp_path, range(40))) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    store = StateStore(tmp_path)
    assert len(list(store)) == len(list(tmp_path.iterdir())) == 40
    assert all(content_hash(store.get(name)) == name for name in store)


def test_a_store_can_be_sent_to_a_process(store: StateStore) -> None:
    name = store.put(STATE)
    assert pickle.loads(pickle.dumps(store)).get(name) == STATE
