"""Scenarios as TRL trains on them: a class for each spec, and the rows of a data set."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import Episodes, UsageError
from envscaler_trl.environment import SpecEnvironment
from envscaler_trl.methods import Method, free_name, method_of

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["Environments", "environment_class"]

_TEXTS: Final = 256  # scenarios of Parquet files whose text is kept, with their states
_PROBE: Final = {
    "kind": "probe", "task": "Look at the tools.", "goals": [{"expr": 'refusal == "not_found"'}], "guards": [],
    "solution": [], "outcome": "refusal", "seed": 0,
}  # fmt: skip
_SAY: Final = "say_to_user"
_SAYS: Final = (
    "Say something to the person whom you act for, and read what they answer. They do not see your other calls."
)
_HOW_TO_SAY: Final = (
    "Here the customer is talked to by the tool `{}` alone; a message without a tool call ends the conversation."
)
_ANSWER: Final = "Its parts are told with the task; without any, {}."
_FORM: Final = "\n\n`answer` of `{}` is an object of this JSON Schema: {}"


class Environments:
    """Classes for `environment_factory`, and rows for `train_dataset`.

        environments = Environments("tasks.jsonl")
        GRPOTrainer(model, environment_factory=environments.classes, train_dataset=environments.dataset())

    ``scenarios``: files of scenarios; Parquet files of the `rl-parquet` export, or folders with such. ``names``: specs that
    get a class besides those. ``specs``, ``any_hash``, ``policy``, ``mode`` are those of `envscaler.Episodes`. ``user``:
    `facts` for conversations. ``steps``: calls in an episode; those of one reply count one by one, since TRL does not say
    which came together. ``seconds``: from `reset` to `get_reward`. Raises SpecError, UsageError.
    """

    def __init__(
        self,
        scenarios: str | Path | Sequence[str | Path] = (),
        *,
        names: Sequence[str] = (),
        specs: str | Path | None = None,
        any_hash: bool = False,
        policy: str | None = None,
        user: str | None = None,
        steps: int = 200,
        seconds: float = 86_400.0,
        mode: str = "guarded",
    ) -> None:
        self._talks = user is not None
        self._texts = _Texts()
        files = [scenarios] if isinstance(scenarios, str | Path) else list(scenarios)
        tables = [table for one in map(Path, files) for table in _tables(one)]
        plain = [one for one in files if not _tables(Path(one))]
        options: dict[str, Any] = {
            "specs": specs,
            "any_hash": any_hash,
            "policy": policy,
            "user": user,
        }
        options |= {"steps": steps, "seconds": seconds, "mode": mode}
        self._episodes = Episodes(plain, **options)
        self._recipe = (tuple(files), (("names", tuple(names)), *options.items()))
        self._ids: dict[str, str] = {}  # of scenarios: the specs that they are for
        for one in self._episodes.ids:
            self._ids[one] = self._episodes.scenario(one).spec.name
        for table in tables:
            self._ids |= self._texts.read(table)
        #: By spec, what is called otherwise than there.
        self.notes: dict[str, tuple[str, ...]] = {}
        #: The classes by the name of their spec, for `environment_factory`.
        self.classes: dict[str, type[SpecEnvironment]] = {}
        for name in dict.fromkeys([*self._ids.values(), *names]):
            self.classes[name] = self._class(name)

    # -- classes

    def _class(self, spec: str) -> type[SpecEnvironment]:
        """The class of a spec. The language has no tools called `reset` or `get_reward`, and none that begin with `_`."""
        probe = {**_PROBE, "spec": {"name": spec, "hash": ""}}
        *tools, submit = self._episodes.begin(probe)[1].tools
        methods = [method_of(tool) for tool in tools]
        methods.append(method_of(_Offer(submit.name, submit.description, _any_answer(submit.parameters))))
        say = ""
        if self._talks:
            say = free_name(_SAY, [method.name for method in methods])
            methods.append(method_of(_Offer(say, _SAYS, _MESSAGE)))
        self.notes[spec] = tuple(note for method in methods for note in method.notes)
        return self._made(spec, say, methods)

    def _made(self, spec: str, say: str, methods: Sequence[Method]) -> type[SpecEnvironment]:
        name = "".join(word[:1].upper() + word[1:] for word in spec.split("_")) + "Environment"
        inner: dict[str, Any] = {
            "__module__": __name__,
            "__doc__": f"The environment `{spec}` for TRL.",
        }
        inner |= {"_source": self, "_spec": spec, "_say": say}
        for method in methods:
            method.function.__qualname__ = f"{name}.{method.name}"
            inner[method.name] = method.function
        return type(name, (SpecEnvironment,), inner)

    def _remade(self, spec: str) -> tuple[Any, ...]:
        """How pickle makes the class of a spec in another process."""
        return _class_again, (self._recipe, spec)

    # -- rows

    def dataset(self) -> Dataset:
        """The `rows` as a data set. Needs datasets."""
        from datasets import Dataset

        rows = list(self.rows())
        if not rows:
            why = "; ".join(f"{one}: {reason}" for one, reason in list(self.left_out.items())[:3])
            raise UsageError(f"no scenario that TRL can play{': ' * bool(why)}{why}")
        return Dataset.from_list(rows)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each scenario that can be played: `prompt` (messages of role and content), `environment`, `id`, `kind`. All
        are texts. What cannot be played is in `left_out`."""
        for one in self._ids:
            scenario = self._episodes.scenario(self._known(one))
            if self._unfit(scenario):
                continue
            _, seen = self._episodes.begin(self._known(one))
            messages = [{"role": m.role, "content": m.content} for m in seen.messages]
            if say := self.classes[scenario.spec.name]._say:
                messages[0]["content"] += f"\n\n{_HOW_TO_SAY.format(say)}"
            yield {
                "prompt": messages,
                "environment": scenario.spec.name,
                "id": one,
                "kind": scenario.kind,
            }

    @property
    def left_out(self) -> dict[str, str]:
        """Scenarios that cannot be played through TRL, by id, and why."""
        found = {one: self._unfit(self._episodes.scenario(self._known(one))) for one in self._ids}
        return {one: reason for one, reason in found.items() if reason}

    def _unfit(self, scenario: Any) -> str:
        if scenario.reveal:
            return "it reveals tools in the middle, and TRL offers the same tools from the beginning to the end"
        if not self._talks and any(step.actor == "user" for step in scenario.solution):
            return "its user has to do something, and there is no user"
        return ""

    # -- episodes

    def _begin(self, spec: str, row: Mapping[str, Any]) -> tuple[Any, Any]:
        """The episode of a row, begun, and what is seen first."""
        which = self._which(row)
        scenario = self._episodes.scenario(which)
        if scenario.spec.name != spec:
            raise UsageError(
                f"the scenario {scenario.id} is for {scenario.spec.name}, not for {spec}: give environment_factory all "
                "classes by name, and rows a column `environment`"
            )
        if reason := self._unfit(scenario):
            raise UsageError(f"the scenario {scenario.id} cannot be played through TRL: {reason}")
        return self._episodes.begin(which)

    def _which(self, row: Mapping[str, Any]) -> str | Mapping[str, Any]:
        """What tells `Episodes` of the scenario of a row."""
        name, whole = row.get("id"), row.get("scenario")
        if isinstance(name, str) and name in self._ids:
            return self._known(name)
        if isinstance(whole, str) and whole.lstrip().startswith("{"):
            return whole
        if isinstance(whole, str) and whole in self._ids:
            return self._known(whole)
        told = f"the id {name!r} is not among {len(self._ids)} scenarios" if name else "it has no `id`"
        raise UsageError(f"a row has the `id` of a known scenario, or a whole `scenario` as JSON text: {told}")

    def _known(self, name: str) -> str:
        return self._texts.get(name) or name

    def _added(self, seen: Any, prompted: bool) -> str | None:
        """What is added to a prompt: all, where the row has none; and the form of the answer, where the scenario has one."""
        parts = [] if prompted else ["\n\n".join(message.content for message in seen.messages)]
        submit = seen.tools[-1]
        form = submit.parameters["properties"]["answer"]
        if form["properties"]:
            plain = {key: value for key, value in form.items() if key != "description"}
            parts.append(_FORM.format(submit.name, json.dumps(plain, ensure_ascii=False)))
        return "".join(parts) or None


