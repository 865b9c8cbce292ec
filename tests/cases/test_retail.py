"""The retail port answers a recording of a small shop call by call; one digit changed in the recording is found."""

from __future__ import annotations

import json
from pathlib import Path

from envscaler import session

SPEC = Path(__file__).parents[2] / "specs" / "ports" / "retail.yaml"
SHOP = Path(__file__).parent / "retail"


def test_every_call_is_answered_as_recorded() -> None:
    heard: list[str] = []
    report = session.replay(SPEC, SHOP / "shop.jsonl", tell=lambda difference: heard.append(str(difference)))
    assert heard == []
    assert report.cases == len((SHOP / "shop.jsonl").read_text(encoding="utf-8").splitlines())


def test_the_recording_reaches_every_tool_and_refusal() -> None:
    calls = [c for line in (SHOP / "shop.jsonl").open(encoding="utf-8") for c in json.loads(line)["calls"]]
    assert {c["tool"] for c in calls if c["error_kind"] is None} == set(session.load(SPEC).new().tools.names)
    assert len({c["result"] for c in calls if c["error_kind"] == "returned"}) >= 20


def test_a_changed_digit_is_found(tmp_path: Path) -> None:
    text = (SHOP / "shop.jsonl").read_text(encoding="utf-8")
    assert text.count('\\"exchange_price_difference\\": 20.1') == 1
    (tmp_path / "shop.json").write_bytes((SHOP / "shop.json").read_bytes())
    edited = tmp_path / "edited.jsonl"
    edited.write_text(
        text.replace('\\"exchange_price_difference\\": 20.1', '\\"exchange_price_difference\\": 20.2'), encoding="utf-8"
    )
    heard: list[tuple[str, object]] = []
    session.replay(SPEC, edited, tell=lambda difference: heard.append((difference.case, difference.call)))
    assert heard == [("exchange-twice", 1)]
