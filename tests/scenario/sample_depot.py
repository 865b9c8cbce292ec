"""A small spec with what the bank has not: records in lists, a tree, a flat single record, whole-number keys, parts that
are incidental."""

from __future__ import annotations

from functools import cache

from envscaler.scenario.world import World
from envscaler.spec.check import check_text

TEXT = """\
envscaler: 1
name: depot
description: A depot keeps parts in bins.
types:
  Stamp: {fields: {by: str, at: {type: str, incidental: true}}}
  Cash: {fields: {way: {const: cash}, seen: {type: int, incidental: true}}}
  Card: {fields: {way: {const: card}, last: str}}
  Pay: {union: [Cash, Card], tag: way}
states:
  bins:
    record: Bin
    key: {name: number, type: int, make: "{n}"}
    fields:
      label: str
      count: {type: int, ge: 0, default: 0}
      touched: {type: int, default: 0, incidental: true}
      last: {type: Stamp, null: true}
      stamps: {list: Stamp, default: []}
      paid: {type: Pay, default: {way: cash, seen: 0}}
      note: {type: str, absent: true}
      loose: {type: any, default: null}
  orders:
    record: Order
    key: {name: order_id, make: "O-{n:03d}"}
    form: list
    fields: {bin: {ref: bins}, fee: {type: money, default: 0}}
  folders:
    record: Folder
    key: {name: folder_id, make: "F-{n:02d}"}
    tree: {parent: parent, name: name}
    fields: {name: str, parent: {ref: folders, null: true}}
  device:
    record: Device
    single: true
    form: flat
    fields: {wifi: {type: bool, default: false}, beats: {type: int, default: 0, incidental: true}}
helpers:
  stock:
    params: {number: {ref: bins}}
    do: |
      return bins[number].count
  share:
    params: {n: int}
    do: |
      return 100 // n
tools:
  put:
    kind: write
    description: Put parts into a bin.
    params: {number: {ref: bins, as: bin}, n: {type: int, ge: 0}, by: {type: str, default: Ann}, at: {type: str, default: noon}}
    do: |
      bin.count += n
      bin.touched += 1
      return share(n + 1) + stock(number)
  look:
    kind: read
    description: Look into a bin.
    params: {number: {ref: bins, as: bin}}
    do: |
      return bin.count
  touch:
    kind: write
    description: Change what is incidental of a bin.
    params: {number: {ref: bins, as: bin}, at: str}
    do: |
      bin.touched += 1
      bin.stamps = [Stamp(by=s.by, at=at) for s in bin.stamps]
      if bin.last is not None:
          bin.last = Stamp(by=bin.last.by, at=at)
      bin.paid = Cash(seen=len(at))
      device.beats += 1
  sign:
    kind: write
    description: Sign a bin.
    params: {number: {ref: bins, as: bin}, by: str}
    do: |
      bin.stamps = [Stamp(by=by, at=s.at) for s in bin.stamps]
  pay_card:
    kind: write
    description: Pay for a bin by card.
    params: {number: {ref: bins, as: bin}, last: str}
    do: |
      bin.paid = Card(last=last)
  note:
    kind: write
    description: Note something on a bin.
    params: {number: {ref: bins, as: bin}, text: str}
    do: |
      bin.note = text
  keep:
    kind: write
    description: Keep any value with a bin.
    params: {number: {ref: bins, as: bin}, value: any}
    do: |
      bin.loose = value
  order:
    kind: write
    description: Order parts for a bin.
    params: {number: {ref: bins}, fee: {type: money, default: 0}}
    do: |
      return orders.add(bin=number, fee=fee).order_id
  cancel:
    kind: write
    description: Cancel an order.
    params: {order_id: {ref: orders}}
    do: |
      del orders[order_id]
  renew:
    kind: write
    description: Take an order back and make it anew.
    params: {order_id: {ref: orders, as: old}}
    do: |
      bin = old.bin
      del orders[order_id]
      orders.add(order_id=order_id, bin=bin)
  drop:
    kind: write
    description: Remove a folder with all in it.
    params: {folder_id: {ref: folders}}
    do: |
      del folders[folder_id]
  move:
    kind: write
    description: Move a folder into another.
    params: {folder_id: {ref: folders, as: folder}, to: {ref: folders, null: true}}
    do: |
      folder.parent = to
  switch:
    kind: write
    description: Switch the radio.
    params: {on: bool}
    do: |
      device.wifi = on
initial_state:
  bins:
    1: {label: bolts, count: 5, stamps: [{by: Ann, at: noon}], last: {by: Ann, at: noon}}
    2: {label: nuts, count: 7}
    12: {label: screws}
  orders:
    - {order_id: O-001, bin: 1}
    - {order_id: O-002, bin: 2, fee: 2.5}
  folders:
    F-01: {name: a, parent: null}
    F-02: {name: b, parent: F-01}
    F-03: {name: c, parent: F-02}
  wifi: false
"""


@cache
def depot() -> World:
    """The world of the depot, compiled once."""
    return World.of(check_text("depot.yaml", TEXT))
