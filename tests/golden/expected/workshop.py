"""A "bicycle" workshop

Compiled by envscaler from workshop.yaml: workshop 2.1.0, sha256:990b63553275fd120d791f948190dfe5a3ddc79642d8bddfccacfb264992e9c8.
Edit the spec, not this file.
"""
# ruff: noqa: E501, E711, E712, E731, E741, F541, F841, W291

from __future__ import annotations

from typing import Any

from envscaler.runtime import MISSING as _MISSING
from envscaler.runtime import Changed as _Changed
from envscaler.runtime import (
    Collection,
    Environment,
    Rule,
    Single,
    State,
    Tool,
    ToolResult,
    Tools,
)
from envscaler.runtime import Failure as _Failure
from envscaler.runtime import Ok as _Ok
from envscaler.runtime import builtins as _rt
from envscaler.runtime import commit as _commit
from envscaler.runtime import failed as _failed
from envscaler.runtime import shapes as _s

# -- constants

MAX_OPEN = 3
HOUR = 4800  # 48 in minor units
DISCOUNTS = {"gold": 0.1, "silver": 0.05}

# -- types and states

LEVEL = _s.Enum(("gold", "silver", "none"), name="Level")
ADDRESS = _s.Struct(
    "Address",
    (
        _s.Field("street", _s.STR),
        _s.Field("zip", _s.STR, json="zip-code"),
        _s.Field("floor", _s.INT, absent=True),
    ),
)
PART = _s.Struct(
    "Part",
    (
        _s.Field("kind", _s.Const("part"), default="part"),
        _s.Field("part_no", _s.Ref("parts")),
        _s.Field("amount", _s.INT, ge=1),
    ),
)
WORK = _s.Struct(
    "Work",
    (
        _s.Field("kind", _s.Const("work"), default="work"),
        _s.Field("hours", _s.FLOAT, gt=0.0, le=12.0),
        _s.Field("note", _s.Nullable(_s.STR), default=None),
    ),
)
LINE = _s.Union("Line", tag="kind", members=(PART, WORK))
CUSTOMER = _s.Struct(
    "Customer",
    (
        _s.Field("name", _s.STR, min_length=2),
        _s.Field("level", LEVEL, default="none"),
        _s.Field("address", ADDRESS),
        _s.Field("tags", _s.ListOf(_s.STR), default=[]),
        _s.Field("extra", _s.ANY, default={}),
    ),
    key=_s.Key("customer_id", of=_s.INT, make="{n}", in_record=True),
)
JOB = _s.Struct(
    "Job",
    (
        _s.Field("customer_id", _s.Ref("customers", of=_s.INT)),
        _s.Field("state", _s.Enum(("open", "done", "paid")), default="open"),
        _s.Field("lines", _s.ListOf(LINE), default=[]),
        _s.Field("due", _s.DATE),
        _s.Field("taken", _s.LOCAL_DATETIME),
        _s.Field("total", _s.MONEY, default=0, ge=0),
    ),
    key=_s.Key("job_id", make="J{hex:6}", in_record=True, json="job-id"),
)
SPARE_PART = _s.Struct(
    "SparePart",
    (
        _s.Field("price", _s.MONEY, ge=0),
        _s.Field("stock", _s.INT, ge=0),
        _s.Field("shelf", _s.Ref("shelves")),
    ),
    key=_s.Key("part_no"),
)
SHELF = _s.Struct(
    "Shelf",
    (_s.Field("label", _s.STR), _s.Field("inside", _s.Nullable(_s.Ref("shelves")), default=None)),
    key=_s.Key("shelf_id", make="s{n}"),
)
TILL = _s.Struct(
    "Till",
    (_s.Field("amount", _s.MONEY, default=0), _s.Field("opened", _s.BOOL, default=False)),
)
STATES = (
    _s.Collection("customers", CUSTOMER, unique=(("name",),), form="list"),
    _s.Collection("jobs", JOB),
    _s.Collection("parts", SPARE_PART),
    _s.Collection("shelves", SHELF, tree=_s.Tree("inside", "label")),
    _s.Single("till", TILL),
)


class WorkshopState(State):
    """The state of one episode."""

    __slots__ = ("customers", "jobs", "parts", "shelves", "till")
    customers: Collection
    jobs: Collection
    parts: Collection
    shelves: Collection
    till: Single


# -- results: records and structs as JSON


def out_till(r: dict[str, Any]) -> dict[str, Any]:
    """Till as JSON."""
    return {"amount": r["amount"] / 100, "opened": r["opened"]}


