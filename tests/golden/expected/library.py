"""Public library desk

Compiled by envscaler from library.yaml: library 0.1.0, sha256:13dd9a2e3642446a678f770bd4333c4e84cb134b3b38312c04200b8a2dc80563.
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

MAX_LOANS = 5
DAILY_FINE = 25  # 0.25 in minor units

# -- types and states

STANDING = _s.Enum(("active", "suspended"), name="Standing")
CASH = _s.Struct("Cash", (_s.Field("by", _s.Const("cash"), default="cash"),))
CARD = _s.Struct("Card", (_s.Field("by", _s.Const("card"), default="card"), _s.Field("last_four", _s.STR)))
PAYMENT = _s.Union("Payment", tag="by", members=(CASH, CARD))
MEMBER = _s.Struct(
    "Member",
    (
        _s.Field("name", _s.STR, like="name"),
        _s.Field("status", STANDING),
        _s.Field("balance", _s.MONEY, default=0, ge=0),
        _s.Field("paid_by", _s.ListOf(PAYMENT), default=[]),
    ),
    key=_s.Key("member_id", make="M-{n:04d}"),
)
COPY = _s.Struct(
    "Copy",
    (_s.Field("title", _s.STR), _s.Field("state", _s.Enum(("on_shelf", "on_loan", "lost")))),
    key=_s.Key("barcode", make="B-{n:05d}"),
)
LOAN = _s.Struct(
    "Loan",
    (
        _s.Field("member_id", _s.Ref("members")),
        _s.Field("barcode", _s.Ref("copies")),
        _s.Field("due", _s.DATE),
        _s.Field("returned", _s.Nullable(_s.DATE), default=None),
    ),
    key=_s.Key("loan_id", make="L-{n:05d}"),
)
DESK = _s.Struct("Desk", (_s.Field("notes", _s.ListOf(_s.STR), default=[]),))
STATES = (
    _s.Collection("members", MEMBER),
    _s.Collection("copies", COPY),
    _s.Collection("loans", LOAN),
    _s.Single("desk", DESK),
)


class LibraryState(State):
    """The state of one episode."""

    __slots__ = ("members", "copies", "loans", "desk")
    members: Collection
    copies: Collection
    loans: Collection
    desk: Single


# -- results: records and structs as JSON


def out_copy(r: dict[str, Any]) -> dict[str, Any]:
    """Copy as JSON."""
    return {"barcode": r["barcode"], "title": r["title"], "state": r["state"]}


# -- rules

_MOVES_LOST_IS_FINAL = {"on_shelf": ("on_loan", "lost"), "on_loan": ("on_shelf", "lost"), "lost": ()}


def rule_loan_limit(_state: LibraryState, it: dict[str, Any]) -> bool:
    """A member holds at most 5 open loans."""
    return sum(1 for l in _state.loans.by(("member_id",), it["member_id"]) if l["returned"] is None) <= MAX_LOANS


# -- what is checked of every record that a call changed (old is None: added; new is None: removed)


def check_members(_state: LibraryState, before: Any, current: Any) -> Any:
    """What must hold of each Member that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new["balance"] == old["balance"] and new["paid_by"] == old["paid_by"]):
            same = _rt.also(same, key)
            continue
        if not 0 <= new["balance"] < 9007199254740992:
            raise _Failure("constraint", f"Member {key}: balance must be at least 0.")
    return same


