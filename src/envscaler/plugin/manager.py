"""Loads plugins, asks their hooks, and keeps what each offers; one that is wrong costs a line and nothing else."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pluggy

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import EnvscalerError, PluginError, UsageError
from envscaler.plugin import hookspecs
from envscaler.plugin.boundary import Boundary, Check, guarded, said
from envscaler.plugin.discovery import Found, found
from envscaler.plugin.entries import KINDS, Entry, Kind
from envscaler.plugin.hookspecs import HOOKS_VERSION, PROJECT
from envscaler.plugin.problems import SHIPPED, Origin, PluginWarning, Problem
from envscaler.plugin.records import (
    Assessor,
    BadRow,
    Checker,
    Embedder,
    Exporter,
    Generator,
    Judgement,
    Task,
    TaskSource,
    Vectors,
    Verdict,
)
from envscaler.plugin.roles import Part, UserSimulator

if TYPE_CHECKING:
    from envscaler.work import Executor

__all__ = ["Offer", "Plugins", "load"]

_MOST = 1000  # entries of one hook: an iterator without an end is a mistake
_PREFIX = f"{PROJECT}_"
HOOKS: Mapping[str, Callable[..., Any]] = {
    name: function for name, function in vars(hookspecs).items() if name.startswith(_PREFIX)
}


def _rows(boundary: Boundary, doing: str, rows: Any) -> Iterator[Task | BadRow]:
    return (boundary.expect(doing, row, Task, BadRow) for row in boundary.each(doing, rows))


def _each(boundary: Boundary, doing: str, items: Any) -> Iterator[Any]:
    return boundary.each(doing, items)


def _begun(boundary: Boundary, doing: str, begun: Any) -> Any:
    return guarded(begun, boundary, doing, {name: lambda boundary, doing, value: value for name in ("submit", "stop")})


def _of(*wanted: type[Any]) -> Check:
    return lambda boundary, doing, value: boundary.expect(doing, value, *wanted)


_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "source": {"read": _rows},
    "embedder": {"embed": _of(Vectors)},
    "assessor": {"assess": _of(Verdict)},
    "checker": {"on_call": _of(Judgement, type(None)), "on_end": _of(Judgement, type(None))},
    "generator": {"generate": _each},
    "exporter": {"write": _of(Mapping)},
    "executor": {"start": _begun},
    "agent": {"reply": lambda boundary, doing, value: value},
    "user": {name: lambda boundary, doing, value: value for name in ("open", "answer")},
}
"""For each kind whose objects have methods of ours: what they must give."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An entry that may be used, and the plugin that it is from."""

    kind: str
    entry: Entry
    origin: Origin

    def make(self, *args: Any) -> Any:
        """What the entry's factory gives; that of a third party stands behind the boundary. Raises PluginError."""
        factory = cast(Any, self.entry).factory
        if self.origin.shipped:
            return factory(*args)
        boundary, what = Boundary(self.origin), f"{self.kind} {self.entry.name}"
        made = boundary.run(what, factory, *args)
        if made is None:
            raise boundary.failure(what, f"the factory gave None where a {self.kind} is wanted")
        return guarded(made, boundary, what, _CHECKS.get(self.kind, {}))


def load(
    shipped: object,
    *,
    third_parties: bool = True,
    disabled: Iterable[str] = (),
    tell: Callable[[Problem], None] | None = None,
) -> Plugins:
    """The plugins: ``shipped``, an object with hooks, and the installed ones but for those ``disabled`` by the name of the
    plugin or of its distribution. ``tell`` hears of each problem as it is found; by default it becomes a PluginWarning.
    """
    from envscaler import __version__

    plugins = Plugins(tell or _warn)
    plugins.add(Origin(SHIPPED, SHIPPED, __version__), shipped)
    if third_parties:
        wanted = dict.fromkeys(disabled)
        met: set[str] = set()
        for plugin in found():
            names = {name for name in wanted if plugin.is_called(name)}
            met |= names
            if names:
                plugins.disabled.append(plugin.origin)
            else:
                plugins.add_found(plugin)
        plugins.unmet = tuple(name for name in wanted if name not in met)
    return plugins


def _warn(problem: Problem) -> None:
    warnings.warn(PluginWarning(problem), stacklevel=2)


