"""The ledger, budgets, prices and the table of costs."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from envscaler.errors import BudgetError, UsageError
from envscaler.llm import Ledger, Llm, RoleSettings, Usage, in_order, labelled
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.llm.costs import PAPER
from envscaler.llm.ledger import Attempt
from envscaler.llm.prices import NANO, Prices
from tests.llm.conftest import Open
from tests.llm.server import TOKENS_IN, TOKENS_OUT, Server, status, text


def test_labels_reach_the_ledger(models: Open, server: Server) -> None:
    opened = models(server.llm(backoff="0.01"))

    async def work(unit: str) -> None:
        with labelled(stage="discovery", unit=unit):
            await opened.role("planner").chat("a")
            with labelled(stage="construction"):
                await opened.role("coder").chat("b")
        await opened.role("judge").chat("c", stage="assessment", unit=unit)

    async def all_() -> None:
        await asyncio.gather(*(work(f"env-{n}") for n in range(3)))

    opened.run(all_())
    rows = sorted((a.role, a.stage, a.unit) for a in opened.ledger.attempts())
    roles = [("planner", "discovery"), ("coder", "construction"), ("judge", "assessment")]
    assert rows == sorted((role, stage, f"env-{n}") for n in range(3) for role, stage in roles)


def test_a_ledger_that_several_processes_write(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from envscaler.llm import Ledger, Usage
from envscaler.llm.ledger import Attempt
ledger = Ledger(Path(sys.argv[1]))
for n in range(50):
    ledger.add(Attempt("c", 0.0, 0.1, "agent", "", sys.argv[2], "b", "m", "ok", Usage(2, 1), 5))
print(ledger.totals().tokens > 0)
"""
    path = tmp_path / "ledger.sqlite"
    processes = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(n)], stdout=subprocess.PIPE) for n in range(3)
    ]
    assert [p.communicate()[0].strip() for p in processes] == [b"True"] * 3
    ledger = Ledger(path)
    assert (ledger.totals().tokens, ledger.totals().cost) == (150 * 3, 150 * 5)
    assert sum(1 for _ in ledger.attempts()) == 150


