"""A virtual environment to install a wheel into."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path


class Env:
    """A virtual environment; commands run in ``folder`` with nothing of ours on the path."""

    def __init__(self, path: Path, folder: Path) -> None:
        venv.create(path, with_pip=True)
        self._bin = path / ("Scripts" if os.name == "nt" else "bin")
        self._folder = folder

    def run(self, *words: object, code: int = 0) -> str:
        """What a command prints; it must end with ``code``."""
        return self.both(*words, code=code)[0]

    def both(self, *words: object, code: int = 0) -> tuple[str, str]:
        """The same, and what it writes to standard error."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
        done = subprocess.run(
            [self._bin / str(words[0]), *map(str, words[1:])],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
            env=environ,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout, done.stderr