def out_customer(r: dict[str, Any]) -> dict[str, Any]:
    """Customer as JSON."""
    return {
        "customer_id": r["customer_id"],
        "name": r["name"],
        "level": r["level"],
        "address": out_address(r["address"]),
        "tags": [*r["tags"]],
        "extra": _rt.copy(r["extra"]),
    }


def out_address(r: dict[str, Any]) -> dict[str, Any]:
    """Address as JSON."""
    made: dict[str, Any] = {"street": r["street"], "zip-code": r["zip"]}
    if "floor" in r:
        made["floor"] = r["floor"]
    return made


def out_job(r: dict[str, Any]) -> dict[str, Any]:
    """Job as JSON."""
    return {
        "job-id": r["job_id"],
        "customer_id": r["customer_id"],
        "state": r["state"],
        "lines": [out_line(_x) for _x in r["lines"]],
        "due": r["due"],
        "taken": r["taken"],
        "total": r["total"] / 100,
    }


def out_line(r: dict[str, Any]) -> dict[str, Any]:
    """Line as JSON."""
    if r["kind"] == "part":
        return out_part(r)
    return out_work(r)


def out_part(r: dict[str, Any]) -> dict[str, Any]:
    """Part as JSON."""
    return {"kind": r["kind"], "part_no": r["part_no"], "amount": r["amount"]}


def out_work(r: dict[str, Any]) -> dict[str, Any]:
    """Work as JSON."""
    return {"kind": r["kind"], "hours": r["hours"], "note": r["note"]}


# -- rules

_MOVES_ONWARDS = {"open": ("done",), "done": ("paid",), "paid": ()}


def rule_few_open(_state: WorkshopState) -> bool:
    """At most 3 jobs are open at once."""
    return sum(1 for j in _state.jobs.values() if j["state"] == "open") <= MAX_OPEN


def rule_done_is_priced(_state: WorkshopState, it: dict[str, Any]) -> bool:
    """A paid job costs something."""
    return it["state"] != "paid" or it["total"] > 0


def rule_known_parts(_state: WorkshopState, it: dict[str, Any]) -> bool:
    """A shelf is not deeper than three."""
    return len(_rt.path(_state.shelves, it["shelf_id"])) <= 3


# -- what is checked of every record that a call changed (old is None: added; new is None: removed)


def check_customers(_state: WorkshopState, before: Any, current: Any) -> Any:
    """What must hold of each Customer that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and _rt.same(new, old)):
            same = _rt.also(same, key)
            continue
        if new["address"] != old["address"]:
            _state._require_valid("customers", key, "address", new)
    return same


def check_jobs(_state: WorkshopState, before: Any, current: Any) -> Any:
    """What must hold of each Job that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new["state"] == old["state"] and new["lines"] == old["lines"] and new["due"] == old["due"] and new["total"] == old["total"]):
            same = _rt.also(same, key)
            continue
        it = new
        if old is None and _state.customers.get(new["customer_id"]) is None:
            raise _Failure("constraint", f"Job {key}: customer_id refers to {new['customer_id']}, which does not exist in customers.")
        if old is None or new["lines"] != old["lines"]:
            _state._require_valid("jobs", key, "lines", new)
        if not 0 <= new["total"] < 9007199254740992:
            raise _Failure("constraint", f"Job {key}: total must be at least 0.")
        if old is not None and new["state"] != old["state"] and new["state"] not in _MOVES_ONWARDS.get(old["state"], ()):
            raise _Failure("rule", "A job goes on, never back.", "onwards", 71)
        _state._mark("few_open", None)
        if not (it["state"] != "paid" or it["total"] > 0):
            raise _Failure("rule", "A paid job costs something.", "done_is_priced", 61)
    return same


def check_parts(_state: WorkshopState, before: Any, current: Any) -> Any:
    """What must hold of each SparePart that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new["stock"] == old["stock"]):
            same = _rt.also(same, key)
            continue
        if not 0 <= new["stock"] < 9007199254740992:
            raise _Failure("constraint", f"SparePart {key}: stock must be at least 0.")
    return same


def check_till(_state: WorkshopState, before: Any, current: Any) -> Any:
    """What must hold of the Till that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new["amount"] == old["amount"]):
            same = _rt.also(same, key)
            continue
        if not -9007199254740992 < new["amount"] < 9007199254740992:
            raise _Failure("constraint", "Till: amount is too large.")
    return same


# -- helpers


