"""The commands about language models: llm check; and the options of every command that asks one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler.cli import exits
from envscaler.cli.options import Json
from envscaler.cli.out import boundary, echo, echo_json, note

if TYPE_CHECKING:
    from envscaler.llm.models import Models
    from envscaler.llm.probe import Verdict
    from envscaler.session.llm import LlmOptions

__all__ = ["ModelOptions", "add_to"]

_LlmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--llm",
        metavar="[ROLE=]BACKEND/MODEL",
        help="The model of a role, or of all; options follow it: openai/NAME,base_url=http://127.0.0.1:8000/v1. "
        "Repeatable. Goes before ENVSCALER_LLM_ROLE, ENVSCALER_LLM and envscaler.toml.",
        show_default=False,
    ),
]
_SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", metavar="FILE", help="A settings file instead of envscaler.toml here.", show_default=False
    ),
]
_CacheOption = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="FOLDER|off",
        help="Where accepted replies are kept. Default: ENVSCALER_CACHE, or the user's cache folder.",
        show_default=False,
    ),
]
_Record = Annotated[
    Path | None, typer.Option("--record", help="Append every exchange to this file, for replay.", show_default=False)
]
_MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", help="Ask no more once a run has cost this, in US dollars.", show_default=False),
]
_MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", help="Ask no more once a run has used this many tokens.", show_default=False),
]


@dataclass(frozen=True)
class ModelOptions:
    """The options of a command that asks language models."""

    llm: _LlmOption = None
    settings_file: _SettingsFile = None
    cache: _CacheOption = None
    record: _Record = None
    max_cost: _MaxCost = None
    max_tokens: _MaxTokens = None

    def told(self) -> LlmOptions:
        """What they say."""
        from envscaler.session.llm import LlmOptions

        return LlmOptions(self.llm or (), self.settings_file, self.cache, self.record, self.max_cost, self.max_tokens)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at language models.")
    group.command("check")(boundary(check))
    group.callback()(_group)
    app.add_typer(group, name="llm")


def _group() -> None:
    """Look at language models."""


def check(
    llm: _LlmOption = None,
    settings: _SettingsFile = None,
    record: _Record = None,
    as_json: Json = False,
) -> int:
    """Ask each model that is set for a chat, a structured reply and a tool call, and say of each whether it works.

    Nothing is read from or kept in the cache. The exit code is 1 if something does not work.
    """
    from envscaler.session.llm import LlmOptions, check_llm, open_models

    options = LlmOptions(llm or (), settings, "off", record)
    found: list[tuple[str, list[str], list[Verdict]]] = []
    with open_models(options, tell=lambda line: note(f"envscaler: {line}")) as models:
        for identity, roles in _groups(models).items():
            verdicts = check_llm(models, roles[0])
            found.append((identity, roles, verdicts))
            if not as_json:
                _show(identity, roles, verdicts)
    if as_json:
        echo_json([{"model": i, "roles": r, "verdicts": [asdict(v) for v in vs]} for i, r, vs in found])
    return exits.OK if all(v.ok for _, _, verdicts in found for v in verdicts) else exits.FINDINGS


def _groups(models: Models) -> dict[str, list[str]]:
    """The models that are set, each with its roles; one that several roles ask in the same way is asked once."""
    from envscaler.llm.settings import ROLES

    groups: dict[tuple[str, str], list[str]] = {}
    for role in ROLES:
        settings = models.settings(role)
        if settings is not None:
            groups.setdefault((models.role(role).backend.identity, settings.structured), []).append(role)
    if not groups:
        models.role("agent")  # says what to set
    return {
        identity if [i for i, _ in groups].count(identity) == 1 else f"{identity} ({mode})": roles
        for (identity, mode), roles in groups.items()
    }


def _show(identity: str, roles: list[str], verdicts: list[Verdict]) -> None:
    from envscaler.llm.settings import ROLES

    echo(f"{identity} ({'all roles' if len(roles) == len(ROLES) else ', '.join(roles)})")
    for verdict in verdicts:
        took = f" ({verdict.seconds:.1f} s)" if verdict.seconds else ""
        echo(f"  {verdict.name:<15} {'works' if verdict.ok else 'fails'}: {verdict.said}{took}")
