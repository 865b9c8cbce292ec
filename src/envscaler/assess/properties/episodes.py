"""What must hold of a whole episode. Each is a function of one that was played and gives the breach, or None."""

from __future__ import annotations

import json
from typing import Any

from envscaler.assess.events import Breach, Log, Played, begun, call, entry, fresh, replayed
from envscaler.errors import EnvscalerError
from envscaler.runtime.values import same

__all__ = [
    "base_stays", "fork_is_independent", "no_unseeded_randomness", "no_wall_clock", "reads_see_the_state",
    "replay_equals_live", "reset_begins_again", "results_are_copies", "snapshot_restores", "state_survives_json",
]  # fmt: skip


def replay_equals_live(played: Played) -> Breach | None:
    """The calls made again on a new episode with the same start and seed tell the same and end in the same state."""
    at = played.log.differs(played.again())
    if at is None:
        return None
    if _on(played, 2) is not None or _on(played, 4) is not None:
        return None  # other numbers or another time, which are told apart
    return _otherwise(played, played.again(), at, "made again on a new episode")


def no_unseeded_randomness(played: Played) -> Breach | None:
    """What happens does not depend on random numbers that are not the episode's; a compiled class does not ask for any."""
    found = _depends(played, 2, "random numbers that are not the episode's")
    return found or _asks(played, "numbers", "the machine for random numbers")


def no_wall_clock(played: Played) -> Breach | None:
    """What happens does not depend on when it happens; a compiled class does not ask what time it is."""
    return _depends(played, 4, "the time of day at which it is called") or _asks(played, "clock", "the machine's clock")


def reset_begins_again(played: Played) -> Breach | None:
    """`reset` leads to the start: the state and an empty `diff`, and from there the calls tell the same once more."""
    twin = played.env.fork()
    twin.reset()
    if not same(twin.state, played.initial):
        return Breach("reset does not lead back to the start", _first(played.initial, twin.state), kind="state")
    if twin.diff():
        return Breach(
            "after reset something is still said to differ from the start", str(twin.diff()[0])[:300], kind="diff"
        )
    again = replayed(twin, played.calls, played.seconds)
    at = played.log.differs(again)
    if at is None or played.log.differs(played.again()) is not None:
        return None
    return _otherwise(played, again, at, "made again after reset")


def snapshot_restores(played: Played) -> Breach | None:
    """`restore` leads to the moment of the snapshot, and from there the calls that came then tell the same."""
    moment = played.moment
    if moment is None:
        return None
    twin = played.env.fork()
    twin.restore(moment.snapshot)
    if not same(twin.state, moment.state):
        return Breach(
            "restore does not lead to the state of the snapshot", _first(moment.state, twin.state), kind="state"
        )
    return _rest(played, moment.step, replayed(twin, played.calls[moment.step :], played.seconds), "after restore")


def fork_is_independent(played: Played) -> Breach | None:
    """A fork stays as it was when its origin goes on, goes on like it, and leaves it as it was."""
    moment = played.moment
    if moment is None:
        return None
    if not same(moment.fork.state, moment.state):
        return Breach("a fork changes when its origin goes on", _first(moment.state, moment.fork.state), kind="fork")
    rest = replayed(moment.fork, played.calls[moment.step :], played.seconds)
    if not same(played.env.state, played.log.final):
        return Breach(
            "an episode changes when its fork goes on", _first(played.log.final, played.env.state), kind="origin"
        )
    return _rest(played, moment.step, rest, "on a fork")


def base_stays(played: Played) -> Breach | None:
    """An episode leaves the state that others begin with as it was."""
    found = played.start.new().state
    if same(found, played.initial):
        return None
    return Breach("an episode changed the state that new ones begin with", _first(played.initial, found))


