"""The trajectories of a run: lines of JSON that are only ever added, and an index over them in SQLite.

A line is written inside the transaction that notes it in the index, so that writers in several processes take turns. A kill
between the two leaves a line, or a part of one, behind the last that is noted: the next writer notes it, or cuts it off.
What the index says can be made anew from the lines.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from envscaler.errors import UsageError
from envscaler.llm.messages import Tool, as_tools
from envscaler.rollout.trajectory import Trajectory
from envscaler.runtime.canonical import digest
from envscaler.sqlite import connected, patiently, transaction

__all__ = ["ASIDE", "CATALOGUES", "INDEX", "TRAJECTORIES", "Row", "Select", "Totals", "Trajectories"]

INDEX: Final = "index.sqlite"
TRAJECTORIES: Final = "trajectories.jsonl"
ASIDE: Final = "aside.jsonl"
CATALOGUES: Final = "tools.jsonl"
_VERSION: Final = 1
_SYNCED: Final = 1.0  # seconds after which what was written is sent to the disk

_SCHEMA: Final = """
CREATE TABLE files (name TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE catalogues (hash TEXT PRIMARY KEY, at INTEGER NOT NULL, length INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE trajectories (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    file TEXT NOT NULL,
    at INTEGER NOT NULL,
    length INTEGER NOT NULL,
    scenario TEXT NOT NULL,
    kind TEXT NOT NULL,
    spec TEXT NOT NULL,
    spec_hash TEXT NOT NULL,
    setting TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    user TEXT NOT NULL,
    sample INTEGER NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    reward REAL,
    steps INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost INTEGER,
    seconds REAL NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX by_id ON trajectories (id)
"""
_COLUMNS: Final = (
    "id", "attempt", "scenario", "kind", "spec", "spec_hash", "setting", "agent", "model", "user", "sample", "status", "reason",
    "reward", "steps", "calls", "tokens", "cost", "seconds", "hash",
)  # fmt: skip


class Row(NamedTuple):
    """What the index knows of a trajectory. ``spec`` is the name. ``reward`` is None where it is not scored, ``cost`` (in
    billionths of a US dollar) where a part is not known. ``tokens`` are those of agent and user, read and written."""

    id: str
    attempt: int
    scenario: str
    kind: str
    spec: str
    spec_hash: str
    setting: str
    agent: str
    model: str
    user: str
    sample: int
    status: str
    reason: str
    reward: float | None
    steps: int
    calls: int
    tokens: int
    cost: int | None
    seconds: float
    hash: str


@dataclass(frozen=True, slots=True)
class Select:
    """Which trajectories are meant; what is None does not matter. ``aside``: those that are set aside instead of the others.
    ``ids`` may be the beginnings of ids."""

    ids: Sequence[str] | None = None
    scenario: str | None = None
    kind: str | None = None
    spec: str | None = None
    setting: str | None = None
    agent: str | None = None
    model: str | None = None
    status: str | None = None
    least: float | None = None
    most: float | None = None
    aside: bool = False

    def where(self) -> tuple[str, list[Any]]:
        """The condition in SQL and its values."""
        parts, values = ["file = ?"], [ASIDE if self.aside else TRAJECTORIES]
        equal: list[Any] = []
        for name in ("scenario", "kind", "spec", "setting", "agent", "model", "status"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name} = ?")
                equal.append(value)
        for sign, bound in ((">=", self.least), ("<=", self.most)):
            if bound is not None:
                parts.append(f"reward {sign} ?")
                equal.append(bound)
        if self.ids is not None:
            parts.append("(" + (" OR ".join("substr(id, 1, ?) = ?" for _ in self.ids) or "0") + ")")
            equal += [part for one in self.ids for part in (len(one), one)]
        return " AND ".join(parts), values + equal


class Totals(NamedTuple):
    """Sums over a run. ``scored`` of the ``done`` have a reward, whose mean is ``mean``, None without any. ``aside``: episodes
    that are set aside and were not played to an end since. ``unpriced``: episodes with a cost that is not known; the cost
    is that of the others and of what was set aside."""

    done: int
    scored: int
    mean: float | None
    aside: int
    cost: int
    unpriced: int
    tokens: int


class _Line(NamedTuple):
    """A trajectory on its way into a file."""

    data: bytes
    hash: str
    trajectory: Trajectory


class Trajectories:
    """The trajectories of a run's folder. `Trajectories.open(folder)` reads, while others may write;
    `Trajectories.writing(folder)` adds too. For one thread at a time, and any number of processes."""

    def __init__(self, folder: Path, *, write: bool) -> None:
        self.folder = folder
        self._write = write
        self._lock = threading.RLock()
        self._files: dict[str, int] = {}
        self._synced = time.monotonic()
        self._known: dict[str, tuple[Tool, ...]] = {}
        try:
            self._connection = self._writable() if write else self._readable()
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{folder}: {error}") from None

    @classmethod
    def open(cls, folder: Path | str) -> Trajectories:
        """Those of a folder, to be read. Raises UsageError where there are none."""
        path = Path(folder)
        if not (path / TRAJECTORIES).is_file() and not (path / ASIDE).is_file() and not (path / INDEX).is_file():
            raise UsageError(
                f"{path}: no trajectories there ({TRAJECTORIES}); `envscaler rollout … -o {path}` makes some"
            )
        if not (path / INDEX).is_file():
            cls.writing(path).close()
        return cls(path, write=False)

    @classmethod
    def writing(cls, folder: Path | str) -> Trajectories:
        """Those of a folder, to be added to; both are made where there are none."""
        return cls(Path(folder), write=True)

    def _writable(self) -> sqlite3.Connection:
        self.folder.mkdir(parents=True, exist_ok=True)
        connection = connected(self.folder / INDEX)
        patiently(lambda: connection.execute("PRAGMA journal_mode=WAL"))
        connection.execute("PRAGMA synchronous=NORMAL")
        self._connection = connection
        with transaction(self._connection):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={_VERSION}")
            self._same(version or _VERSION)
            for name in (CATALOGUES, TRAJECTORIES, ASIDE):
                self._note_unnoted(name)
        return connection

    def _readable(self) -> sqlite3.Connection:
        address = f"{(self.folder / INDEX).absolute().as_uri()}?mode=ro"
        connection = connected(address, uri=True)
        self._same(patiently(lambda: connection.execute("PRAGMA user_version").fetchone()[0]))
        return connection

    def _same(self, version: int) -> None:
        if version != _VERSION:
            raise UsageError(f"{self.folder / INDEX} is of version {version}, this envscaler reads version {_VERSION}")

    # -- writing

    def add(self, trajectory: Trajectory) -> bool:
        """Keep a trajectory; False where one of its id, not set aside, is kept already. It survives the end of this process
        when this returns, and within about a second that of the machine."""
        return self.add_all((trajectory,)) == 1

    def add_all(self, trajectories: Iterable[Trajectory]) -> int:
        """The same for several, which costs less than one by one; how many were not kept already."""
        lines: dict[str, list[_Line]] = {TRAJECTORIES: [], ASIDE: []}
        for one in trajectories:
            text, hash_ = one.written()
            data = text.encode("ascii") + b"\n"
            lines[ASIDE if one.aside else TRAJECTORIES].append(_Line(data, hash_, one))
        with self._lock, transaction(self._connection):
            added = sum(self._add_to(name, those) for name, those in lines.items() if those)
        self._sync()
        return added

    def _add_to(self, name: str, lines: Sequence[_Line]) -> int:
        at = self._note_unnoted(name)
        new = []
        for line in lines:
            if not self._settled(line.trajectory.id):
                self._note(name, at, len(line.data), line.trajectory, line.hash)
                at += len(line.data)
                new.append(line.data)
        if new:
            self._append(name, b"".join(new))
            self._until(name, at)
        return len(new)

    def catalogue(self, tools: Sequence[Tool]) -> str:
        """Keep what was on offer, once; its hash."""
        key = tuple(tools)
        for known, kept in self._known.items():
            if kept is key or kept == key:
                return known
        plain = [tool.to_json() for tool in key]
        found = digest(plain)
        data = json.dumps({"hash": found, "tools": plain}, separators=(",", ":")).encode("ascii") + b"\n"
        with self._lock, transaction(self._connection):
            at = self._note_unnoted(CATALOGUES)
            if not self._rows("SELECT 1 FROM catalogues WHERE hash = ?", (found,)):
                self._append(CATALOGUES, data)
                self._connection.execute("INSERT INTO catalogues VALUES (?, ?, ?)", (found, at, len(data)))
                self._until(CATALOGUES, at + len(data))
        self._known[found] = key
        return found

    def _settled(self, name: str) -> bool:
        return bool(self._rows("SELECT 1 FROM trajectories WHERE id = ? AND file = ?", (name, TRAJECTORIES)))

    def _append(self, name: str, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file(name), view) :]

    def _file(self, name: str) -> int:
        if name not in self._files:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._files[name] = os.open(self.folder / name, flags, 0o644)
        return self._files[name]

    def _note_unnoted(self, name: str) -> int:
        """Note what a writer that was killed has left behind the noted lines, cut off what is no whole line; the end."""
        rows = self._rows("SELECT until FROM files WHERE name = ?", (name,))
        until, file = (rows[0][0] if rows else 0), self._file(name)
        end = os.fstat(file).st_size
        if end < until:
            raise UsageError(f"{self.folder / name} was cut: {end} bytes are left of {until}; remove {INDEX} to go on")
        if end == until:
            return int(until)
        with (self.folder / name).open("rb") as lines:
            lines.seek(until)
            while (line := lines.readline()).endswith(b"\n"):
                self._note_line(name, until, line)
                until += len(line)
        os.ftruncate(file, until)
        self._until(name, until)
        return int(until)

    def _note_line(self, name: str, at: int, line: bytes) -> None:
        try:
            plain = json.loads(line)
            if name == CATALOGUES:
                values = (plain["hash"], at, len(line))
                self._connection.execute("INSERT OR IGNORE INTO catalogues VALUES (?, ?, ?)", values)
                return
            trajectory = Trajectory.from_json(plain)
        except (ValueError, KeyError, TypeError, UsageError) as error:
            raise UsageError(f"{self.folder / name}, byte {at}: {error}") from None
        if name == ASIDE or not self._settled(trajectory.id):
            self._note(name, at, len(line), trajectory, plain.get("hash", ""))

    def _note(self, name: str, at: int, length: int, one: Trajectory, hash_: str) -> None:
        tokens = sum((part.get("tokens_in") or 0) + (part.get("tokens_out") or 0) for part in one.usage.values())
        user = "" if one.user is None else one.user.name
        values = (
            one.id, one.attempt, one.scenario, one.kind, one.spec["name"], one.spec["hash"], one.setting, one.agent.name,
            one.agent.model, user, one.sample, one.status, one.reason, one.reward, len(one.steps), one.calls, tokens, one.cost,
            one.timing.get("seconds", 0.0), hash_,
        )  # fmt: skip
        self._connection.execute(
            f"INSERT INTO trajectories (file, at, length, {', '.join(_COLUMNS)}) "  # noqa: S608
            f"VALUES (?, ?, ?, {', '.join('?' * len(_COLUMNS))})",
            (name, at, length, *values),
        )

    def _until(self, name: str, end: int) -> None:
        self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (name, end))

    def _sync(self) -> None:
        if time.monotonic() - self._synced > _SYNCED:
            self._synced = time.monotonic()
            for file in self._files.values():
                os.fsync(file)

    # -- reading

    def __contains__(self, name: str) -> bool:
        """Whether a trajectory of that id is kept, and not set aside."""
        with self._lock:
            return self._settled(name)

    def ids(self) -> set[str]:
        """The ids of all that are kept and not set aside."""
        return {row[0] for row in self._rows("SELECT id FROM trajectories WHERE file = ?", (TRAJECTORIES,))}

    def attempts(self, name: str) -> int:
        """How often an episode was begun and set aside."""
        rows = self._rows("SELECT coalesce(max(attempt), 0) FROM trajectories WHERE id = ?", (name,))
        return int(rows[0][0])

    def rows(self, select: Select | None = None) -> list[Row]:
        """What the index knows of those that are meant, in order of their ids."""
        where, values = (select or Select()).where()
        query = f"SELECT {', '.join(_COLUMNS)} FROM trajectories WHERE {where} ORDER BY id, attempt"  # noqa: S608
        return [Row(*row) for row in self._rows(query, values)]

    def each(self, select: Select | None = None) -> Iterator[Trajectory]:
        """Those that are meant, in order of their ids, read one by one. Raises UsageError for a line that cannot be read."""
        where, values = (select or Select()).where()
        query = f"SELECT file, at, length FROM trajectories WHERE {where} ORDER BY id, attempt"  # noqa: S608
        for name, at, length in self._rows(query, values):
            yield Trajectory.from_json(self._line(name, at, length))

    def one(self, name: str) -> Trajectory:
        """The trajectory whose id is, or begins with, ``name``; one that is set aside where there is no other. Raises
        UsageError where there is none, or several."""
        for aside in (False, True):
            found = list(self.each(Select(ids=(name,), aside=aside)))
            exact = [one for one in found if one.id == name]
            if exact or len({one.id for one in found}) == 1:
                return (exact or found)[-1]
            if found:
                raise UsageError(f"{name} may mean {len(found)} trajectories: {', '.join(o.id for o in found[:4])} …")
        raise UsageError(f"{self.folder}: no trajectory {name}")

    def of(self, row: Row) -> Trajectory:
        """The whole trajectory of a row. Raises UsageError for a line that cannot be read, and for a row of another folder."""
        query = "SELECT file, at, length FROM trajectories WHERE id = ? AND attempt = ? AND hash = ?"
        for place in self._rows(query, (row.id, row.attempt, row.hash)):
            return Trajectory.from_json(self._line(*place))
        raise UsageError(f"{self.folder}: no trajectory {row.id}")

    def tools(self, hash_: str) -> tuple[Tool, ...]:
        """A catalogue by its hash. Raises UsageError where it is not there."""
        if hash_ not in self._known:
            rows = self._rows("SELECT at, length FROM catalogues WHERE hash = ?", (hash_,))
            if not rows:
                raise UsageError(f"{self.folder}: no tools {hash_} in {CATALOGUES}")
            self._known[hash_] = as_tools(self._line(CATALOGUES, *rows[0])["tools"])
        return self._known[hash_]

    def totals(self) -> Totals:
        """Sums over the run as it stands."""
        [(done, scored, mean, tokens)] = self._rows(
            "SELECT count(*), count(reward), avg(reward), coalesce(sum(tokens), 0) FROM trajectories WHERE file = ?",
            (TRAJECTORIES,),
        )
        [(cost, unpriced)] = self._rows("SELECT coalesce(sum(cost), 0), count(*) - count(cost) FROM trajectories", ())
        [(aside,)] = self._rows(
            "SELECT count(DISTINCT id) FROM trajectories WHERE file = ? AND id NOT IN "
            "(SELECT id FROM trajectories WHERE file = ?)",
            (ASIDE, TRAJECTORIES),
        )
        return Totals(done, scored, mean, aside, cost, unpriced, tokens)

    def _line(self, name: str, at: int, length: int) -> Mapping[str, Any]:
        path = self.folder / name
        try:
            with path.open("rb") as lines:
                lines.seek(at)
                found: Mapping[str, Any] = json.loads(lines.read(length))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}, byte {at}: {error}") from None
        return found

    def close(self) -> None:
        """Let go of the files; what was written is on the disk."""
        with self._lock:
            for file in self._files.values():
                if self._write:
                    os.fsync(file)
                os.close(file)
            self._files.clear()
            self._connection.close()

    def __enter__(self) -> Trajectories:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- SQLite

    def _rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._lock:
            rows: list[tuple[Any, ...]] = patiently(lambda: self._connection.execute(query, values).fetchall())
        return rows
