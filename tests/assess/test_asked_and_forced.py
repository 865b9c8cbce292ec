"""Properties that bring about what seldom happens by itself: a failure at the very end, a class without a past."""

from __future__ import annotations

import dataclasses
import datetime
import linecache
import os
import re
import sys
import time
from threading import Event, Thread
from typing import Any

import pytest

from envscaler.assess import FuzzSettings, fuzz
from envscaler.assess.events import Call, Start, play
from envscaler.assess.facts import Facts
from envscaler.assess.properties import PROPERTIES
from envscaler.compiler import compile_spec, load_again, load_class
from tests.assess.shelf import SPEC, checked, compiled, spoilt

KEPT = """\
class ShelfState(State):
    def __init__(self, *given):
        super().__init__(*given)
        from envscaler.runtime.store import Single

        class Kept(Single):
            def rollback(self):
                self.before.clear()

        self.depot = Kept(self.depot.plan, self.depot.base, self._meter)
"""


def _found(environment: type[Any], name: str) -> list[str]:
    report = fuzz(environment, checked(), FuzzSettings(calls=250, shrink=False, properties=(name,)))
    return [f.title for f in report.findings]


def _run(environment: type[Any], name: str, *calls: Call) -> Any:
    return PROPERTIES[name].run(play(Start(Facts(environment, checked())), calls))


def test_a_failure_at_the_end_that_is_not_undone_is_told() -> None:
    kept = spoilt("class ShelfState(State):\n", KEPT + "\n")
    breach = _run(kept, "failure-is-undone", Call("draw"))
    assert breach is not None
    assert breach.title == "what draw wrote stays when it fails at its end"
    assert "/depot/total" in breach.detail


def test_a_sound_class_undoes_what_is_made_to_fail() -> None:
    calls = [Call("draw"), Call("put", {"box_id": "B-1", "count": 1}), Call("new_box", {"name": "x"})]
    assert _run(compiled(checked()), "failure-is-undone", *calls) is None


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        ('__import__("time").time()', "no-wall-clock", "the machine's clock"),
        ('__import__("random").random()', "no-unseeded-randomness", "the machine for random numbers"),
        ('__import__("uuid").uuid4()', "no-unseeded-randomness", "the machine for random numbers"),
    ],
)
def test_a_compiled_class_that_asks_the_machine_is_told_of_whatever_comes_of_it(
    code: str, name: str, words: str
) -> None:
    asking = spoilt("return sum(", f"_ = {code}\n    return sum(")
    found = _found(asking, name)
    assert found == [f"count_all asks {words}"]


def test_what_other_threads_ask_for_is_not_told_of_the_class() -> None:
    began, told, ended = time.time(), set[float](), Event()

    def ask() -> None:
        while not ended.is_set():
            told.update((time.time(), datetime.datetime.now().timestamp(), float(len(os.urandom(2)))))

    thread = Thread(target=ask)
    thread.start()
    try:
        found = Facts(compiled(checked()), checked()).elsewhere
        with found.at(3, 0):
            time.sleep(0.2)
        assert found.asked == frozenset()
        with found.at(3, 0):
            assert time.time() > began + 86_400 * 300
        assert found.asked == {"clock"}
    finally:
        ended.set()
        thread.join()
    told.discard(2.0)
    assert max(told) < began + 3600
    assert len(told) > 10


def test_a_read_that_is_refused_because_of_a_rule_has_written() -> None:
    broken = spoilt(
        "return sum(",
        '_state.boxes.edit("B-1")["items"] = 9\n    return sum(',
    )
    assert _found(broken, "reads-write-nothing") == [
        "count_all is a read tool and is refused because of what it would change"
    ]


def test_what_the_class_remembers_over_its_episodes_is_told() -> None:
    remembering = spoilt(
        "return sum(",
        "return _known.setdefault(0, _count(_state))\n\n\n_known = {}\n\n\ndef _count(_state):\n    return sum(",
    )
    module = sys.modules[remembering.__module__]
    module.__file__ = f"<{module.__name__}>"
    module.__source__ = ("".join(linecache.getlines(f"<{module.__name__}>")), "shelf.yaml")  # as `load_class` leaves it
    assert _found(remembering, "reads-see-the-state") == ["count_all tells another thing than the state says"]


def test_a_class_can_be_loaded_once_more_and_shares_nothing_with_the_first() -> None:
    first = compiled(checked())
    again = load_again(first)
    assert again is not None
    assert again is not first
    assert again.new().state == first.new().state
    assert load_again(type("Own", (first,), {"__module__": __name__})) is None


@pytest.mark.parametrize(
    ("field", "given", "about"),
    [
        ("box_id: str", "box_id: B-1", "box_id of Depot is text"),
        ("held: {list: str, default: []}", "held: [B-1, B-2]", "held of Depot is text"),
        ("held: str", "held: B-1", "held of Depot is text"),  # keys of this kind are made, and seldom met by chance
    ],
)
def test_text_that_means_records_is_told(field: str, given: str, about: str) -> None:
    text = SPEC.replace(
        "      total: {type: int, default: 0}", f"      total: {{type: int, default: 0}}\n      {field}"
    )
    text = text.replace("depot: {total: 1}", f"depot: {{total: 1, {given}}}")
    from envscaler.spec.check import check_text

    made = check_text("shelf.yaml", text)
    assert made.ok
    (breach,) = PROPERTIES["references-are-declared"].run(Facts(compiled(made), made))
    assert breach.title.startswith(about)
    assert text.splitlines()[breach.lines[0] - 1].strip() == field


def test_text_of_which_only_some_are_keys_is_text() -> None:
    text = SPEC.replace("name: first", "name: B-2")
    assert re.search("name: B-2", text)
    from envscaler.spec.check import check_text

    made = check_text("shelf.yaml", text)
    assert list(PROPERTIES["references-are-declared"].run(Facts(compiled(made), made))) == []


def test_what_a_drawing_read_remembers_over_episodes_is_told() -> None:
    """Its numbers come from the seed: another episode has others, unless the class keeps those of the first."""
    drawing = checked(
        "  count_all:\n", "  roll:\n    kind: read\n    do: |\n      return rand_int(1, 999)\n  count_all:\n"
    )
    unit = compile_spec(drawing)
    drawn = next(line for line in unit.text.splitlines() if "1, 999)" in line).strip()
    kept = f"return _known.setdefault(0, {drawn.removeprefix('return ')})"
    for text, found in ((unit.text, []), (f"{unit.text.replace(drawn, kept)}\n\n_known = {{}}\n", ["roll"])):
        environment = load_class(dataclasses.replace(unit, text=text, spec_hash=f"sha256:{len(text):012d}"))
        report = fuzz(environment, drawing, FuzzSettings(calls=400, shrink=False, properties=("reads-see-the-state",)))
        titles = [f"{tool} tells another thing when it is made again on the class loaded anew" for tool in found]
        assert [finding.title for finding in report.findings] == titles