def state_survives_json(played: Played) -> Breach | None:
    """The state is JSON, and a new episode that begins with it has that state."""
    final = played.log.final
    try:
        copied = json.loads(json.dumps(final, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return Breach("the state is no JSON", str(error)[:300], kind="json")
    try:
        found = played.start.over(copied).state
    except EnvscalerError:
        return None  # a state that is not allowed is another property's to tell
    if json.dumps(found) == json.dumps(final):
        return None
    return Breach("a new episode over the state does not have that state", _first(final, found), kind="new")


def results_are_copies(played: Played) -> Breach | None:
    """A result stays as it was given, and writing to it, or to the arguments, changes no state."""
    for made, outcome, text in zip(played.calls, played.outcomes, played.texts, strict=True):
        if text is not None and outcome is not None and json.dumps(entry(outcome, None)[0]) != text:
            return Breach(f"a result of {made.tool} changed after it was given", text[:300], kind=f"result {made.tool}")
    twin = played.env.fork()
    for made in played.calls[-5:]:
        outcome, _ = call(twin, made, played.seconds)
        before = twin.state
        _scramble(getattr(outcome, "value", None))
        if not same(twin.state, before):
            return Breach(f"writing to a result of {made.tool} changes the state", "", kind=f"written {made.tool}")
    return None


def reads_see_the_state(played: Played) -> Breach | None:
    """A read tells the same on the episode and on a new one that begins with its state, of the class loaded anew where that
    can be done: nothing else is remembered. One that draws numbers tells the same when all calls are made there again."""
    used = [(made, played.facts.by_name.get((made.actor, made.tool))) for made in played.calls]
    drawn = any(tool is not None and tool.kind == "read" and tool.draws is True for _, tool in used)
    reads = {repr(m): m for m, tool in used if tool is not None and tool.kind == "read" and tool.draws is not True}
    start = played.start
    if drawn:
        env = begun(played.facts.anew(), fresh(start.state), start.seed, start.clock)
        found = _rest(played, 0, replayed(env, played.calls, played.seconds), "on the class loaded anew")
        if found is not None:
            return found
    if not reads:
        return None
    try:  # on one that has no past either, so it is loaded once more
        env = begun(played.facts.anew(), fresh(played.env.state), start.seed, start.clock)
    except EnvscalerError:
        return None
    twin = played.env.fork()
    for made in list(reads.values())[-6:]:
        live, new = entry(*call(twin, made, played.seconds)), entry(*call(env, made, played.seconds))
        if live != new:
            detail = f"on the episode: {_short(live[0])}\non a new one: {_short(new[0])}"
            return Breach(f"{made.tool} tells another thing than the state says", detail, kind=made.tool)
    return None


# -- having it again


def _ways(played: Played) -> list[Log]:
    """The calls made twice under one time and one source of numbers, twice with other numbers, twice at another time."""
    if len(played.ways) < 6:
        for time, numbers in ((0, 1), (0, 1), (0, 2), (0, 2), (1, 1), (1, 1)):
            with played.facts.elsewhere.at(time, numbers):
                played.ways.append(replayed(played.start.new(), played.calls, played.seconds))
    return played.ways


def _on(played: Played, way: int) -> int | None:
    """The first call that the numbers (2) or the time (4) decide: it comes out otherwise, and the same with the same ones."""
    ways = _ways(played)
    if ways[0].differs(ways[1]) is not None or ways[way].differs(ways[way + 1]) is not None:
        return None
    return ways[0].differs(ways[way])


def _depends(played: Played, way: int, on: str) -> Breach | None:
    if played.log.differs(played.again()) is None:
        return None
    at = _on(played, way)
    if at is None:
        return None
    name = played.calls[at].tool if at < len(played.calls) else "the state"
    ways = _ways(played)
    detail = "" if at == len(played.calls) else f"{_short(ways[0].told[at][0])}\n{_short(ways[way].told[at][0])}"
    return Breach(f"{name} depends on {on}", detail, kind=name)


def _asks(played: Played, what: str, words: str) -> Breach | None:
    """The first tool that asks the machine, whatever comes of it. A class written by hand may, to keep a log for instance."""
    if not played.facts.compiled or what not in played.asked():
        return None
    env, elsewhere = played.start.new(), played.facts.elsewhere
    for made in played.calls:
        with elsewhere.at(7, 7):
            call(env, made, played.seconds)
        if what in elsewhere.asked:
            return Breach(f"{made.tool} asks {words}", kind=made.tool)
    return Breach(f"an episode asks {words}", kind="")


def _rest(played: Played, step: int, rest: Log, when: str) -> Breach | None:
    told = Log(played.log.told[step:], played.log.final)
    at = told.differs(rest)
    if at is None or played.log.differs(played.again()) is not None:
        return None
    return _otherwise(played, rest, at, f"made again {when}", step)


def _otherwise(played: Played, other: Log, at: int, how: str, step: int = 0) -> Breach:
    place = step + at
    if place == len(played.calls):
        return Breach(
            f"the calls lead to another state when they are {how}", _first(played.log.final, other.final), kind=how
        )
    live, again = played.log.told[place], other.told[at]
    detail = f"first: {_short(live)}\nthen: {_short(again)}"
    return Breach(f"{played.calls[place].tool} tells another thing when it is {how}", detail, kind=how)


def _first(one: Any, two: Any) -> str:
    from envscaler.assess.events import differences

    rows = [
        f"{c['op']} {c['path']}: {_short(c.get('before'))} -> {_short(c.get('value'))}" for c in differences(one, two)
    ]
    return "\n".join(rows[:3])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _scramble(value: Any) -> None:
    """Write to every container within."""
    if isinstance(value, dict):
        for item in value.values():
            _scramble(item)
        value["(scrambled)"] = True
    elif isinstance(value, list):
        for item in value:
            _scramble(item)
        value.append("(scrambled)")
