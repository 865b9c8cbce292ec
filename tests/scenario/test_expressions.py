"""Goals are conditions of the spec language over two states: what they may name, what they give, what is refused where."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.compiler.transforms import lower
from envscaler.diagnostics import Diagnostic, Span
from envscaler.runtime import Environment, Failure
from envscaler.scenario.answers import Slots, Submitted
from envscaler.scenario.expressions import Expression, Expressions, place_of
from envscaler.scenario.model import Answer
from envscaler.scenario.world import World
from envscaler.spec.report import Report
from tests.scenario.hand import world
from tests.scenario.sample_depot import depot

PLACE = Span("goals", 1, 1, 1, 1)
ANSWERS = (
    Answer("number", "int"),
    Answer("fee", {"type": "money", "ge": 0}),
    Answer("when", "date"),
    Answer("kind", {"enum": ["big", "small"]}),
    Answer("who", {"list": "str"}),
)


def slots(of: World, answers: tuple[Answer, ...] = ()) -> Slots:
    report = Report()
    found = Expressions.of(of).slots(answers, PLACE, report)
    assert not report.items
    return found


def compiled(of: World, text: str, answers: tuple[Answer, ...] = ()) -> Expression:
    found, problems = Expressions.of(of).compile(place_of(text, PLACE), slots(of, answers))
    assert found is not None, [p.headline() for p in problems]
    return found


def refused(text: str, of: World | None = None) -> Diagnostic:
    of = of or world()
    found, problems = Expressions.of(of).compile(place_of(text, PLACE), slots(of, ANSWERS))
    assert found is None
    assert problems
    return problems[0]


def holds(
    text: str, env: Environment, submitted: dict[str, Any] | None = None, answers: tuple[Answer, ...] = ANSWERS
) -> bool:
    of = world() if env.name == "bank" else depot()
    one = compiled(of, text, answers)
    return one.holds(env.start_state(), env._state, slots(of, answers).read(submitted))


def transferred() -> Environment:
    env = world().environment.new()
    assert env.call("transfer", {"from_account": "A-2001", "to_account": "A-2007", "amount": 340.55}).ok
    return env


@pytest.mark.parametrize(
    "text",
    [
        'final.accounts["A-2001"].balance == 1500.00',
        'initial.accounts["A-2001"].balance == 1840.55',
        'final.accounts["A-2001"].balance == initial.accounts["A-2001"].balance - 340.55',
        "final.till.cash == initial.till.cash",
        'available(final.accounts["A-2001"]) == 2000',  # a helper reads the last state
        'available(initial.accounts["A-2001"]) == 2340.55',  # but what it is handed may be from the first
        "len(final.postings) == len(initial.postings) + 2",
        'count(p for p in final.postings.values() if p.account_id == "A-2001" and p.amount == -340.55) == 1',
        'count(k for k, p in final.postings.items() if k not in initial.postings and p.kind == "transfer") == 2',
        'sum(a.balance for a in final.accounts.values()) == sum(a.balance for a in initial.accounts.values())',
        'first(a for a in final.accounts.values() if a.kind == "savings").balance <= DAILY_LIMIT * 3',
        'final.accounts["A-2001"].frozen_for is None',
        'final.customers["C-1001"].contact.city == "Oslo" and today == date("2031-05-12")',
        'any(p.to.bank == "northgate" and p.to.account_id == "A-2007" for p in final.payees.values())',
        "refusal is None",
        "answer.number is None",
        '"A-2099" not in final.accounts',
        'final.accounts.get("A-2099") is None',
    ],
)  # fmt: skip
def test_what_a_goal_can_say(text: str) -> None:
    assert holds(text, transferred())
    assert not holds(f"not ({text})", transferred())


@pytest.mark.parametrize(
    ("text", "given", "met"),
    [
        ("answer.number == 10", {"number": 10}, True),
        ("answer.number == 10", {"number": "10"}, True),  # arguments are read as the spec's calls are
        ("answer.number == 10", {"number": "in 2010 we had 7"}, False),  # no substring is an answer
        ("answer.number == 10", {}, False),
        ("answer.number == 10", None, False),
        ("answer.number == 10", {"number": None}, False),
        ("answer.number == 10", {"numbers": 10}, False),
        ("answer.fee == 2.50", {"fee": 2.5}, True),
        ("answer.fee == 2.50", {"fee": 2.505}, False),
        ('answer.when == date("2031-05-12")', {"when": "2031-05-12"}, True),
        ('answer.kind == "small"', {"kind": "small"}, True),
        ('answer.kind == "small"', {"kind": "Small, I think"}, False),
        ('answer.who is not None and sorted(answer.who) == ["a", "b"]', {"who": ["b", "a"]}, True),
    ],
)  # fmt: skip
def test_answers_are_typed(text: str, given: dict[str, Any] | None, met: bool) -> None:
    submitted = None if given is None else {"answer": given}
    assert holds(text, world().environment.new(), submitted) is met


def test_a_refusal_is_a_reason_and_leaves_the_slots_empty() -> None:
    env = world().environment.new()
    assert holds('refusal == "daily_limit"', env, {"refusal": "daily_limit"})
    assert not holds('refusal == "daily_limit"', env, {"refusal": "goodwill"})
    assert not holds('refusal == "daily_limit"', env, {"refusal": 3})
    assert not holds("answer.number == 10", env, {"answer": {"number": 10}, "refusal": "daily_limit"})


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('accounts["A-2001"].balance == 1', "unknown-name", "write final.accounts, or initial.accounts"),
        ("state.till.cash == 1", "unknown-name", "name a state: final.NAME"),
        ("final == 1", "unknown-name", "name a state: final.NAME"),
        ('finl.accounts["A-2001"].balance == 1', "unknown-name", "did you mean 'final'?"),
        ('final.acounts["A-2001"].balance == 1', "unknown-name", "did you mean 'accounts'?"),
        ('final.accounts["A-2001"].balanc == 1', "unknown-field", "did you mean 'balance'?"),
        ('final.accounts["A-2001"].status == "closd"', "unknown-member", "did you mean 'closed'?"),
        ('refusal == "daily_limits"', "unknown-member", "did you mean 'daily_limit'?"),
        ("answer.numbr == 1", "unknown-field", "did you mean 'number'?"),
        ("answer.number > 1", "maybe-null", "test 'answer.number is not None' first"),
        ('final.accounts["A-2001"].balance', "not-bool", "write"),
        ("final.accounts[1].balance == 1", "wrong-type", ""),
        ('book("A-2001", "fee", money(1), "x")', "impure-rule", ""),
        ("rand_int(1, 2) == 1", "impure-rule", ""),
        ('final.accounts.add(customer_id="C-1001").balance == 1', "impure-rule", ""),
        ("any(final > 1 for final in [1])", "shadowing", "take another name"),
        ("any(answer > 1 for answer in [1])", "shadowing", "take another name"),
        ("__import__('os').system('true') == 0", "forbidden-name", ""),
        ("x = 1", "not-an-expression", ""),
        ("True\nTrue", "not-an-expression", ""),
        ("(" * 40 + "True" + ")" * 40, "logic-too-large", ""),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, code: str, said: str) -> None:
    problem = refused(text)
    assert problem.code == code
    assert said in problem.help


def test_what_a_goal_is_about_may_be_gone() -> None:
    """That is no error of the goal; anything else that cannot be told is one."""
    env = depot().environment.new()
    for text in ("final.bins[99].count == 1", 'final.orders["O-9"].fee == 0', "final.bins[1].stamps[7].by == \"Ann\"",
                 "first(b for b in final.bins.values() if b.count > 100).label == \"x\"",
                 "stock(99) == 1"):  # fmt: skip
        assert not holds(text, env, answers=())
        assert not holds(f"not {text}", env, answers=()), "nor is the opposite true"
    for text in ("share(final.bins[12].count) == 1", 'len("x" * final.bins[1].count ** 20) > 0',
                 "sum(a * b for a in range(2000) for b in range(2000)) > 0"):  # fmt: skip
        with pytest.raises(Failure):
            holds(text, env, answers=())


def test_evaluating_leaves_no_trace() -> None:
    env = transferred()
    before, ops = env.state_hash(), env.diff()
    for _ in range(3):
        assert holds("sum(1 for a in range(900000) if a >= 0) == 900000", env), "each time with all of its steps"
    assert env._state._dirty == []
    assert (env.state_hash(), env.diff()) == (before, ops)
    assert env.call("block_card", {"card_id": "K-3001"}).ok


def test_one_text_is_compiled_once() -> None:
    first = compiled(depot(), "final.bins[1].count == 5")
    assert compiled(depot(), "final.bins[1].count == 5") is first
    assert compiled(depot(), "final.bins[1].count == 5", (Answer("n", "int"),)) is first, "whatever is to be answered"
    whole, money = (compiled(depot(), "answer.n == 5", (Answer("n", kind),)) for kind in ("int", "money"))
    assert whole is not money


def test_going_through_what_is_new_costs_what_is_new() -> None:
    """The loop over all records of a collection whose condition begins with `not in initial.…` needs only the added ones."""
    of = Expressions.of(depot())
    for text in (
        "count(k for k, r in final.orders.items() if k not in initial.orders and r.bin == 1) == 1",
        "count(r for r in final.orders.values() if r.order_id not in initial.orders and r.bin == 1) == 1",
    ):
        body, _ = of.checker.check(place_of(text, PLACE), slots(depot()).type, of.reasons)
        assert body is not None
        assert "_rt.fresh_" in lower(body, of.compiler.names, "goal").code
        env = depot().environment.new()
        assert not holds(text, env, answers=())
        env.call("renew", {"order_id": "O-001"})
        assert not holds(text, env, answers=()), "a record that went and came back is not new"
        env.call("order", {"number": 2})
        assert not holds(text, env, answers=())
        env.call("order", {"number": 1})
        assert holds(text, env, answers=())
        env.call("cancel", {"order_id": "O-004"})
        assert not holds(text, env, answers=())
    for other in (
        "count(r for r in initial.orders.values() if r.order_id not in final.orders) == 0",
        "count(r for r in final.orders.values() if r.bin == 1 and r.order_id not in initial.orders) == 0",
        "count(k for k, r in final.orders.items() if r.order_id not in initial.orders) == 0",
    ):
        body, problems = of.checker.check(place_of(other, PLACE), slots(depot()).type, of.reasons)
        assert body is not None, problems
        assert "_rt.fresh_" not in lower(body, of.compiler.names, "goal").code


# -- patterns


def meant(of: World, text: str, env: Environment) -> bool | str:
    """What an expression gives when it is checked and compiled by itself; the code where it is refused."""
    expressions = Expressions.of(of)
    body, problems = expressions.checker.check(place_of(text, PLACE), slots(of).type, expressions.reasons)
    if body is None:
        return problems[0].code
    run, initial = expressions.compiler.function(body)
    return Expression(text, run, initial).holds(env.start_state(), env._state, Submitted({}))


def given_by(of: World, text: str, env: Environment) -> bool | str:
    found, problems = Expressions.of(of).compile(place_of(text, PLACE), slots(of))
    return problems[0].code if found is None else found.holds(env.start_state(), env._state, Submitted({}))


ALIKE = (
    ("final.accounts[{}].balance == {}", ["'A-2001'", '"A-2002"', '"A-9"', "3", '"\\x41"'], ["1840.55", "12500", "1.005", "9e3", "1e999",
     "12_500", "9007199254740993", "10000000000000000.25", '"x"', "1840.550"]),
    ("final.accounts[{}].status == {}", ['"A-2001"', '"A-2005"'], ['"open"', '"frozen"', '"opne"', "3"]),
    ("final.accounts[{}].balance == initial.accounts[{}].balance", ['"A-2001"', '"A-2002"'], ['"A-2001"', '"A-2002"', '"A-9"']),
    ("final.accounts[{}].frozen_for is not None and final.accounts[{}].frozen_for == 'court_order'", ['"A-2005"', '"A-2001"'],
     ['"A-2005"', '"A-2001"']),
    ("count(p for p in final.postings.values() if p.text == {} and p.amount < -{}) > 0", ['"Rent May"', '"Rent"', '""', "'\u203b0\u203b'", "f'a'"],
     ["5", "949.99", "950", "7340000000"]),
    ("{} in final.cards and len(final.cards) > {}", ['"K-3001"', '"K-1"', "1"], ["3", "6.5", "7340000001", "0x2"]),
    ("final.customers['C-1001'].born == date({}) or {} == 3", ['"1984-11-02"', '"1984-11-03"', '"then"'], ["3", "4"]),
    ("final.customers[{}].born <= {}", ['"C-1001"', '"C-1002"'], ['"1984-11-02"', '"1984-11-03"', '"1984-11-1"', '"9321-01-01"',
     '"2023-02-30"', '"C-1001"', '"1984-11-02T00:00:00Z"', '"then"', "3"]),
    ("final.customers['C-1001'].born == {} and final.customers['C-1002'].born > {}", ['"1984-11-02"', '"9321-01-02"'],
     ['"1900-01-01"', '"1984-11-02"', '"9321-01-01"']),
    ("final.accounts['A-2001'].daily_limit == {} or len(final.cards) == {}", ["1", "2.5"], ["3", "3.0", "4.5"]),
    ("len(final.cards) == {} or final.cards['K-3001'].daily_limit == {}", ["3", "3.0", "4.5"], ["500", "0.5"]),
    ("round(final.till.cash / 7, {}) > {}", ["1", "2", "-1"], ["3", "600.01"]),
    ("len(final.cards) > {} and abs(7340000000) > {}", ["1", "3"], ["2", "5"]),
    ("final.till.cash >= {} * {}", ["2", "4200", "3.5"], ["1", "2100", "1200"]),
    ("final.customers['C-1001'].name[{}] == {}", ["0", "1", "99"], ['"I"', '"n"']),
)  # fmt: skip


@pytest.mark.parametrize(("form", "ones", "others"), ALIKE)
def test_goals_that_differ_in_literals_mean_what_each_means(form: str, ones: list[str], others: list[str]) -> None:
    """They are compiled once where that makes no difference; whether it does, nothing can be seen of it."""
    env = world().environment.new()
    for one in ones:
        for other in others:
            text = form.format(one, other)
            assert given_by(world(), text, env) == meant(world(), text, env), text


def test_goals_that_differ_in_free_literals_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expressions = Expressions(world())
    checked: list[str] = []
    check = expressions.checker.check
    monkeypatch.setattr(
        expressions.checker, "check", lambda source, *more: (checked.append(source.source), check(source, *more))[1]
    )
    forms = (
        'final.accounts["A-{n}"].balance == {n}.5',
        'count(k for k, p in final.postings.items() if k not in initial.postings and p.text == "t{n}" and p.amount == -{n}) == {n}',
        '"K-{n}" not in final.cards',
    )
    for form in forms:
        del checked[:]
        for n in range(1000, 1020):
            assert expressions.compile(place_of(form.format(n=n), PLACE), slots(world()))[0] is not None
        assert len(checked) == 1


# -- the same as a naive evaluation of the JSON states

Json = dict[str, Any]
Said = tuple[str, Callable[[Json, Json], bool]]
"""An expression, and what it means over the first and the last state as JSON."""

KEYS = {"accounts": [f"A-20{n:02d}" for n in range(1, 12)], "cards": ["K-3001", "K-3003", "K-3099"]}


def cents(amount: Any) -> Decimal:
    return Decimal(str(amount)).quantize(Decimal("0.01"))


def _balance(key: str, amount: int, moment: str) -> Said:
    value = Decimal(amount) / 100

    def meant(first: Json, last: Json) -> bool:
        record = (last if moment == "final" else first)["accounts"].get(key)
        return record is not None and cents(record.get("balance", 0)) >= value

    return f'{moment}.accounts["{key}"].balance >= {value}', meant


def _moved(key: str) -> Said:
    def meant(first: Json, last: Json) -> bool:
        a, b = first["accounts"].get(key), last["accounts"].get(key)
        return a is not None and b is not None and a.get("balance", 0) != b.get("balance", 0)

    return f'final.accounts["{key}"].balance != initial.accounts["{key}"].balance', meant


def _booked(key: str, kind: str, n: int) -> Said:
    def meant(first: Json, last: Json) -> bool:
        return sum(p["account_id"] == key and p["kind"] == kind for p in last["postings"].values()) == n

    where = f'p.account_id == "{key}" and p.kind == "{kind}"'
    return f"count(p for p in final.postings.values() if {where}) == {n}", meant


def _new(kind: str, n: int) -> Said:
    def meant(first: Json, last: Json) -> bool:
        new = last["postings"].keys() - first["postings"].keys()
        return sum(last["postings"][k]["kind"] == kind for k in new) == n

    where = f'k not in initial.postings and p.kind == "{kind}"'
    return f"count(k for k, p in final.postings.items() if {where}) == {n}", meant


def _card(key: str, status: str) -> Said:
    def meant(first: Json, last: Json) -> bool:
        record = last["cards"].get(key)
        return record is not None and record.get("status", "active") == status

    return f'final.cards["{key}"].status == "{status}"', meant


def _there(key: str) -> Said:
    return f'"{key}" in final.cards', lambda first, last: key in last["cards"]


ACCOUNT = st.sampled_from(KEYS["accounts"])
KIND = st.sampled_from(["transfer", "payment", "fee", "card", "cash"])
SAID = st.one_of(
    st.builds(_balance, ACCOUNT, st.integers(-50_000, 300_000), st.sampled_from(["initial", "final"])),
    st.builds(_moved, ACCOUNT),
    st.builds(_booked, ACCOUNT, KIND, st.integers(0, 3)),
    st.builds(_new, KIND, st.integers(0, 3)),
    st.builds(_card, st.sampled_from(KEYS["cards"]), st.sampled_from(["active", "blocked", "cancelled"])),
    st.builds(_there, st.sampled_from(KEYS["cards"])),
)
AMOUNT = st.integers(1, 90_000).map(lambda n: n / 100)
CALLS = st.one_of(
    st.builds(
        lambda a, b, x: ("transfer", {"from_account": a, "to_account": b, "amount": x}), ACCOUNT, ACCOUNT, AMOUNT
    ),
    st.builds(lambda k: ("block_card", {"card_id": k}), st.sampled_from(KEYS["cards"])),
    st.builds(lambda k: ("replace_card", {"card_id": k}), st.sampled_from(KEYS["cards"])),
    st.builds(lambda a, x: ("deposit_cash", {"account_id": a, "amount": x}), ACCOUNT, AMOUNT),
    st.builds(lambda a: ("close_account", {"account_id": a}), ACCOUNT),
)


@settings(max_examples=40)
@given(st.lists(CALLS, max_size=4), st.lists(SAID, min_size=4, max_size=8))
def test_goals_mean_what_their_text_says(calls: list[tuple[str, Json]], said: list[Said]) -> None:
    env = world().environment.new()
    first = env.state
    for tool, arguments in calls:
        env.call(tool, arguments)
    last = env.state
    start, now, nothing = env.start_state(), env._state, Submitted({})
    for text, meant in said:
        assert compiled(world(), text).holds(start, now, nothing) is meant(first, last), text
    assert env.state == last
