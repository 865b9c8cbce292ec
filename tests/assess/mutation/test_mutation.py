"""Mutants: texts that differ in one place, tried by each means, the same for the same seed."""

from __future__ import annotations

import dataclasses
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from envscaler import session
from envscaler.assess.mutation.bounds import Bounds
from envscaler.assess.mutation.equivalent import normal_form
from envscaler.assess.mutation.mutants import Edit, Mutant, apply
from envscaler.assess.mutation.operators import OPERATORS, Material
from envscaler.assess.mutation.page import page
from envscaler.assess.mutation.probes import difference_of_states, probes
from envscaler.assess.mutation.results import advice
from envscaler.assess.mutation.sample import sample
from envscaler.assess.mutation.tapes import difference
from envscaler.assess.mutation.trial import Effort, Original, mutated, try_mutant
from envscaler.compiler import compile_spec
from envscaler.errors import UsageError
from envscaler.spec.check import check_text
from envscaler.spec.checked import Checked

ROOT = Path(__file__).resolve().parents[3]
BANK = ROOT / "specs" / "bank.yaml"
EFFORT = Effort(seed=0, calls=150, more=500, whole=500, recorded=1200)

SHOP = """\
envscaler: 1
name: shop
description: A shop.
constants: {MOST: 9}
states:
  wares:
    record: Ware
    key: {name: ware_id, make: "W-{n}"}
    fields: {name: str, kind: {enum: [tea, rice]}, count: {type: int, ge: 0}, sold: {type: int, ge: 0, default: 0}}
  sales:
    record: Sale
    key: {name: sale_id, make: "S-{n}"}
    fields: {ware_id: {ref: wares}, count: int, at: datetime}
rules:
  in_balance:
    text: What was sold of a ware is what its sales say.
    each: wares
    holds: |
      sum(s.count for s in sales.values() if s.ware_id == it.ware_id) == it.sold
tools:
  stock:
    kind: read
    description: Wares of a kind.
    params: {kind: {enum: [tea, rice]}}
    do: |
      return [{"name": w.name, "count": w.count} for w in wares.values() if w.kind == kind]
  sell:
    kind: write
    description: Sell a ware.
    params: {ware_id: {ref: wares, as: ware, missing: "No ware {ware_id}."}, count: {type: int, gt: 0}}
    do: |
      require(count <= MOST, f"At most {MOST} at once.")
      require(count <= ware.count, f"Only {ware.count} left.")
      ware.count -= count
      ware.sold += count
      sale = sales.add(ware_id=ware_id, count=count, at=now)
      return {"sale_id": sale.sale_id, "left": ware.count}
    examples:
      - {call: {ware_id: W-1, count: 2}, returns: {sale_id: S-1, left: 3}}
      - {call: {ware_id: W-1, count: 6}, error: Only 5 left.}
  restock:
    kind: write
    description: One more of everything.
    do: |
      for ware in wares.values():
          ware.count += 1
initial_state:
  wares:
    W-1: {name: Assam, kind: tea, count: 5}
    W-2: {name: Basmati, kind: rice, count: 8}
"""


@pytest.fixture(scope="module")
def shop() -> Checked:
    checked = check_text("shop.yaml", SHOP)
    assert not checked.diagnostics
    return checked


@pytest.fixture(scope="module")
def original(shop: Checked) -> Original:
    return Original(shop, EFFORT)


def _mutant(checked: Checked, operator: str, before: str, after: str = "") -> Mutant:
    """The mutant of an operator whose site is shown so."""
    known = OPERATORS[operator]
    found = [s for s in known.sites(Material(checked)) if before in s.before and after in s.after]
    assert len(found) == 1, [(s.before, s.after) for s in known.sites(Material(checked))]
    return Mutant(1, operator, known.fault, known.layer, checked.path, found[0])


def _shop_path(folder: Path) -> Path:
    path = folder / "shop.yaml"
    path.write_text(SHOP, encoding="utf-8")
    return path


# -- edits


def test_edits_are_made_from_the_end_and_must_not_overlap() -> None:
    assert apply("abcdef", (Edit(4, 5, "X"), Edit(0, 2, ""))) == "cdXf"
    with pytest.raises(ValueError, match="overlap"):
        apply("abcdef", (Edit(0, 3, ""), Edit(2, 4, "")))


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("drop-requirement", "count <= MOST", "(gone)"),
        ("invert-requirement", "require(count <= MOST", "require(not (count <= MOST)"),
        ("wrong-comparison", "count <= MOST", "count >= MOST"),
        ("off-by-one", "count <= MOST", "count < MOST"),
        ("off-by-one", "MOST: 9", "MOST: 10"),
        ("wrong-field", "ware.sold", "ware.count"),
        ("missing-update", "ware.sold += count", "(gone)"),
        ("wrong-record", "ware.sold += count", "first(wares.values()).sold += count"),
        ("wrong-sign", "ware.sold += count", "ware.sold -= count"),
        ("wrong-error", "At most", "Only {ware.count}"),
        ("missing-error", "No ware", "{ref: wares, as: ware}"),
        ("lost-reference", "ware_id: {ref: wares}", "ware_id: str"),
        ("enum-typo", '== "tea"', ""),
    ],
)
def test_an_operator_makes_the_slip_that_it_is_called_after(
    shop: Checked, operator: str, before: str, after: str
) -> None:
    if operator == "enum-typo":
        text = SHOP.replace("if w.kind == kind", 'if w.kind == kind and w.kind == "tea"')
        shop = check_text("shop.yaml", text)
    mutant = _mutant(shop, operator, before, after)
    text = apply(shop.source, mutant.site.edits)
    changed = [a for a, b in zip(shop.source.splitlines(), text.splitlines(), strict=False) if a != b]
    assert changed
    assert shop.source.splitlines()[mutant.site.line - 1].strip()


