"""The worlds that scenarios are for: specs found by name and hash in a folder, or among those that are installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envscaler.errors import UsageError
from envscaler.session.files import StrPath, spec_files
from envscaler.session.packs import spec_path
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.scenario.model import SpecRef
    from envscaler.scenario.world import World
    from envscaler.spec.checked import Checked

__all__ = ["SPECS", "Worlds"]

SPECS: Final = "specs"
"""The folder in which specs are looked for where none is named."""

_SHOWN: Final = 19  # characters of a hash: `sha256:` and twelve digits


class Worlds:
    """Worlds by the name and hash of their spec, each made once.

    ``folder``: a folder of specs, or a spec; by default `specs`, where there is such. What is not in it is looked for among
    the installed specs. ``any_hash``: a spec that was changed since will do.
    """

    def __init__(self, folder: StrPath | None = None, *, any_hash: bool = False) -> None:
        self._folder = folder
        self._any_hash = any_hash
        self._files: list[Path] | None = None
        self._worlds: dict[SpecRef, World] = {}

    def of(self, ref: SpecRef) -> World:
        """The world of a spec. Raises UsageError when there is none of that name, or only a changed one; SpecError for one
        with errors."""
        if ref not in self._worlds:
            from envscaler.scenario.world import World

            world = World.of(self._checked(ref), template_folders())
            self._worlds |= {ref: world, world.ref: world}
        return self._worlds[ref]

    def _checked(self, ref: SpecRef) -> Checked:
        changed: list[Checked] = []
        for file in self._called(ref.name):
            checked = sound(file)
            assert checked.spec is not None
            if checked.spec.name == ref.name:
                if ref.hash in ("", checked.spec.hash):
                    return checked
                changed.append(checked)
        if not changed:
            place = SPECS if self._folder is None else self._folder
            raise UsageError(f"no spec is called {ref.name}, neither in {place} nor among those that are installed")
        spec = changed[0].spec
        assert spec is not None
        if not self._any_hash:
            raise UsageError(
                f"{changed[0].path} is not the spec that the scenario was made for: it has {spec.hash[:_SHOWN]}, the "
                f"scenario says {ref.hash[:_SHOWN]}; --any-hash takes it all the same"
            )
        return changed[0]

    def _called(self, name: str) -> Iterator[Path]:
        """Files that say they are the spec: of the folder first."""
        if self._files is None:
            given = self._folder is not None
            folder = Path(self._folder if self._folder is not None else SPECS)
            self._files = spec_files([folder])[0] if given or folder.is_dir() else []
        line = re.compile(rf"^[\"']?name[\"']?:\s*[\"']?{re.escape(name)}\b", re.M)
        for file in self._files:
            if file.stem == name or line.search(file.read_text(encoding="utf-8", errors="replace")):
                yield file
        with suppress(UsageError):
            yield spec_path(name)
