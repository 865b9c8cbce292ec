"""Plain English out of names and descriptions: labels, lists, requests, noun phrases. It knows words, and no environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

__all__ = [
    "first_sentence", "listed", "lower_first", "names_noun", "noun_of", "plural", "request", "sentence", "shortened", "topic",
    "upper_first", "words_of",
]  # fmt: skip

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")
_QUOTED: Final = re.compile(r'"[^"\n]*"')
_STARTERS: Final = re.compile(
    r"(?:an?|the|all|any|each|every|some|no|one|two|its?|he|she|they|th(?:is|at|ese|ose)|there|who|whoever|what|whatever|when|if|"
    r"my|your|our|their) ",
    re.I,
)
_READING: Final = frozenset(
    ("calculate", "check", "compare", "compute", "convert", "count", "fetch", "find", "get", "give", "list", "look", "measure",
     "name", "read", "retrieve", "return", "search", "see", "show", "tell", "view", "work")
)  # fmt: skip
_CUT: Final = re.compile(
    r"(?:;|: |, (?=(?:so that|when|if|unless|even|once|up to|at most|at least|for|with|without|in|on|at|from|to|of|as|or|"
    r"before|after|which|who|where|while|until|by|empty|either|either|especially|such as|and (?:gives?|gets?)) ))"
)
_RELATIVE: Final = frozenset(("that", "who", "whom", "whose", "which", "where"))
_JOINING: Final = "of|for|to|in|on|at|and|or|with|by|from|into|that|is|was|as|than|a|an|the"


@lru_cache(maxsize=4096)
def words_of(name: str) -> str:
    """An identifier as lower-case words, acronyms kept: `from_account` and `fanSpeed` give `from account`, `fan speed`."""
    parts = _PARTS.findall(name)
    return " ".join(p if len(p) > 1 and p.isupper() and not name.isupper() else p.lower() for p in parts) or name


def noun_of(type_name: str) -> str:
    """The name of a record as a noun: `StandingOrder` gives `standing order`."""
    return words_of(type_name)


def plural(noun: str) -> str:
    """More than one of it, for regular nouns."""
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return noun if noun.endswith("s") and not noun.endswith("ss") else f"{noun}es"
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; with semicolons where a part is a list of its own."""
    if len(parts) < 2:
        return "".join(parts)
    if any(re.search(r",|\n| and ", _QUOTED.sub("", part)) for part in parts):
        return "; ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def upper_first(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """The text without the capital at its start; one that stays, as in `ISBN` or `I`, is kept."""
    first = re.match(r"[\w'-]+", text)
    if first is None or first[0] == "I" or any(c.isupper() or c.isdigit() for c in first[0][1:]):
        return text
    return text[:1].lower() + text[1:]


def sentence(text: str) -> str:
    """The text with a capital at its start and a full stop at its end, unless it ends in a mark of its own."""
    return upper_first(text) if re.search(r"[.!?]$|\w[.!?][\"”]$", text) else f"{upper_first(text)}."


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line, without its full stop."""
    return _SENTENCE_END.split(" ".join(text.split()), maxsplit=1)[0].rstrip(".!")


def shortened(text: str) -> str:
    """A sentence without the clauses that only explain: what follows a semicolon, or a comma and a word such as `so that`.

    A comma that belongs to a list (`grant, change or end`) stays.
    """
    for found in _CUT.finditer(text):
        before = text[: found.start()]
        word = text[found.end() :].split(" ", 1)[0]
        if found[0] == ", " and (len(before.split()) < 2 or ("," in before and word in ("or", "and"))):
            continue
        return before
    return text


def request(description: str, tool: str, *, whole: bool = False) -> str:
    """What a tool does as an imperative without a capital: from its description, or from its name where it has none.

    ``whole`` keeps the first sentence as it is; else explaining clauses are left out. A description in the third person
    (`Creates a ticket.`) is turned; one that is no imperative (`A bed was cleaned.`) is something to note.
    """
    text = first_sentence(description)
    if not text:
        return words_of(tool)
    text = text if whole else shortened(text)
    first, _, rest = text.partition(" ")
    if _STARTERS.match(text) or re.match(r"\S+ (?:is|are|was|were|has|have)\b", text):
        return f"note that {lower_first(text)}"
    verb = _verb(first)
    return f"{lower_first(verb)} {rest}".rstrip()


def topic(description: str, tool: str) -> tuple[str, bool]:
    """What a read is about, without a capital, and whether that is a thing (`the latest postings of an account`) rather than
    an imperative (`show what a file holds`)."""
    text = shortened(first_sentence(description)) or f"the result of {words_of(tool)}"
    first, _, rest = text.partition(" ")
    verb = _verb(first)
    if verb.lower() in _READING:
        return f"{lower_first(verb)} {rest}".rstrip(), False
    return lower_first(text), True


def _verb(word: str) -> str:
    """The infinitive of a verb in the third person: `Creates` gives `Create`; any other word is itself."""
    if not re.fullmatch(r"[A-Z][a-z]+s", word) or re.search(r"(ss|us|is)$", word):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if re.search(r"(ch|sh|x|ss|zz|o)es$", word):
        return word[:-2]
    return word[:-1]


def names_noun(text: str, noun: str) -> re.Match[str] | None:
    """Where a sentence speaks of one thing of a kind without saying which (`an open account`), if in exactly one place.

    Nothing is found where a clause after it says more of it (`a lot that passed its check`).
    """
    one = rf"\b(?:an? |the |another |one of (?:the |your )(?:\w+'s )?)(?:(?!(?:{_JOINING})\b)[a-z-]+ ){{0,2}}?"
    pattern = rf"{one}\b(?:{re.escape(noun)}|(?<=s ){re.escape(plural(noun))})\b(?!['’-])"
    found = [m for m in re.finditer(pattern, text) if m[0].startswith("one of") or m[0].endswith(noun)]
    spoken = len(re.findall(rf"\b(?:{re.escape(noun)}|{re.escape(plural(noun))})\b", text))
    if len(found) != 1 or spoken != 1:
        return None
    after = text[found[0].end() :]
    following = re.match(r"\s+(\w+)", after)
    more = (following is not None and following[1] in (*_RELATIVE, "of")) or " whom " in after
    return None if more else found[0]