def environment_class(spec: str, **options: Any) -> type[SpecEnvironment]:
    """The class of one spec, whose rows bring their `scenario` as JSON text. ``options``: of `Environments`."""
    return Environments(names=[spec], **options).classes[spec]


def _class_again(recipe: tuple[Any, ...], spec: str) -> type[SpecEnvironment]:
    return _again(recipe).classes[spec]


@cache
def _again(recipe: tuple[Any, ...]) -> Environments:
    files, options = recipe
    return Environments(files, **dict(options))


@dataclass(frozen=True, slots=True)
class _Offer:
    """A tool as the model is offered it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


_MESSAGE: Final = {
    "type": "object",
    "properties": {"message": {"type": "string", "description": "What you say."}},
    "required": ["message"],
}


def _any_answer(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of submit where the parts of an answer are another scenario's."""
    properties = parameters["properties"]
    answer = {
        "type": "object",
        "description": f"{properties['answer'].get('description', '')} {_ANSWER}".strip(),
    }
    return {**parameters, "properties": {**properties, "answer": answer}}


def _tables(path: Path) -> list[Path]:
    """The Parquet files of an export; none for a file of scenarios."""
    if path.is_dir():
        found = sorted(path.glob("*.parquet"))
        if not found:
            raise UsageError(f"{path}: a folder without Parquet files")
        return found
    return [path] if path.suffix == ".parquet" else []


class _Texts:
    """Scenarios of the `rl-parquet` export as JSON texts, with their states, which lie beside the files."""

    def __init__(self) -> None:
        self._plain: dict[str, tuple[str, Path]] = {}
        self._whole: OrderedDict[str, str] = OrderedDict()

    def read(self, table: Path) -> dict[str, str]:
        """Take up the rows of a file; by id the specs that they are for."""
        try:
            parquet = import_module("pyarrow.parquet")
        except ImportError:
            raise UsageError(f"{table}: Parquet files need pyarrow: pip install 'envscaler[parquet]'") from None
        try:
            rows = parquet.read_table(table, columns=["id", "environment", "scenario"]).to_pylist()
        except (OSError, ValueError, KeyError) as error:  # Arrow's own errors are such
            raise UsageError(f"{table}: no rows of the rl-parquet export: {error}") from None
        self._plain |= {row["id"]: (row["scenario"], table.parent / "states") for row in rows}
        return {row["id"]: row["environment"] for row in rows}

    def get(self, name: str) -> str:
        """The text of a scenario; empty where it is not of these."""
        if name not in self._plain:
            return ""
        if name not in self._whole:
            self._whole[name] = self._read(*self._plain[name])
            if len(self._whole) > _TEXTS:
                self._whole.popitem(last=False)
        return self._whole[name]

    @staticmethod
    def _read(text: str, states: Path) -> str:
        plain = json.loads(text)
        if isinstance(plain.get("state"), str):
            file = states / f"{plain['state'].removeprefix('sha256:')}.json"
            try:
                plain["state"] = json.loads(file.read_text(encoding="utf-8"))
            except OSError as error:
                raise UsageError(f"{file}: {error.strerror}") from None
        return json.dumps(plain)