class Plugins:
    """Plugins that were loaded, and what they offer. Hooks are asked when a kind is first wanted, each plugin by itself.

    ``problems`` are those met so far; ``disabled`` the plugins left out; ``unmet`` the names that were to be disabled and
    that no plugin has.
    """

    def __init__(self, tell: Callable[[Problem], None]) -> None:
        self.problems: list[Problem] = []
        self.disabled: list[Origin] = []
        self.unmet: Sequence[str] = ()
        self._tell = tell
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._plugins: list[tuple[Origin, Any]] = []
        self._offers: dict[str, dict[str, Offer]] = {}
        self._refused: dict[tuple[str, str], Problem] = {}

    # -- loading

    def add_found(self, plugin: Found) -> None:
        """Import an installed plugin and register it; a failure becomes a problem."""
        if plugin.entry_point is None:
            self._problem(Problem(plugin.origin, plugin.reason, "warning"))
            return
        try:
            loaded = Boundary(plugin.origin).run("", plugin.entry_point.load)
        except (PluginError, EnvscalerError) as error:
            cause = error.__cause__ if isinstance(error, PluginError) and error.__cause__ else error
            self._problem(Problem(plugin.origin, f"cannot be imported: {said(cause)}", "warning"))
            return
        self.add(plugin.origin, loaded)

    def add(self, origin: Origin, plugin: Any) -> None:
        """Register an object with hooks; what is wrong with it becomes a problem, and it is left out."""
        try:
            slip = Boundary(origin).run("", _slip, plugin)
            if not slip:
                Boundary(origin).run("", self._manager.register, plugin, f"{origin.distribution}:{origin.plugin}")
        except PluginError as error:
            slip = " ".join(str(error.__cause__).split())
        if slip:
            self._problem(Problem(origin, slip))
        else:
            self._plugins.append((origin, plugin))

    def _problem(self, problem: Problem) -> None:
        self.problems.append(problem)
        self._tell(problem)

    @property
    def origins(self) -> list[Origin]:
        """The plugins that are in use, the shipped one first."""
        return [origin for origin, _ in self._plugins]

    # -- what they offer

    def offers(self, kind: str) -> list[Offer]:
        """All offers of a kind: the shipped ones, then those of third parties in the order of their distributions."""
        if kind not in self._offers:
            self._offers[kind] = self._collected(KINDS[kind])
        return list(self._offers[kind].values())

    def find(self, kind: str, name: str) -> Offer:
        """The offer of that name. Raises UsageError with the nearest; PluginError for one that is refused."""
        offers = {offer.entry.name: offer for offer in self.offers(kind)}
        if name in offers:
            return offers[name]
        if (kind, name) in self._refused:
            raise PluginError(str(self._refused[kind, name]).partition(": ")[2])
        near = nearest(name, offers)
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"no {KINDS[kind].label} is called {name!r}; there are: {one_of(offers) or 'none'}{hint}")

    def source(self, name: str) -> TaskSource:
        """A task source."""
        return cast(TaskSource, self.find("source", name).make())

    def embedder(self, name: str, settings: Mapping[str, Any] | None = None) -> Embedder:
        """An embedder with its settings."""
        return cast(Embedder, self.find("embedder", name).make(dict(settings or {})))

    def assessor(self, name: str) -> Assessor:
        """An assessor."""
        return cast(Assessor, self.find("assessor", name).make())

    def checker(self, name: str, settings: Mapping[str, Any] | None = None) -> Checker:
        """A checker for one episode."""
        return cast(Checker, self.find("checker", name).make(dict(settings or {})))

    def generator(self, name: str) -> Generator:
        """A generator of scenarios."""
        return cast(Generator, self.find("generator", name).make())

    def exporter(self, name: str, settings: Mapping[str, Any] | None = None) -> Exporter:
        """An exporter with its settings."""
        return cast(Exporter, self.find("exporter", name).make(dict(settings or {})))

    def executor(self, name: str, settings: Mapping[str, Any] | None = None) -> Executor:
        """An executor with its settings, `width` among them."""
        return cast("Executor", self.find("executor", name).make({"width": 0, **(settings or {})}))

    def agent(self, name: str, part: Part) -> Any:
        """An agent for one episode."""
        return self.find("agent", name).make(part)

    def user(self, name: str, part: Part) -> UserSimulator:
        """A simulated user for one episode."""
        return cast(UserSimulator, self.find("user", name).make(part))

    def backend(self, name: str, settings: Mapping[str, Any] | None = None) -> Any:
        """An LLM backend made with a role's settings."""
        return self.find("backend", name).make(dict(settings or {}))

    def _collected(self, kind: Kind) -> dict[str, Offer]:
        given: dict[str, list[Offer]] = {}
        for origin, plugin in self._plugins:
            for entry in self._asked(kind, origin, plugin):
                given.setdefault(entry.name, []).append(Offer(kind.name, entry, origin))
        return {name: offers[0] for name, offers in given.items() if self._single(kind, name, offers)}

    def _asked(self, kind: Kind, origin: Origin, plugin: Any) -> list[Entry]:
        """What one plugin's hook gives, up to the first thing that is wrong."""
        others = [other for _, other in self._plugins if other is not plugin]
        caller = self._manager.subset_hook_caller(kind.hook, others)
        if not caller.get_hookimpls():
            return []
        boundary = Boundary(origin)
        entries: list[Entry] = []
        try:
            results = boundary.run(kind.hook, caller)
            if not results:
                raise boundary.failure(
                    kind.hook, f"gave None where {kind.entry.__name__}s are wanted; give [] for none"
                )
            for entry in boundary.each(kind.hook, results[0]):
                entries.append(boundary.expect(kind.hook, entry, kind.entry))
                if len(entries) > _MOST:
                    raise boundary.failure(kind.hook, f"gives more than {_MOST} entries")
        except EnvscalerError as error:
            text = str(error).removeprefix(f"{origin}: ")
            self._problem(Problem(origin, " ".join(text.split()), kind=kind.name))
        return entries

    def _single(self, kind: Kind, name: str, offers: Sequence[Offer]) -> bool:
        """The name stands for one thing: the shipped one, or the only one."""
        if len(offers) == 1:
            return True
        first, second = offers[0].origin, offers[1].origin
        if first == second:
            reason = f"{kind.label} {name} is offered twice by {first.package}; neither is used"
        elif first.shipped:
            reason = f"{kind.label} {name} of {second.package} is not used: {first.package} itself has one of that name"
        else:
            reason = (
                f"{kind.label} {name} is offered by {first.package} and by {second.package}; neither is used until "
                "one of them is disabled"
            )
        problem = Problem(second, reason, kind=kind.name, name=name)
        if not first.shipped:
            self._refused[kind.name, name] = problem
        self._problem(problem)
        return first.shipped