def test_a_killed_process_loses_no_finished_attempt(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from envscaler.llm import Ledger, Usage
from envscaler.llm.ledger import Attempt
ledger = Ledger(Path(sys.argv[1]))
for n in range(20):
    ledger.add(Attempt("c", 0.0, 0.1, "agent", "", "", "b", "m", "ok", Usage(2, 1), 5))
os.kill(os.getpid(), 9)
"""
    path = tmp_path / "ledger.sqlite"
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == -9
    ledger = Ledger(path)
    assert ledger.totals().tokens == 60
    assert ledger.totals().tokens == 60


def test_a_ledger_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=7")
    connection.close()
    with pytest.raises(UsageError, match="version 7"):
        Ledger(path)


# -- budgets


def test_max_tokens_stops_before_the_next_call(models: Open, server: Server) -> None:
    opened = models(server.llm(concurrency=1), max_tokens=3 * (TOKENS_IN + TOKENS_OUT))
    llm = opened.role("agent")
    kept: list[tuple[int, Any]] = []
    results = opened.run(in_order((llm.chat(str(n)) for n in range(10)), done=lambda n, r: kept.append((n, r))))
    assert [getattr(r, "content", "stopped") for r in results] == ["echo: 0", "echo: 1", "echo: 2"] + ["stopped"] * 7
    assert all(isinstance(r, BudgetError) for r in results[3:])
    assert "limit of 330 tokens is reached (330 used); what was finished is kept" in str(results[3])
    assert server.seen == 3
    assert sorted(n for n, _ in kept) == list(range(10))


def test_a_budget_counts_what_the_run_spent_before(models: Open, server: Server) -> None:
    first = models(server.llm(), max_tokens=100)
    first.run(first.role("agent").chat("one"))
    again = models(server.llm(), max_tokens=100)
    with pytest.raises(BudgetError):
        again.run(again.role("agent").chat("two"))
    assert server.seen == 1


def test_max_cost_with_own_prices(models: Open, server: Server) -> None:
    opened = models(server.llm(price_in=10, price_out=100, concurrency=1), max_cost=0.0039)
    llm = opened.role("agent")
    results = opened.run(in_order(llm.chat(str(n)) for n in range(4)))
    assert [isinstance(r, BudgetError) for r in results] == [False, False, True, True]
    assert opened.ledger.totals().cost == 2 * 2_000_000  # 100 tokens at $10 and 10 at $100 a million: $0.002
    assert "limit of $0.0039 is reached ($0.0040 spent)" in str(results[2])


def test_failed_attempts_count_against_the_limit(models: Open, server: Server) -> None:
    server.steps = [text(""), text("")]
    opened = models(server.llm(backoff="0.01"), max_tokens=2 * (TOKENS_IN + TOKENS_OUT))
    with pytest.raises(BudgetError):
        opened.run(opened.role("agent").chat("hello"))
    assert server.seen == 2


def test_max_cost_without_a_price_is_refused(models: Open, server: Server) -> None:
    opened = models(server.llm(), max_cost=1.0)
    with pytest.raises(
        UsageError, match=r"no price is known for tiny, .* --max-cost cannot be kept for the role agent"
    ):
        opened.role("agent")


# -- prices


def test_the_table_of_prices() -> None:
    genai_prices = pytest.importorskip("genai_prices")
    usage = Usage(1_000_000, 100_000, 200_000)
    counted = genai_prices.Usage(input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=200_000)
    wanted = Decimal(genai_prices.calc_price(counted, "gpt-4.1", provider_id="openai").total_price)
    assert Prices("openai", "gpt-4.1").cost(usage) == round(wanted * NANO)
    assert wanted > 1
    assert Prices("openai", "deepseek-chat", "https://api.deepseek.com/v1").cost(usage) is not None
    assert Prices("openai", "gpt-4.1", "http://127.0.0.1:8000/v1").cost(usage) is None
    assert Prices("nobody", "gpt-4.1").cost(usage) is None


def test_an_unknown_price_is_unknown_and_said_once(models: Open, server: Server) -> None:
    heard: list[str] = []
    opened = models(server.llm(), tell=heard.append)
    for role in ("agent", "user"):
        for _ in range(2):
            opened.run(opened.role(role).chat("hello"))
    assert len(heard) == 1
    assert heard[0].startswith("no price is known for tiny")
    assert [a.cost for a in opened.ledger.attempts()] == [None] * 4
    assert opened.ledger.totals().unpriced == 4


def test_own_prices_are_exact() -> None:
    assert Prices("x", "m", None, 0.05, 0.4).cost(Usage(3, 7)) == 150 + 2800
    assert Prices("x", "m", free=True).cost(Usage(None, None)) == 0
    assert Prices("x", "m", None, 1, 1).cost(Usage(None, 3)) is None


# -- the table


def _run(folder: Path) -> Path:
    ledger = Ledger(folder / "ledger.sqlite")

    def add(stage: str, unit: str, tokens_in: int, tokens_out: int, cost: int | None, **more: Any) -> None:
        usage = Usage(tokens_in, tokens_out)
        row = {"call": f"{stage}{unit}", "role": "planner", "model": "gpt-4.1", "outcome": "ok", **more}
        ledger.add(
            Attempt(began=0.0, seconds=1.5, stage=stage, unit=unit, backend="openai", usage=usage, cost=cost, **row)
        )

    for unit in ("bank", "shop"):
        add("discovery", unit, 1000, 500, 6_000_000)
        add("construction", unit, 40_000, 9_000, 152_000_000)
        add("construction", unit, 2000, 1000, 12_000_000, outcome="invalid_reply")
    add("task", "bank-1", 3000, 600, None, model="mystery")
    add("rollout", "bank-1", 100, 10, 280_000, role="agent")
    add("rollout", "bank-1", 0, 0, 0, role="agent", outcome="cached")
    ledger.close()
    return folder


def test_the_table_is_the_papers(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["cost", str(_run(tmp_path / "run"))])
    assert result.exit_code == 0
    assert "Per environment (2 in this run)" in result.stdout
    assert "Per scenario (1 in this run)" in result.stdout
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "Discovery (gpt-4.1) 1,000 500 1,500 0.0060 1,529 569 2,098 0.0076" in lines
    assert "Construction (gpt-4.1) 42,000 10,000 52,000 0.1640 57,639 16,655 74,294 0.2485" in lines
    assert "Assessment - - - - 1,709,159 52,706 1,761,865 0.7679" in lines
    assert "Total 43,000 10,500 53,500 0.1700 1,768,327 69,930 1,838,257 1.0240" in lines
    assert "Gen Task (mystery) 3,000 600 3,600 unknown 2,883 555 3,438 0.0102" in lines
    assert "rollout (gpt-4.1) 100 10 110 0.0003" in lines
    assert "No price was known for 1 of 8 attempts; their cost is not in the sums." in lines


def test_the_papers_totals_are_those_of_its_stages() -> None:
    for total, stages in {
        "environment": ("discovery", "construction", "assessment"),
        "scenario": ("data", "task", "checks"),
    }.items():
        assert PAPER[total].tokens == sum(PAPER[s].tokens for s in stages)


def test_the_table_as_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["cost", str(_run(tmp_path / "run")), "--json"])
    plain = json.loads(result.stdout)
    environment = plain["sections"][0]
    assert environment["units"] == 2
    assert environment["total"]["each"] == {"tokens_in": 43_000, "tokens_out": 10_500, "tokens": 53_500, "cost": 0.17}
    assert environment["total"]["sum"]["failed"] == 2
    assert environment["total"]["paper"]["cost"] == 1.024
    assert plain["total"]["cost"] is None
    assert plain["total"]["cost_known"] == pytest.approx(0.34028)
    assert plain["roles"]["agent"]["from_cache"] == 1
    assert plain["roles"]["agent"]["calls"] == 1


def test_cost_equals_the_servers_own_sum(models: Open, server: Server, tmp_path: Path) -> None:
    server.steps = [status(500), text(""), status(429), text("", finish="length")]
    opened = models(server.llm(backoff="0.01", price_in=1, price_out=1))
    opened.run(in_order(opened.role("agent").chat(str(n)) for n in range(20)))
    plain = json.loads(CliRunner().invoke(app, ["cost", str(tmp_path / "run"), "--json"]).stdout)
    assert (plain["total"]["tokens_in"], plain["total"]["tokens_out"]) == (server.tokens_in, server.tokens_out)
    assert plain["total"]["attempts"] == server.seen
    assert plain["total"]["cost"] == pytest.approx((server.tokens_in + server.tokens_out) / 1e6)


def test_a_folder_without_an_account(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["cost", str(tmp_path)])
    assert result.exit_code == 2
    assert "no account of a run there (ledger.sqlite)" in result.output


def test_an_account_in_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    run = _run(tmp_path / "run")
    files = {path: path.read_bytes() for path in run.iterdir()}
    run.chmod(0o500)
    try:
        assert CliRunner().invoke(app, ["cost", str(run)]).exit_code == 0
    finally:
        run.chmod(0o700)
    assert {path: path.read_bytes() for path in run.iterdir() if path.suffix == ".sqlite"} == files


@pytest.mark.parametrize("content", [b"", b"not a database, but some text that is long enough to be read as one" * 50])
def test_a_file_that_is_no_account(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(content)
    result = CliRunner().invoke(app, ["cost", str(tmp_path)])
    assert result.exit_code == 2
    assert "ledger.sqlite" in result.output


def test_what_a_script_gives_costs_nothing() -> None:
    llm = Llm(ScriptedBackend(["a"]), RoleSettings("agent", "scripted/x"))
    answer = asyncio.run(llm.chat("hello"))
    assert answer.spent.cost == 0
