"""The conformance suite, and spreadsheets that are right, wrong and long."""

import datetime as dt
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import envscaler_tables
import pytest
from envscaler_tables import Spreadsheets, sample
from openpyxl import Workbook

from envscaler import UsageError
from envscaler.plugin import BadRow, Task
from envscaler.testing import SourceConformance

pytest_plugins = ["envscaler.testing.fixtures"]


class TestSpreadsheets(SourceConformance):
    make = staticmethod(Spreadsheets)
    sample = staticmethod(sample)
    tasks = 2
    bad_rows = 1


def book(tmp_path: Path, *sheets: Sequence[Sequence[Any]], name: str = "t.xlsx") -> Path:
    made = Workbook()
    made.remove(made.active)
    for number, rows in enumerate(sheets, 1):
        sheet = made.create_sheet(f"Sheet {number}")
        for row in rows:
            sheet.append(row)
    made.save(tmp_path / name)
    return tmp_path / name


def read(path: Path, **options: Any) -> list[Task | BadRow]:
    return list(Spreadsheets().read(str(path), options))


def lines(path: Path, **options: Any) -> list[str]:
    """Rows in short: `ROW text` or `ROW! reason`."""
    return [f"{r.line} {r.text}" if isinstance(r, Task) else f"{r.line}! {r.reason}" for r in read(path, **options)]


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = book(tmp_path, [["id", "task", "lang"], [1, " Go. ", "en"]])
    (row,) = read(path, text="task")
    assert row == Task("Go.", f"{path}[Sheet 1]", 2, {"id": 1, "lang": "en"})
    assert read(path, text="task", extra="lang") == read(path, text="task", extra=["lang"])
    assert read(path, text="task", extra="")[0] == Task("Go.", f"{path}[Sheet 1]", 2)


def test_sheets_and_headers(tmp_path: Path) -> None:
    path = book(tmp_path, [[], ["text"], ["a"]], [["A title"], ["by somebody"], ["n", "text"], [1, "b"]])
    assert lines(path) == ["3 a"]
    assert lines(path, sheet="Sheet 2", header=3) == lines(path, sheet="Sheet 2", header="3") == ["4 b"]


def test_a_row_without_a_task_costs_itself_only(tmp_path: Path) -> None:
    rows = [["text", "n"], ["a", 1], [None, 2], ["  ", 3], [5, 4], [True], [], [None, None], ["=1+1", 6], ["b"]]
    assert lines(book(tmp_path, rows)) == [
        "2 a",
        "3! no text in text",
        "4! no text in text",
        "5! text holds int, not text",
        "6! text holds bool, not text",
        "9! no text in text",  # a formula whose result was never saved
        "10 b",
    ]


def test_values_become_json(tmp_path: Path) -> None:
    cells = ["Go.", 3, 2.5, True, dt.datetime(2030, 1, 2, 3, 4), dt.time(5, 6), None]
    (row,) = read(book(tmp_path, [["text", "i", "f", "b", "at", "t", "none"], cells]))
    assert isinstance(row, Task)
    assert row.extra == {"i": 3, "f": 2.5, "b": True, "at": "2030-01-02T03:04:00", "t": "05:06:00", "none": None}


def test_a_folder(tmp_path: Path) -> None:
    book(tmp_path, [["text"], ["one"]], name="a.xlsx")
    book(tmp_path, [["text"], ["two"]], name="b.xlsm")
    (tmp_path / "~$a.xlsx").write_text("a lock")
    assert lines(tmp_path) == ["2 one", "2 two"]


def test_a_long_sheet_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    made = Workbook(write_only=True)
    sheet = made.create_sheet("long")
    sheet.append(["text", "n"])
    for number in range(8_000):
        sheet.append([f"task {number}", number])
    made.save(tmp_path / "long.xlsx")
    rows = Spreadsheets().read(str(tmp_path / "long.xlsx"), {})
    next(rows)
    tracemalloc.start()
    rest = sum(1 for _ in rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rest == 7_999
    assert peak < 1_500_000


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([["text"], ["x"]], {"text": "txt"}, r"no column is called 'txt' \(did you mean text\?\); it has text"),
        ([["text"], ["x"]], {"extra": ["id"]}, "no column is called 'id'"),
        ([["text", "text"]], {}, "two columns are called text"),
        ([], {}, "empty; a header is wanted"),
        ([["text"], ["x"]], {"txt": "text"}, r"spreadsheet has no option txt \(did you mean text\?\)"),
        ([["text"], ["x"]], {"sheet": "Sheet"}, "no sheet is called 'Sheet'; it has Sheet 1"),
        ([["text"], ["x"]], {"header": 0}, "header must be a row, from 1, not 0"),
        ([["text"], ["x"]], {"text": 3}, "text must be text, not 3"),
        ([["text"], ["x"]], {"extra": [3]}, "extra must be a list of columns"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, rows: list[list[Any]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(book(tmp_path, rows), **options)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.xlsx: no such file or directory"):
        read(tmp_path / "gone.xlsx")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no spreadsheet in"):
        read(tmp_path / "empty")
    whole = book(tmp_path, [["text"], *[[f"task {n}"] for n in range(500)]])
    data = whole.read_bytes()
    for number, broken in enumerate((b"", b"not a spreadsheet", data[: len(data) // 2])):
        (tmp_path / f"{number}.xlsx").write_bytes(broken)
        with pytest.raises(UsageError, match=rf"{number}\.xlsx: "):
            read(tmp_path / f"{number}.xlsx")
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(tmp_path / "cut.xlsx", "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part[:4000] if name.endswith("sheet1.xml") else part)
    with pytest.raises(UsageError, match=r"cut\.xlsx: broken after row \d+"):
        read(tmp_path / "cut.xlsx")


def test_envscaler_finds_it(envscaler_plugins: Callable[..., Any], tmp_path: Path) -> None:
    location, options = sample(tmp_path)
    rows = list(envscaler_plugins(envscaler_tables).source("spreadsheet").read(location, options))
    assert [row.line for row in rows] == [2, 3, 4]
