"""The conformance suite, and rows that are right, wrong and many."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import envscaler_tables
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from envscaler_tables import Tables, sample

from envscaler import UsageError
from envscaler.plugin import BadRow, Task
from envscaler.testing import SourceConformance

pytest_plugins = ["envscaler.testing.fixtures"]


def parquet_sample(folder: Path) -> tuple[str, dict[str, Any]]:
    path = folder / "tasks.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "text": ["Book a table.", None, "Cancel it."]}), path)
    return str(path), {}


class TestCsv(SourceConformance):
    make = staticmethod(Tables)
    sample = staticmethod(sample)
    tasks = 2
    bad_rows = 1


class TestParquet(SourceConformance):
    make = staticmethod(Tables)
    sample = staticmethod(parquet_sample)
    tasks = 2
    bad_rows = 1


def read(path: Path, **options: Any) -> list[Task | BadRow]:
    return list(Tables().read(str(path), options))


def lines(path: Path, **options: Any) -> list[str]:
    """Rows in short: `LINE text` or `LINE! reason`."""
    return [f"{r.line} {r.text}" if isinstance(r, Task) else f"{r.line}! {r.reason}" for r in read(path, **options)]


def write(tmp_path: Path, data: bytes | str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# -- CSV


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "id,task,lang\n1,Go.,en\n")
    (row,) = read(path, text="task")
    assert row == Task("Go.", str(path), 2, {"id": "1", "lang": "en"})
    (row,) = read(path, text="task", extra=["lang"])
    assert row == Task("Go.", str(path), 2, {"lang": "en"})
    (row,) = read(path, text="task", extra=[])
    assert row == Task("Go.", str(path), 2)


def test_rows_over_several_lines_say_where_they_begin(tmp_path: Path) -> None:
    path = write(tmp_path, 'text\n"one\nand more"\n\ntwo\r\n"say ""three"""\n')
    assert lines(path) == ["2 one\nand more", "5 two", '6 say "three"']


def test_a_bad_row_costs_itself_only(tmp_path: Path) -> None:
    data = b'id,text\n1,good\n2\n3,a,b\n4,\xff\xfe\n5,   \n6,"x"y\n7,good too\n'
    assert lines(write(tmp_path, data)) == [
        "2 good",
        "3! 1 cells, where the header has 2",
        "4! 3 cells, where the header has 2",
        "5! not utf-8",
        "6! no text in text",
        "7! not CSV: ',' expected after '\"'",
        "8 good too",
    ]


def test_a_quote_that_does_not_end_is_bounded(tmp_path: Path) -> None:
    path = write(tmp_path, 'text\ngood\n"never ends\n' + "filler\n" * 40_000)
    rows = read(path)
    assert rows[0] == Task("good", str(path), 2)
    assert isinstance(rows[1], BadRow)
    assert rows[1].line == 3
    assert "field larger than field limit" in rows[1].reason


def test_encodings_and_delimiters(tmp_path: Path) -> None:
    assert lines(write(tmp_path, "\ufefftext;n\nGrüße;1\n"), delimiter=";") == ["2 Grüße"]
    assert lines(write(tmp_path, "text\nGrüße\n".encode("latin-1")), encoding="latin-1") == ["2 Grüße"]
    assert lines(write(tmp_path, "text\nGrüße\n".encode("utf-16")), encoding="utf-16") == ["2 Grüße"]
    assert lines(write(tmp_path, "n\ttext\n1\tGo, now.\n", "t.tsv")) == ["2 Go, now."]
    assert lines(write(tmp_path, "text\nGo.\n", "tasks.txt"), format="csv") == ["2 Go."]


