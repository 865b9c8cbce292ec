"""The sources that ship: published forms, anybody's files, hostile rows, data sets, and memory that does not grow."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler import UsageError
from envscaler.builtin.sources import SOURCES, samples
from envscaler.builtin.sources.jsonrows import Broken, json_rows
from envscaler.plugin import BadRow, Task
from envscaler.session.tasks import read_tasks
from envscaler.testing import SourceConformance
from tests.draft.loopback import serving

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("ENVSCALER_TASKS", ROOT.parent / "shared" / "tasks"))
API_BANK = SHARED / "api-bank" / "lv3-train.json"
BY_NAME = {entry.name: entry for entry in SOURCES}


def suite(name: str, tasks: int, bad_rows: int) -> type[SourceConformance]:
    found = SourceConformance.of(BY_NAME[name])
    found.tasks, found.bad_rows = tasks, bad_rows
    return found


class TestToolace(suite("toolace", 2, 1)): ...  # type: ignore[misc]


class TestApiBank(suite("api-bank", 2, 1)): ...  # type: ignore[misc]


class TestJsonl(suite("jsonl", 2, 1)): ...  # type: ignore[misc]


class TestCsv(suite("csv", 2, 1)): ...  # type: ignore[misc]


class TestParquet(suite("parquet", 2, 1)): ...  # type: ignore[misc]


class TestText(suite("text", 2, 1)): ...  # type: ignore[misc]


def read(name: str, location: Path | str, **options: Any) -> list[Task | BadRow]:
    return list(BY_NAME[name].factory().read(str(location), options))


def short(rows: list[Task | BadRow]) -> list[str]:
    """Rows in short: `LINE text` or `LINE! reason`."""
    return [f"{r.line} {r.text}" if isinstance(r, Task) else f"{r.line}! {r.reason}" for r in rows]


def write(tmp_path: Path, data: bytes | str, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# -- published sets


def test_all_rows_of_api_bank_are_read() -> None:
    if not API_BANK.is_file():
        pytest.skip(f"no rows of API-Bank at {API_BANK}: set ENVSCALER_TASKS")
    rows = read("api-bank", API_BANK)
    tasks = [row for row in rows if isinstance(row, Task)]
    assert len(rows) == len(tasks) == 1245
    told = {task.text for task in tasks}
    assert len(told) == 324
    assert "Generate a personalized fitness challenge based on user's fitness goals and preferences." in told
    marks = ("TIME:", "API-Request", "Generate API Request", "Generate AI Response", "\n", "User:", "->")
    assert [text for text in told if any(mark in text for mark in marks)] == []
    text = API_BANK.read_text(encoding="utf-8").splitlines()
    assert [text[task.line - 1].strip() for task in tasks] == ["{"] * 1245
    assert [source for source, _ in read_tasks([API_BANK])] == ["api-bank"] * 1245


@pytest.mark.parametrize(
    ("said", "task"),
    [
        ("User: Pay it.TIME: 2034-04-15 10:00:00\nGenerate API Request: ", "Pay it."),
        ("User: Pay it.\nAPI-Request: [Pay(n='1')]->{'done': 'User: x'}\nGenerate AI Response: ", "Pay it."),
        ("User: Pay it. API-Request: [Pay()]", "Pay it."),
        ('{"apiCode": "User: no"}\nUser: Can you pay?\nAI: Which bill?\nUser: The first.\nGenerate API Request:\n', "Can you pay?"),
        ("User: Generate a plan for my API-Request talk at TIME: the club.\nGenerate API Request:", "Generate a plan for my API-Request talk at TIME: the club."),
        ("User: First\nsecond line.\nAPI-Response: ok", "First\nsecond line."),
        ("User: I end here.", "I end here."),
    ],
)  # fmt: skip
def test_where_a_task_of_api_bank_ends(tmp_path: Path, said: str, task: str) -> None:
    path = write(tmp_path, json.dumps([{"instruction": "", "input": said, "output": ""}]), "a.json")
    assert short(read("api-bank", path)) == [f"1 {task}"]


def test_the_first_turn_of_a_user_in_toolace(tmp_path: Path) -> None:
    rows = [
        {"system": "s", "conversations": [{"from": "user", "value": " One. "}, {"from": "user", "value": "Two."}]},
        {"system": "s", "conversations": [{"from": "assistant", "value": "Hi."}, {"from": "human", "value": "Three."}]},
        {"system": "s", "conversations": [{"from": "assistant", "value": "Hi."}]},
        {"system": "s"},
        {"conversations": "One."},
        {"conversations": [None, {"from": ["user"]}, {"from": "user", "value": None}]},
        {"conversations": [{"from": "user", "value": {"text": "x"}}]},
        [],
    ]
    assert short(read("toolace", write(tmp_path, json.dumps(rows, indent=1), "data.json"))) == [
        "2 One.",
        "15 Three.",
        "28! no turn in conversations is from the user",
        "37! no list conversations",
        "40! no list conversations",
        "43! no text in the user's first turn",
        "57! the user's first turn holds an object, not text",
        "67! a row must be an object",
    ]


def test_the_usual_files_of_api_bank_in_a_folder(tmp_path: Path) -> None:
    for name in ("lv1-train.json", "lv2-train.json", "level-1-test.json"):
        write(tmp_path, json.dumps([{"instruction": "", "input": f"User: {name}", "output": ""}]), name)
    assert short(read("api-bank", tmp_path)) == ["1 lv1-train.json", "1 lv2-train.json"]
    assert short(read("api-bank", tmp_path, files="*-test.json")) == ["1 level-1-test.json"]


# -- JSON of all kinds


def test_row_seven_of_twenty_is_malformed(tmp_path: Path) -> None:
    """However it is malformed and however the list is laid out, 19 rows are left, and the place is named."""
    row = '{"task": "Task %d.", "deep": {"a": [1, {"b": "]}"}]}}'
    good = [row % number for number in range(1, 21)]
    wrong = [
        "nonsense", '{"task": }', '{"task": "x}', '{"task": "x"', '{"task": "x", "deep": [1, 2}', "{'task': 'x'}", '{"task": "x",}',
        '{"task": "x" "y"}', '{"task": "\x01"}', '{"task": ' + "9" * 5000 + "}", "{" * 3000, "[" * 100_000 + "]" * 100_000,
    ]  # fmt: skip
    for broken in wrong:
        lines = [*good[:6], broken, *good[7:]]
        for data, line in ((",\n".join(lines), 7), ("\n" + ",\n".join(f"  {text}" for text in lines) + "\n", 8)):
            path = write(tmp_path, f"[{data}]", "a.json")
            rows = read("jsonl", path)
            bad = [row for row in rows if isinstance(row, BadRow)]
            assert [(row.line, row.file) for row in bad] == [(line, str(path))], (broken[:30], rows)
            assert len(rows) == 20
        assert short(read("jsonl", write(tmp_path, "\n".join(lines), "a.jsonl")))[6].startswith("7! not JSON")
        first = write(tmp_path, "[" + ",\n".join([broken, *good]) + "]", "a.json")
        assert [isinstance(row, BadRow) for row in read("jsonl", first)] == [True] + [False] * 20, broken[:30]
    laid_out = json.dumps([json.loads(text) for text in good], indent=4).replace('"Task 7."', '"Task 7.')
    rows = read("jsonl", write(tmp_path, laid_out, "a.json"))
    assert [isinstance(row, BadRow) for row in rows].index(True) == 6
    assert len(rows) == 20
    assert "(line 69)" in rows[6].reason  # type: ignore[union-attr]


def test_lists_that_do_not_end_and_what_follows_them(tmp_path: Path) -> None:
    for data, lines in {
        '[{"task": "a"}': ["1 a", "1! not JSON: the list is not ended"],
        '[{"task": "a"},\n{"task"': ["1 a", "2! not JSON: expecting ':' delimiter"],
        '[{"task": "a"}]\nmore': ["1 a", "2! not JSON: something follows the list"],
        "[]": [],
        "[ \n ]\n": [],
        "": [],
        "\ufeff[\n\n{\"task\": \"a\"} {\"task\": \"b\"}]": ["3 a", "3 b"],
        '[12345, "x", null, {"task": "a"}, -1e5]': [*["1! a row must be an object"] * 3, "1 a", "1! a row must be an object"],
    }.items():  # fmt: skip
        assert short(read("jsonl", write(tmp_path, data, "a.json"))) == lines


def test_many_broken_rows_cost_no_more_than_their_length(tmp_path: Path) -> None:
    rows = ['{"task": "x"', '{"task": "x}', '{"task": ["x"}', "{" * 50] * 5000
    start = time.process_time()
    assert len(read("jsonl", write(tmp_path, "[\n" + ",\n".join(rows) + "\n]", "a.json"))) == 20_000
    assert time.process_time() - start < 5


def test_hostile_rows(tmp_path: Path) -> None:
    deep = '{"a": ' * 60 + "1" + "}" * 60
    lines = [
        '{"task": NaN}', '{"task": "a", "n": Infinity, "m": 1e999, "s": "\\ud800"}', '{"task": "half \\ud83d"}', '{"task": 3}',
        '{"task": ["a"]}', '{"task": ""}', "{}", '"task"', "null", '{"task": "one", "task": "two"}', '{"task": "\x85"}',
        f'{{"task": "b", "deep": {deep}}}', f'{{"task": "{"x" * 40_000}"}}', '{"task": "\\ud83d\\ude00"}',
    ]  # fmt: skip
    data = "\n".join(lines).encode() + b'\n{"task": "\xff"}\n\r\n{"task": "last"}\r\n'
    rows = read("jsonl", write(tmp_path, data, "a.jsonl"))
    assert short(rows) == [
        "1! no text in task",
        "2 a",
        "3! task holds what is no character (not UTF-8, or half of a pair)",
        "4! task holds a number, not text",
        "5! task holds a list, not text",
        "6! no text in task",
        "7! no key text",
        "8! a row must be an object",
        "9! a row must be an object",
        "10 two",
        "11! no text in task",
        "12! what stands beside the task is nested deeper than 50 levels",
        "13! task holds 40,000 characters; a task has 32,768 at most",
        "14 \U0001f600",
        "15! not UTF-8",
        "17 last",
    ]
    assert rows[1].extra == {"n": None, "m": None, "s": "?"}  # type: ignore[union-attr]
    listed = write(tmp_path, b"[" + data.strip().replace(b"\r\n\r\n", b"\n").replace(b"}\n", b"},\n") + b"]", "b.json")
    assert len(read("jsonl", listed)) == 16


def test_keys_and_paths(tmp_path: Path) -> None:
    path = write(tmp_path, '{"turns": [{"said": "a"}], "id": 1}\n{"turns": []}\n{"turns.0.said": "b"}\n', "a.jsonl")
    assert short(read("jsonl", path, text="turns.0.said", extra="id")) == ["1 a", "2! no key turns.0.said", "3 b"]
    assert read("jsonl", path, text="turns.0.said", extra="id")[0].extra == {"id": 1}  # type: ignore[union-attr]
    usual = write(tmp_path, '{"instruction": "a", "output": "b"}\n{"question": "c"}\n', "b.jsonl")
    assert short(read("jsonl", usual)) == ["1 a", "2 c"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)), max_size=6), st.sampled_from([None, 1, 4]), st.randoms(use_true_random=False))  # fmt: skip
def test_lists_are_read_as_the_whole_would_be(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], indent: int | None, rng: random.Random
) -> None:
    path = tmp_path_factory.mktemp("lists") / "a.json"
    text = json.dumps(values, indent=indent, ensure_ascii=rng.random() < 0.5)
    path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    assert [value for _, value in json_rows(path)] == [json.loads(json.dumps(value)) for value in values]
    cut = path.with_suffix(".cut")
    cut.write_bytes(path.read_bytes()[: rng.randrange(len(text) + 1)])
    for _, value in json_rows(cut):  # a file that was cut off anywhere raises nothing
        assert isinstance(value, Broken) or value in values or isinstance(value, (str, int))


def test_a_large_list_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    row = json.dumps({"system": "s" * 900, "conversations": [{"from": "user", "value": "Do it."}]})
    with path.open("w", encoding="utf-8") as file:
        file.write("[" + row)
        for _ in range(19_999):
            file.write(", " + row)
        file.write("]")
    assert path.stat().st_size > 18_000_000
    tracemalloc.start()
    rows = BY_NAME["toolace"].factory().read(str(path), {})
    next(rows)
    rest = sum(isinstance(row, Task) for row in rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rest == 19_999
    assert peak < 2_000_000


# -- CSV, Parquet, text


def test_a_bad_row_of_csv_costs_itself_only(tmp_path: Path) -> None:
    data = b'id,text\n1,good\n2\n3,a,b\n4,\xff\xfe\n5,   \n6,"x"y\n7,"good\ntoo"\n\n8,last\n'
    assert short(read("csv", write(tmp_path, data, "t.csv"))) == [
        "2 good",
        "3! 1 cells, where the header has 2",
        "4! 3 cells, where the header has 2",
        "5! text holds what is no character (not UTF-8, or half of a pair)",
        "6! no text in text",
        "7! not CSV: ',' expected after '\"'",
        "8 good\ntoo",
        "11 last",
    ]


def test_a_quote_that_does_not_end_is_bounded(tmp_path: Path) -> None:
    rows = read("csv", write(tmp_path, 'text\ngood\n"never ends\n' + "filler\n" * 40_000, "t.csv"))
    assert short(rows[:1]) == ["2 good"]
    assert isinstance(rows[1], BadRow)
    assert "field larger than field limit" in rows[1].reason


def test_encodings_and_delimiters(tmp_path: Path) -> None:
    assert short(read("csv", write(tmp_path, "\ufefftext;n\nGrüße;1\n", "t.csv"), delimiter=";")) == ["2 Grüße"]
    for encoding in ("latin-1", "utf-16"):
        path = write(tmp_path, "text\nGrüße\n".encode(encoding), "t.csv")
        assert short(read("csv", path, encoding=encoding)) == ["2 Grüße"]
    assert short(read("csv", write(tmp_path, "n\ttext\n1\tGo, now.\n", "t.tsv"))) == ["2 Go, now."]


def table(tmp_path: Path, columns: dict[str, Any]) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_parquet(tmp_path: Path) -> None:
    import datetime as dt
    from decimal import Decimal

    more = {
        "f": [float("nan")],
        "at": [dt.datetime(2030, 1, 2, 3, 4)],
        "money": [Decimal("2.50")],
        "tags": [["a", "b"]],
    }
    (row,) = read("parquet", table(tmp_path, {"text": ["Go."], **more}))
    assert isinstance(row, Task)
    assert row.extra == {"f": None, "at": "2030-01-02T03:04:00", "money": "2.50", "tags": ["a", "b"]}
    path = table(tmp_path, {"text": ["a", None, "  ", "d"], "raw": [b"1", b"2", b"3", b"4"]})
    assert short(read("parquet", path, extra=[])) == ["1 a", "2! no text in text", "3! no text in text", "4 d"]
    assert short(read("parquet", path))[0].startswith("1! bytes cannot be kept")
    many = read("parquet", table(tmp_path, {"text": [f"task {n}" * 50 for n in range(3000)]}))
    assert [row.line for row in many] == list(range(1, 3001))
    whole = (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(UsageError, match=r"t\.parquet: "):
        read("parquet", write(tmp_path, whole[:2000], "t.parquet"))


def test_lines_and_paragraphs(tmp_path: Path) -> None:
    path = write(tmp_path, b"\xef\xbb\xbfOne,\nand more.\r\n\n \n  Two.\n\xff\n" + b"x" * 40_000 + b"\nlast", "t.txt")
    assert short(read("text", path)) == [
        "1 One,",
        "2 and more.",
        "5 Two.",
        "6! line holds what is no character (not UTF-8, or half of a pair)",
        "7! line holds 40,000 characters; a task has 32,768 at most",
        "8 last",
    ]
    again = write(tmp_path, "\n\nOne,\nand more.\n\nTwo.", "p.txt")
    assert short(read("text", again, by="paragraph")) == ["3 One,\nand more.", "6 Two."]


# -- what is wrong with a location or an option


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        ("csv", "text\nx\n", {"text": "txt"}, r"no column is called 'txt' \(did you mean text\?\); it has text"),
        ("csv", "text\nx\n", {"extra": ["id"]}, "no column is called 'id'"),
        ("csv", "text,text\nx,y\n", {}, "two columns are called text"),
        ("csv", "", {}, "empty; a header is wanted"),
        ("csv", "text\nx\n", {"txt": "text"}, "csv has no option txt; did you mean text?"),
        ("csv", "text\nx\n", {"delimiter": "::"}, "delimiter must be one character"),
        ("csv", "text\nx\n", {"encoding": "utf-99"}, "no encoding is called 'utf-99'"),
        ("csv", "text\nx\n", {"text": 3}, "text must be text, not 3"),
        ("csv", "text\nx\n", {"extra": 3}, "extra must be a list of columns, not 3"),
        ("text", "x\n", {"by": "word"}, "by must be line or paragraph"),
        ("toolace", "[]", {"text": "x"}, "toolace has no option text"),
        ("parquet", "not parquet", {}, "[Pp]arquet"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, data: str, options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(name, write(tmp_path, data, "t.csv"), **options)


def test_locations_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.csv: no such file or directory$"):
        read("csv", tmp_path / "gone.csv")
    with pytest.raises(
        UsageError, match=r"Team/Set: no such file .*; a data set at Hugging Face is written hf:Team/Set"
    ):
        read("toolace", "Team/Set")
    with pytest.raises(UsageError, match=r"no \.csv or \.tsv file there"):
        read("csv", tmp_path)
    with pytest.raises(UsageError, match=r"no file like \*\.x there"):
        read("csv", tmp_path, files="*.x")
    with pytest.raises(UsageError, match="written hf:OWNER/NAME"):
        read("csv", "hf:Set")


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for package in ("huggingface_hub", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=r"hf:Team/Set needs huggingface_hub: pip install 'envscaler\[hub\]'"):
        read("toolace", "hf:Team/Set")
    with pytest.raises(UsageError, match=r"Parquet needs pyarrow: pip install 'envscaler\[parquet\]'"):
        read("parquet", write(tmp_path, "x", "t.parquet"))


# -- the source is guessed


def test_the_source_is_guessed_from_the_form(tmp_path: Path) -> None:
    for make in (samples.toolace, samples.api_bank, samples.jsonl, samples.csv, samples.text):
        make(tmp_path)
    write(tmp_path, '{"first": "row"', "broken.jsonl")
    write(tmp_path, "# nothing for us", "README.md")
    found: dict[str, list[Task | BadRow]] = {}
    for source, row in read_tasks([tmp_path]):
        found.setdefault(f"{source} {Path(row.file).name}", []).append(row)
    assert {name: sum(isinstance(row, Task) for row in rows) for name, rows in found.items()} == {
        "jsonl broken.jsonl": 0,
        "toolace data.json": 2,
        "api-bank lv1-train.json": 2,
        "csv tasks.csv": 2,
        "jsonl tasks.jsonl": 2,
        "text tasks.txt": 2,
    }
    assert {source for source, _ in read_tasks([tmp_path / "tasks.jsonl"], "text")} == {"text"}
    with pytest.raises(UsageError, match=r"README\.md: .*which source"):
        list(read_tasks([tmp_path / "README.md"]))
    with pytest.raises(UsageError, match="toolace has no option delimiter"):
        list(read_tasks([tmp_path / "data.json"], options={"delimiter": ";"}))
    with pytest.raises(UsageError, match="no task source is called 'toolbench'"):
        list(read_tasks([tmp_path], "toolbench"))


# -- data sets at Hugging Face


class Hub(BaseHTTPRequestHandler):
    """As much of Hugging Face as a data set needs."""

    files: Mapping[str, bytes] = {}

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path in ("/api/datasets/Team/Set", "/api/datasets/Team/Set/revision/main"):
            names = [{"rfilename": name} for name in self.files]
            self.answer(200, json.dumps({"id": "Team/Set", "sha": "0" * 40, "siblings": names}).encode())
        elif path.startswith("/api/datasets/Team/Set/tree/"):
            names = [
                {"type": "file", "path": name, "oid": "0" * 40, "size": len(data)} for name, data in self.files.items()
            ]
            self.answer(200, json.dumps(names).encode())
        elif (name := path.removeprefix("/datasets/Team/Set/resolve/main/")) in self.files:
            self.answer(200, self.files[name])
        else:
            self.answer(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        tag = hashlib.sha256(body).hexdigest()
        for name, value in {
            "Content-Length": str(len(body)),
            "ETag": f'"{tag}"',
            "X-Repo-Commit": "0" * 40,
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("huggingface_hub")
    location, _ = samples.toolace(tmp_path)
    Hub.files = {"data.json": Path(location).read_bytes(), "README.md": b"# A set", ".gitattributes": b""}
    with serving(Hub) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        yield url


def test_data_sets_are_read_by_name(hub: str) -> None:
    rows = list(read_tasks(["hf:Team/Set"]))
    assert [source for source, _ in rows] == ["toolace"] * 3
    assert short([row for _, row in rows]) == [
        "2 Book a table.",
        "11! no turn in conversations is from the user",
        "20 Cancel it.",
    ]
    assert {row.file for _, row in rows} == {"hf:Team/Set/data.json"}
    with pytest.raises(UsageError, match="hf:Team/Other: there is no such data set"):
        read("toolace", "hf:Team/Other")
    with pytest.raises(UsageError, match=r"no \.csv or \.tsv file there"):
        read("csv", "hf:Team/Set")
