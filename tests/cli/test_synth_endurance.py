"""`envscaler synth` over twenty tasks of each form, in every kind of trouble, and killed again and again."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_synth_command import SMALL, ends, files, lost, manifests, rows, synth
from tests.draft.line import GARDEN, Knowing, ModelServer, serving
from tests.llm.server import Step, status, text

from envscaler.llm.exchanges import Exchanges

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TASKS = Path(os.environ.get("ENVSCALER_TASKS", ROOT.parent / "shared" / "tasks")) / "api-bank" / "lv3-train.json"
OURS = (
    "Book me a table for two at the harbour restaurant on Friday.", "Which of my parcels are still on their way?",
    "Move the meeting with Petra to Thursday at ten.", "Cancel my gym membership at the end of the month.",
    "Add two litres of milk to the shopping list.", "What do I owe the garden club?",
    "Check the guest of room 12 out and print the bill.", "Order toner for the printer on the third floor.",
    "Give the spare key of flat 4 to the plumber.", "How many seats are left on the ferry at noon?",
    "Enrol my daughter in the swimming course for beginners.", "Report the lamp in Mill Lane as broken.",
    "Return the drill that I borrowed last week.", "Who is on call in the ward tonight?",
    "Put 50 euros from my current account aside.", "Renew the permit of the market stall.",
    "Reserve the small hall for the choir.", "Mark invoice 2031 as paid.", "Show the vaccinations of my dog.",
    "Swap my shift on Sunday with somebody.",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENVSCALER_CACHE", raising=False)


def real_rows(count: int) -> list[dict[str, str]]:
    """Rows of API-Bank whose tasks differ."""
    if not TASKS.is_file():
        pytest.skip(f"no {TASKS}; set ENVSCALER_TASKS")
    found: dict[str, dict[str, str]] = {}
    for row in json.loads(TASKS.read_text(encoding="utf-8")):
        said = re.search(r"User: (.*?)\s*(?:TIME|Generate API|API-Request|API:)", row["input"], re.DOTALL)
        if said is not None:
            found.setdefault(" ".join(said[1].split()), row)
        if len(found) == count:
            break
    return list(found.values())


def trouble(number: int) -> Step | None:
    """Every kind of it, each now and then; the others are answered."""
    faults = (
        status(500), Step(fault="drop"), text("Sure! Here you are."), Step(fault="garbage"), text(""), Step(fault="half"),
        status(429, headers={"retry-after": "0.01"}), text("{", finish="length"), Step(finish="refusal"), status(529),
    )  # fmt: skip
    return faults[number // 3 % len(faults)] if number % 3 == 0 else None


@pytest.mark.parametrize("form", ["api-bank", "toolace"])
def test_twenty_tasks_in_trouble(form: str) -> None:
    if form == "api-bank":
        Path("tasks.json").write_text(json.dumps(real_rows(20)))
    else:
        rows(*OURS, name="tasks.json")
    model = Knowing(idle=("information", "Which", "How"))
    with serving(model) as server:
        server.trouble = trouble
        made = synth(server, tasks="tasks.json", attempts=3, corrections=1)
        assert made.exit_code == 1, made.output
        assert "Traceback" not in made.output
        came = {one["source"]["origin"]["line"] for one in manifests("out", "out.run/unfinished")}
        sound = len(manifests("out"))
        assert sound + sum(lost().values()) == 20, made.output
        assert f"{sound} sound of" in made.output
        told = Counter(
            (row["stage"], row["reason"])
            for row in map(json.loads, Path("out.run/losses.jsonl").read_text().splitlines())
        )
        assert all(f"{times:6d} {stage}: {reason}\n" in made.output for (stage, reason), times in told.items())
        server.trouble = lambda number: None  # what was asked in vain is asked again, and nothing else
        again = synth(server, tasks="tasks.json", attempts=3, corrections=1)
        assert len(manifests("out")) >= sound
        assert {one["source"]["origin"]["line"] for one in manifests("out", "out.run/unfinished")} >= came
        assert len(manifests("out")) + sum(lost().values()) == 20, again.output
        assert not {"llm-server", "llm-connection", "llm-protocol", "llm-overloaded", "llm-rate-limit"} & set(lost())


def test_a_bad_row_of_twenty_is_told_and_the_others_go_on() -> None:
    texts = list(OURS)
    texts[6] = '{"system": "You have tools.", "conversations": [{"from": "user", "value": 7}]}'
    rows(*texts)
    with serving(Knowing()) as server:
        made = ends(1, synth(server))
    assert "tasks.jsonl:7: " in made.output
    assert lost() == {"bad-row": 1}, Path("out.run/losses.jsonl").read_text()
    assert {one["source"]["origin"]["line"] for one in manifests("out")} == {*range(1, 21)} - {7}


def test_a_larger_world_comes_through() -> None:
    rows(*OURS[:2])
    size = [
        "--collections",
        "3",
        "--fields",
        "10",
        "--rules",
        "6",
        "--tools",
        "12",
        "--reading",
        "0.5",
        "--calls",
        "300",
    ]
    with serving(Knowing(GARDEN.read_text(encoding="utf-8"))) as server:
        ends(0, synth(server, *size))
    assert [one["verdict"] for one in manifests("out")] == ["sound", "sound"]


# -- killed


class Slipping(Knowing):
    """Says something without a shape at first, to some questions; always to the same ones."""

    def __call__(self, system: str, user: str, first: str) -> Any:
        if user == first and sum(user.encode()) % 4 == 0:
            return "Sure!"
        return super().__call__(system, user, first)


@contextmanager
def living(server: ModelServer) -> Iterator[subprocess.Popen[bytes]]:
    """One run, as a process of its own; killed at the end, if it still runs."""
    command = [
        sys.executable, "-m", "envscaler", "synth", "tasks.jsonl", "-o", "out", *SMALL, "--tries", "1", "--concurrency", "3",
        "--llm", server.llm(backoff=0.01, price_in=1, price_out=2),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    with Path("lives.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def whole_life(server: ModelServer) -> None:
    with living(server) as process:
        assert process.wait(900) == 0, Path("lives.log").read_text()


def killed_life(server: ModelServer, requests: int, later: float) -> bool:
    """A life that is ended some time after its last but so many requests have arrived; False when it was over before."""
    wanted = len(server.log) + requests
    with living(server) as process:
        while len(server.log) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(later)
        return process.poll() is None


def left_behind(found: dict[str, bytes]) -> dict[str, bytes]:
    """Without files that were being written when their writer was killed: hidden ones, with its number."""
    return {name: data for name, data in found.items() if not re.fullmatch(r"\..*\.\d+", Path(name).name)}


def test_killed_ten_times_it_asks_nothing_twice_and_comes_to_the_same_end() -> None:
    """A request is completed when its reply was sent and is in the file of replies. Between the two lies a window, from the
    last byte on the wire to the end of one SQLite transaction; a request whose reply fell into it is asked again, and the file
    does not hold the number of the first reply: that is how the two cases are told apart, exactly."""
    rows(*OURS[:6])
    model = Slipping(idle=("Which",))
    lend = model.whole["tools"]["lend"]
    model.wrong = {"tools.lend": {**lend, "examples": [{"call": {"book_id": "B-1"}, "returns": 7}]}}
    with serving(model) as server:
        server.delay = 0.05
        whole_life(server)
        whole, unbroken = files("out", "out.run"), list(server.log)
        assert len({digest for digest, _ in unbroken}) == len(unbroken) > 40
        for folder in ("out", "out.run"):
            Path(folder).rename(f"{folder}.whole")
        server.log.clear()
        rng = random.Random(7)
        kills = 0
        for _ in range(30):
            kills += killed_life(server, rng.randint(1, 4), rng.choice([0.0, 0.05, 0.05, 0.1, 0.3]) * rng.random())
            if kills == 10:
                break
        assert kills == 10
        whole_life(server)
        log = list(server.log)
    assert left_behind(files("out", "out.run")) == whole
    assert all(told["repairs"]["rounds"] == 1 and told["verdict"] == "sound" for told in manifests("out"))

    asked = defaultdict(list)
    for digest, number in log:
        asked[digest].append(number)
    assert set(asked) == {digest for digest, _ in unbroken}
    exchanges = Exchanges(Path("out.run/exchanges.sqlite"))
    kept = {reply.reasoning for reply in exchanges.replies()}
    exchanges.close()
    for numbers in asked.values():
        assert [number for number in numbers if number in kept] == numbers[-1:]
    assert len(log) - len(asked) <= 10 * 3  # no more than were under way


def test_ctrl_c_ends_it_and_it_goes_on() -> None:
    rows("Lend me Emma.", "Put Ulysses back.")
    with serving(Knowing()) as server:
        server.delay = 0.05
        with living(server) as process:
            while len(server.log) < 6:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        words = Path("lives.log").read_text()
        assert "Traceback" not in words
        assert "interrupted: what is finished is kept, and the same command goes on" in words
        whole_life(server)
    assert [told["verdict"] for told in manifests("out")] == ["sound", "sound"]
