"""The base of compiled environments: one episode over a shared base state, its tools, and its ways back and forth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Self

from envscaler.errors import UsageError
from envscaler.runtime import calls
from envscaler.runtime import shapes as s
from envscaler.runtime.canonical import digest
from envscaler.runtime.declared import Rule, Tool
from envscaler.runtime.diff import between, state_diff
from envscaler.runtime.docs import document
from envscaler.runtime.model import Model
from envscaler.runtime.prepare import Base, prepare, record_json, state_json
from envscaler.runtime.results import ToolResult
from envscaler.runtime.schemas import Catalogue, anthropic, mcp, openai, parameters
from envscaler.runtime.state import State
from envscaler.runtime.times import canonical_datetime, date_part
from envscaler.runtime.view import StateView

__all__ = ["Environment", "Snapshot", "Tools"]

_AGENT: Final = "agent"
_POLICIES: Final = ("lenient", "strict")


class Tools:
    """The tools of one actor as methods (in the generated subclasses), with their names, texts and schemas.

    A method takes the same values as `call` does and gives the same result; wrong names are Python's TypeError.
    """

    __slots__ = ("_actor", "_state")

    def __init__(self, state: State, actor: str) -> None:
        self._state = state
        self._actor = actor

    def _tools(self) -> list[Tool]:
        return [t for t in self._state._model.tools.values() if t.actor == self._actor]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the spec."""
        return tuple(t.name for t in self._tools())

    @property
    def docs(self) -> dict[str, str]:
        """The descriptions by name."""
        return {t.name: t.description for t in self._tools()}

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas of the arguments by name."""
        return {t.name: parameters(t.params) for t in self._tools()}

    def catalogue(self, provider: str, strict: bool = False) -> Catalogue:
        """The tools in the form of ``openai``, ``anthropic`` or ``mcp``, with fallbacks, warnings and a token estimate."""
        match provider:
            case "openai":
                return openai(self._tools(), strict)
            case "anthropic":
                return anthropic(self._tools(), strict)
            case "mcp":
                return mcp(self._tools())
        raise UsageError(f"no such provider: {provider}; there are openai, anthropic, mcp")

    def as_openai(self, strict: bool = False) -> list[dict[str, Any]]:
        """Function tools for OpenAI's chat completions."""
        return self.catalogue("openai", strict).tools

    def as_anthropic(self, strict: bool = False) -> list[dict[str, Any]]:
        """Tools for Anthropic's messages."""
        return self.catalogue("anthropic", strict).tools

    def as_mcp(self) -> list[dict[str, Any]]:
        """Entries for an MCP tools/list result."""
        return self.catalogue("mcp").tools


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Snapshot:
    """A moment of an episode; immutable, and good for any environment over the same base."""

    __slots__ = ("base", "clock", "draws", "parts", "seed")

    def __init__(self, base: Base, parts: Mapping[str, Any], draws: Any, seed: int, clock: str) -> None:
        self.base = base
        self.parts = parts
        self.draws = draws
        self.seed = seed
        self.clock = clock


