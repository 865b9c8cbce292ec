"""The commands of a session: looking around, going back and forth, keeping and replaying recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError
from envscaler.play.complete import describe
from envscaler.play.episode import Actor, count, whole
from envscaler.play.lines import Argument, CommandLine, LineError, write_call
from envscaler.play.shown import Answer, Line, change_lines, columns, json_lines, line, note, text_lines
from envscaler.play.words import about, outer, usage
from envscaler.runtime import shapes as s

if TYPE_CHECKING:
    from envscaler.play.player import Player
    from envscaler.replay import Difference

__all__ = ["COMMANDS", "Command"]

_RECORDS: Final = 40  # of a collection that are listed on a terminal


@dataclass(frozen=True, slots=True)
class Command:
    """``usage`` as in the help; ``words`` are the kinds of its words, for completion; ``names`` those given as name=value.
    ``needs``: how many words there must be."""

    usage: str
    about: str
    run: Callable[..., Answer]
    words: tuple[str, ...] = ()
    needs: int = 0
    names: tuple[str, ...] = ()

    def carry_out(self, player: Player, parsed: CommandLine) -> Answer:
        """Run with the words that were typed; raises LineError when they are too many or too few."""
        words = [a for a in parsed.arguments if not a.name]
        named = [a for a in parsed.arguments if a.name]
        odd = [a for a in named if a.name not in self.names] + words[len(self.words) :]
        if odd:
            raise LineError(f":{parsed.name} does not take this", odd[0].at, odd[0].end, help=self.usage)
        if len(words) < self.needs:
            raise LineError("a word is missing", parsed.arguments[-1].end if parsed.arguments else 0, help=self.usage)
        return self.run(player, *_texts(words), **{a.name: str(a.value) for a in named})


def _texts(arguments: list[Argument]) -> Iterator[str]:
    for argument in arguments:
        yield argument.value if isinstance(argument.value, str) else str(argument.value)


# -- looking


def _help(player: Player, name: str = "") -> Answer:
    if name:
        command = COMMANDS.get(name.removeprefix(":"))
        if command is None:
            raise _unknown("command", name, COMMANDS)
        return Answer([line("  ", ("name", command.usage)), *text_lines(command.about, indent=4)])
    example = _example(player)
    rows = [
        note("A call is a tool with name=value for its arguments, or with JSON:"),
        line("    ", usage(example) if example is not None else "TOOL name=value …", hang=6),
        line("    ", f"{example.name if example is not None else 'TOOL'} {{…}}"),
        note("Values are JSON, and words that are no JSON are text: amount=20 kind=savings."),
        note("# begins a comment. Commands may be shortened while they stay clear:"),
    ]
    return Answer([*rows, *columns((c.usage, c.about) for c in COMMANDS.values())])


def _example(player: Player) -> Any:
    tools = player.tools().values()
    return next((t for t in tools if t.params), None)


def _tools(player: Player, name: str = "") -> Answer:
    tools = player.tools()
    if not name:
        if not tools:
            return Answer([note(f"The {player.episode.actor} has no tools.")])
        return Answer(columns((n, " ".join(t.description.split())) for n, t in tools.items()))
    tool = tools.get(name)
    if tool is None:
        raise _unknown("tool", name, tools)
    rows = [line("  ", ("name", usage(tool)), hang=6), *text_lines(" ".join(tool.description.split()), indent=4)]
    rows.append(line("    ", ("dim", f"{tool.kind}, {player.source.path}:{tool.line}")))
    return Answer([*rows, *columns(((n, about(p)) for n, p in outer(tool).items()), "key", 4)])


def _doc(player: Player) -> Answer:
    rows = player.episode.env.doc.split("\n")
    return Answer(
        [line("  ", ("heading" if r.startswith("#") else "", r), hang=4 if r.startswith("-") else 2) for r in rows]
    )


def _state(player: Player, name: str = "", key: str = "") -> Answer:
    env = player.episode.env
    shapes = {shape.name: shape for shape in player.episode.environment.states}
    if not name:
        return Answer(columns((n, _summary(player, shape)) for n, shape in shapes.items()))
    shape = shapes.get(name)
    if shape is None:
        raise _unknown("state", name, shapes)
    if isinstance(shape, s.Single):
        if key:
            raise UsageError(f"{name} is a single record and has no ids")
        return Answer(json_lines(env.record(name), player.view))
    if not key:
        return Answer(_records(player, shape))
    keys = {str(k): k for k in env.final[name]}
    if key not in keys:
        raise _unknown(f"{shape.record.name} in {name}", key, keys)
    return Answer(json_lines(env.record(name, keys[key]), player.view))


def _summary(player: Player, shape: s.StateShape) -> str:
    view = player.episode.env.final[shape.name]
    if isinstance(shape, s.Single):
        fields = [f.json for f in shape.record.fields]
        return f"one record: {one_of(fields, 8)}"
    keys = [str(k) for k in view]
    if not keys:
        return "empty"
    return f"{len(keys)}: {keys[0]}" + (f" … {keys[-1]}" if len(keys) > 1 else "")


def _records(player: Player, shape: s.Collection) -> list[Line]:
    keys = list(player.episode.env.final[shape.name])
    if not keys:
        return [note(f"{shape.name} is empty.")]
    shown = keys if player.view.rows is None else keys[:_RECORDS]
    rows = columns(((str(k), describe(player.episode, shape, k)) for k in shown), "name")
    return rows if len(shown) == len(keys) else [*rows, note(f"… {len(keys) - len(shown)} more")]


def _diff(player: Player) -> Answer:
    found = player.episode.changed()
    return Answer(change_lines(found, player.view) if found else [note("The state is as it was at the start.")])


def _history(player: Player) -> Answer:
    return Answer([line(row, hang=4) for row in player.script(player.episode.steps)])


# -- back and forth


def _undo(player: Player, number: str = "1") -> Answer:
    taken = player.episode.undo(whole(number, "how many calls to take back"))
    if not taken:
        return Answer([note("There is no call to take back.")])
    return Answer([line("  ", ("dim", "taken back "), write_call(t.tool, t.arguments), hang=6) for t in taken])


def _redo(player: Player, number: str = "1") -> Answer:
    made = player.episode.redo(whole(number, "how many calls to make again"))
    if not made:
        return Answer([note("There is no call to make again.")])
    rows: list[Line] = []
    for step in made:
        rows += [player.echo(write_call(step.tool, step.arguments), step.actor), *player.shown(step)]
    return Answer(rows)


def _again(taken: list[Any]) -> str:
    return (
        f" {count(taken)} taken back; :redo {len(taken)} makes {'them' if len(taken) > 1 else 'it'} again."
        if taken
        else ""
    )


def _reset(player: Player) -> Answer:
    taken = player.episode.reset()
    return Answer([note(f"At the start.{_again(taken)}")])


def _seed(player: Player, number: str = "") -> Answer:
    if not number:
        return Answer([note(f"The seed is {player.episode.seed}.")])
    taken = player.episode.reseed(whole(number, "the seed", None))
    return Answer([note(f"At the start, with seed {player.episode.seed}.{_again(taken)}")])


def _as(player: Player, actor: str) -> Answer:
    episode = player.episode
    actors: tuple[Actor, ...] = ("agent", "user")
    wanted = next((a for a in actors if actor and a.startswith(actor)), None)
    if wanted is None:
        raise _unknown("actor", actor, actors)
    if wanted == "user" and wanted not in episode.actors():
        return Answer([note("This spec has no tools of the simulated user.")])
    episode.actor = wanted
    return Answer()


# -- kept


def _save(player: Player, path: str, mode: str = "") -> Answer:
    if mode not in ("", "overwrite"):
        raise UsageError(f"after the file stands nothing or `overwrite`, not {mode}")
    row = player.episode.recording(PurePath(path).name.partition(".")[0] or "played")
    written = player.files.save(path, row, mode == "overwrite")
    player.episode.saved = len(player.episode.steps)
    return Answer([note(f"{count(player.episode.steps)} saved as {written}")])


def _replay(player: Player, path: str, case: str | None = None, api: str | None = None) -> Answer:
    from envscaler.replay import replay

    episode = player.episode
    recorded = player.files.case(path, case, api)
    found = replay(episode.environment, [recorded], seed=episode.seed).differences
    dropped = f" {count(episode.steps)} before it dropped." if episode.steps else ""
    if any(d.refused for d in found):
        return Answer([note(f"{recorded.id}: the initial state is not allowed"), *_differs(found)], understood=False)
    episode.begin(recorded, episode.seed)
    rows = [note(f"{recorded.id}: {count(recorded.calls)}, seed {episode.seed}.{dropped}")]
    rows += _differs([d for d in found if d.call == "start"])
    for call in recorded.calls:
        rows.append(player.echo(write_call(call.tool, call.arguments), call.actor))
        rows += player.shown(episode.call(call.tool, call.arguments, call.actor))
        rows += _differs([d for d in found if d.call == call.number])
    rows += _differs([d for d in found if d.call == "state"])
    episode.saved = len(episode.steps)
    wrong = sum(isinstance(d.call, int) for d in found)
    end = (
        ""
        if not recorded.has_final
        else "; the final state differs"
        if any(d.call == "state" for d in found)
        else "; the final state is as recorded"
    )
    rows.append(note(f"{len(recorded.calls) - wrong} of {count(recorded.calls)} as recorded{end}"))
    return Answer(rows)


def _differs(found: list[Difference]) -> list[Line]:
    rows: list[Line] = []
    for difference in found:
        rows.append(line("  ", ("error", "differs from the recording"), f": expected {difference.expected}", hang=6))
        rows += [line("    ", ("dim", str(place)), hang=6) for place in difference.mismatches if place.path]
    return rows


def _quit(player: Player) -> Answer:
    return Answer(leave=True)


def _unknown(what: str, name: str, known: Any) -> UsageError:
    names = [str(n) for n in known]
    near = nearest(name, names)
    return UsageError(
        f"there is no {what} {name}" + (f"; did you mean {near}?" if near else f"; there are {one_of(names)}")
    )


COMMANDS: Final[dict[str, Command]] = {
    "help": Command(":help [COMMAND]", "This text, or what a command does.", _help, ("command",)),
    "tools": Command(":tools [NAME]", "The tools of whose turn it is, or one in full.", _tools, ("tool",)),
    "doc": Command(":doc", "What an agent is told before it begins.", _doc),
    "state": Command(":state [NAME [ID]]", "The states, the records of one, or one record.", _state, ("state", "id")),
    "diff": Command(":diff", "What is different from the start.", _diff),
    "undo": Command(":undo [N]", "Take back calls: state, ids and random draws.", _undo, ("number",)),
    "redo": Command(":redo [N]", "Make calls again that were taken back.", _redo, ("number",)),
    "reset": Command(":reset", "Take back all calls.", _reset),
    "seed": Command(":seed N", "Start over with another seed.", _seed, ("number",)),
    "as": Command(":as agent|user", "Whose tools are called.", _as, ("actor",), 1),
    "save": Command(":save FILE [overwrite]", "Keep the calls as a recording.", _save, ("path", "mode"), 1),
    "replay": Command(
        ":replay FILE [case= api=]",
        "Start over with a recording, call by call.",
        _replay,
        ("path",),
        1,
        ("case", "api"),
    ),
    "history": Command(":history", "The calls so far, as lines that can be typed again.", _history),
    "quit": Command(":quit", "Leave; so does Ctrl-D.", _quit),
}