def helper_price(_state: WorkshopState, line: dict[str, Any]) -> Any:
    """What a line costs."""
    if line["kind"] == "part":
        return _rt.money_mul(_state.parts[line["part_no"]]["price"], line["amount"])
    return _rt.money_mul(HOUR, line["hours"])


def helper_recount(_state: WorkshopState) -> Any:
    """Shared logic: recount."""
    for job in (_state.jobs[_k] for _k in _state.jobs.keys()):
        if job["state"] != "paid":
            job = _state.jobs.edit_of(job)
            job["total"] = sum(helper_price(_state, line) for line in _rt.loop(_state, job["lines"]))


# -- tools

_p_take_in = _s.params(
    _s.Param("customer", _s.Ref("customers", of=_s.INT), json="customer-id"),
    _s.Param("days_from_now", _s.INT, default=3, ge=1, le=30),
)


def tool_take_in(_state: WorkshopState, customer: Any = _MISSING, days_from_now: Any = 3) -> Any:
    """Take a bicycle in."""
    if customer.__class__ is not int or not -9007199254740992 < customer < 9007199254740992:
        customer = _rt.coerce(_state, _p_take_in["customer"], customer)
    if days_from_now.__class__ is not int or not 1 <= days_from_now <= 30:
        days_from_now = _rt.coerce(_state, _p_take_in["days_from_now"], days_from_now)
    owner = _state.customers.get(customer)
    if owner is None:
        raise _Failure("not_found", f"There is no customer {customer} (3).")
    # a comment of the author
    job = _state.jobs.add({
        "job_id": None,
        "customer_id": customer,
        "due": _rt.date_shift(_state._today, _rt.days(days_from_now)),
        "taken": _state._now,
        "state": "open",
        "lines": [],
        "total": 0,
    })
    if owner["level"] == "gold":  # gold goes first
        job["due"] = _rt.date_shift(_state._today, _rt.days(1))
    return {"job": job["job_id"], "due": job["due"], "owner": owner["name"], "level": owner["level"]}


def call_take_in(_state: Any, _a: Any) -> Any:
    if len(_a) != 1 + ("days_from_now" in _a):
        raise TypeError
    _value = tool_take_in(_state, _a["customer-id"], _a.get("days_from_now", 3))
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_add_line = _s.params(_s.Param("job_id", _s.Ref("jobs")), _s.Param("line", LINE))


def tool_add_line(_state: WorkshopState, job_id: Any = _MISSING, line: Any = _MISSING) -> Any:
    """Write down work or a part."""
    if job_id.__class__ is not str:
        job_id = _rt.coerce(_state, _p_add_line["job_id"], job_id)
    line = _rt.coerce(_state, _p_add_line["line"], line)
    job = _state.jobs.edit_or_none(job_id)
    if job is None:
        raise _Failure("not_found", f"No Job {job_id}.")
    if job["state"] != "open":
        raise _Failure("refused", f"Job {job_id} is {job['state']}.")
    if line["kind"] == "part":
        part = _state.parts.edit_or_none(line["part_no"])
        if part is None:
            raise _Failure("refused", f"no part {line['part_no']}")
        # enough of it
        if not part["stock"] >= line["amount"]:
            raise _Failure("refused", f"Only {part['stock']} of {line['part_no']} left at {_rt.money_text(part['price'])}.")
        part["stock"] -= line["amount"]
    job["lines"].append(_rt.copy(line))
    return [{"kind": each["kind"], "cost": helper_price(_state, each) / 100} for each in _rt.loop(_state, job["lines"])]


def call_add_line(_state: Any, _a: Any) -> Any:
    if len(_a) != 2:
        raise TypeError
    _value = tool_add_line(_state, _a["job_id"], _a["line"])
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_finish = _s.params(_s.Param("job_id", _s.Ref("jobs")))


def tool_finish(_state: WorkshopState, job_id: Any = _MISSING) -> Any:
    """Hand a job over."""
    if job_id.__class__ is not str:
        job_id = _rt.coerce(_state, _p_finish["job_id"], job_id)
    job = _state.jobs.edit_or_none(job_id)
    if job is None:
        raise _Failure("not_found", f"No Job {job_id}.")
    job["state"] = "done"
    rate = DISCOUNTS.get(_state.customers[job["customer_id"]]["level"], 0.0)
    off = _rt.money_mul(job["total"], rate)
    text = ""
    for line in _rt.loop(_state, job["lines"]):
        if line["kind"] == "work" and line["note"] is not None:
            text = _rt.text(text + f"{line['note']}; ")
    return f"{_rt.money_text(job['total'] - off)} to pay, {off / 100:.2f} off. {text.strip()}"


