"""What a role's model is and how it is asked, from a file, the environment and the command line laid over each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError
from envscaler.llm.backends import BACKENDS
from envscaler.llm.secrets import redact

__all__ = [
    "FOR_BACKEND",
    "OPTIONS",
    "ROLES",
    "Layer",
    "RoleSettings",
    "from_environment",
    "from_flags",
    "from_table",
    "from_text",
    "lay",
]

ROLES: Mapping[str, str] = {
    "planner": "plans an environment: its states, rules and tools",
    "coder": "writes and mends specs",
    "tester": "calls tools to find out what an environment does",
    "judge": "judges what happened",
    "writer": "makes up data and words tasks",
    "agent": "solves tasks with an environment's tools",
    "user": "plays the person whom the agent talks to",
}

# Option -> type and meaning; the reference is made from it.
OPTIONS: Mapping[str, tuple[type, str]] = {
    "base_url": (str, "the address of a compatible server; without it the provider's own"),
    "key_env": (str, "the environment variable with the key, for other addresses than the provider's own"),
    "max_tokens": (int, "the most tokens in a reply"),
    "temperature": (float, "how much replies vary; without it the provider's default"),
    "seed": (int, "the seed of sampling, for servers that have one"),
    "timeout": (float, "seconds until an attempt without a complete answer is given up"),
    "concurrency": (int, "how many requests a backend gets at once"),
    "attempts": (int, "how often a call that fails in passing is tried, the first time included"),
    "patience": (float, "seconds that a call may take in all before it is not tried again"),
    "backoff": (float, "seconds before the second attempt; doubled for each one after, unless the server says when"),
    "corrections": (int, "how often a structured reply of the wrong shape goes back to the model"),
    "structured": (str, "how structured replies are asked for: tools, json_schema, json or text"),
    "price_in": (float, "US dollars for a million tokens in, where no price is known or yours differs"),
    "price_out": (float, "US dollars for a million tokens out"),
}

FOR_BACKEND = ("base_url", "key_env", "timeout", "concurrency")
"""The options that backends get besides `model`; the others are dealt with before a request reaches one."""

_MODES = ("tools", "json_schema", "json", "text")
_ROLE = re.compile(r"\s*([a-z][a-z0-9_]*)\s*=\s*(.*)", re.DOTALL)
_SECRET = re.compile(r".*(key|secret|password)|((api|auth|access|bearer)[_-]?)?token", re.IGNORECASE)
_VARIABLE = "ENVSCALER_LLM"


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """A role's settings, complete. ``model`` is `BACKEND/MODEL`; ``extra`` are options of a plugin's backend."""

    role: str
    model: str
    base_url: str | None = None
    key_env: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    timeout: float = 600.0
    concurrency: int = 8
    attempts: int = 6
    patience: float = 600.0
    backoff: float = 1.0
    corrections: int = 2
    structured: str = "tools"
    price_in: float | None = None
    price_out: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def backend(self) -> str:
        """The backend's name."""
        return self.model.partition("/")[0]

    @property
    def model_name(self) -> str:
        """The model's name at its provider."""
        return self.model.partition("/")[2]

    def for_backend(self) -> dict[str, Any]:
        """The mapping that a backend is made from: what is said of the server, and options that only the backend knows."""
        said = {name: value for name in FOR_BACKEND if (value := getattr(self, name)) is not None}
        return {**self.extra, **said, "model": self.model_name}


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says: ``general`` for all roles, ``roles`` for single ones. Options as text or TOML values."""

    source: str
    general: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def from_table(table: Mapping[str, Any], source: str) -> Layer:
    """The layer of a settings file's table `llm`: options, and a table for each role. Raises UsageError."""
    general = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    roles = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    for role in roles:
        _known_role(role, source)
    return Layer(source, general, roles)


def from_environment(environment: Mapping[str, str]) -> Layer:
    """The layer of `ENVSCALER_LLM` and `ENVSCALER_LLM_ROLE`. Raises UsageError."""
    general = _spelled(environment[_VARIABLE], _VARIABLE) if environment.get(_VARIABLE) else {}
    roles = {}
    for variable, text in environment.items():
        if variable.startswith(_VARIABLE + "_") and text:
            role = variable[len(_VARIABLE) + 1 :].lower()
            _known_role(role, variable)
            roles[role] = _spelled(text, variable)
    return Layer("the environment", general, roles)


