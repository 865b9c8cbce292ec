"""`envscaler run` from end to end: everything is made once, goes on where it was ended, and the page tells it safely."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from envscaler.errors import PluginError
from envscaler.session.runs import list_run
from envscaler.session.whole import Step, WholeOptions, whole

HOSTILE = Path(__file__).parents[1] / "pages" / "hostile.yaml"
FEW = ("-n", "3", "--calls", "60")
OPTIONS = WholeOptions(count=3, calls=60)
STEPS = ["check", "compile", "pages", "assess", "scenarios", "audit", "run", "contrast", "sft", "rl"]


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["run", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.output


def again(output: str) -> list[str]:
    """The steps that were done, and not found done."""
    return [line.split()[0] for line in output.splitlines() if line.split()[0] in STEPS and "(unchanged)" not in line]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("whole") / "made"
    code, output = run(HOSTILE, *FEW, "-o", folder)
    assert code == 0, output
    return folder, output


@pytest.fixture
def copy(made: tuple[Path, str], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[0], tmp_path / "copy"))


def contents(folder: Path) -> dict[str, object]:
    """Everything that was made, but for what tells how long it took: of a run, its episodes by id and hash."""
    found: dict[str, object] = {}
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        timed = path.parts[0] in ("run", "contrast", ".work", "sft") or path.name in (
            "run.html", "contrast.html", "manifest.json", ".lock"
        )  # fmt: skip
        if file.is_file() and not timed:
            found[path.as_posix()] = file.read_bytes()
    for name in ("run", "contrast"):
        found[name] = {row.id: row.hash for row in list_run(folder / name)[0]}
    for form in ("trl", "openai", "llama-factory"):
        found[form] = sorted((folder / "sft" / form / "train.jsonl").read_text(encoding="utf-8").splitlines())
    return found


def test_everything_is_made_and_told(made: tuple[Path, str]) -> None:
    folder, output = made
    *lines, last = output.splitlines()
    assert [line.split()[0] for line in lines] == STEPS
    assert last == str(folder / "index.html")
    assert "run        6 episodes: reference 1.00 alone, 1.00 in conversation" in lines
    assert "noop 0.00 alone, 0.00 in conversation" in output
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["complete"], list(manifest["steps"])) == (True, STEPS)
    scenarios = [json.loads(line) for line in (folder / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(scenarios) == 3
    assert all(one["proof"]["ok"] for one in scenarios)
    rows = (folder / "sft" / "trl" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 6
    assert (folder / "specs" / "hostile.yaml").read_bytes() == HOSTILE.read_bytes()


class Page(HTMLParser):
    """What is on a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.said += data

    def values(self, attribute: str) -> list[str]:
        return [value for name, value in self.attributes if name == attribute]


def test_the_page_leads_to_all_of_it_and_needs_nothing_else(made: tuple[Path, str]) -> None:
    folder, _ = made
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    links = page.values("href")
    assert [link for link in links if not link.startswith("#") and not (folder / link).is_file()] == []
    assert {link[1:] for link in links if link.startswith("#")} <= set(page.values("id"))
    wanted = {"pages/hostile.html", "classes/hostile.py", "specs/hostile.yaml", "assess.html", "audit/index.html",
              "scenarios.jsonl", "run.html", "contrast.html", "sft/trl/train.jsonl", "rl/train.parquet"}  # fmt: skip
    assert wanted <= set(links)
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "base"})
    assert page.values("src") == []


def test_texts_of_a_spec_stay_texts(made: tuple[Path, str]) -> None:
    page = Page((made[0] / "index.html").read_text(encoding="utf-8"))
    assert '<script>alert("title")</script>' in page.said
    assert '</style></title><script>alert("introduction")</script>' in page.said
    assert [name for name, _ in page.attributes if name.startswith("on")] == []
    assert page.tags.isdisjoint({"script", "u", "img"})


def test_a_second_call_does_nothing(copy: Path) -> None:
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in copy.rglob("*") if file.is_file()}
    code, output = run(HOSTILE, *FEW, "-o", copy)
    assert (code, again(output)) == (0, [])
    after = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in copy.rglob("*") if file.name != ".lock"
             and file.is_file()}  # fmt: skip
    assert after == {file: was for file, was in before.items() if file.name != ".lock"}