def call_finish(_state: Any, _a: Any) -> Any:
    if len(_a) != 1:
        raise TypeError
    _value = tool_finish(_state, _a["job_id"])
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_pay = _s.params(_s.Param("job_id", _s.Ref("jobs")), _s.Param("amount", _s.MONEY, gt=0))


def tool_pay(_state: WorkshopState, job_id: Any = _MISSING, amount: Any = _MISSING) -> Any:
    """Take the money."""
    if job_id.__class__ is not str:
        job_id = _rt.coerce(_state, _p_pay["job_id"], job_id)
    if amount.__class__ is float and 0.0 < amount < 1e12 and (_m := (amount * 100.0).__round__()) / 100.0 == amount:
        amount = _m
    elif amount.__class__ is int and 0.0 < amount < 1e12:
        amount *= 100
    else:
        amount = _rt.coerce(_state, _p_pay["amount"], amount)
    job = _state.jobs.edit_or_none(job_id)
    if job is None:
        raise _Failure("not_found", f"No Job {job_id}.")
    if amount != job["total"]:
        raise _Failure("refused", f"{_rt.money_text(job['total'])} is due, not {_rt.money_text(amount)}.")
    _state.till.edit()["amount"] += amount
    job["state"] = "paid"
    return out_till(_state.till.value)


def call_pay(_state: Any, _a: Any) -> Any:
    if len(_a) != 2:
        raise TypeError
    _value = tool_pay(_state, _a["job_id"], _a["amount"])
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_customer = _s.params(_s.Param("customer_id", _s.Ref("customers", of=_s.INT)))


def tool_customer(_state: WorkshopState, customer_id: Any = _MISSING) -> Any:
    """One customer."""
    if customer_id.__class__ is not int or not -9007199254740992 < customer_id < 9007199254740992:
        customer_id = _rt.coerce(_state, _p_customer["customer_id"], customer_id)
    found = _state.customers.get(customer_id)
    if found is None:
        raise _Failure("not_found", f"No Customer {customer_id}.")
    return out_customer(found)


def call_customer(_state: Any, _a: Any) -> Any:
    if len(_a) != 1:
        raise TypeError
    _value = tool_customer(_state, _a["customer_id"])
    _result = _Ok()
    _result.value = _value
    return _result


_p_update_address = _s.params(
    _s.Param("customer_id", _s.Ref("customers", of=_s.INT)),
    _s.Param("changes", _s.Partial(ADDRESS)),
)


def tool_update_address(_state: WorkshopState, customer_id: Any = _MISSING, changes: Any = _MISSING) -> Any:
    """Change parts of an address."""
    if customer_id.__class__ is not int or not -9007199254740992 < customer_id < 9007199254740992:
        customer_id = _rt.coerce(_state, _p_update_address["customer_id"], customer_id)
    changes = _rt.coerce(_state, _p_update_address["changes"], changes)
    found = _state.customers.edit_or_none(customer_id)
    if found is None:
        raise _Failure("not_found", f"No Customer {customer_id}.")
    found["address"].update(_rt.copy(changes))
    if "floor" in found["address"] and found["address"]["floor"] == 0:
        del found["address"]["floor"]
    return out_address(found["address"])


def call_update_address(_state: Any, _a: Any) -> Any:
    if len(_a) != 2:
        raise TypeError
    _value = tool_update_address(_state, _a["customer_id"], _a["changes"])
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_shelf_tree = _s.params()


def tool_shelf_tree(_state: WorkshopState) -> Any:
    """Where things are."""
    roots = [s["shelf_id"] for s in _rt.loop(_state, _rt.children(_state.shelves, None))]
    return [{"path": _rt.join("/", _rt.path(_state.shelves, s["shelf_id"])), "depth": i} for root in _rt.loop(_state, roots) for i, s in _rt.loop(_state, enumerate(_rt.walk(_state.shelves, root)))]


def call_shelf_tree(_state: Any, _a: Any) -> Any:
    if _a.__class__ is not dict or _a:
        raise TypeError
    _value = tool_shelf_tree(_state)
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_search = _s.params(
    _s.Param("customer_id", _s.INT),
    _s.Param("since", _s.DATE, default="2031-01-01"),
    _s.Param("levels", _s.ListOf(LEVEL), default=["gold"]),
)


