"""Edits of a spec's text: by path and by lines, with line ends, byte order mark and comments as they were."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from envscaler.assess.repair.edits import Edit, EditError, apply
from tests.assess.models import SHELF


def edited(text: str, *edits: dict[str, Any]) -> str:
    return apply(text, "shelf.yaml", [Edit(**edit) for edit in edits])


@pytest.mark.parametrize(
    ("path", "text", "before", "after"),
    [
        ("constants.MOST", "3", "MOST: 2", "MOST: 3"),
        ("states.books.fields.copies.ge", "1", "copies: {type: int, ge: 0}", "copies: {type: int, ge: 1}"),
        ("tools.lend.description", "Lend one.", "description: Lend a copy of a book.", "description: Lend one."),
        (
            "tools.lend.examples.0",
            "{call: {book_id: B-1}}",
            "{call: {book_id: B-1}, returns: 1}",
            "{call: {book_id: B-1}}",
        ),
        ("rules.few.holds", "it.lent < MOST + 1\n", "it.lent <= MOST", "it.lent < MOST + 1"),
        ("rules.few.holds", "|\n  it.lent < MOST + 1\n", "it.lent <= MOST", "it.lent < MOST + 1"),
    ],
)
def test_a_path_gets_another_value(path: str, text: str, before: str, after: str) -> None:
    assert edited(SHELF, {"path": path, "text": text}) == SHELF.replace(before, after, 1)


def test_a_key_that_is_not_there_is_added() -> None:
    made = edited(SHELF, {"path": "tools.lend.returns", "text": "int"})
    assert "      - {call: {book_id: B-2}, error: All copies of Ulysses are lent.}\n    returns: int\n" in made


def test_null_removes() -> None:
    made = edited(SHELF, {"path": "states.books.fields.lent.default", "text": None})
    assert made == SHELF.replace(", default: 0}", "}")


def test_lines_are_replaced_put_before_and_removed() -> None:
    rows = SHELF.split("\n")
    made = edited(
        SHELF,
        {"first": 6, "last": 6, "text": "  MOST: 3\n  LEAST: 1"},
        {"first": 2, "last": 1, "text": "# a comment"},
        {"first": 4, "last": 4, "text": None},
    )
    assert made.split("\n") == [rows[0], "# a comment", rows[1], rows[2], rows[4], "  MOST: 3", "  LEAST: 1", *rows[6:]]


def test_lines_count_in_the_text_as_it_was_shown_and_paths_come_after() -> None:
    made = edited(
        SHELF, {"path": "constants.LEAST", "text": "0"}, {"first": 6, "last": 6, "text": "  MOST: 3\n  LEAST: 1"}
    )
    assert "  MOST: 3\n  LEAST: 0\nstates:" in made


def test_overlapping_lines_are_refused() -> None:
    with pytest.raises(EditError, match="lines 5-6: another edit is of the same lines"):
        edited(SHELF, {"first": 5, "last": 6, "text": "constants:"}, {"first": 6, "text": "  MOST: 3"})


def test_line_ends_and_the_mark_stay() -> None:
    text = "\ufeff" + SHELF.replace("\n", "\r\n")
    wanted = text.replace("MOST: 2", "MOST: 3")
    assert edited(text, {"first": 6, "last": 6, "text": "  MOST: 3"}) == wanted
    assert edited(text, {"path": "constants.MOST", "text": "3"}) == wanted


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    text = SHELF.replace('"There is no book {book_id}."', '"There is no book # {book_id}."', 1)
    edited(
        text, {"first": 41, "last": 41, "text": '      book_id: {ref: books, as: book, missing: "No book {book_id}."}'}
    )


def test_a_spec_that_cannot_be_parsed_keeps_its_comments_too() -> None:
    broken = SHELF.replace("A shelf of", "A shelf: of")
    with pytest.raises(EditError, match="# one copy at a time"):
        edited(broken, {"first": 37, "last": 37, "text": "  lend:"})


@pytest.mark.parametrize(
    "given",
    [{}, {"text": "x"}, {"path": "a", "first": 1}, {"first": 3, "last": 1}, {"first": 0}],
)
def test_an_edit_has_one_place(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Edit(**given)
