"""A page of documentation run: its fenced blocks found by line, executed in order in a folder of their own.

- ```yaml NAME: written to NAME; a whole spec (it begins with `envscaler:`) must check without errors, unless the block's
  language is followed by `bad`.
- ```yaml NAME +: a part of a spec, laid into the NAME of the blocks before (see `laid_into`), which must check as above.
- ```text NAME and ```json NAME: written to NAME.
- ```console: each `$ command` is run, `< FILE` at its end as its standard input; the output shown below it must be the
  output, `…` standing for any text. Where none is shown, the command must succeed. Commands that install or test
  envscaler itself are not run.
- ```python: executed; the blocks of a page share their names. ```pycon: as a doctest. ```python NAME.py and ```toml NAME:
  written to NAME. ```python signature: not run; another test reads it.
- `$ pip install -e FOLDER` of a folder that the page has made takes effect, without pip; `$ python -m pytest FOLDER` is run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.docs.site import Site

ROOT = Path(__file__).resolve().parents[2]
NOT_RUN = (
    "pip ",
    "python -m pip ",
    "python -m pytest",
    "python -m venv ",
    "git ",
    "cd ",
    "tox",
    ".ci/run",
    ". ",
    "source ",
)
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block; ``line`` is that of its fence, from 1."""

    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a Markdown file that are examples."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        info = match["info"].split()
        language, words = (info[0], tuple(info[1:])) if info else ("", ())
        indent = len(match["indent"])
        body = "".join(line[indent:] for line in match["body"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(path.relative_to(ROOT).as_posix(), line, language, words, body))
    return found


@dataclass
class Page:
    """Runs a page's blocks in ``folder``; a block is run once, after those before it."""

    blocks: list[Block]
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    outcomes: dict[int, BaseException | None] = field(default_factory=dict)
    site: Site = field(init=False)

    def __post_init__(self) -> None:
        self.site = Site(self.folder)

    def run(self, block: Block) -> None:
        """Run the page down to ``block`` and raise what is wrong with it."""
        for other in self.blocks[: self.blocks.index(block) + 1]:
            if other.line not in self.outcomes:
                self.outcomes[other.line] = self._outcome(other)
        outcome = self.outcomes[block.line]
        if outcome is not None:
            raise outcome

    def _outcome(self, block: Block) -> BaseException | None:
        handler = {"yaml": self._yaml, "console": self._console, "python": self._python, "pycon": self._pycon}
        handler["json"] = handler["text"] = handler["toml"] = self._file
        try:
            with contextlib.chdir(self.folder), self.site.on_path():
                handler.get(block.language, lambda _: None)(block)
        except Exception as error:
            return error
        return None

    def _file(self, block: Block) -> None:
        for name in block.words:
            if name not in ("bad", "+"):
                target = Path(name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, encoding="utf-8")

    def _yaml(self, block: Block) -> None:
        if "+" in block.words:
            whole = Path(block.words[0]).read_text(encoding="utf-8")
            block = replace(block, text=laid_into(whole, block.text))
        self._file(block)
        if not block.text.startswith("envscaler:"):
            return
        from envscaler.spec.check import check_text

        errors = [d.headline() for d in check_text(str(block), block.text).diagnostics if d.severity == "error"]
        if "bad" in block.words:
            assert errors, f"{block}: this spec is said to be bad, but checks"
        else:
            assert not errors, f"{block}: the spec does not check:\n" + "\n".join(errors)

    def _python(self, block: Block) -> None:
        if "signature" in block.words:
            return
        if any(word.endswith(".py") for word in block.words):
            self._file(block)
            return
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile("\n" * block.line + block.text, str(block), "exec"), self.names)

    def _pycon(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, str(block), block.page, block.line)
        out = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=out.write, clear_globs=False)
        self.names.update(test.globs)
        assert not runner.failures, out.getvalue()

    def _console(self, block: Block) -> None:
        for command, expected in commands(block.text):
            if self.site.installs(command):
                continue
            if command.startswith(NOT_RUN) and not _tests_a_folder(command):
                continue
            with self.site.on_path():
                code, output = _shell(command)
            if expected:
                assert _matches(expected, output), f"{block}: {command}\n--- shown\n{expected}\n--- printed\n{output}"
            else:
                assert code == 0, f"{block}: {command} exited with {code}\n{output}"


def laid_into(whole: str, part: str) -> str:
    """The text of a spec with a part of it put in.

    An entry of the part, such as a tool, replaces the one of its name or comes last in its section. A section that is no
    mapping is replaced; a new one comes where the reference of the language lists it.
    """
    from envscaler.spec.forms import FORMS

    sections = _split(_SECTION, whole)
    for name, text in _split(_SECTION, part).items():
        mapping = f"{name}:\n"
        if sections.get(name, "").startswith(mapping) and text.startswith(mapping):
            entries = _split(_ENTRY, sections[name]) | _split(_ENTRY, text)
            text = mapping + "".join(entries.values())
        sections[name] = text
    order = [key.key for key in FORMS["spec"].keys]
    return "".join(sections[name] for name in sorted(sections, key=order.index))


_SECTION = re.compile(r"^(\w+):.*\n(?:(?: .*)?\n)*", re.M)
_ENTRY = re.compile(r"^  (\w+):.*\n(?:   .*\n|\n)*", re.M)


def _split(pieces: re.Pattern[str], text: str) -> dict[str, str]:
    return {piece[1]: piece[0] for piece in pieces.finditer(text)}


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:].partition("   #")[0].strip(), []))
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(lines).strip()) for command, lines in found]


def _tests_a_folder(command: str) -> bool:
    return command.startswith("python -m pytest") and Path(command.split()[-1]).is_dir()


def _shell(command: str) -> tuple[int, str]:
    """Exit code and output; `envscaler` runs within this process, which saves its start."""
    words = shlex.split(command)
    typed = ""
    if "<" in words:
        typed = Path(words.pop()).read_text(encoding="utf-8")
        words.remove("<")
    if words[0] == "envscaler":
        return _envscaler(words[1:], typed)
    if words[0] == "python":
        words[0] = sys.executable
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
    done = subprocess.run(
        words, capture_output=True, encoding="utf-8", timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).strip()


def _envscaler(words: list[str], typed: str) -> tuple[int, str]:
    from envscaler.cli.app import app

    out = io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), _stdin(typed):
        try:
            app(words, prog_name="envscaler")
        except SystemExit as end:
            code = end.code
    return int(str(code or 0)), out.getvalue().strip()


@contextlib.contextmanager
def _stdin(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def _matches(expected: str, printed: str) -> bool:
    def tidy(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*".join(re.escape(part) for part in re.split(r"…", tidy(expected)))
    return re.fullmatch(pattern, tidy(printed), re.S) is not None


def pages() -> list[Path]:
    """README, ARCHITECTURE and everything under docs/, but for the pages of diagnostics: test_reference runs those."""
    written = (p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "diagnostics")
    return [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted(written)]


def prepare(folder: Path) -> None:
    """Give a page's folder what its commands may use: the shipped specs."""
    shutil.copytree(ROOT / "specs", folder / "specs")