def tool_search(
    _state: WorkshopState,
    customer_id: Any = _MISSING,
    since: Any = "2031-01-01",
    levels: Any = _MISSING,
) -> Any:
    """Jobs of a customer, the dearest first."""
    if customer_id.__class__ is not int or not -9007199254740992 < customer_id < 9007199254740992:
        customer_id = _rt.coerce(_state, _p_search["customer_id"], customer_id)
    since = _rt.coerce(_state, _p_search["since"], since)
    levels = _rt.coerce(_state, _p_search["levels"], levels)
    found = [j for j in _rt.loop(_state, _state.jobs.by(("customer_id",), customer_id)) if j["due"] >= since]
    best = max(found, key=lambda j: j["total"], default=None)
    return {
        "jobs": [out_job(_x) for _x in sorted(found, key=lambda j: (j["total"], j["job_id"]), reverse=True)[:10]],
        "best": None if best is None else out_job(best),
        "levels": [*levels],
    }


# -- setup: called by scenarios only

_p_age = _s.params(_s.Param("part_no", _s.Ref("parts")))


def setup_age(_state: WorkshopState, part_no: Any = _MISSING) -> Any:
    """Let the stock run out."""
    if part_no.__class__ is not str:
        part_no = _rt.coerce(_state, _p_age["part_no"], part_no)
    part = _state.parts.edit_or_none(part_no)
    if part is None:
        raise _Failure("not_found", f"No SparePart {part_no}.")
    part["stock"] = 0


class WorkshopTools(Tools):
    """The agent's tools."""

    __slots__ = ()

    def take_in(self, customer: int, days_from_now: int = 3) -> ToolResult:
        """Take a bicycle in."""
        _state = self._state
        try:
            _value = tool_take_in(_state, customer, days_from_now)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "take_in")

    def add_line(self, job_id: str, line: dict[str, Any]) -> ToolResult:
        """Write down work or a part."""
        _state = self._state
        try:
            _value = tool_add_line(_state, job_id, line)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "add_line")

    def finish(self, job_id: str) -> ToolResult:
        """Hand a job over."""
        _state = self._state
        try:
            _value = tool_finish(_state, job_id)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "finish")

    def pay(self, job_id: str, amount: float) -> ToolResult:
        """Take the money."""
        _state = self._state
        try:
            _value = tool_pay(_state, job_id, amount)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "pay")

    def customer(self, customer_id: int) -> ToolResult:
        """One customer."""
        try:
            _value = tool_customer(self._state, customer_id)
            _result = _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "customer")

    def update_address(self, customer_id: int, changes: dict[str, Any]) -> ToolResult:
        """Change parts of an address."""
        _state = self._state
        try:
            _value = tool_update_address(_state, customer_id, changes)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "update_address")

    def shelf_tree(self) -> ToolResult:
        """Where things are."""
        _state = self._state
        try:
            _value = tool_shelf_tree(_state)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "shelf_tree")


class WorkshopUserTools(Tools):
    """The user's tools."""

    __slots__ = ()

    def search(self, customer_id: int, since: str = "2031-01-01", levels: Any = _MISSING) -> ToolResult:
        """Jobs of a customer, the dearest first."""
        _state = self._state
        try:
            _value = tool_search(_state, customer_id, since, levels)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "search")


# -- the environment


