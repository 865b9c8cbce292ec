"""Specs by name: the shipped ones without loading a plugin, those of installed packs when neither file nor shipped is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, existing, is_spec

if TYPE_CHECKING:
    from envscaler.plugin.entries import SpecsEntry
    from envscaler.plugin.manager import Plugins

__all__ = ["InstalledSpec", "installed_specs", "pack_specs", "spec_path"]

_NAME = re.compile(r"(?:(?P<pack>[a-z][a-z0-9_-]*)/)?(?P<name>[a-z][a-z0-9_]*)")


def spec_path(spec: StrPath) -> Path:
    """The file that ``spec`` means: a path, or `NAME` or `PACK/NAME` where there is no such file.

    A shipped spec is found without loading plugins; only a name that none of them has makes the installed packs be
    asked. Raises UsageError with the nearest name.
    """
    path = Path(spec)
    wanted = _NAME.fullmatch(path.as_posix())
    if wanted is None or path.exists():
        return existing(path)
    from envscaler.builtin.packs import packs

    shipped: dict[str, Mapping[str, Path]] = {pack.name: pack_specs(pack) for pack in packs()}
    found = _matching(shipped, wanted["pack"], wanted["name"])
    if not found and wanted["pack"] not in shipped:
        found, shipped = _installed(shipped, wanted["pack"], wanted["name"])
    if len(found) > 1:
        raise UsageError(f"{wanted['name']} is in several packs; say which: {' or '.join(found)}")
    if not found:
        raise UsageError(f"{path}: neither a file nor an installed spec{_hint(path, shipped)}")
    return next(iter(found.values()))


def _installed(
    shipped: Mapping[str, Mapping[str, Path]], pack: str | None, name: str
) -> tuple[dict[str, Path], dict[str, Mapping[str, Path]]]:
    from envscaler.session.plugins import open_plugins

    packs = {**shipped, **_packs(open_plugins())}
    return _matching(packs, pack, name), packs


def _packs(plugins: Plugins) -> dict[str, Mapping[str, Path]]:
    from envscaler.plugin.entries import SpecsEntry

    entries = [offer.entry for offer in plugins.offers("specs")]
    return {entry.name: pack_specs(entry) for entry in entries if isinstance(entry, SpecsEntry)}


def _matching(packs: Mapping[str, Mapping[str, Path]], pack: str | None, name: str) -> dict[str, Path]:
    """The specs of that name, by `PACK/NAME`."""
    return {f"{p}/{name}": specs[name] for p, specs in packs.items() if pack in (None, p) and name in specs}


def _hint(path: Path, packs: Mapping[str, Mapping[str, Path]]) -> str:
    """What was probably meant: a spec by name, or a file that stands there."""
    names = [name for specs in packs.values() for name in specs]
    full = [f"{pack}/{name}" for pack, specs in packs.items() for name in specs]
    near = nearest(path.as_posix(), full if len(path.parts) > 1 else [*names, *_files(path)])
    return f"; did you mean {near}?" if near else "; `envscaler specs` lists what is installed"


def _files(path: Path) -> Iterable[str]:
    beside = [p for p in path.parent.iterdir() if p.suffix in (".yaml", ".yml")] if path.parent.is_dir() else []
    stems = {p.stem: str(p) for p in beside}
    return [stems[path.name]] if path.name in stems else stems.values()


def pack_specs(pack: SpecsEntry) -> dict[str, Path]:
    """The specs of a pack by name: the files directly in its folder that have a line beginning with `envscaler:`."""
    files = sorted(p for p in pack.path.iterdir() if p.suffix in (".yaml", ".yml") and not p.name.startswith("."))
    return {file.stem: file for file in files if is_spec(file)}


@dataclass(frozen=True, slots=True)
class InstalledSpec:
    """A spec of a pack. ``tools`` counts the tools of both actors; ``title`` is empty and ``tools`` 0 for a spec that cannot
    be read."""

    name: str
    title: str
    tools: int
    pack: str
    distribution: str
    version: str
    path: Path


def installed_specs(plugins: Plugins) -> list[InstalledSpec]:
    """All specs of all packs, by pack and name. They are read, not checked."""
    from envscaler.plugin.entries import SpecsEntry

    rows = []
    for offer in plugins.offers("specs"):
        assert isinstance(offer.entry, SpecsEntry)
        for name, path in pack_specs(offer.entry).items():
            title, tools = _title_and_tools(path)
            origin = offer.origin
            rows.append(InstalledSpec(name, title, tools, offer.entry.name, origin.distribution, origin.version, path))
    return rows


def _title_and_tools(path: Path) -> tuple[str, int]:
    from envscaler.spec.read import read_spec
    from envscaler.spec.report import Report
    from envscaler.spec.scan import decode

    try:
        text = decode(str(path), path.read_bytes(), Report())
    except OSError:
        text = None
    if text is None:
        return "", 0
    seen = _glance(text)
    if seen is not None:
        return seen
    spec = read_spec(str(path), text)[0]
    return ("", 0) if spec is None else (spec.title, len(spec.tools))


def _glance(text: str) -> tuple[str, int] | None:
    """Title and number of tools of a spec that is laid out as `envscaler fmt` does it: reading a whole spec takes a tenth of
    a second, and a list has many. None for any other layout."""
    title = re.search(r"^title: ([\w(][^\n:#]*)\n(?! )", text, re.M)
    tools = re.search(r"^tools:\n((?: .*\n|\n|#.*\n)+)(?=[a-z_]+:|\Z)", text, re.M)
    if title is None or tools is None:
        return None
    names = re.findall(r"^  [A-Za-z_]\w*:(?: .*)?$", tools[1], re.M)
    return (title[1].strip(), len(names)) if names else None