class Environment:
    """One episode. Compiled modules subclass it with everything in capitals of the spec filled in.

    ``tools`` and ``user_tools`` are the agent's and the simulated user's. An environment belongs to one thread at a
    time; different ones share nothing that is written.
    """

    __slots__ = ("_base", "_clock", "_runs", "_seed", "_state", "tools", "user_tools")

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    version: ClassVar[str] = "0.1.0"
    description: ClassVar[str] = ""
    spec_hash: ClassVar[str] = ""
    clock: ClassVar[str] = "2030-01-01T00:00:00Z"
    policy: ClassVar[str] = "lenient"
    errors: ClassVar[Any] = None
    unknown_tool: ClassVar[str] = "Unknown tool: {name}"
    states: ClassVar[tuple[s.StateShape, ...]] = ()
    state_class: ClassVar[type[State]] = State
    tools_class: ClassVar[type[Tools]] = Tools
    user_tools_class: ClassVar[type[Tools]] = Tools
    tool_table: ClassVar[tuple[Tool, ...]] = ()
    setup_table: ClassVar[tuple[Tool, ...]] = ()
    rules: ClassVar[tuple[Rule, ...]] = ()
    checks: ClassVar[Mapping[str, Callable[..., None]]] = {}
    after_each: ClassVar[tuple[Callable[..., Any], ...]] = ()
    initial_state: ClassVar[Mapping[str, Any]] = {}
    doc_text: ClassVar[str] = ""
    source: ClassVar[tuple[str, Mapping[int, int]]] = ("", {})

    _model: ClassVar[Model]
    _default: ClassVar[Base | None]

    tools: Any
    user_tools: Any

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._model = Model(
            cls.states,
            cls.checks,
            cls.rules,
            cls.after_each,
            cls.tool_table,
            cls.setup_table,
            cls.errors,
            cls.unknown_tool,
            cls.source,
        )
        cls._default = None

    def __init__(
        self,
        state: Mapping[str, Any] | Base | None = None,
        seed: int = 0,
        policy: str | None = None,
        clock: str | None = None,
    ) -> None:
        if not _is_whole(seed):
            raise UsageError("the seed must be a whole number")
        if policy is not None and policy not in _POLICIES:
            raise UsageError(f"no such policy: {policy}; there are {' and '.join(_POLICIES)}")
        self._base = self._base_of(state)
        self._seed = seed
        self._clock = self.clock if clock is None else self._checked_clock(clock)
        self._state = self.state_class(self._model, self._base.parts, seed, self._clock, policy or self.policy)
        self._runs = self._model.quick
        self.tools = self.tools_class(self._state, "agent")
        self.user_tools = self.user_tools_class(self._state, "user")

    @classmethod
    def new(
        cls,
        state: Mapping[str, Any] | Base | None = None,
        seed: int = 0,
        policy: str | None = None,
        clock: str | None = None,
    ) -> Self:
        """An episode: over the spec's initial state, a state in JSON form, or a prepared base. StateError when the
        state is not one the spec allows; UsageError for the rest."""
        return cls(state, seed, policy, clock)

    @classmethod
    def prepare(cls, state: Mapping[str, Any] | None = None) -> Base:
        """A validated base that any number of episodes share. StateError lists every problem."""
        return prepare(cls._model, cls.state_class, cls.initial_state if state is None else state, cls.clock)

    @classmethod
    def _base_of(cls, state: Mapping[str, Any] | Base | None) -> Base:
        if isinstance(state, Base):
            if state.model is not cls._model:
                raise UsageError("the base was prepared by another environment class")
            return state
        if state is not None:
            return cls.prepare(state)
        if cls._default is None:
            cls._default = cls.prepare()
        return cls._default

    @classmethod
    def _checked_clock(cls, clock: str) -> str:
        zoned = cls.clock.endswith("Z")
        found = canonical_datetime(str(clock), zoned)
        if found is None:
            raise UsageError(f"the clock must be a time like {cls.clock}, not {clock!r}")
        return found

    # -- calls

    def call(self, tool: str, arguments: Any = None, actor: str = _AGENT) -> ToolResult:
        """Call a declared tool by name. ``arguments``: a mapping, JSON text, or None. Never raises for what was sent."""
        if actor is _AGENT:  # another text that equals it takes the long way
            state = self._state
            try:
                return self._runs[tool](state, arguments)  # type: ignore[no-any-return]
            except BaseException as problem:
                if not calls.not_bound(state, problem):
                    return calls.failed(state, problem, tool)
        return calls.call(self._state, tool, arguments, actor)

    def setup(self, name: str, arguments: Any = None) -> ToolResult:
        """Call a setup function of the spec: for scenarios, never for agents."""
        return calls.call(self._state, name, arguments, "setup")

    # -- what is told

    @property
    def doc(self) -> str:
        """What an agent is told: introduction, rules, policies."""
        return document(self.title, self.doc_text or self.description, self.rules)

    @property
    def settings(self) -> dict[str, Any]:
        """What the episode is a function of besides its state and actions, for a trace."""
        return {
            "environment": self.name, "version": self.version, "spec_hash": self.spec_hash, "seed": self._seed,
            "clock": self._clock, "policy": self._state._policy,
        }  # fmt: skip

    # -- state

    @property
    def state(self) -> dict[str, Any]:
        """The state in JSON form; a fresh copy."""
        return state_json(self._state)

    @property
    def final(self) -> StateView:
        """The state now, read only and without copying."""
        return StateView(self._state)

    @property
    def initial(self) -> StateView:
        """The state at the start of the episode, read only and without copying."""
        return StateView(self.start_state())

    def view(self) -> StateView:
        """The same as ``final``."""
        return self.final

    def start_state(self) -> State:
        """The state at the start as compiled expressions read it."""
        return self.state_class(self._model, self._base.parts, self._seed, self._clock, self._state._policy)

    def state_hash(self) -> str:
        """``sha256:…`` of the canonical JSON of the state; equal for states that are equal by value."""
        if any(self._changed(name) for name in self._model.plans):
            return digest(state_json(self._state))
        if self._base.digest is None:
            self._base.digest = digest(state_json(self._state))
        return self._base.digest

    def _changed(self, name: str) -> bool:
        part = getattr(self._state, name)
        return bool(part.own or part.gone) if hasattr(part, "own") else part.value is not part.base

    def record(self, state: str, key: Any = None) -> dict[str, Any] | None:
        """One record of a state in JSON form, fresh; None when there is none by that key."""
        part = getattr(self._state, state)
        found = part.get(key) if hasattr(part, "own") else part.value
        return None if found is None else record_json(self._model.plans[state], found)

    def diff(self, since: Snapshot | None = None) -> list[dict[str, Any]]:
        """What was changed since the start, or a moment: operations {op, path, value, before}, values fresh."""
        if since is None:
            return state_diff(self._state)
        moment = self.start_state()
        self._load(moment, since)
        return between(moment, self._state)

    # -- back and forth

    def snapshot(self) -> Snapshot:
        """This moment; costs what was changed so far."""
        state = self._state
        parts = {name: getattr(state, name).save() for name in self._model.plans}
        draws = state._meter.draws
        return Snapshot(self._base, parts, draws.state(), draws.seed, state._now)

    def restore(self, snapshot: Snapshot) -> None:
        """Go to a moment of this or another episode over the same base."""
        self._load(self._state, snapshot)
        self._set(snapshot.seed, snapshot.draws, snapshot.clock)

    def _load(self, state: State, snapshot: Snapshot) -> None:
        if snapshot.base is not self._base:
            raise UsageError("the snapshot was taken over another base state")
        for name, saved in snapshot.parts.items():
            getattr(state, name).load(saved)

    def _set(self, seed: int, draws: Any, clock: str) -> None:
        state = self._state
        state._meter.draws.seed = seed
        state._meter.draws.set_state(draws)
        state._now, state._today = clock, date_part(clock)

    def fork(self) -> Self:
        """Another episode that goes on from here on its own; its `reset` leads to the same start."""
        state = self._state
        other = type(self)(self._base, self._seed, state._policy, self._clock)
        for name in self._model.plans:
            getattr(other._state, name).load(getattr(state, name).save())
        draws = state._meter.draws
        other._set(draws.seed, draws.state(), state._now)
        return other

    def reset(self) -> None:
        """Back to the start of the episode; costs what was changed."""
        state = self._state
        for name in self._model.plans:
            getattr(state, name).reset()
        self._set(self._seed, None, self._clock)
