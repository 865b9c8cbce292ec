"""A small spec to hang one block of logic on, and what the checker says of it."""

from __future__ import annotations

from envscaler.spec.check import check_text
from envscaler.spec.checked import Checked, CheckedBody

SHOP = """\
envscaler: 1
name: shop
description: A shop.
clock: 2030-03-04T09:00:00Z
constants:
  MOST: 5
types:
  Size: {enum: [small, large]}
  Cash: {fields: {by: {const: cash}}}
  Card: {fields: {by: {const: card}, last_four: str}}
  Payment: {union: [Cash, Card], tag: by}
  Box: {fields: {width: int, label: str?}}
states:
  items:
    record: Item
    key: {name: item_id, make: "I-{n:03d}"}
    fields:
      title: str
      size: {type: Size, default: small}
      price: {type: money, default: 1.00}
      weight: {type: float, default: 1.0}
      due: {type: date, default: 2030-01-01}
      seen: {type: datetime?, default: null}
      note: str?
      tags: {list: str, default: []}
      sold: {type: date, absent: true}
      paid: {type: Payment, default: {by: cash}}
      box: Box?
      owner: {ref: people, default: P-1}
      extra: {type: any, default: null}
  people:
    record: Person
    key: {name: person_id, make: "P-{n}"}
    fields: {name: str, balance: {type: money, default: 0}, boss: {ref: people, null: true, default: null}}
  desk:
    record: Desk
    single: true
    fields: {notes: {list: str, default: []}, count: {type: int, default: 0}}
"""


def indented(body: str, by: int = 6) -> str:
    """The block as it stands below its key."""
    return "\n".join(" " * by + line if line else line for line in body.strip("\n").splitlines())


def spec_text(body: str, *, kind: str = "write", params: str = "{item_id: {ref: items, as: item}, n: {type: int, default: 1}}",
              helpers: str = "", rules: str = "") -> str:  # fmt: skip
    """A whole spec with one tool `act` of this body."""
    parts = [SHOP]
    if rules:
        parts.append("rules:\n" + rules)
    if helpers:
        parts.append("helpers:\n" + helpers)
    parts.append(
        f"tools:\n  act:\n    kind: {kind}\n    description: Act.\n    params: {params}\n    do: |\n{indented(body)}\n"
    )
    return "".join(parts)


def checked(body: str, **places: str) -> Checked:
    """The checker's result for the spec with this tool."""
    return check_text("shop.yaml", spec_text(body, **places))


def codes(body: str, **places: str) -> list[str]:
    """Codes of errors found, in file order; warnings of unused things left out."""
    return [d.code for d in checked(body, **places).diagnostics if d.severity == "error"]


def body_of(body: str, **places: str) -> CheckedBody:
    """The checked tool; fails the test when the checker found errors."""
    result = checked(body, **places)
    assert result.ok, [d.headline() for d in result.diagnostics]
    return result.tools["act"]
