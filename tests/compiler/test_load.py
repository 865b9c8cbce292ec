"""Modules in memory and on disk: the same class, equal bytes for equal specs, and tracebacks that name the spec's line."""

from __future__ import annotations

import importlib.util
import pickle
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from envscaler.compiler import CompiledModule, compile_spec, load_class
from envscaler.errors import SpecError, ToolCallError
from envscaler.resources import folder
from envscaler.spec.check import check_text

SPEC = """\
envscaler: 1
name: faulty
states:
  boxes:
    record: Box
    key: {name: box_id, make: "B{n}"}
    fields: {content: {type: any, default: {}}, weight: {type: int, ge: 0, default: 0}}
rules:
  light:
    text: Boxes are light.
    each: boxes
    holds: |
      it.weight < 100
tools:
  in_order:
    kind: read
    params: {things: {list: any}}
    do: |
      kept = [t for t in things]
      if len(kept) > 1:
          # what cannot be compared cannot be sorted
          return sorted(
              kept,
              reverse=True,
          )
      return kept
  weigh:
    kind: write
    params: {box_id: {ref: boxes, as: box}, weight: int}
    do: |
      require(weight != 13, "Not thirteen.")
      box.weight = weight
initial_state: {boxes: {B1: {}}}
"""


def compiled(path: str = "specs/faulty.yaml", text: str = SPEC) -> CompiledModule:
    checked = check_text(path, text)
    assert [d.headline() for d in checked.diagnostics if d.severity == "error"] == []
    return compile_spec(checked)


def on_disk(folder: Path) -> Any:
    file = folder / "faulty_on_disk.py"
    file.write_text(compiled().text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("faulty_on_disk", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Faulty


@pytest.fixture(params=["memory", "disk"])
def faulty(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return load_class(compiled()) if request.param == "memory" else on_disk(tmp_path)


def line_of(words: str) -> int:
    return next(n for n, line in enumerate(SPEC.split("\n"), 1) if words in line)


def test_failures_name_the_line(faulty: Any) -> None:
    env = faulty.new()
    assert env.call("weigh", {"box_id": "B1", "weight": 13}).error.line == line_of("require(")
    assert env.call("weigh", {"box_id": "B1", "weight": 100}).error.line == line_of("  light:")
    assert env.call("weigh", {"box_id": "B1", "weight": -1}).error.line == line_of("fields: {content")
    assert env.call("weigh", {"box_id": "B2", "weight": 1}).error.line == line_of("params: {box_id")


def test_ordinary_traceback_shows_the_line_of_the_spec(faulty: Any) -> None:
    result = faulty.new().call("in_order", {"things": [1, "a"]})
    assert result.error.line in range(line_of("return sorted("), line_of("return sorted(") + 4)
    with pytest.raises(ToolCallError) as caught:
        result.unwrap()
    shown = "".join(traceback.format_exception(caught.value))
    assert result.error.where in shown
    assert "sorted(" in shown


def test_source_map_covers_statements_over_several_lines(faulty: Any) -> None:
    function = next(t.run for t in faulty.tool_table if t.name == "in_order")
    with pytest.raises(TypeError) as caught:
        function(faulty.new()._state, [1, "a"])
    generated = caught.tb.tb_next.tb_lineno if caught.tb.tb_next is not None else 0
    lines = range(line_of("return sorted("), line_of("return sorted(") + 4)
    assert faulty.source[1][generated] in lines


def test_in_memory_the_whole_path_is_known_and_on_disk_the_name(tmp_path: Path) -> None:
    assert load_class(compiled()).source[0] == "specs/faulty.yaml"
    assert on_disk(tmp_path).source[0] == "faulty.yaml"


def test_equal_specs_give_equal_bytes() -> None:
    assert compiled().text == compiled().text
    assert compiled("elsewhere/faulty.yaml").text == compiled().text


def test_loading_again_gives_the_same_class() -> None:
    first = load_class(compiled())
    assert load_class(compiled()) is first
    assert pickle.loads(pickle.dumps(first)) is first
    assert sys.modules[first.__module__].__dict__["Faulty"] is first


def test_changed_text_is_loaded_anew() -> None:
    first = load_class(compiled())
    moved = load_class(compiled(text=SPEC.replace("tools:", "# a comment\ntools:", 1)))
    assert moved is not first
    assert moved.spec_hash == first.spec_hash


def test_own_templates_stand_before_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "module").mkdir()
    shipped = (folder("templates") / "module" / "head.py.j2").read_text(encoding="utf-8")
    (tmp_path / "module" / "head.py.j2").write_text(shipped.replace("# ruff", "# ours\n# ruff"), encoding="utf-8")
    checked = check_text("specs/faulty.yaml", SPEC)
    own = compile_spec(checked, templates=[str(tmp_path)])
    assert "# ours" in own.text
    assert min(own.lines) == min(compile_spec(checked).lines) + 1


def test_a_spec_with_errors_is_not_compiled() -> None:
    checked = check_text("specs/faulty.yaml", SPEC.replace("it.weight", "it.wait"))
    with pytest.raises(SpecError):
        compile_spec(checked)


def test_threads_that_load_one_module_at_once_get_one_class() -> None:
    module = compile_spec(check_text("threads.yaml", SPEC))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for _ in range(10):
                for name in [n for n in sys.modules if n.startswith(f"envscaler_compiled.{module.name}_")]:
                    del sys.modules[name]
                together = threading.Barrier(8)

                def load(_: int, together: threading.Barrier = together) -> type[Any]:
                    together.wait()
                    return load_class(module)

                assert len(set(threads.map(load, range(8)))) == 1
    finally:
        sys.setswitchinterval(interval)
