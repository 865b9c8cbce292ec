"""A model that makes every mistake that a reply can hold, and mends it from what it is told: repaired, within the bound, and nothing
else touched."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from envscaler.draft.parts import Parts
from envscaler.draft.replies import PartsReply
from envscaler.draft.writing import Draft, WriteSettings, write
from envscaler.errors import UsageError
from envscaler.llm import Reply, Request
from envscaler.spec.codes import CODES
from envscaler.spec.codes.base import complete
from envscaler.spec.format import format_text
from envscaler.spec.report import Report
from envscaler.spec.scan import decode
from tests.assess.models import SHELF, scripted
from tests.draft.mender import Mending, planned, sections

BAD = Path(__file__).parents[1] / "cases" / "bad"

# What no reply leads to. Replies are JSON, laid out by the program: there is no YAML in them to be wrong, no bytes, no head of a
# file; what is nested or long beyond all measure is refused before; the others are notes, which nobody has to mend.
FILES = {
    "anchor", "bad-version", "complex-key", "control-character", "directive", "folded", "merge-key", "multiple-documents",
    "not-a-mapping", "not-utf8", "surrogate", "tab", "tag", "too-deep", "too-large", "yaml-syntax",
}  # fmt: skip
NOTES = {"global-rule", "uses-any", "more-problems"}
# Codes of which no case is mended. For six (compare-records, forbidden-syntax, logic-syntax, logic-too-large, unlike-comparison,
# unlike-types) the diagnostic says what cannot be, and no words that could stand there: the script returns something else instead.
UNMENDED: set[str] = set()

# Mistakes that only JSON can hold.
ODD: dict[str, Any] = {
    "logic that is no text": ("do", {"return": "x"}),
    "errors without a message": ("errors", {"error": "failed"}),
    "a parameter of no type": ("params", {"words": None}),
}


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Specs with mistakes: the bad snippet of each code's page, the bad specs of the checker's tests, and what only JSON can hold."""
    for code, page in CODES.items():
        if not page.bad.startswith(("-", "%")):
            yield from _spec(f"page of {code}", complete(page.bad))
    for file in sorted(BAD.glob("*.yaml")):
        if (text := decode(file.name, file.read_bytes(), Report())) is not None:
            yield from _spec(file.stem, text)
    for name, (key, value) in ODD.items():
        spec = copy.deepcopy(sections(SHELF))
        spec["tools"]["find"][key] = value
        yield name, spec


def _spec(name: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        yield name, sections(text)
    except Exception:  # no YAML: no reply can be like it
        return


def drafted(spec: dict[str, Any], coder: Any) -> Draft:
    with scripted(coder=coder) as (models, _):
        return models.run(write(planned(spec), models.role("coder"), WriteSettings(tries=3, run_examples=False)))


def held(spec: Mapping[str, Any], again: list[str], draft: Draft) -> None:
    """Parts that were not sent back stand in the text as they came, and it is as the formatter has it."""
    assert format_text(draft.text) == draft.text
    asked = {path for prompt in again for path in re.findall(r"^([\w.-]+(?:\.[^\n]+)?):$", prompt, re.M)}
    parts = Parts("drafted")
    for path, value in PartsReply.model_validate(spec).parts().items():
        try:
            parts.put(path, value)
        except UsageError:
            continue
        section = path.partition(".")[0]
        if path not in asked and path in draft.parts and (section != "initial_state" or path in draft.text):
            assert "\n".join(parts.lines(path)) in draft.text, path


def tally(found: Iterator[tuple[str, dict[str, Any]]]) -> dict[str, list[bool]]:
    """For each code that the model was told of, whether the spec had no error left at the end, case by case."""
    result: dict[str, list[bool]] = defaultdict(list)
    for _name, spec in found:
        model = Mending(spec, cut=True)
        draft = drafted(spec, model)
        held(spec, model.again, draft)
        assert all(times <= 3 for times in draft.parts.values())
        told = {code for prompt in model.again for code in re.findall(r"^- \[([\w-]+)\]", prompt, re.M)}
        open_codes = {d.code for d in draft.problems}
        for code in told:
            result[code].append(not draft.errors and code not in open_codes)
    return result


PAGES = ("unknown-field", "maybe-null", "write-in-read", "unused")


def test_mistakes_of_some_codes_are_mended() -> None:
    found = tally((name, spec) for name, spec in cases() if name.removeprefix("page of ") in PAGES)
    assert set(PAGES) <= set(found)
    assert all(any(found[code]) for code in PAGES)


@pytest.mark.slow
def test_mistakes_of_every_code_that_a_reply_can_lead_to_are_mended() -> None:
    found = tally(cases())
    assert set(CODES) - set(found) == FILES | NOTES
    assert {code for code, outcomes in found.items() if not any(outcomes)} == UNMENDED


def test_what_is_never_put_right_is_kept_with_its_problem() -> None:
    spec = sections(SHELF.replace("book.lent += 1", "book.lend += 1"))
    asked: list[Request] = []

    def stubborn(request: Request) -> Reply:
        asked.append(request)
        return Mending(spec)(request) if "not right yet" not in request.messages[-1].content else again(request)

    def again(_: Request) -> Reply:
        from tests.assess.models import replied

        return replied("Parts", {"tools": {"lend": spec["tools"]["lend"]}})

    draft = drafted(spec, stubborn)
    assert [d.code for d in draft.problems] == ["unknown-field"]
    assert draft.parts["tools.lend"] == 3
    assert draft.missing == ()
    assert "  # open: [unknown-field] Book has no field 'lend'\n" in draft.text
    assert "Your last parts were not kept: it changes nothing" in asked[-1].messages[-1].content