def test_what_an_option_changes_is_done_again_and_nothing_else(copy: Path) -> None:
    code, output = run(HOSTILE, "-n", 3, "--calls", 80, "-o", copy)
    assert (code, again(output)) == (0, ["assess"])
    before = {row.scenario for row in list_run(copy / "run")[0]}
    code, output = run(HOSTILE, "-n", 2, "--calls", 80, "-o", copy)
    assert (code, again(output)) == (0, ["scenarios", "audit", "run", "contrast", "sft", "rl"])
    after = [row.scenario for row in list_run(copy / "run")[0]]
    assert (len(after), len(set(after))) == (4, 2)
    assert len(before) == 3
    assert len(list((copy / "audit").iterdir())) == 3


def test_what_is_lost_is_made_again(copy: Path) -> None:
    (copy / "assess.html").unlink()
    shutil.rmtree(copy / "sft" / "openai")
    assert again(run(HOSTILE, *FEW, "-o", copy)[1]) == ["assess", "sft"]


@pytest.mark.slow
def test_a_changed_spec_changes_all(copy: Path, tmp_path: Path) -> None:
    spec = tmp_path / "hostile.yaml"
    spec.write_text(HOSTILE.read_text(encoding="utf-8").replace("</script> & ", "</script> and "), encoding="utf-8")
    assert again(run(spec, *FEW, "-o", copy)[1]) == STEPS
    assert " and " in (copy / "specs" / "hostile.yaml").read_text(encoding="utf-8")


class Ended(Exception):
    """Somebody has ended it."""


@pytest.mark.slow
def test_it_goes_on_wherever_it_was_ended(made: tuple[Path, str], tmp_path: Path) -> None:
    folder, ends = tmp_path / "made", 0

    def ended(step: Step) -> None:
        if step.state != "kept":
            raise Ended

    while True:
        try:
            done = whole(HOSTILE, folder, OPTIONS, ended=ended)
        except Ended:
            ends += 1
        else:
            break
    assert ends == len(STEPS)
    assert [step.state for step in done.steps] == ["kept"] * len(STEPS)
    assert contents(folder) == contents(made[0])


@pytest.mark.slow
def test_it_goes_on_within_a_step(made: tuple[Path, str], tmp_path: Path) -> None:
    folder, left, ends = tmp_path / "made", 0, 0

    def end_it(at: object) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise Ended

    for words in range(2, 20):
        left = words
        try:
            assert whole(HOSTILE, folder, OPTIONS, progress=end_it).code == 0
        except Ended:
            ends += 1
        else:
            break
    assert ends > 3
    assert contents(folder) == contents(made[0])


def begun(folder: Path) -> list[str]:
    """The steps that the manifest knows, once it is there."""
    manifest = folder / "manifest.json"
    return list(json.loads(manifest.read_text(encoding="utf-8"))["steps"]) if manifest.exists() else []


