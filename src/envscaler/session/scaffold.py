"""Writes a new distribution with a plugin from the templates of `templates/scaffold/plugin`."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from envscaler.errors import UsageError
from envscaler.session.files import StrPath, reason
from envscaler.session.templates import template_folders

__all__ = ["new_plugin"]

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_COMMON = {
    "pyproject.toml": "pyproject.toml.j2",
    "README.md": "README.md.j2",
    "tox.ini": "tox.ini.j2",
    "src/{module}/py.typed": "",
}
_KINDS = "agent assessor checker backend embedder executor exporter generator source specs user"
_FILES = {
    kind: {"src/{module}/__init__.py": f"{kind}.py.j2", "tests/test_{module}.py": f"test_{kind}.py.j2"}
    for kind in _KINDS.split()
}


def new_plugin(name: str, kind: str, folder: StrPath | None = None) -> list[Path]:
    """Write the distribution `envscaler-NAME` into ``folder`` (by default one of that name); the files written.

    Raises UsageError for a name that will not do, and where something is in the way: nothing is ever overwritten.
    """
    from envscaler import __version__
    from envscaler.compiler.templates import render

    if kind not in _FILES:
        raise UsageError(f"no such kind: {kind}; there are {', '.join(_FILES)}")
    name = name.removeprefix("envscaler-")
    word = name.replace("-", "_")
    if not _NAME.fullmatch(name) or keyword.iskeyword(word):
        raise UsageError(
            f"{name!r} cannot name a plugin: lower-case letters and digits, beginning with a letter, with - between, and no "
            "keyword of Python"
        )
    values = {
        "name": name, "distribution": f"envscaler-{name}", "module": f"envscaler_{word}", "word": word, "kind": kind,
        "class_name": _class_name(name, kind), "version": __version__,
        "title": name.replace("-", " ").capitalize(),
    }  # fmt: skip
    target = Path(values["distribution"] if folder is None else folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists and is not empty; nothing was written")
    folders = template_folders()
    texts = {}
    for path, template in (_COMMON | _FILES[kind]).items():
        text = render(f"scaffold/plugin/{template}", folders, **values) if template else ""
        texts[target / path.format(**values)] = text
    if kind == "specs":
        spec = render("scaffold/spec.yaml.j2", folders, name=word, title=values["title"])
        texts[target / "src" / values["module"] / "specs" / f"{word}.yaml"] = spec
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{target}: {reason(error)}") from None
    return list(texts)


def _class_name(name: str, kind: str) -> str:
    """`tea-time` and `source` give `TeaTimeSource`."""
    words = "".join(part.capitalize() for part in name.split("-"))
    return words.removesuffix(kind.capitalize()) + kind.capitalize()