class Workshop(Environment):
    """A "bicycle" workshop"""

    __slots__ = ()

    name = "workshop"
    title = "A \"bicycle\" workshop"
    version = "2.1.0"
    description = "Jobs are taken in, worked on and handed over.\nAt most 3 jobs are open; \\ and \"\"\" mean nothing special here."
    spec_hash = "sha256:990b63553275fd120d791f948190dfe5a3ddc79642d8bddfccacfb264992e9c8"
    clock = "2031-02-03T08:30:00"
    policy = "strict"
    errors = {"error": "{message}", "ok": False}
    states = STATES
    state_class = WorkshopState
    tools_class = WorkshopTools
    user_tools_class = WorkshopUserTools
    tool_table = (
        Tool(
            "take_in",
            tool_take_in,
            kind="write",
            description="Take a bicycle in.",
            params=_p_take_in,
            line=91,
            quick=call_take_in,
        ),
        Tool(
            "add_line",
            tool_add_line,
            kind="write",
            description="Write down work or a part.",
            params=_p_add_line,
            line=102,
            quick=call_add_line,
        ),
        Tool(
            "finish",
            tool_finish,
            kind="write",
            description="Hand a job over.",
            params=_p_finish,
            line=117,
            quick=call_finish,
        ),
        Tool(
            "pay",
            tool_pay,
            kind="write",
            description="Take the money.",
            params=_p_pay,
            line=130,
            quick=call_pay,
        ),
        Tool(
            "customer",
            tool_customer,
            kind="read",
            description="One customer.",
            params=_p_customer,
            line=139,
            quick=call_customer,
        ),
        Tool(
            "update_address",
            tool_update_address,
            kind="write",
            description="Change parts of an address.",
            params=_p_update_address,
            line=145,
            quick=call_update_address,
        ),
        Tool(
            "shelf_tree",
            tool_shelf_tree,
            kind="read",
            description="Where things are.",
            params=_p_shelf_tree,
            line=154,
            quick=call_shelf_tree,
        ),
        Tool(
            "search",
            tool_search,
            kind="read",
            actor="user",
            description="Jobs of a customer, the dearest first.",
            params=_p_search,
            line=161,
        ),
    )
    setup_table = (Tool("age", setup_age, description="Let the stock run out.", params=_p_age, line=172),)
    rules = (
        Rule("few_open", "At most 3 jobs are open at once.", run=rule_few_open, line=57),
        Rule("done_is_priced", "A paid job costs something.", run=rule_done_is_priced, each="jobs", line=61),
        Rule(
            "known_parts",
            "A shelf is not deeper than three.",
            run=rule_known_parts,
            each="shelves",
            line=66,
        ),
        Rule("onwards", "A job goes on, never back.", moves=("jobs.state", _MOVES_ONWARDS), line=71),
    )
    checks = {"customers": check_customers, "jobs": check_jobs, "parts": check_parts, "till": check_till}
    after_each = (helper_recount,)
    initial_state = {
        "customers": [
            {
                "customer_id": 1,
                "name": "Ann",
                "level": "gold",
                "address": {"street": "Low \"Rd\"", "zip-code": "08540", "floor": 2},
            },
            {"customer_id": 2, "name": "Bo", "address": {"street": "High St", "zip-code": "00001"}},
        ],
        "shelves": {"s1": {"label": "left", "inside": None}, "s2": {"label": "top", "inside": "s1"}},
        "parts": {"P-1": {"price": 3.5, "stock": 4, "shelf": "s2"}},
    }
    doc_text = "Jobs are taken in, worked on and handed over.\nAt most 3 jobs are open; \\ and \"\"\" mean nothing special here."
    source = (
        "workshop.yaml",
        {
            191: 60, 196: 65, 201: 70, 215: 30, 216: 30, 228: 33, 229: 37, 230: 37, 231: 39, 232: 39,
            233: 42, 234: 42, 235: 71, 236: 71, 237: 57, 238: 61, 239: 61, 251: 46, 252: 46, 264: 55,
            265: 55, 274: 81, 275: 82, 276: 83, 281: 87, 282: 88, 283: 88, 284: 89, 297: 95, 298: 95,
            299: 96, 300: 96, 301: 95, 302: 95, 303: 95, 305: 99, 306: 99, 307: 99, 308: 99, 309: 99,
            310: 99, 311: 99, 312: 99, 313: 99, 314: 100, 315: 100, 316: 101, 333: 105, 334: 105, 335: 105,
            336: 105, 337: 105, 338: 105, 339: 107, 340: 107, 341: 108, 342: 109, 343: 109, 344: 109,
            346: 110, 347: 110, 348: 114, 349: 115, 350: 116, 367: 120, 368: 120, 369: 120, 370: 120,
            371: 120, 372: 122, 373: 123, 374: 124, 375: 125, 376: 126, 377: 127, 378: 128, 379: 129,
            396: 133, 397: 133, 398: 133, 399: 133, 400: 133, 401: 133, 402: 133, 403: 133, 404: 133,
            405: 133, 406: 133, 407: 135, 408: 135, 409: 136, 410: 137, 411: 138, 428: 142, 429: 142,
            430: 142, 431: 142, 432: 142, 433: 144, 453: 148, 454: 148, 455: 148, 456: 148, 457: 148,
            458: 148, 459: 150, 460: 151, 461: 152, 462: 153, 479: 159, 480: 160, 506: 165, 507: 165,
            508: 165, 509: 165, 510: 167, 511: 168, 512: 169, 513: 169, 514: 169, 515: 169, 516: 169,
            526: 174, 527: 174, 528: 174, 529: 174, 530: 174, 531: 176,
        },
    )