@pytest.mark.slow
def test_it_goes_on_after_kills(made: tuple[Path, str], tmp_path: Path) -> None:
    folder = tmp_path / "made"
    words = [sys.executable, "-m", "envscaler", "run", str(HOSTILE), *FEW, "-o", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for step in ("assess", "scenarios", "run", "contrast", "sft"):
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        while step not in begun(folder) and process.poll() is None:
            time.sleep(0.01)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    code, output = run(HOSTILE, *FEW, "-o", folder)
    assert code == 0, output
    assert contents(folder) == contents(made[0])


def test_a_spec_with_errors_ends_it_before_anything_is_made(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(HOSTILE.read_text(encoding="utf-8").replace("thing.status", "thing.colour"), encoding="utf-8")
    code, output = run(HOSTILE, bad, *FEW, "-o", tmp_path / "made")
    assert code == 3
    assert re.search(r"bad\.yaml:\d+:\d+.*colour", output)
    assert output.splitlines()[-1].endswith("nothing was made")
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_findings_do_not_end_it_and_are_told(tmp_path: Path) -> None:
    spec = tmp_path / "hostile.yaml"
    text = re.sub(r"returns: .*", "error: No.}", HOSTILE.read_text(encoding="utf-8"))
    spec.write_text(text, encoding="utf-8")
    code, output = run(spec, *FEW, "-o", tmp_path / "made")
    assert code == 1, output
    assert "not as it should be: compile" in output
    assert [line.split()[0] for line in output.splitlines() if line.split()[0] in STEPS] == STEPS
    page = Page((tmp_path / "made" / "index.html").read_text(encoding="utf-8"))
    assert "2 examples, 1 failure" in page.said
    assert run(spec, *FEW, "-o", tmp_path / "made")[0] == 1


def test_what_needs_a_step_that_failed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise PluginError("the generator is broken")

    folder = tmp_path / "made"
    with monkeypatch.context() as patch:
        patch.setattr("envscaler.session.scenarios.make_scenarios", fails)
        code, output = run(HOSTILE, "-n", 1, "--calls", 20, "-o", folder)
    assert code == PluginError.exit_code
    assert "scenarios  failed: the generator is broken" in output
    assert "audit      left out: it needs scenarios" in output
    assert "sft        left out: it needs run" in output
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert [link for link in page.values("href") if link[0] != "#" and not (folder / link).is_file()] == []
    assert not json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["complete"]
    code, output = run(HOSTILE, "-n", 1, "--calls", 20, "-o", folder)
    assert (code, again(output)) == (0, STEPS[4:])


@pytest.mark.slow
def test_what_was_changed_by_hand_stays_until_it_would_be_made_anew(copy: Path) -> None:
    mine = copy / "sft" / "llama-factory" / "train.yaml"
    mine.write_text("mine\n", encoding="utf-8")
    code, output = run(HOSTILE, *FEW, "-o", copy)
    assert (code, again(output)) == (0, [])
    assert "sft/llama-factory/train.yaml changed by hand" in output
    code, output = run(HOSTILE, "-n", 2, "--calls", 60, "-o", copy)
    assert code == 2
    assert "--force writes over it" in output
    assert mine.read_text(encoding="utf-8") == "mine\n"
    code, output = run(HOSTILE, "-n", 2, "--calls", 60, "--force", "-o", copy)
    assert (code, again(output)) == (0, ["sft", "rl"])
    assert "mask_history" in mine.read_text(encoding="utf-8")


def test_episodes_of_others_are_shown_exported_and_never_thrown_away(copy: Path) -> None:
    words = ["rollout", copy / "scenarios.jsonl", "--specs", copy / "specs", "--agent", "noop", "-o", copy / "run"]
    assert CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False).exit_code == 0
    code, output = run(HOSTILE, *FEW, "-o", copy)
    assert (code, again(output)) == (0, ["run", "sft"])
    assert "run        9 episodes: reference 1.00 alone, 1.00 in conversation; noop 0.00 alone" in output
    code, output = run(HOSTILE, "-n", 2, "--calls", 60, "-o", copy)
    assert code == 2
    assert "holds episodes of noop" in output
    assert len(list_run(copy / "run")[0]) == 9


def test_a_folder_that_holds_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "mine.yaml").write_text("mine", encoding="utf-8")
    code, output = run(HOSTILE, *FEW, "-o", tmp_path)
    assert code == 2
    assert "holds other things" in output
    assert [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.rglob("*"))] == ["specs", "specs/mine.yaml"]


@pytest.mark.slow
def test_without_pyarrow_the_tasks_for_rl_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from envscaler.session.whole import steps as whole_steps

    monkeypatch.setattr(whole_steps, "_parquet", lambda way: False)
    code, output = run(HOSTILE, "-n", 1, "--calls", 20, "-o", tmp_path / "made")
    assert code == 0, output
    assert "rl         left out: Parquet needs pyarrow" in output
    assert "rl/train.parquet" not in (tmp_path / "made" / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_spec_takes_its_data_along_and_folders_are_not_read_twice(tmp_path: Path) -> None:
    world = tmp_path / "world"
    world.mkdir()
    text = HOSTILE.read_text(encoding="utf-8")
    head, _, state = text.partition("initial_state:\n")
    (world / "start.yaml").write_text(re.sub("^  ", "", state, flags=re.M), encoding="utf-8")
    (world / "hostile.yaml").write_text(f"{head}initial_state: {{file: start.yaml}}\n", encoding="utf-8")
    for _ in range(2):
        code, output = run(world, "-n", 1, "--calls", 20, "-o", world / "made")
        assert code == 0, output
    assert again(output) == []
    assert {p.name for p in (world / "made" / "specs" / "hostile").iterdir()} == {"hostile.yaml", "start.yaml"}
