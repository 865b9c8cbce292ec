"""Public library desk

What the compiler is to emit for the library of the language's description, written by hand to test the runtime with.
"""

from __future__ import annotations

from typing import Any

from envscaler.runtime import (
    MISSING as _MISSING,
)
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
DAILY_FINE = 25  # money in minor units

# -- types and states

STANDING = _s.Enum(("active", "suspended"), name="Standing")
CASH = _s.Struct("Cash", (_s.Field("by", _s.Const("cash")),))
CARD = _s.Struct("Card", (_s.Field("by", _s.Const("card")), _s.Field("last_four", _s.STR)))
PAYMENT = _s.Union("Payment", tag="by", members=(CASH, CARD))
MEMBER = _s.Struct(
    "Member",
    (
        _s.Field("name", _s.STR, like="name"),
        _s.Field("status", STANDING),
        _s.Field("balance", _s.MONEY, ge=0, default=0),
        _s.Field("paid_by", _s.ListOf(PAYMENT), default=()),
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
DESK = _s.Struct("Desk", (_s.Field("notes", _s.ListOf(_s.STR), default=()),))
STATES = (
    _s.Collection("members", MEMBER),
    _s.Collection("copies", COPY),
    _s.Collection("loans", LOAN),
    _s.Single("desk", DESK),
)


class LibraryState(State):
    """The states of one episode."""

    __slots__ = ("copies", "desk", "loans", "members")

    members: Collection
    copies: Collection
    loans: Collection
    desk: Single


# -- results


def out_payment(r: Any) -> Any:
    return {"by": r["by"]} if r["by"] == "cash" else {"by": r["by"], "last_four": r["last_four"]}


def out_member(r: Any) -> Any:
    return {
        "member_id": r["member_id"],
        "name": r["name"],
        "status": r["status"],
        "balance": r["balance"] / 100,
        "paid_by": [out_payment(x) for x in r["paid_by"]],
    }


def out_copy(r: Any) -> Any:
    return {"barcode": r["barcode"], "title": r["title"], "state": r["state"]}


# -- rules


def rule_loan_limit(_state: LibraryState, it: Any) -> bool:
    return _rt.count(m for m in _state.loans.by(("member_id",), it["member_id"]) if m["returned"] is None) <= MAX_LOANS


LOST_IS_FINAL = {"on_shelf": ("on_loan", "lost"), "on_loan": ("on_shelf", "lost"), "lost": ()}

# -- what is checked of every record that a call changed


def check_members(_state: LibraryState, before: Any, current: Any) -> Any:
    same = None
    for key in before:
        old, new = before[key], current(key)
        if new is old or (old is not None and new == old):
            same = _rt.also(same, key)
            continue
        if new is None:
            _state._require_unreferred("members", key)
            continue
        if not 0 <= new["balance"] <= 1000000000000000:
            raise _Failure("constraint", f"Member {key}: balance must be at least 0")
        if old is None or new["paid_by"] != old["paid_by"]:
            _state._require_valid("members", key, "paid_by", new)
        _state._mark("loan_limit", key)
    return same


def check_copies(_state: LibraryState, key: Any, old: Any, new: Any) -> None:
    if new is None:
        _state._require_unreferred("copies", key)
        return
    if old is not None and new["state"] != old["state"] and new["state"] not in LOST_IS_FINAL[old["state"]]:
        raise _Failure("rule", "A lost copy stays lost.", rule="lost_is_final")


def check_loans(_state: LibraryState, key: Any, old: Any, new: Any) -> None:
    if old is not None:
        _state._mark("loan_limit", old["member_id"])
    if new is None:
        return
    if (old is None or new["member_id"] != old["member_id"]) and _state.members.get(new["member_id"]) is None:
        raise _Failure("constraint", f"Loan {key}: there is no Member {new['member_id']}")
    if (old is None or new["barcode"] != old["barcode"]) and _state.copies.get(new["barcode"]) is None:
        raise _Failure("constraint", f"Loan {key}: there is no Copy {new['barcode']}")
    _state._mark("loan_limit", new["member_id"])


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
        raise _Failure("not_found", f"No such Copy: {barcode}")
    if not (member["status"] == "active"):
        raise _Failure("refused", f"Member {member_id} is suspended.", rule="active_only")
    if not (copy["state"] == "on_shelf"):
        raise _Failure("refused", f"Copy {barcode} is {copy['state']}.")
    copy["state"] = "on_loan"
    loan = _state.loans.add(
        {
            "loan_id": None,
            "member_id": member_id,
            "barcode": barcode,
            "due": _rt.date_shift(_state._today, _rt.days(21)),
            "returned": None,
        }
    )
    return {"loan_id": loan["loan_id"], "due": loan["due"]}


def call_check_out(_state: Any, _a: Any) -> Any:
    if len(_a) != 2:
        raise TypeError
    return tool_check_out(_state, _a["member_id"], _a["barcode"])


_p_find_copies = _s.params(_s.Param("words", _s.STR), _s.Param("limit", _s.INT, ge=1, le=100, default=20))


def tool_find_copies(_state: LibraryState, words: Any = _MISSING, limit: Any = 20) -> Any:
    """Copies whose title contains the given words, any case."""
    if words.__class__ is not str or not words.isascii():
        words = _rt.coerce(_state, _p_find_copies["words"], words)
    if limit.__class__ is not int or not 1 <= limit <= 100:
        limit = _rt.coerce(_state, _p_find_copies["limit"], limit)
    found = [c for c in _state.copies.values() if words.lower() in c["title"].lower()]
    return [out_copy(x) for x in sorted(found, key=lambda c: (c["title"], c["barcode"]))[:limit]]


def call_find_copies(_state: Any, _a: Any) -> Any:
    if len(_a) != 1 + ("limit" in _a):
        raise TypeError
    return tool_find_copies(_state, _a["words"], _a.get("limit", 20))


_p_get_member = _s.params(_s.Param("member_id", _s.Ref("members")))


def tool_get_member(_state: LibraryState, member_id: Any = _MISSING) -> Any:
    """A member."""
    if member_id.__class__ is not str:
        member_id = _rt.coerce(_state, _p_get_member["member_id"], member_id)
    member = _state.members.get(member_id)
    if member is None:
        raise _Failure("not_found", f"No member {member_id}.")
    return out_member(member)


_p_remove_member = _s.params(_s.Param("member_id", _s.Ref("members")))


def tool_remove_member(_state: LibraryState, member_id: Any = _MISSING) -> Any:
    """Forget a member."""
    if member_id.__class__ is not str:
        member_id = _rt.coerce(_state, _p_remove_member["member_id"], member_id)
    if member_id not in _state.members:
        raise _Failure("not_found", f"No such Member: {member_id}")
    _state.members.remove(member_id)
    return None


_p_join = _s.params(_s.Param("name", _s.STR, min_length=1), _s.Param("card", _s.Nullable(CARD), default=None))


def tool_join(_state: LibraryState, name: Any = _MISSING, card: Any = None) -> Any:
    """Become a member."""
    if name.__class__ is not str or not name.isascii() or len(name) < 1:
        name = _rt.coerce(_state, _p_join["name"], name)
    if card is not None:
        card = _rt.coerce(_state, _p_join["card"], card)
    member = _state.members.add({"member_id": None, "name": name, "status": "active", "balance": 0, "paid_by": []})
    if card is not None:
        member["paid_by"].append(_rt.copy(card))
    return out_member(member)


_p_lottery = _s.params(_s.Param("members", _s.ListOf(_s.STR), default=()), _s.Param("fail", _s.BOOL, default=False))


def tool_lottery(_state: LibraryState, members: Any = _MISSING, fail: Any = False) -> Any:
    """Give a random member, or one of some, a free cent; write it down."""
    members = _rt.coerce(_state, _p_lottery["members"], members)
    if fail.__class__ is not bool:
        fail = _rt.coerce(_state, _p_lottery["fail"], fail)
    winner = _rt.choice(_state, members or list(_state.members))
    member = _state.members.edit(winner)
    member["balance"] += _rt.rand_int(_state, 1, 6)
    _state.desk.edit()["notes"].append(f"{winner} won")
    if fail:
        raise _Failure("refused", "The lottery is off.")
    return {"winner": winner, "balance": member["balance"] / 100}


_p_rename = _s.params(
    _s.Param("member_id", _s.Ref("members")),
    _s.Param("name", _s.STR),
    _s.Param("who", _s.STR, json="by whom", default="me"),
)


def tool_rename(_state: LibraryState, member_id: Any = _MISSING, name: Any = _MISSING, who: Any = "me") -> Any:
    """Give a member another name."""
    if member_id.__class__ is not str:
        member_id = _rt.coerce(_state, _p_rename["member_id"], member_id)
    if name.__class__ is not str or not name.isascii():
        name = _rt.coerce(_state, _p_rename["name"], name)
    if who.__class__ is not str or not who.isascii():
        who = _rt.coerce(_state, _p_rename["who"], who)
    member = _state.members.edit_or_none(member_id)
    if member is None:
        raise _Failure("not_found", f"No such Member: {member_id}")
    member["name"] = name
    return who


_p_break = _s.params(_s.Param("kind", _s.STR))


def tool_break(_state: LibraryState, kind: Any = _MISSING) -> Any:
    """Fail in the ways that bodies can fail."""
    if kind.__class__ is not str or not kind.isascii():
        kind = _rt.coerce(_state, _p_break["kind"], kind)
    _state.desk.edit()["notes"].append("half done")
    if kind == "zero":
        return 1 // len(_state.desk.value["notes"][:0])
    if kind == "key":
        return {}["nothing"]  # type: ignore[index]
    if kind == "bug":
        return None + 1  # type: ignore[operator]
    if kind == "steps":
        for _ in _rt.loop(_state, _rt.range_(1000)):
            for _ in _rt.loop(_state, _rt.range_(10_000)):
                pass
    if kind == "interrupt":
        raise KeyboardInterrupt
    return _rt.repeat(kind, 10**9)


_p_pay_fine = _s.params(_s.Param("member_id", _s.STR), _s.Param("amount", _s.MONEY, gt=0))


def tool_pay_fine(_state: LibraryState, member_id: Any = _MISSING, amount: Any = _MISSING) -> Any:
    """Pay part of the balance."""
    if member_id.__class__ is not str or not member_id.isascii():
        member_id = _rt.coerce(_state, _p_pay_fine["member_id"], member_id)
    if amount.__class__ is float and 0 < amount < 1e12 and (_m := round(amount * 100)) / 100 == amount:
        amount = _m
    elif amount.__class__ is int and 0 < amount < 10**12:
        amount *= 100
    else:
        amount = _rt.coerce(_state, _p_pay_fine["amount"], amount)
    member = _state.members.edit_or_none(member_id)
    if member is None:
        raise _Failure("refused", f"no such member: {member_id}")
    if not (amount <= member["balance"]):
        raise _Failure("refused", f"Only {_rt.money_text(member['balance'])} is due.")
    member["balance"] -= amount
    member["paid_by"].append({"by": "cash"})
    return f"Thank you. {_rt.money_text(member['balance'])} remains."


# -- setup

_p_age = _s.params(_s.Param("fine", _s.MONEY, ge=0, default=100))


def setup_age(_state: LibraryState, fine: Any = _MISSING) -> Any:
    """Put a fine on everyone."""
    fine = _rt.coerce(_state, _p_age["fine"], fine)
    for member in _state.members.edit_values():
        member["balance"] += fine


class LibraryTools(Tools):
    """The agent's tools."""

    __slots__ = ()

    def check_out(self, member_id: str, barcode: str) -> ToolResult:
        """Lend a copy to a member for three weeks."""
        state = self._state
        try:
            value = tool_check_out(state, member_id, barcode)
            result = _Changed() if state._dirty and _commit(state) else _Ok()
            result.value = value
            return result
        except BaseException as problem:
            return _failed(state, problem, "check_out")

    def find_copies(self, words: str, limit: int = 20) -> ToolResult:
        """Copies whose title contains the given words, any case."""
        state = self._state
        try:
            value = tool_find_copies(state, words, limit)
            result = _Changed() if state._dirty and _commit(state) else _Ok()
            result.value = value
            return result
        except BaseException as problem:
            return _failed(state, problem, "find_copies")

    def get_member(self, member_id: str) -> ToolResult:
        """A member."""
        state = self._state
        try:
            value = tool_get_member(state, member_id)
            result = _Changed() if state._dirty and _commit(state) else _Ok()
            result.value = value
            return result
        except BaseException as problem:
            return _failed(self._state, problem, "get_member")


class LibraryUserTools(Tools):
    """The user's tools."""

    __slots__ = ()

    def pay_fine(self, member_id: str, amount: float) -> ToolResult:
        """Pay part of the balance."""
        state = self._state
        try:
            value = tool_pay_fine(state, member_id, amount)
            result = _Changed() if state._dirty and _commit(state) else _Ok()
            result.value = value
            return result
        except BaseException as problem:
            return _failed(state, problem, "pay_fine")


class Library(Environment):
    """Public library desk."""

    __slots__ = ()

    name = "library"
    title = "Public library desk"
    version = "0.1.0"
    description = "Members borrow copies. A member holds at most 5 at once."
    spec_hash = "sha256:0"
    clock = "2030-03-04T09:00:00Z"
    policy = "lenient"
    errors = {"error": "{message}"}
    states = STATES
    state_class = LibraryState
    tools_class = LibraryTools
    user_tools_class = LibraryUserTools
    checks = {"members": check_members, "copies": check_copies, "loans": check_loans}
    rules = (
        Rule("loan_limit", "A member holds at most 5 open loans.", run=rule_loan_limit, each="members", line=41),
        Rule("lost_is_final", "A lost copy stays lost.", moves=("copies.state", LOST_IS_FINAL), line=46),
        Rule("active_only", "Suspended members cannot borrow.", line=50),
        Rule("confirm_fines", "Ask the member before charging a fine.", policy=True, line=51),
    )
    tool_table = (
        Tool(
            "check_out",
            tool_check_out,
            "write",
            description="Lend a copy to a member.",
            params=_p_check_out,
            line=58,
            by_dict=call_check_out,
        ),
        Tool(
            "find_copies",
            tool_find_copies,
            "read",
            description="Copies by title.",
            params=_p_find_copies,
            line=75,
            by_dict=call_find_copies,
        ),
        Tool("get_member", tool_get_member, "read", description="A member.", params=_p_get_member, line=80),
        Tool("remove_member", tool_remove_member, description="Forget a member.", params=_p_remove_member, line=81),
        Tool("join", tool_join, description="Become a member.", params=_p_join, errors="Error: {message}", line=82),
        Tool("lottery", tool_lottery, description="Draw a winner.", params=_p_lottery, line=83),
        Tool("rename", tool_rename, description="Rename a member.", params=_p_rename, line=84),
        Tool("break", tool_break, description="Fail.", params=_p_break, line=85),
        Tool("pay_fine", tool_pay_fine, actor="user", description="Pay a fine.", params=_p_pay_fine, line=86),
    )
    setup_table = (Tool("age", setup_age, params=_p_age, line=99),)
    initial_state = {
        "members": {
            "M-0001": {"name": "Ann Lee", "status": "active", "balance": 1.50},
            "M-0002": {"name": "Bo Kim", "status": "suspended"},
        },
        "copies": {
            "B-00001": {"title": "Emma", "state": "on_shelf"},
            "B-00002": {"title": "Persuasion", "state": "on_shelf"},
            "B-00003": {"title": "Lost World", "state": "lost"},
        },
    }
    source = ("specs/library.yaml", {})
