"""Scripted models for assessments, and a small environment to assess."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from envscaler.llm import Backend, Ledger, Message, Models, Reply, Request, ToolCall, Usage
from envscaler.llm.backends.scripted import Script, ScriptedBackend
from envscaler.llm.settings import Layer

SHELF = """\
envscaler: 1
name: shelf
title: A shelf of books
description: You lend books.
constants:
  MOST: 2
states:
  books:
    record: Book
    key: {name: book_id, make: "B-{n}"}
    fields:
      title: {type: str, min_length: 1}
      copies: {type: int, ge: 0}
      lent: {type: int, ge: 0, default: 0}
rules:
  few:
    text: At most {MOST} copies of a book are lent.
    each: books
    holds: |
      it.lent <= MOST
helpers:
  left:
    params: {book: Book}
    returns: int
    do: |
      # what stands on the shelf
      return book.copies - book.lent
tools:
  find:
    kind: read
    description: Books whose title contains the words.
    params: {words: str}
    do: |
      return [b.title for b in books.values() if words in b.title]
    examples:
      - {call: {words: Emma}, returns: [Emma]}
  lend:  # one copy at a time
    kind: write
    description: Lend a copy of a book.
    params:
      book_id: {ref: books, as: book, missing: "There is no book {book_id}."}
    do: |
      require(left(book) > 0, f"All copies of {book.title} are lent.")
      book.lent += 1
      return book.lent
    examples:
      - {call: {book_id: B-1}, returns: 1}
      - {call: {book_id: B-2}, error: All copies of Ulysses are lent.}
  give_back:
    kind: write
    description: Take a copy back.
    params:
      book_id: {ref: books, as: book, missing: "There is no book {book_id}."}
    do: |
      require(book.lent > 0, f"No copy of {book.title} is lent.")
      book.lent -= 1
      return book.lent
    examples:
      - {call: {book_id: B-2}, returns: 0}
      - {call: {book_id: B-1}, error: No copy of Emma is lent.}
initial_state:
  books:
    B-1: {title: Emma, copies: 3}
    B-2: {title: Ulysses, copies: 1, lent: 1}
"""


def replied(name: str, value: Any, tokens: tuple[int, int] = (100, 10)) -> Reply:
    """A structured reply, in the form of a tool call."""
    text = value if isinstance(value, str) else json.dumps(value)
    return Reply(Message("assistant", tool_calls=(ToolCall("c", name, text),)), "tool_calls", Usage(*tokens))


def call(tool: str, case: str = "positive", **arguments: Any) -> Reply:
    return replied("Call", {"case": case, "tool": tool, "arguments": arguments})


def says(verdict: str, cause: str = "none", reason: str = "it is so") -> Reply:
    return replied("Verdict", {"reason": reason, "verdict": verdict, "cause": cause})


class Found:
    """A backend's entry for each role."""

    def __init__(self, backends: dict[str, Backend]) -> None:
        self.backends = backends

    def find(self, name: str) -> Any:
        return _Entry(name, self.backends[name])


class _Entry:
    def __init__(self, name: str, backend: Backend) -> None:
        self.name = name
        self._backend = backend

    def make(self, _: dict[str, Any]) -> Backend:
        return self._backend


@contextmanager
def scripted(
    ledger: Path | None = None, more: dict[str, Any] | None = None, max_tokens: int | None = None, **roles: Script
) -> Iterator[tuple[Models, dict[str, ScriptedBackend]]]:
    """Models that play scripts, by role, with the backends, whose ``requests`` show what was asked."""
    backends = {role: ScriptedBackend(script, model=role) for role, script in roles.items()}
    settings = {role: {"model": f"{role}/{role}", **(more or {})} for role in roles}
    found = Found(dict(backends)).find
    with Models([Layer("test", {}, settings)], found, ledger=Ledger(ledger), max_tokens=max_tokens) as models:
        yield models, backends


def passing(request: Request) -> Reply:
    """A judge who lets everything pass."""
    return says("pass")


Answer = Callable[[Request], Reply]
