"""Runs the conformance suites on what plugins offer, without pytest: this is `envscaler plugins --check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal
from unittest import SkipTest

from envscaler.plugin.boundary import said
from envscaler.testing.base import Conformance

if TYPE_CHECKING:
    from envscaler.plugin.manager import Offer

__all__ = ["Result", "check_offers"]

_SUITES = {
    "agent": ("agents", "AgentConformance"),
    "assessor": ("assessors", "AssessorConformance"),
    "backend": ("backends", "BackendConformance"),
    "checker": ("checkers", "CheckerConformance"),
    "embedder": ("embedders", "EmbedderConformance"),
    "executor": ("executors", "ExecutorConformance"),
    "exporter": ("exporters", "ExporterConformance"),
    "generator": ("generators", "GeneratorConformance"),
    "source": ("sources", "SourceConformance"),
    "specs": ("folders", "SpecsConformance"),
    "templates": ("folders", "TemplatesConformance"),
    "user": ("users", "UserConformance"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """One test of one entry. ``wanted`` says in words what was tested, ``reason`` why it failed or was not run."""

    kind: str
    name: str
    distribution: str
    version: str
    test: str
    wanted: str
    outcome: Literal["passed", "failed", "not run"]
    reason: str = ""


def suite(kind: str) -> type[Conformance]:
    """The suite of a kind."""
    module, name = _SUITES[kind]
    found: type[Conformance] = getattr(import_module(f"envscaler.testing.{module}"), name)
    return found


def check_offers(offers: Iterable[Offer]) -> Iterator[Result]:
    """Every test of every entry, as it is done; KeyboardInterrupt alone ends it early."""
    for offer in offers:
        yield from _checked(offer)


def _checked(offer: Offer) -> Iterator[Result]:
    made = suite(offer.kind).of(offer.entry)
    asks: tuple[str, ...] = getattr(offer.entry, "roles", ())  # of models, which `envscaler llm check` tries
    if offer.kind == "backend" or asks:
        made.answers = False  # type: ignore[attr-defined]
    for test, wanted in made.wanted().items():
        outcome, reason = _outcome(made, test)
        origin = offer.origin
        yield Result(
            offer.kind, offer.entry.name, origin.distribution, origin.version, test, wanted, outcome, reason
        )  # fmt: skip


def _outcome(made: type[Conformance], test: str) -> tuple[Literal["passed", "failed", "not run"], str]:
    try:
        getattr(made(), test)()
    except SkipTest as skip:
        return "not run", str(skip)
    except AssertionError as error:
        return "failed", " ".join(str(error).split()) or "an assertion of the plugin's does not hold"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the plugin's code runs in the test
        return "failed", " ".join(said(error).split())
    return "passed", ""
