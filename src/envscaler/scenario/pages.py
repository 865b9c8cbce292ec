"""Audit pages: a scenario and its proof as one HTML document that needs nothing else, and a page that leads to several."""

from __future__ import annotations

from collections.abc import Sequence

from envscaler import __version__
from envscaler.pages.render import environment
from envscaler.scenario.audited import Audited
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.record import GATES
from envscaler.scenario.report import Report
from envscaler.scenario.world import States, World

__all__ = ["audit_page", "report_page"]


def audit_page(
    world: World, scenario: Scenario, states: States | None = None, folders: Sequence[str] = (), back: str = ""
) -> str:
    """The page of a scenario; its solution is run for it. ``folders``: of templates, before the shipped ones; ``back``: a
    link to the page that leads here."""
    audited = Audited(world, scenario, states)
    template = environment(tuple(folders)).get_template("scenarios/audit.html.j2")
    return template.render(a=audited, scenario=scenario, spec=world.spec, back=back, version=__version__)


def report_page(title: str, found: Report, links: Sequence[str], folders: Sequence[str] = ()) -> str:
    """A page about the proofs of some scenarios that leads to theirs, ``links`` in the order of the report's lines."""
    template = environment(tuple(folders)).get_template("scenarios/report.html.j2")
    rows = list(zip(found.lines, links, strict=True))
    return template.render(title=title, plain=found.to_json(), gates=GATES, rows=rows, version=__version__)
