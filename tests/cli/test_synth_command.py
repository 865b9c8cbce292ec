"""`envscaler synth` and `draft`: end to end with a model behind a server, resumed, edited by hand, and in trouble."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.draft.line import Knowing, ModelServer, serving
from tests.llm.server import Step, status, text
from typer.testing import CliRunner, Result

from envscaler.cli.app import app

SMALL = [
    "--calls", "20", "--collections", "1", "--fields", "3", "--rules", "1", "--tools", "3", "--reading", "0.34", "--near", "1",
]  # fmt: skip
SENTENCE = "A shelf of books that are lent to neighbours"


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENVSCALER_CACHE", raising=False)


@pytest.fixture
def model() -> Knowing:
    return Knowing()


@pytest.fixture
def server(model: Knowing) -> Iterator[ModelServer]:
    with serving(model) as running:
        yield running


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def synth(server: ModelServer, *more: str, tasks: str = "tasks.jsonl", **options: Any) -> Result:
    given = [tasks] if tasks else []
    return run("synth", *given, "-o", "out", *SMALL, "--llm", server.llm(backoff=0.01, **options), *more)


def ends(code: int, result: Result) -> Result:
    assert result.exit_code == code, result.output
    return result


def stage(server: ModelServer, name: str, *more: str) -> Result:
    return run("draft", name, "out.run", "--llm", server.llm(), *more)


def said(text: str) -> dict[str, Any]:
    """A row in ToolACE's form."""
    return {"system": "You have tools.", "conversations": [{"from": "user", "value": text}]}


def rows(*texts: str, name: str = "tasks.jsonl") -> None:
    Path(name).write_text("".join(f"{one}\n" if one.startswith("{") else json.dumps(said(one)) + "\n" for one in texts))