def test_the_shown_line_is_the_line_of_the_change(shop: Checked) -> None:
    mutant = _mutant(shop, "off-by-one", "count <= ware.count", "count < ware.count")
    assert "count <= ware.count" in SHOP.splitlines()[mutant.site.line - 1]
    assert mutant.title.startswith(f"shop.yaml:{mutant.site.line} off-by-one: ")


def test_a_swap_keeps_what_belongs_together() -> None:
    text = SHOP.replace('"left": ware.count}', '"left": ware.count, "rest": (ware.count - count) // 2}')
    checked = check_text("shop.yaml", text)
    mutant = _mutant(checked, "swapped-arguments", "// 2")
    assert "2) // (ware.count - count)" in apply(text, mutant.site.edits)


def test_module_mutants_are_edits_of_the_module(shop: Checked) -> None:
    mutant = _mutant(shop, "wall-clock", '"at": _state._now')
    assert mutant.layer == "module"
    text = apply(compile_spec(shop).text, mutant.site.edits)
    compile(text, "mutant", "exec")
    assert "datetime.now()" in text


# -- the check of a mutant


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_rereading_only_the_changed_block_gives_the_module_that_rereading_all_gives(seed: int) -> None:
    checked = check_text(str(BANK), BANK.read_text(encoding="utf-8"))
    names = [n for n, o in OPERATORS.items() if o.layer == "spec"]
    drawn = sample([checked], seed=seed, per_operator=3, operators=names).mutants
    for mutant in random.Random(seed).sample(drawn, 8):
        quick = mutated(checked, mutant)
        whole = check_text(checked.path, apply(checked.source, mutant.site.edits))
        assert [(d.code, d.span.line, d.title) for d in quick.diagnostics if d.severity == "error"][:1] == [
            (d.code, d.span.line, d.title) for d in whole.diagnostics if d.severity == "error"
        ][:1], mutant.title
        if quick.ok:
            assert normal_form(compile_spec(quick).text) == normal_form(compile_spec(whole).text), mutant.title


# -- means


@pytest.mark.parametrize(
    ("operator", "before", "after", "means"),
    [
        ("type-error", "count <= MOST", "str(count) <= MOST", "check"),
        ("attribute-error", "ware.sold", "", "check"),
        ("hidden-write", "(nothing)", "touched", "check"),
        ("missing-update", "ware.sold += count", "(gone)", "examples"),
        ("wrong-sign", "ware.count -= count", "ware.count += count", "examples"),
        ("off-by-one", "count <= MOST", "count < MOST", "original"),
        ("missing-error", "No ware", "", "original"),
    ],
)
def test_what_kills_a_spec_mutant(original: Original, operator: str, before: str, after: str, means: str) -> None:
    mutant = _mutant(original.checked, operator, before, after)
    outcome = try_mutant(original, mutant)
    assert not outcome.failed
    assert outcome.killed(means), outcome  # type: ignore[arg-type]
    assert outcome.alone == (means != "original"), outcome


def test_a_mutant_that_is_refused_runs_nowhere_else(original: Original) -> None:
    outcome = try_mutant(original, _mutant(original.checked, "type-error", "count <= MOST", "str(count) <= MOST"))
    assert outcome.check == "unlike-comparison"
    assert (outcome.generic, outcome.examples, outcome.original) == ("", "", "")


@pytest.mark.parametrize(
    ("operator", "told"),
    [
        ("leaked-state", "counter of keys"),
        ("leaked-state", "results are remembered"),
        ("unseeded-random", "keys are drawn"),
        ("unseeded-random", "comes in any order"),
        ("wall-clock", '.now()'),
        ("shared-base", "_state.wares.values()"),
        ("module-hidden-write", "wares"),
    ],
)  # fmt: skip
def test_faults_that_a_spec_cannot_express_are_found_without_the_original(
    original: Original, operator: str, told: str
) -> None:
    outcome = try_mutant(original, _mutant(original.checked, operator, "", told), ["generic"])
    assert outcome.generic, outcome


def test_every_failure_that_is_not_undone_is_found_without_the_original(original: Original) -> None:
    sites = list(OPERATORS["dropped-rollback"].sites(Material(original.checked)))
    assert {site.owner for site in sites} == {"state wares", "state sales"}
    for site in sites:
        mutant = Mutant(1, "dropped-rollback", "atomicity", "module", original.checked.path, site)
        assert try_mutant(original, mutant, ["generic"]).generic.startswith("failure-is-undone")


