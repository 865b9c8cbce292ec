"""A spec made ready to be played, and the files that a player saves to and replays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, existing, read_json, reason, replace_file
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.play import Player
    from envscaler.replay import Case

__all__ = ["play"]


def play(
    spec: StrPath,
    *,
    seed: int = 0,
    state: StrPath | None = None,
    clock: str | None = None,
    actor: Literal["agent", "user"] = "agent",
) -> Player:
    """A session on the environment of a spec; `Player.handle` takes its lines.

    ``state``: a JSON file to begin with instead of the spec's initial state; ``clock``: a time instead of the spec's. Raises
    StateError for a state that is not allowed, UsageError for a clock that is none or a spec without tools of ``actor``.
    """
    from envscaler.compiler import compile_spec, load_class
    from envscaler.play import Episode, Player, Source

    checked = sound(spec)
    environment = load_class(compile_spec(checked, templates=template_folders()))
    episode = Episode(environment, None if state is None else read_json(Path(state)), seed, actor, clock)
    if actor == "user" and actor not in episode.actors():
        raise UsageError(f"{checked.path} has no tools of the simulated user")
    rules = {rule.name: rule for rule in environment.rules}
    return Player(episode, Source(checked.path, checked.source.splitlines(), rules), _Files())


class _Files:
    """The files of one session. What it wrote itself it may write again."""

    def __init__(self) -> None:
        self._own: set[Path] = set()

    def save(self, path: str, row: Mapping[str, Any], overwrite: bool) -> str:
        target = _expanded(path)
        if target.is_dir():
            raise UsageError(f"{target} is a folder; name a file in it")
        if target.suffix == "":
            target = target.with_name(f"{target.name}.jsonl")
        text = json.dumps(row, ensure_ascii=False)
        if not text.isascii() and text != text.encode("utf-8", "replace").decode():
            text = json.dumps(row)  # half a surrogate pair can only stand there escaped
        try:
            if target.exists() and not overwrite and target.resolve() not in self._own:
                raise UsageError(f"{target} exists; `:save {path} overwrite` replaces it")
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, text + "\n")
            self._own.add(target.resolve())
        except (OSError, ValueError) as error:
            raise UsageError(f"{target}: {reason(error)}") from None
        return str(target)

    def case(self, path: str, name: str | None, api: str | None) -> Case:
        from envscaler.replay import read_cases

        file = existing(_expanded(path))
        names: list[str] = []
        for case in read_cases(file, api):
            if name is None or case.id == name:
                return case
            names.append(case.id)
        if not names:
            raise UsageError(f"{file} holds no case" + (f" of {api}" if api else ""))
        near = nearest(name or "", names)
        raise UsageError(f"{file} has no case {name}" + (f"; did you mean {near}?" if near else f": {one_of(names)}"))

    def paths(self, beginning: str) -> Iterator[str]:
        folder, _, name = beginning.rpartition("/")
        root = _expanded(folder) if folder or beginning.startswith("/") else Path()
        if beginning.startswith("/") and not folder:
            root = Path("/")
        try:
            with os.scandir(root) as entries:
                found = sorted((e.name, e.is_dir()) for e in entries)
        except (OSError, ValueError):
            return
        lead = beginning[: len(beginning) - len(name)]
        for entry, is_folder in found:
            if entry.startswith(name) and (name or not entry.startswith(".")):
                if is_folder:
                    yield f"{lead}{entry}/"
                elif entry.endswith((".jsonl", ".jsonl.xz")):
                    yield f"{lead}{entry}"


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
