"""A journal that cannot be used is one clear line, and what was finished before stays."""

from __future__ import annotations

import errno
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from envscaler.errors import UsageError
from envscaler.work import (
    DiskFullError,
    JournalDamagedError,
    JournalError,
    JournalReadOnlyError,
    JournalVersionError,
    Run,
)
from envscaler.work import errors as work_errors
from tests.work import units


def finished(folder: Path) -> Path:
    with Run.open(folder) as run:
        list(run.map("square", units.square, [1, 2]))
    return folder / "work.sqlite"


@pytest.mark.parametrize("version", [0, 7])
def test_another_version_is_refused(tmp_path: Path, version: int) -> None:
    path = finished(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    with pytest.raises(JournalVersionError) as error:
        Run.open(tmp_path)
    assert str(error.value) == (
        f"{path}: a journal of version {version}, and this envscaler writes version 1; finish the run with the envscaler that "
        "began it, or begin in a new folder"
    )
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM outcomes").fetchone() == (2,)


def test_another_program_s_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "work.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE units (mine TEXT)")
    before = path.read_bytes()
    with pytest.raises(JournalDamagedError, match="no journal of a run"):
        Run.open(tmp_path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "work.sqlite").write_text("these are my notes, " * 100)
    with pytest.raises(JournalDamagedError, match=r"work\.sqlite: no journal of a run"):
        Run.open(tmp_path)


def test_a_damaged_journal(tmp_path: Path) -> None:
    path = finished(tmp_path)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(JournalDamagedError, match="begin in a new folder"), Run.open(tmp_path) as run:
        list(run.units())


def test_a_full_disk_stops_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        outcomes = run.map("text", lambda n: "x" * 20_000, range(100))
        kept = [next(outcomes).input for _ in range(3)]
        connection = run._journal._connection
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + 10}")
        with pytest.raises(DiskFullError, match="the disk is full; make room and run the same again") as error:
            for outcome in outcomes:
                kept.append(outcome.input)
        assert error.value.exit_code == 1
    assert 3 <= len(kept) < 100
    with Run.open(tmp_path) as run:
        again = list(run.map("text", lambda n: "x", range(100)))
    assert [o.input for o in again if not o.fresh] == kept
    assert all(o.ok for o in again)


def test_a_journal_that_may_not_be_written(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        run._journal._connection.execute("PRAGMA query_only=ON")
        with pytest.raises(JournalReadOnlyError, match=r"work\.sqlite: cannot be written here"):
            list(run.map("square", units.square, [1]))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(JournalReadOnlyError):
            Run.open(tmp_path / "run")
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(JournalError, match="run"):
        Run.open(tmp_path / "run")


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFullError), (errno.EROFS, JournalReadOnlyError), (errno.EACCES, JournalReadOnlyError)],
)
def test_what_the_system_says(number: int, kind: type[JournalError]) -> None:
    assert type(work_errors.of(Path("x"), OSError(number, os.strerror(number)))) is kind


@pytest.mark.parametrize("lease", [0, -1, float("nan")])
def test_a_lease_is_a_time(tmp_path: Path, lease: float) -> None:
    with pytest.raises(UsageError, match="lease"):
        Run.open(tmp_path, lease=lease)


def test_a_journal_that_many_begin_at_once(tmp_path: Path) -> None:
    def begin(folder: Path) -> None:
        together.wait()
        Run.open(folder).close()

    for number in range(20):
        together = Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(begin, [tmp_path / str(number)] * 4))


def test_nothing_but_the_journal_is_left(tmp_path: Path) -> None:
    finished(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["work.sqlite", "working"]
    assert list((tmp_path / "working").iterdir()) == []
