"""A line in, styled lines out: calls checked for names and made on the episode, commands of the session carried out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import EnvscalerError
from envscaler.play.commands import COMMANDS
from envscaler.play.complete import Completer
from envscaler.play.episode import Actor, Episode, Step
from envscaler.play.lines import CallLine, CommandLine, LineError, parse, write_call, write_value
from envscaler.play.shown import Answer, Line, Source, View, error_lines, line, note, result_lines
from envscaler.play.words import is_text, outer, usage
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.replay import Case
    from envscaler.runtime import Tool

__all__ = ["Files", "Player"]


class Files(Protocol):
    """The files that a session reads and writes. Everything raises EnvscalerError for what cannot be."""

    def save(self, path: str, row: Mapping[str, Any], overwrite: bool) -> str:
        """Write a recording of one case; where it was written."""

    def case(self, path: str, name: str | None, api: str | None) -> Case:
        """A case of a recording: by its id, or the first."""

    def paths(self, beginning: str) -> Iterable[str]:
        """The files and folders that a beginning of a path can mean."""


class Player:
    """A session: an episode, its commands, its files. ``view`` may be set anew before each line."""

    def __init__(self, episode: Episode, source: Source, files: Files, view: View | None = None) -> None:
        self.episode = episode
        self.source = source
        self.files = files
        self.view = view or View()
        self.completer = Completer(episode, {n: (c.about, c.words) for n, c in COMMANDS.items()}, files.paths)

    # -- what is told around the lines

    @property
    def name(self) -> str:
        """The environment's name."""
        return self.episode.environment.name

    @property
    def prompt(self) -> str:
        """Whose turn it is."""
        return f"{self.episode.actor}> "

    def echo(self, text: str, actor: Actor | None = None) -> Line:
        """A line as it was typed, after its prompt."""
        turn = actor or self.episode.actor
        return line((turn, f"{turn}> "), " ".join(text.splitlines()), hang=4)

    @property
    def welcome(self) -> list[Line]:
        """What a person reads first."""
        environment = self.episode.environment
        tools = [t for t in environment.tool_table if t.actor == "agent"]
        users = len(environment.tool_table) - len(tools)
        count = f"{len(tools)} tools of the agent" + (f", {users} of the user" if users else "")
        return [
            line(("heading", environment.title or environment.name)),
            line(("dim", f"{count}. Tab completes, :help explains.")),
        ]

    @property
    def status(self) -> str:
        """The state of the session in a few words."""
        episode = self.episode
        calls = counted(len(episode.steps), "call")
        kept = ", not saved" if episode.unsaved else ""
        undone = f" · {len(episode.undone)} to redo" if episode.undone else ""
        return f"{self.name} · seed {episode.seed} · {calls}{kept}{undone} · :help"

    # -- lines

    def handle(self, text: str) -> Answer:
        """Carry out a line; never raises for what was typed."""
        try:
            parsed = parse(text)
            if parsed is None:
                return Answer()
            if isinstance(parsed, CommandLine):
                return self._command(parsed, text)
            return Answer(self._call(parsed))
        except LineError as error:
            known = self._with_name(text, error)
            return Answer(error_lines(text, known), understood=False, error=known)
        except EnvscalerError as error:
            first, *others = str(error).splitlines() or [""]
            rows = [line("  ", ("error", "not done"), f": {first}", hang=6), *(line("    ", o, hang=6) for o in others)]
            return Answer(rows, understood=False)

    def _call(self, parsed: CallLine) -> list[Line]:
        if parsed.json is None:
            self._check(parsed)
        step = self.episode.call(parsed.tool, parsed.sent)
        return self.shown(step) + self._hints(parsed, step)

    def shown(self, step: Step) -> list[Line]:
        """What a call gave and changed."""
        return result_lines(step, self._tool(step.tool, step.actor), self.source, self.view)

    def tools(self, actor: Actor | None = None) -> dict[str, Tool]:
        """The tools of an actor, by default of the one whose turn it is."""
        wanted = actor or self.episode.actor
        return {t.name: t for t in self.episode.environment.tool_table if t.actor == wanted}

    def _tool(self, name: str, actor: Actor) -> Tool | None:
        return self.tools(actor).get(name)

    # -- names that are not there

    def _check(self, parsed: CallLine) -> None:
        """Tool and parameters exist; raises LineError with the nearest that do."""
        tool = self.tools().get(parsed.tool)
        if tool is None:
            raise self._no_tool(parsed)
        params = outer(tool)
        for argument in parsed.arguments:
            if argument.name not in params:
                near = nearest(argument.name, [n for n in params if n not in {a.name for a in parsed.arguments}])
                hint = f"; did you mean {near}=?" if near else ""
                raise LineError(
                    f"{tool.name} has no {argument.name}{hint}", argument.at, argument.value_at - 1, help=usage(tool)
                )

    def _no_tool(self, parsed: CallLine) -> LineError:
        end = parsed.at + len(parsed.tool)
        other: Actor = "user" if self.episode.actor == "agent" else "agent"
        if parsed.tool in self.tools(other):
            return LineError(f"{parsed.tool} is a tool of the {other}", parsed.at, end, help=f":as {other}")
        if parsed.tool in COMMANDS or parsed.tool == "exit":
            name = "quit" if parsed.tool == "exit" else parsed.tool
            return LineError(f"there is no tool {parsed.tool}", parsed.at, end, help=f"the command is :{name}")
        near = nearest(parsed.tool, self.tools())
        hint = f"; did you mean {near}?" if near else ""
        return LineError(
            f"there is no tool {parsed.tool}{hint}", parsed.at, end, help="" if near else ":tools lists them"
        )

    def _with_name(self, text: str, error: LineError) -> LineError:
        """The error of a word without a name, with the name that it most likely wants."""
        words = text.split()
        tool = self.tools().get(words[0]) if words else None
        if tool is None or not error.help.startswith("name="):
            return error
        word = error.help.removeprefix("name=")
        given = {w.partition("=")[0] for w in words if "=" in w}
        open_ = [p for n, p in outer(tool).items() if n not in given]
        if not open_:
            return LineError(str(error), error.at, error.end, help=usage(tool))
        near = nearest(word, [p.json for p in open_])
        if near is not None:
            return LineError(str(error), error.at, error.end, help=f"{near}=…")
        holder = next((p for p in open_ if self._holds(p.shape, word)), open_[0])
        return LineError(str(error), error.at, error.end, help=f"{holder.json}={word}")

    def _holds(self, shape: Any, word: str) -> bool:
        from envscaler.runtime import shapes as s

        of = shape.of if isinstance(shape, s.Nullable) else shape
        if isinstance(of, s.Enum):
            return word in of.values
        return isinstance(of, s.Ref) and of.of is s.STR and word in self.episode.env.final[of.collection]

    def _hints(self, parsed: CallLine, step: Step) -> list[Line]:
        """What a person may not know about a refusal."""
        error = step.result.error
        if error is None:
            return []
        if error.code == "unknown_tool":
            near = nearest(step.tool, self.tools(step.actor))
            return [note(f"  did you mean {near}?")] if near else []
        tool = self._tool(step.tool, step.actor)
        if error.code != "invalid_argument" or tool is None:
            return []
        params = outer(tool)
        odd = [
            a for a in parsed.arguments if not isinstance(a.value, (str, list, dict)) and is_text(params[a.name].shape)
        ]
        return [note(f"  as text: {a.name}={write_value(_typed(a.value))}") for a in odd if a.value is not None]

    # -- commands

    def _command(self, parsed: CommandLine, text: str) -> Answer:
        command = COMMANDS.get(parsed.name)
        if command is None:
            beginning = [n for n in COMMANDS if parsed.name and n.startswith(parsed.name)]
            if len(beginning) != 1:
                at = text.index(":")
                near = beginning or [n for n in [nearest(parsed.name, COMMANDS)] if n]
                hint = f"; did you mean {' or '.join(f':{n}' for n in near)}?" if near else ""
                help_ = "" if near else one_of([f":{n}" for n in COMMANDS], 20)
                message = f"there is no command :{parsed.name}{hint}"
                raise LineError(message, at, at + 1 + len(parsed.name), help=help_)
            command = COMMANDS[beginning[0]]
        return command.carry_out(self, parsed)

    def script(self, steps: Sequence[Step]) -> list[str]:
        """Calls as lines that can be typed again, with `:as` where the turn changes."""
        rows: list[str] = []
        actor: Actor = "agent"
        for step in steps:
            if step.actor != actor:
                actor = step.actor
                rows.append(f":as {actor}")
            rows.append(write_call(step.tool, step.arguments))
        return rows


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else write_value(value)