def test_a_large_file_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "text,more\n" + f"{'a task ' * 10},{'x' * 200}\n" * 60_000)
    assert path.stat().st_size > 15_000_000
    tracemalloc.start()
    rows = Tables().read(str(path), {})
    next(rows)
    rest = sum(1 for _ in rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rest == 59_999
    assert peak < 2_000_000


# -- Parquet


def table(tmp_path: Path, columns: dict[str, Any], name: str = "t.parquet") -> Path:
    pq.write_table(pa.table(columns), tmp_path / name)
    return tmp_path / name


def test_values_of_parquet_become_json(tmp_path: Path) -> None:
    import datetime as dt
    from decimal import Decimal

    path = table(
        tmp_path,
        {
            "text": ["Go."],
            "n": [3],
            "f": [float("nan")],
            "d": [dt.date(2030, 1, 2)],
            "at": [dt.datetime(2030, 1, 2, 3, 4)],
            "money": [Decimal("2.50")],
            "tags": [["a", "b"]],
            "deep": [{"x": 1, "on": dt.date(2030, 1, 2)}],
            "none": pa.array([None], pa.string()),
        },
    )
    (row,) = read(path)
    assert isinstance(row, Task)
    assert row.extra == {
        "n": 3, "f": None, "d": "2030-01-02", "at": "2030-01-02T03:04:00", "money": "2.50", "tags": ["a", "b"],
        "deep": {"x": 1, "on": "2030-01-02"}, "none": None,
    }  # fmt: skip


def test_bad_rows_of_parquet(tmp_path: Path) -> None:
    path = table(tmp_path, {"text": ["a", None, "  ", "d"], "raw": [b"1", b"2", b"3", b"4"]})
    assert lines(path, extra=[]) == ["1 a", "2! no text in text", "3! no text in text", "4 d"]
    assert lines(path)[0].startswith("1! bytes cannot be kept")
    assert lines(table(tmp_path, {"text": [1, 2]})) == ["1! text holds int, not text", "2! text holds int, not text"]


def test_many_batches_are_counted_through(tmp_path: Path) -> None:
    path = table(tmp_path, {"text": [f"task {n}" for n in range(5000)]})
    rows = read(path)
    assert [row.line for row in rows] == list(range(1, 5001))
    assert rows[4321] == Task("task 4321", str(path), 4322)


# -- both


def test_a_folder_and_a_limit(tmp_path: Path) -> None:
    write(tmp_path, 'text\none\n""\ntwo\n', "a.csv")
    table(tmp_path, {"text": ["three"]}, "b.parquet")
    write(tmp_path, "nothing", "notes.md")
    assert lines(tmp_path) == ["2 one", "3! no text in text", "4 two", "1 three"]
    assert lines(tmp_path, limit=2) == ["2 one", "3! no text in text", "4 two"]
    assert lines(tmp_path, limit=0) == []


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("text\nx\n", {"text": "txt"}, r"no column is called 'txt' \(did you mean text\?\); it has text"),
        ("text\nx\n", {"extra": ["id"]}, "no column is called 'id'"),
        ("text,text\nx,y\n", {}, "two columns are called text"),
        ("", {}, "empty; a header is wanted"),
        ("text\nx\n", {"txt": "text"}, r"tables has no option txt \(did you mean text\?\)"),
        ("text\nx\n", {"limit": -1}, "limit must be a whole number"),
        ("text\nx\n", {"extra": "id"}, "extra must be a list of columns"),
        ("text\nx\n", {"delimiter": "::"}, "delimiter must be one character"),
        ("text\nx\n", {"format": "xlsx"}, "format must be csv or parquet"),
        ("text\nx\n", {"encoding": "utf-99"}, "no encoding is called 'utf-99'"),
        ("text\nx\n", {"text": 3}, "text must be text, not 3"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, data: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(write(tmp_path, data), **options)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.csv: no such file or directory"):
        read(tmp_path / "gone.csv")
    with pytest.raises(UsageError, match=r"gone\.parquet: no such file or directory"):
        read(tmp_path / "gone.parquet")
    with pytest.raises(UsageError, match=r"t\.parquet: .*[Pp]arquet"):
        read(write(tmp_path, "not parquet", "t.parquet"))
    with pytest.raises(UsageError, match="what format it has is not said by its name"):
        read(write(tmp_path, "text\n", "t.dat"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no CSV or Parquet file in"):
        read(tmp_path / "empty")
    whole = table(tmp_path, {"text": [f"task {n}" * 50 for n in range(5000)]}).read_bytes()
    with pytest.raises(UsageError, match=r"t\.parquet: "):
        read(write(tmp_path, whole[:2000], "t.parquet"))


def test_envscaler_finds_it(envscaler_plugins: Callable[..., Any], tmp_path: Path) -> None:
    location, options = sample(tmp_path)
    rows = list(envscaler_plugins(envscaler_tables).source("tables").read(location, options))
    assert [row.line for row in rows] == [2, 3, 4]