def files(*folders: str) -> dict[str, bytes]:
    """Everything that a run has written, but for what it keeps to itself."""
    found = (path for folder in folders for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {str(p): p.read_bytes() for p in found if ".sqlite" not in p.name and "working" not in p.parts}


def manifests(*folders: str) -> list[dict[str, Any]]:
    return [json.loads(p.read_text()) for folder in folders for p in sorted(Path(folder).glob("*.manifest.json"))]


def lost() -> Counter[str]:
    return Counter(json.loads(line)["reason"] for line in Path("out.run/losses.jsonl").read_text().splitlines())


def only(folder: str, pattern: str) -> Path:
    [path] = Path(folder).glob(pattern)
    return path


# -- from tasks to specs


@pytest.mark.slow
def test_tasks_become_sound_specs_and_a_second_run_asks_nothing(model: Knowing, server: ModelServer) -> None:
    rows("Lend me Emma.", "What is love?", '{"conversations": 3}', "Lend  me Emma.", "Put Ulysses back.")
    model.idle = ("love",)
    made = synth(
        server, "tasks.jsonl", price_in=1, price_out=2
    )  # the same file twice: each of its tasks is there before
    assert made.exit_code == 1, made.output
    assert "tasks.jsonl:3: " in made.output
    assert lost() == {"bad-row": 2, "same-task": 5, "not-stateful": 1}
    found = manifests("out")
    assert [one["source"]["task"] for one in found] == ["Lend me Emma.", "Put Ulysses back."] or len(found) == 2
    assert {one["source"]["origin"]["line"] for one in found} == {1, 5}
    assert all(one["verdict"] == "sound" and one["problems"] == [] for one in found)
    assert found[0]["stages"]["filter"] == {"replies": 1, "tokens_in": 100, "tokens_out": 10, "cost": 0.00012}
    assert found[0]["total"]["replies"] == sum(one["replies"] for one in found[0]["stages"].values()) == 7
    assert run("check", "out").exit_code == 0
    assert "Per environment (2 in this run)" in run("cost", "out.run").output
    before, asked = files("out", "out.run"), len(server.log)
    again = synth(server, "tasks.jsonl", price_in=1, price_out=2)
    assert again.exit_code == 1
    assert files("out", "out.run") == before
    assert len(server.log) == asked


@pytest.mark.slow
def test_stages_one_by_one_come_to_the_same(server: ModelServer) -> None:
    rows("Lend me Emma.", "Put Ulysses back.")
    ends(0, synth(server))
    whole = files("out", "out.run")
    for folder in ("out", "out.run"):
        Path(folder).rename(f"{folder}.whole")
    assert run("draft", "tasks", "out.run", "tasks.jsonl").exit_code == 0
    settings = dict(zip(SMALL[::2], SMALL[1::2], strict=True))
    mine = {"plan": ("collections", "fields", "rules", "tools", "reading"), "prove": ("calls",), "select": ("near",)}
    for name in ("filter", "infer", "select", "plan", "write", "prove"):
        more = [word for key in mine.get(name, ()) for word in (f"--{key}", settings[f"--{key}"])]
        made = stage(server, name, *more)
        assert made.exit_code == 0, made.output
    ours = files("out", "out.run")
    assert {k: v for k, v in ours.items() if "settings" not in k} == {
        k: v for k, v in whole.items() if "settings" not in k
    }


def test_one_sentence_grows_into_a_spec(server: ModelServer) -> None:
    made = synth(server, "--theme", SENTENCE, "--record", "talk.jsonl", tasks="")
    assert made.exit_code == 0, made.output
    shown = made.stdout
    assert shown.index("states:") < shown.index("tools:") < shown.index("1 sound of 1 environment")
    [told] = manifests("out")
    assert told["source"] == {"task": SENTENCE, "origin": None}
    asked = len(server.log)
    ends(0, synth(server, "--theme", SENTENCE, tasks=""))
    replayed = run("synth", "--theme", SENTENCE, "-o", "again", *SMALL, "--llm", "replay/talk.jsonl")
    assert replayed.exit_code == 0, replayed.output
    one, other = (only(folder, "*.yaml").read_text().split("\n", 1) for folder in ("out", "again"))
    assert one[0] != other[0]  # who wrote it
    assert one[1] == other[1]
    assert len(server.log) == asked


# -- what goes wrong


@pytest.mark.slow
def test_what_writing_leaves_wrong_is_repaired_and_what_cannot_be_is_kept_apart(
    model: Knowing, server: ModelServer
) -> None:
    lend = model.whole["tools"]["lend"]
    model.wrong = {"tools.lend": {**lend, "examples": [{"call": {"book_id": "B-1"}, "returns": 7}]}}
    made = synth(server, "--theme", SENTENCE, "--tries", "1", tasks="")
    assert made.exit_code == 0, made.output
    [told] = manifests("out")
    assert told["repairs"] == {"rounds": 1, "kept": ["tools.lend.examples"], "refused": 0, "stopped": "sound"}
    assert told["stages"]["prove"]["replies"] == 1
    model.stubborn = True
    bad = synth(server, "--theme", SENTENCE, "--tries", "1", "--repairs", "0", tasks="")
    assert bad.exit_code == 1
    assert lost() == {"wrong": 1}
    assert not Path("out").exists() or not list(Path("out").iterdir())  # what is not sound any more is taken away
    [told] = manifests("out.run/unfinished")
    assert told["verdict"] == "wrong"
    unfinished = only("out.run/unfinished", "*.yaml")
    assert unfinished.read_text().startswith("# open: ")
    kept = stage(server, "prove", "--keep-unsound")
    assert kept.exit_code == 1
    assert [one["verdict"] for one in manifests("out")] == ["wrong"]
    assert not unfinished.exists()


@pytest.mark.slow
def test_an_unfinished_spec_that_a_person_mends_is_the_draft_from_then_on(model: Knowing, server: ModelServer) -> None:
    lend = model.whole["tools"]["lend"]
    model.wrong = {"tools.lend": {**lend, "examples": [{"call": {"book_id": "B-1"}, "returns": 7}]}}
    model.stubborn = True
    common = ("--theme", SENTENCE, "--tries", "1", "--repairs", "0")
    ends(1, synth(server, *common, tasks=""))
    unfinished = only("out.run/unfinished", "*.yaml")
    unfinished.write_text(unfinished.read_text().replace("returns: 7", "returns: 1"))
    asked = len(server.log)
    made = synth(server, *common, tasks="")
    assert made.exit_code == 0, made.output
    assert len(server.log) == asked
    assert not unfinished.exists()
    assert [(one["verdict"], one["edited"]) for one in manifests("out")] == [("sound", ["draft"])]
    assert "# open" not in only("out", "*.yaml").read_text()


@pytest.mark.slow
def test_a_limit_keeps_what_is_finished_and_more_of_it_goes_on(server: ModelServer) -> None:
    rows("Lend me Emma.", "Put Ulysses back.", "Find a book.")
    short = synth(server, "--max-tokens", "1400", "--concurrency", "1")
    assert short.exit_code == 6, short.output
    assert "the limit of 1,400 tokens is reached" in short.output
    assert len(manifests("out")) == 1
    ends(6, synth(server, "--max-cost", "0.0001", "--concurrency", "1", price_in=1, price_out=2))
    ends(0, synth(server, "--concurrency", "1"))
    assert len(manifests("out")) == 3
    assert max(Counter(digest for digest, _ in server.log).values()) == 1


@pytest.mark.slow
def test_trouble_loses_units_and_a_second_run_makes_up_for_them(model: Knowing, server: ModelServer) -> None:
    rows(*(f"Lend me book number {n}." for n in range(5)))
    model.idle = ("number 4",)
    faults = [
        status(500),
        Step(fault="drop"),
        text("Sure! Here you are."),
        Step(fault="garbage"),
        text(""),
        status(429),
    ]
    server.trouble = lambda number: faults[number % 11] if number % 11 < len(faults) else None
    made = synth(server, "--concurrency", "2", attempts=2)
    assert made.exit_code in {0, 1}, made.output
    gone = sum(lost().values())
    assert gone + len(manifests("out")) == 5, made.output
    server.trouble = lambda number: None
    assert synth(server, "--concurrency", "2", attempts=2).exit_code == (
        1 if lost() - Counter({"not-stateful": 1}) else 0
    )
    assert len(manifests("out")) >= 5 - gone


def test_a_server_that_is_silent_ends_the_run(server: ModelServer) -> None:
    rows(*(f"Lend me book number {n}." for n in range(40)))
    server.trouble = lambda number: Step(fault="drop")
    made = synth(server, "--concurrency", "2", attempts=1)
    assert made.exit_code == 5, made.output
    assert "no answer 6 times in a row; what was finished is kept" in made.output
    assert len(server.log) < 12


def test_one_mistake_gives_one_line(server: ModelServer) -> None:
    rows("Lend me Emma.")
    for words, code, line in (
        (("synth", "tasks.jsonl"), 2, "no model for the role planner"),
        (("synth", "--llm", server.llm()), 2, "name a file of tasks, or a sentence with --theme"),
        (("synth", "tasks.jsonl", "--count", "0", "--llm", server.llm()), 2, "--count: input should be greater than"),
        (("synth", "no.jsonl", "--llm", server.llm()), 2, "no.jsonl"),
        (("synth", "tasks.jsonl", "-o", "out", "--run", "./out", "--llm", server.llm()), 2, "cannot be both"),
        (("draft", "plan", "nowhere"), 2, "nowhere: no work folder there"),
        (("draft", "write", "specs/generated.run", "--llm", server.llm()), 2, "nothing there; run the stages before"),
    ):
        made = run(*words)
        assert made.exit_code == code, made.output
        assert line in made.output
    assert server.log == []


# -- edits by hand


@pytest.mark.slow
def test_an_edited_plan_is_what_is_written_and_only_that(server: ModelServer) -> None:
    rows("Lend me Emma.", "Put Ulysses back.")
    ends(0, synth(server))
    plan, other = sorted(Path("out.run/plans").iterdir())
    before, asked = files("out", "out.run"), len(server.log)
    edited = plan.read_text().replace('"Take a copy back."', '"Take a copy back that was lent."')
    plan.write_text(edited)
    ends(0, synth(server))
    assert len(server.log) == asked + 2  # states, which are told what comes later, and tools; helpers are as they were
    now = files("out", "out.run")
    changed = {name for name in now if now[name] != before.get(name)}
    assert changed == {f"out/{plan.stem}.manifest.json", str(plan)}
    told = json.loads(Path(f"out/{plan.stem}.manifest.json").read_text())
    assert told["edited"] == ["plan"]
    assert told["stages"]["write"]["replies"] == 3

    shown = stage(server, "plan")
    assert shown.exit_code == 1
    assert '-      "description": "Take a copy back that was lent."' in shown.output
    assert '+      "description": "Take a copy back."' in shown.output
    assert "was edited, and would be written anew; nothing was changed, --overwrite does it" in shown.output
    assert plan.read_text() == edited
    ends(0, stage(server, "plan", "--only", other.stem))
    assert "no theme is called shelf; there are shelf_" in ends(2, stage(server, "plan", "--only", "shelf")).output
    ends(0, stage(server, "plan", "--overwrite"))
    assert plan.read_bytes() == before[str(plan)]
    ends(0, synth(server))
    assert files("out", "out.run") == before
    assert len(server.log) == asked + 2


@pytest.mark.slow
def test_an_edit_is_not_written_over_when_what_it_was_made_from_changes(server: ModelServer) -> None:
    rows("Lend me Emma.")
    ends(0, synth(server))
    plan, selected, spec = only("out.run/plans", "*"), Path("out.run/selected.jsonl"), only("out", "*.yaml")
    plan.write_text(plan.read_text().replace('"Take a copy back."', '"Take one back."'))
    selected.write_text(selected.read_text().replace("A shelf of books", "A rack of books"))
    before = files("out", "out.run")
    made = synth(server)
    assert made.exit_code == 1
    assert '-      "title": "A shelf of books' in made.output or '-    "title": "A shelf of books' in made.output
    now = files("out", "out.run")
    assert {name for name in now if now[name] != before[name]} == set()
    ends(0, synth(server, "--overwrite"))
    assert "Take one back" not in plan.read_text()
    assert "A shelf of books" in selected.read_text() and "A shelf of books" in spec.read_text()  # noqa: PT018


@pytest.mark.slow
def test_a_finished_spec_that_was_edited_stays_and_so_does_one_of_ones_own(server: ModelServer) -> None:
    rows("Lend me Emma.")
    ends(0, synth(server))
    spec = only("out", "*.yaml")
    mine = spec.read_text() + "# mine\n"
    spec.write_text(mine)
    ends(0, synth(server))
    shown = stage(server, "prove")
    assert shown.exit_code == 1
    assert "-# mine" in shown.output
    assert spec.read_text() == mine
    Path("out.run").rename("elsewhere")  # now nobody knows who wrote it
    ends(1, synth(server))
    assert spec.read_text() == mine
    ends(0, synth(server, "--overwrite"))
    assert "# mine" not in spec.read_text()


@pytest.mark.slow
def test_an_edited_file_that_cannot_be_read_is_told_with_its_line(server: ModelServer) -> None:
    rows("Lend me Emma.", "Put Ulysses back.")
    ends(0, synth(server))
    themes = Path("out.run/themes.jsonl")
    first, second = themes.read_text().splitlines()
    worse = second.replace('"usefulness": 8', '"usefulness": 80')
    themes.write_text(f"{first}\n{worse}\n")
    made = synth(server)
    assert made.exit_code == 2
    assert "themes.jsonl:2: usefulness: " in made.output