def check_copies(_state: LibraryState, before: Any, current: Any) -> Any:
    """What must hold of each Copy that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new["state"] == old["state"]):
            same = _rt.also(same, key)
            continue
        if new["state"] != old["state"] and new["state"] not in _MOVES_LOST_IS_FINAL.get(old["state"], ()):
            raise _Failure("rule", "A lost copy stays lost.", "lost_is_final", 44)
    return same


def check_loans(_state: LibraryState, before: Any, current: Any) -> Any:
    """What must hold of each Loan that a call changed."""
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new == old):
            same = _rt.also(same, key)
            continue
        if old is None and _state.members.get(new["member_id"]) is None:
            raise _Failure("constraint", f"Loan {key}: member_id refers to {new['member_id']}, which does not exist in members.")
        if old is None and _state.copies.get(new["barcode"]) is None:
            raise _Failure("constraint", f"Loan {key}: barcode refers to {new['barcode']}, which does not exist in copies.")
        _state._mark("loan_limit", new["member_id"])
    return same


# -- helpers


def helper_open_loans(_state: LibraryState, member: dict[str, Any]) -> Any:
    """Shared logic: open_loans."""
    return [l for l in _rt.loop(_state, _state.loans.by(("member_id",), member["member_id"])) if l["returned"] is None]


# -- tools

_p_check_out = _s.params(_s.Param("member_id", _s.Ref("members")), _s.Param("barcode", _s.Ref("copies")))


def tool_check_out(_state: LibraryState, member_id: Any = _MISSING, barcode: Any = _MISSING) -> Any:
    """Lend a copy to a member for three weeks."""
    if member_id.__class__ is not str:
        member_id = _rt.coerce(_state, _p_check_out["member_id"], member_id)
    if barcode.__class__ is not str:
        barcode = _rt.coerce(_state, _p_check_out["barcode"], barcode)
    member = _state.members.get(member_id)
    if member is None:
        raise _Failure("not_found", f"No member {member_id}.")
    copy = _state.copies.edit_or_none(barcode)
    if copy is None:
        raise _Failure("not_found", f"No Copy {barcode}.")
    if member["status"] != "active":
        raise _Failure("refused", f"Member {member_id} is suspended.", rule="active_only")
    if copy["state"] != "on_shelf":
        raise _Failure("refused", f"Copy {barcode} is {copy['state']}.")
    copy["state"] = "on_loan"
    loan = _state.loans.add({
        "loan_id": None,
        "member_id": member_id,
        "barcode": barcode,
        "due": _rt.date_shift(_state._today, _rt.days(21)),
        "returned": None,
    })
    return {"loan_id": loan["loan_id"], "due": loan["due"]}


def call_check_out(_state: Any, _a: Any) -> Any:
    if len(_a) != 2:
        raise TypeError
    _value = tool_check_out(_state, _a["member_id"], _a["barcode"])
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_find_copies = _s.params(_s.Param("words", _s.STR), _s.Param("limit", _s.INT, default=20, ge=1, le=100))


def tool_find_copies(_state: LibraryState, words: Any = _MISSING, limit: Any = 20) -> Any:
    """Copies whose title contains the given words, any case."""
    if words.__class__ is not str or not words.isascii():
        words = _rt.coerce(_state, _p_find_copies["words"], words)
    if limit.__class__ is not int or not 1 <= limit <= 100:
        limit = _rt.coerce(_state, _p_find_copies["limit"], limit)
    found = [c for c in _state.copies.values() if words.lower() in c["title"].lower()]
    return [out_copy(_x) for _x in sorted(found, key=lambda c: (c["title"], c["barcode"]))[:limit]]


def call_find_copies(_state: Any, _a: Any) -> Any:
    if len(_a) != 1 + ("limit" in _a):
        raise TypeError
    _value = tool_find_copies(_state, _a["words"], _a.get("limit", 20))
    _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
    _result.value = _value
    return _result


_p_pay_fine = _s.params(_s.Param("member_id", _s.STR), _s.Param("amount", _s.MONEY, gt=0))


def tool_pay_fine(_state: LibraryState, member_id: Any = _MISSING, amount: Any = _MISSING) -> Any:
    """Pay part of the balance."""
    if member_id.__class__ is not str:
        member_id = _rt.coerce(_state, _p_pay_fine["member_id"], member_id)
    if amount.__class__ is float and 0.0 < amount < 1e12 and (_m := (amount * 100.0).__round__()) / 100.0 == amount:
        amount = _m
    elif amount.__class__ is int and 0.0 < amount < 1e12:
        amount *= 100
    else:
        amount = _rt.coerce(_state, _p_pay_fine["amount"], amount)
    member = _state.members.get(member_id)
    if member is None:
        raise _Failure("refused", f"no such member: {member_id}")
    if not amount <= member["balance"]:
        raise _Failure("refused", f"Only {_rt.money_text(member['balance'])} is due.")
    _old_member, member = member, _state.members.clone(member)
    member["balance"] -= amount
    member["paid_by"].append({"by": "cash"})
    _value = f"Thank you. {_rt.money_text(member['balance'])} remains."
    key, old, new = member["member_id"], _old_member, member
    if new["balance"] == old["balance"] and new["paid_by"] == old["paid_by"]:
        member = None
    else:
        if not 0 <= new["balance"] < 9007199254740992:
            raise _Failure("constraint", f"Member {key}: balance must be at least 0.")
        if _state.members.overlay is not None:
            _state.members.enlist(key, new)
    # All of it holds: keep it. Nothing below can fail or be interrupted.
    _result = _Ok() if member is None else _Changed()
    _result.value = _value
    _to_members = _state.members
    if member is not None:
        _to_members.own[member["member_id"]] = member
        _to_members.merged = None
        _to_members.get = _to_members.look
    return _result


class LibraryTools(Tools):
    """The agent's tools."""

    __slots__ = ()

    def check_out(self, member_id: str, barcode: str) -> ToolResult:
        """Lend a copy to a member for three weeks."""
        _state = self._state
        try:
            _value = tool_check_out(_state, member_id, barcode)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "check_out")

    def find_copies(self, words: str, limit: int = 20) -> ToolResult:
        """Copies whose title contains the given words, any case."""
        _state = self._state
        try:
            _value = tool_find_copies(_state, words, limit)
            _result = _Changed() if _state._dirty and _commit(_state) else _Ok()
            _result.value = _value
            return _result
        except BaseException as _problem:
            return _failed(self._state, _problem, "find_copies")