def test_a_mutant_leaves_nothing_behind(original: Original) -> None:
    before = set(sys.modules)
    twin = Original(original.checked, EFFORT)
    try_mutant(original, _mutant(original.checked, "leaked-state", "", "counter of keys"))
    assert {n for n in set(sys.modules) - before if "mutant" in n} == set()
    assert difference(twin.environment, original.tapes) == ""
    env = original.environment.new()
    assert env.call("sell", {"ware_id": "W-1", "count": 1}).value["sale_id"] == "S-1"


def test_the_original_differs_from_itself_in_nothing(original: Original) -> None:
    outcome = dataclasses.replace(_mutant(original.checked, "off-by-one", "MOST: 9", "MOST: 10"))
    same = dataclasses.replace(outcome, site=dataclasses.replace(outcome.site, edits=()))
    tried = try_mutant(original, same)
    assert tried.equivalent
    assert not tried.killed()


def test_states_at_the_border_tell_a_bound_that_moved(original: Original, shop: Checked) -> None:
    given = probes(original.environment, (), Bounds({"count": (-1, 0)}))
    assert difference_of_states(original.environment, given) == ""
    looser = check_text(
        "shop.yaml", SHOP.replace("count: {type: int, ge: 0}, sold", "count: {type: int, ge: -1}, sold")
    )
    other = Original(looser, EFFORT).environment
    assert "now allowed" in difference_of_states(other, given)


# -- sampling


def _some(names: list[str]) -> Iterator[Checked]:
    for name in names:
        path = ROOT / "specs" / name
        yield check_text(str(path), path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_same_seed_draws_the_same_mutants_and_another_seed_others(shop: Checked) -> None:
    bank = list(_some(["bank.yaml"]))
    first, again, other = (sample([shop, *bank], seed=s, per_operator=4) for s in (5, 5, 6))
    assert [m.title for m in first.mutants] == [m.title for m in again.mutants]
    assert first.sites == again.sites == other.sites
    assert {m.title for m in first.mutants} != {m.title for m in other.mutants}


def test_no_operator_has_more_than_was_asked_for_and_each_number_occurs_once(shop: Checked) -> None:
    drawn = sample([shop], per_operator=3)
    for name in OPERATORS:
        assert sum(m.operator == name for m in drawn.mutants) == min(3, drawn.sites[name])
    assert [m.number for m in drawn.mutants] == list(range(1, len(drawn.mutants) + 1))


def test_an_operator_that_there_is_none_of_is_refused_with_the_nearest(shop: Checked) -> None:
    with pytest.raises(UsageError, match="did you mean off-by-one"):
        sample([shop], operators=["off-by-on"])


@pytest.mark.slow
def test_every_operator_has_places_in_the_shipped_specs() -> None:
    specs = list(_some(["bank.yaml", "ports/retail.yaml"]))
    sites = sample(specs, per_operator=1).sites
    assert min(sites.values()) > 0, sites


# -- the verb and its page


@pytest.mark.slow
def test_a_run_is_the_same_with_one_process_and_with_two(tmp_path: Path) -> None:
    path = _shop_path(tmp_path)
    one = session.mutate(path, per_operator=2, effort=EFFORT, operators=["off-by-one", "wrong-sign"])
    two = session.mutate(path, per_operator=2, effort=EFFORT, operators=["off-by-one", "wrong-sign"], jobs=2)
    assert one.to_json() == two.to_json()
    assert page(one, "x") == page(two, "x")


def test_means_can_be_chosen(tmp_path: Path) -> None:
    results = session.mutate(
        _shop_path(tmp_path), per_operator=3, effort=EFFORT, operators=["type-error", "missing-update"], by=["check"]
    )
    total = results.total()
    assert total.check > 0
    assert total.generic == total.examples == total.original == 0
    with pytest.raises(UsageError, match=r"no such means: chek; .* did you mean check"):
        session.mutate(_shop_path(tmp_path), by=["chek"])


@pytest.mark.slow
def test_the_page_counts_what_the_results_hold_and_lists_survivors(tmp_path: Path) -> None:
    results = session.mutate(
        _shop_path(tmp_path), per_operator=4, effort=EFFORT, operators=["missing-error", "off-by-one", "type-error"]
    )
    told = page(results, "envscaler mutate")
    total = results.total()
    assert f"| all | {total.sites} | {total.mutants} |" in told
    for outcome in results.survivors():
        assert f"{outcome.mutant.path}:{outcome.mutant.site.line}` {outcome.mutant.operator}" in told
        assert advice(outcome) in told
    assert sum(r.mutants for r in results.rows()) == sum(r.mutants for r in results.faults()) == total.mutants


def test_a_trial_that_goes_wrong_itself_kills_nothing(original: Original) -> None:
    mutant = _mutant(original.checked, "wall-clock", '"at": _state._now')
    bad = dataclasses.replace(mutant, site=dataclasses.replace(mutant.site, edits=(Edit(0, 0, "import ("),)))
    outcome = try_mutant(original, bad)
    assert "SyntaxError" in outcome.failed
    assert not outcome.killed()