def from_flags(flags: Iterable[str]) -> Layer:
    """The layer of `--llm` flags: `ROLE=BACKEND/MODEL[,option=value…]`, without `ROLE=` for all. Raises UsageError."""
    general: dict[str, Any] = {}
    roles: dict[str, Mapping[str, Any]] = {}
    for flag in flags:
        match = _ROLE.fullmatch(flag)
        if match is None:
            general = _spelled(flag, "--llm")
        else:
            _known_role(match[1], "--llm")
            roles[match[1]] = _spelled(match[2], f"--llm {match[1]}")
    return Layer("--llm", general, roles)


def from_text(text: str, role: str, source: str) -> RoleSettings:
    """The settings of what is asked beside the roles, from `BACKEND/MODEL,option=value,…` alone. Raises UsageError."""
    settings = lay([Layer(source, {}, {role: _spelled(text, source)})], role)
    assert settings is not None, "a text names a model, or is refused"
    return settings


def _known_role(role: str, source: str) -> None:
    if role in ROLES:
        return
    near = nearest(role, [*ROLES, *OPTIONS])
    hint = f"; did you mean {near}?" if near else ""
    raise UsageError(redact(f"{source}: there is no role {role}{hint} (roles: {one_of(ROLES)})"))


def _spelled(text: str, source: str) -> dict[str, Any]:
    """`BACKEND/MODEL,option=value,…` as a mapping."""
    model, *options = text.split(",")
    found: dict[str, Any] = {"model": model.strip()}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(redact(f"{source}: {option!r} is not of the form option=value"))
        found[name.strip()] = value.strip()
    return found


def lay(layers: Iterable[Layer], role: str) -> RoleSettings | None:
    """A role's settings from layers, the weakest first; None when no layer names a model for it.

    Within a layer what is said of the role comes over what is said of all. Whoever names a model begins anew: options
    that were set for another model do not go on with this one. Raises UsageError naming the source.
    """
    merged: dict[str, Any] = {}
    source = ""
    for layer in layers:
        for said in (layer.general, layer.roles.get(role, {})):
            if not said:
                continue
            source = layer.source
            checked = {name: _option(name, value, source) for name, value in said.items()}
            if "model" in checked:
                merged = {}
            merged.update(checked)
    if "model" not in merged:
        return None
    extra = {name: merged.pop(name) for name in list(merged) if name != "model" and name not in OPTIONS}
    settings = RoleSettings(role=role, extra=extra, **merged)
    if extra and settings.backend in BACKENDS:
        raise UsageError(_unknown(next(iter(extra)), source))
    return settings


def _option(name: str, value: Any, source: str) -> Any:
    if name == "model":
        return _model(value, source)
    if _is_secret(name):
        raise UsageError(
            f"{source}: keys are read from environment variables only: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name "
            "the variable with key_env"
        )
    if name not in OPTIONS:
        return value  # an option that a plugin's backend may know
    kind = OPTIONS[name][0]
    try:
        if isinstance(value, bool):
            raise ValueError
        made = kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"{source}: {name} is {_KINDS[kind]}, not {redact(repr(value))}") from None
    _bounds(name, made, source)
    return made


_KINDS = {str: "text", int: "a whole number", float: "a number"}


def _is_secret(name: str) -> bool:
    return name not in OPTIONS and _SECRET.fullmatch(name) is not None


def _unknown(name: str, source: str) -> str:
    near = nearest(name, OPTIONS)
    hint = f"; did you mean {near}?" if near else f" (options: {one_of(OPTIONS, 20)})"
    return redact(f"{source}: there is no option {name}{hint}")


def _bounds(name: str, value: Any, source: str) -> None:
    if name == "structured" and value not in _MODES:
        near = nearest(value, _MODES)
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"{source}: structured is one of {', '.join(_MODES)}, not {redact(value)}{hint}")
    least = {"max_tokens": 1, "concurrency": 1, "attempts": 1}.get(name, 0)
    if isinstance(value, (int, float)) and name != "seed" and not least <= value < float("inf"):
        raise UsageError(f"{source}: {name} is at least {least}, not {value}")
    if name == "base_url" and not re.match(r"https?://[^/\s]+", value):
        raise UsageError(f"{source}: base_url begins with http:// or https://, as in http://127.0.0.1:8000/v1")
    if name == "base_url" and "@" in value.split("://", 1)[1].partition("/")[0]:
        raise UsageError(
            f"{source}: base_url holds no name or password: keys are read from the variable that key_env names"
        )


def _model(value: Any, source: str) -> str:
    backend, slash, model = str(value).partition("/")
    if not isinstance(value, str) or not slash or not backend.strip() or not model.strip():
        raise UsageError(redact(f"{source}: a model is written BACKEND/MODEL, for example openai/NAME, not {value!r}"))
    return value
