"""Invented texts by the `like` hint of a field, seeded: names, addresses, titles and the rest, through Faker."""

from __future__ import annotations

import random
import threading
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from envscaler.errors import UsageError

__all__ = ["Fakes", "installed"]

_LOCAL: Final = threading.local()  # making a Faker takes longer than using it, and none is shared between threads
_COMPANIES: Final = ("company", "business", "firm", "organisation", "organization")


def installed() -> str | None:
    """The version of Faker, which decides what values are invented; None without it."""
    try:
        import faker
    except ImportError:
        return None
    return str(faker.VERSION)


def _faker(locale: str) -> Any:
    known: dict[str, Any] = _LOCAL.__dict__.setdefault("fakers", {})
    if locale not in known:
        try:
            from faker import Faker
        except ImportError:
            raise UsageError("the spec's `like` hints need Faker: pip install 'envscaler[data]'") from None
        try:
            known[locale] = Faker(locale)
        except AttributeError:
            raise UsageError(f"locale: Faker has none called {ascii(locale)[1:-1]}; one is en_US") from None
    return known[locale]


class Fakes:
    """Texts for one state. What they are depends on ``rng``, ``locale`` and the version of Faker only.

    Faker is loaded with the first hint that needs it; a spec without hints does without.
    """

    def __init__(self, rng: random.Random, locale: str) -> None:
        self._locale = locale
        self._seed = rng.getrandbits(64)
        self._rng = random.Random(self._seed)  # noqa: S311
        self._found: Any = None

    @property
    def _fake(self) -> Any:
        if self._found is None:
            self._found = _faker(self._locale)
            self._found.seed_instance(self._seed)
        return self._found

    def text(self, hint: str, record: Mapping[str, Any], likes: Mapping[str, str]) -> str:
        """A text like the hint says. ``record`` and ``likes``: the record so far and the hints of its fields, by name."""
        if hint == "name":
            return self._name(record)
        if hint in ("email", "username"):
            name = _said_name(record, likes)
            local = _slug(name or "") or str(self._fake.user_name())
            return local if hint == "username" else f"{local}@example.{self._rng.choice(('com', 'org', 'net'))}"
        if hint == "address":
            return f"{self._fake.street_address()}, {self._fake.city()}".replace("\n", ", ")
        if hint == "phone":
            groups = (self._rng.randint(10, 999), self._rng.randint(100, 999), self._rng.randint(1000, 9999))
            return f"+{self._rng.choice(_CODES)} {groups[0]} {groups[1]}{groups[2]}"
        if hint == "product":
            return f"{self._fake.last_name()} {self._fake.word()}"
        return str(getattr(self._fake, _PROVIDERS[hint])()).replace("\n", ", ")

    def _name(self, record: Mapping[str, Any]) -> str:
        if any(value in _COMPANIES for value in record.values() if isinstance(value, str)):
            return str(self._fake.company())
        return f"{self._fake.first_name()} {self._fake.last_name()}"


_CODES: Final = (1, 31, 33, 34, 39, 44, 45, 46, 47, 48, 49)
_PROVIDERS: Final[Mapping[str, str]] = {
    "city": "city", "color": "color_name", "company": "company", "country": "country", "description": "sentence",
    "first_name": "first_name", "iban": "iban", "ip": "ipv4", "job": "job", "last_name": "last_name",
    "postcode": "postcode", "sentence": "sentence", "state": "city", "street": "street_address", "text": "paragraph",
    "title": "catch_phrase", "url": "url", "word": "word",
}  # fmt: skip


def _said_name(record: Mapping[str, Any], likes: Mapping[str, str]) -> str | None:
    """The name that the record holds, of which an email address is made."""
    by_hint = {hint: record[name] for name, hint in likes.items() if isinstance(record.get(name), str)}
    if "first_name" in by_hint and "last_name" in by_hint:
        return f"{by_hint['first_name']} {by_hint['last_name']}"
    return by_hint.get("name") or by_hint.get("company")


def _slug(name: str) -> str:
    """The name in small Latin letters with dots between its words; empty when it has none."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = ["".join(c for c in word if c.isalnum()).lower() for word in plain.replace("-", " ").split()]
    return ".".join(word for word in words if word)[:40]