class LibraryUserTools(Tools):
    """The user's tools."""

    __slots__ = ()

    def pay_fine(self, member_id: str, amount: float) -> ToolResult:
        """Pay part of the balance."""
        try:
            return tool_pay_fine(self._state, member_id, amount)
        except BaseException as _problem:
            return _failed(self._state, _problem, "pay_fine")


# -- the environment


class Library(Environment):
    """Public library desk"""

    __slots__ = ()

    name = "library"
    title = "Public library desk"
    version = "0.1.0"
    description = "Members borrow copies. A member holds at most 5 at once."
    spec_hash = "sha256:13dd9a2e3642446a678f770bd4333c4e84cb134b3b38312c04200b8a2dc80563"
    clock = "2030-03-04T09:00:00Z"
    policy = "lenient"
    states = STATES
    state_class = LibraryState
    tools_class = LibraryTools
    user_tools_class = LibraryUserTools
    tool_table = (
        Tool(
            "check_out",
            tool_check_out,
            kind="write",
            description="Lend a copy to a member for three weeks.",
            params=_p_check_out,
            line=56,
            quick=call_check_out,
        ),
        Tool(
            "find_copies",
            tool_find_copies,
            kind="read",
            description="Copies whose title contains the given words, any case.",
            params=_p_find_copies,
            line=71,
            quick=call_find_copies,
        ),
        Tool(
            "pay_fine",
            tool_pay_fine,
            kind="write",
            actor="user",
            description="Pay part of the balance.",
            params=_p_pay_fine,
            line=78,
        ),
    )
    rules = (
        Rule(
            "loan_limit",
            "A member holds at most 5 open loans.",
            run=rule_loan_limit,
            each="members",
            line=39,
        ),
        Rule(
            "lost_is_final",
            "A lost copy stays lost.",
            moves=("copies.state", _MOVES_LOST_IS_FINAL),
            line=44,
        ),
        Rule("active_only", "Suspended members cannot borrow.", line=48),
        Rule("confirm_fines", "Ask the member before charging a fine.", policy=True, line=49),
    )
    checks = {"members": check_members, "copies": check_copies, "loans": check_loans}
    initial_state = {
        "members": {
            "M-0001": {"name": "Ann Lee", "status": "active", "balance": 1.5},
            "M-0002": {"name": "Bo Kim", "status": "suspended"},
        },
        "copies": {"B-00001": {"title": "Emma", "state": "on_shelf"}},
    }
    doc_text = "Members borrow copies. A member holds at most 5 at once."
    source = (
        "library.yaml",
        {
            101: 43, 115: 22, 116: 22, 128: 44, 129: 44, 141: 33, 142: 33, 143: 33, 144: 33, 145: 39,
            154: 54, 164: 60, 165: 60, 166: 61, 167: 61, 168: 60, 169: 60, 170: 60, 171: 61, 172: 61,
            173: 61, 174: 63, 175: 63, 176: 64, 177: 64, 178: 65, 179: 66, 180: 66, 181: 66, 182: 66,
            183: 66, 184: 66, 185: 66, 186: 67, 203: 74, 204: 74, 205: 74, 206: 74, 207: 76, 208: 77,
            225: 82, 226: 82, 227: 82, 228: 82, 229: 82, 230: 82, 231: 82, 232: 82, 233: 84, 234: 84,
            235: 84, 236: 85, 237: 85, 238: 86, 239: 86, 240: 87, 241: 88, 242: 78, 243: 78, 244: 78,
            246: 22, 247: 22, 248: 78, 249: 78, 251: 78, 252: 78, 253: 78, 254: 78, 255: 78, 256: 78,
            257: 78, 258: 78,
        },
    )
