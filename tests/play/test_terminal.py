"""A real terminal: a session in tmux, typed key by key, looked at on the screen."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envscaler import session

ROOT = Path(__file__).parents[2]
BANK = ROOT / "specs" / "bank.yaml"

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


class Screen:
    """A program in a window of a tmux server of its own."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ["tmux", "-f", os.devnull, "-S", str(folder / "tmux")]

    def start(self, command: str, width: int, folder: Path, **env: str) -> None:
        words = [f"{k}={shlex.quote(v)}" for k, v in env.items()]
        line = f"cd {shlex.quote(str(folder))}; env {' '.join(words)} {command}; echo left with $?; sleep 60"
        self._run("new-session", "-d", "-x", str(width), "-y", "40", line)

    def type(self, *keys: str) -> None:
        """Text, or names of keys in angle brackets."""
        for key in keys:
            named = key.startswith("<")
            self._run("send-keys", *([key[1:-1]] if named else ["-l", key]))

    def paste(self, text: str) -> None:
        """What a terminal sends when a person pastes."""
        self._run("set-buffer", text)
        self._run("paste-buffer", "-p")

    def text(self, colours: bool = False) -> str:
        return self._run("capture-pane", "-p", *(["-e"] if colours else []))

    def wait(self, ready: Callable[[str], bool], colours: bool = False) -> str:
        """The screen once it is as it should be."""
        end = time.monotonic() + 30
        while not ready(shown := self.text(colours)):
            assert time.monotonic() < end, f"this is what the screen shows:\n{shown}"
            time.sleep(0.05)
        return shown

    def stop(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], check=True, capture_output=True, encoding="utf-8")
        return done.stdout


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    found = Screen(tmp_path)
    yield found
    found.stop()


def start(screen: Screen, folder: Path, width: int = 100, **env: str) -> None:
    path = os.pathsep.join([env.pop("FIRST", ""), str(ROOT / "src")])
    variables = {"PYTHONPATH": path, "XDG_STATE_HOME": str(folder / "state"), "TERM": "screen-256color", **env}
    screen.start(
        f"{shlex.quote(sys.executable)} -m envscaler play {shlex.quote(str(BANK))}", width, folder, **variables
    )


def test_a_session_at_the_terminal(screen: Screen, tmp_path: Path) -> None:
    pytest.importorskip("prompt_toolkit")
    start(screen, tmp_path)
    screen.wait(lambda s: "Service desk" in s and "agent>" in s and "0 calls" in s)

    screen.type("blo", "<Tab>")
    screen.wait(lambda s: "agent> block_card" in s)
    screen.type(" ca")
    screen.wait(lambda s: "an id of cards" in s)
    screen.type("<Tab>")
    screen.wait(lambda s: "card_id=" in s)
    screen.type("3001", "<Tab>")
    screen.wait(lambda s: "agent> block_card card_id=K-3001" in s)
    screen.type("<Enter>")
    screen.wait(lambda s: "Card K-3001 ending in 4417 is blocked." in s and "1 call, not saved" in s)
    coloured = screen.text(colours=True)
    assert "\x1b[32m" in coloured  # what became, in green
    assert "\x1b[31m" in coloured  # what was, in red

    screen.type("block_card K-3001", "<Enter>")
    screen.wait(lambda s: "not understood: a value needs the name" in s and s.count("agent> block_card K-3001") == 2)
    screen.type("card_id=", "<Enter>")  # the line is still there, with the cursor where the name is missing
    screen.wait(lambda s: "error[refused] Card K-3001 is blocked already." in s and "2 calls" in s)

    screen.paste('count_till\nset_card_limit {\n"card_id": "K-3001",\n"daily_limit": 8}\n:undo 2\nnothing\n:diff')
    screen.type("<Enter>")
    screen.wait(lambda s: s.count("taken back") == 2 and "2 calls" in s and "agent> nothing\n:diff" in s)
    screen.type("<C-c>")
    screen.wait(lambda s: s.rstrip().splitlines()[-1].endswith("2 to redo · :help"))

    screen.type(":undo 2", "<Enter>")
    screen.wait(lambda s: s.count("taken back block_card") == 2 and "4 to redo" in s)
    screen.type("half a line", "<C-c>")
    screen.type(":redo 2", "<Enter>")
    screen.wait(lambda s: "2 calls, not saved · 2 to redo" in s)
    screen.type(":save cards.jsonl", "<Enter>")
    screen.wait(lambda s: "2 calls saved as cards.jsonl" in s)
    screen.type("<C-d>")
    screen.wait(lambda s: "left with 0" in s)
    assert session.replay(BANK, tmp_path / "cards.jsonl").ok
    kept = (tmp_path / "state" / "envscaler" / "play_history").read_text(encoding="utf-8")
    assert "+block_card card_id=K-3001\n" in kept


@pytest.mark.slow
def test_no_colour_where_none_is_wanted(screen: Screen, tmp_path: Path) -> None:
    pytest.importorskip("prompt_toolkit")
    start(screen, tmp_path, width=60, NO_COLOR="1")
    screen.wait(lambda s: "agent>" in s and "0 calls" in s)
    screen.type("block_card card_id=K-3001", "<Enter>")
    screen.wait(lambda s: "active → blocked" in s and "1 call," in s)
    screen.type("<C-d>")
    shown = screen.wait(lambda s: "1 call, not saved" in s and "left with 0" in s)
    assert max(map(len, shown.splitlines())) <= 60
    coloured = screen.text(colours=True)
    assert not any(f"\x1b[{n}m" in coloured for n in (*range(31, 38), *range(90, 98)))


def test_without_the_library_for_terminals(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "prompt_toolkit.py").write_text("raise ModuleNotFoundError('prompt_toolkit')", encoding="utf-8")
    start(screen, tmp_path, width=200, FIRST=str(tmp_path))
    shown = screen.wait(lambda s: "left with 2" in s)
    assert "pip install 'envscaler[play]'" in shown