# -- looking at a plugin before its hooks are asked


def _slip(plugin: Any) -> str:
    """What is wrong with how a plugin is written, in one line; empty if nothing is."""
    version = getattr(plugin, "ENVSCALER_HOOKS", 1)
    if isinstance(version, bool) or not isinstance(version, int):
        return f"ENVSCALER_HOOKS must be a whole number, not {version!r}"
    if version != HOOKS_VERSION:
        other = "envscaler" if version > HOOKS_VERSION else "the plugin"
        return f"is written for version {version} of the hooks, and here they have version {HOOKS_VERSION}; upgrade {other}"
    hooks = dict(_hooks(plugin))
    if not hooks:
        return f"has no hook; there are {', '.join(HOOKS)}"
    for name, (function, marked) in hooks.items():
        if name not in HOOKS:
            near = nearest(name, HOOKS)
            return f"there is no hook {name}" + (
                f"; did you mean {near}?" if near else f"; there are {', '.join(HOOKS)}"
            )
        if not marked:
            return f"{name} is not marked with @hookimpl"
        if needed := _needed(function):
            return f"{name}({', '.join(needed)}) has the wrong signature: the hook is {name}()"
    return ""


def _hooks(plugin: Any) -> Iterator[tuple[str, tuple[Callable[..., Any], bool]]]:
    """Functions that are hooks or look like them, by the name of the hook, and whether they are marked."""
    for name in dir(plugin):
        if name.startswith("__"):
            continue
        value = getattr(plugin, name, None)
        if not inspect.isroutine(value):
            continue
        options = getattr(value, f"{PROJECT}_impl", None)
        if isinstance(options, dict):
            yield options.get("specname") or name, (value, True)
        elif name.startswith(_PREFIX) and getattr(value, "__module__", None) == getattr(plugin, "__name__", None):
            yield name, (value, False)


def _needed(function: Callable[..., Any]) -> list[str]:
    """Parameters that the caller of a hook would have to give, and gives none."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind not in kinds]
