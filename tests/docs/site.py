"""Stands for a site-packages folder: what a page installs with `pip install -e` is found there, without pip or a network."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Site:
    """Installed distributions of one page, in ``folder``/site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.sources: dict[str, Path] = {}

    def installs(self, command: str) -> bool:
        """Carry out `pip install -e FOLDER` if FOLDER holds a pyproject.toml of the page's own."""
        words = command.split()
        if words[:3] != ["pip", "install", "-e"] or not (Path(words[3]) / "pyproject.toml").is_file():
            return False
        folder = Path(words[3]).resolve()
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        info = self.site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        groups = project.get("entry-points", {})
        lines = [f"[{g}]\n" + "".join(f"{n} = {v}\n" for n, v in points.items()) for g, points in groups.items()]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        self.sources[project["name"]] = folder / "src" if (folder / "src").is_dir() else folder
        return True

    @contextmanager
    def on_path(self) -> Iterator[None]:
        """What is installed can be imported; afterwards nothing of it stays loaded."""
        before = sys.path[:]
        if self.sources:
            sys.path[:0] = [str(self.site), *map(str, self.sources.values())]
            importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path[:] = before
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None) or "").startswith(str(self.folder)):
                    del sys.modules[name]
