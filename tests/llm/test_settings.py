"""Where a role's settings come from, which source wins, and what a wrong one is told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from envscaler.errors import UsageError
from envscaler.llm import errors
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.llm.settings import OPTIONS, ROLES, RoleSettings
from envscaler.plugin.entries import BackendEntry
from envscaler.plugin.hookspecs import hookimpl
from envscaler.plugin.manager import Plugins
from envscaler.plugin.problems import Origin
from envscaler.session.llm import LlmOptions, open_models
from envscaler.session.plugins import open_plugins
from tests.llm.conftest import KEY, Open


def of(models: Open, role: str, *llm: str) -> RoleSettings | None:
    return models(*llm, run=None).settings(role)


def model(models: Open, role: str, *llm: str) -> str:
    settings = of(models, role, *llm)
    assert settings is not None
    return settings.model


def test_no_model_says_the_three_ways(models: Open) -> None:
    assert of(models, "planner") is None
    with pytest.raises(UsageError) as caught:
        models().role("planner")
    for way in ("--llm planner=BACKEND/MODEL", "ENVSCALER_LLM_PLANNER", "[llm.planner] into envscaler.toml"):
        assert way in str(caught.value)


def test_the_flag_goes_before_the_variable_and_that_before_the_file(
    models: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "envscaler.toml").write_text('[llm]\nmodel = "openai/a"\n[llm.planner]\nmodel = "openai/b"\n')
    assert (model(models, "coder"), model(models, "planner")) == ("openai/a", "openai/b")
    monkeypatch.setenv("ENVSCALER_LLM_PLANNER", "openai/c")
    assert (model(models, "coder"), model(models, "planner")) == ("openai/a", "openai/c")
    monkeypatch.setenv("ENVSCALER_LLM", "openai/d")
    assert (model(models, "coder"), model(models, "planner")) == ("openai/d", "openai/c")
    flags = ["openai/e", "judge=openai/f"]
    assert [model(models, r, *flags) for r in ("coder", "planner", "judge")] == ["openai/e", "openai/e", "openai/f"]


def test_another_settings_file(models: Open, tmp_path: Path) -> None:
    (tmp_path / "envscaler.toml").write_text('[llm]\nmodel = "openai/a"\n')
    (tmp_path / "other.toml").write_text('[llm]\nmodel = "openai/b"\n')
    settings = models(settings=tmp_path / "other.toml").settings("agent")
    assert settings is not None
    assert settings.model == "openai/b"


def test_options_by_flag_and_by_file_are_the_same(models: Open, tmp_path: Path) -> None:
    (tmp_path / "envscaler.toml").write_text(
        '[llm.user]\nmodel = "openai/org/tiny:7b"\nbase_url = "http://127.0.0.1:8000/v1"\ntemperature = 0\nmax_tokens = 100\n'
    )
    by_file = of(models, "user")
    by_flag = of(
        models, "user", "user=openai/org/tiny:7b,base_url=http://127.0.0.1:8000/v1,temperature=0,max_tokens=100"
    )
    assert by_file == by_flag
    assert by_file is not None
    assert (by_file.backend, by_file.model_name) == ("openai", "org/tiny:7b")
    assert (by_file.temperature, by_file.max_tokens) == (0.0, 100)


def test_options_for_all_hold_for_a_role_whose_model_they_were_not_set_for(models: Open, tmp_path: Path) -> None:
    """Options stay with the model that they were written for: a role with a model of its own begins anew."""
    (tmp_path / "envscaler.toml").write_text(
        '[llm]\nmodel = "openai/a"\nbase_url = "http://127.0.0.1:1/v1"\n'
        '[llm.coder]\nmax_tokens = 5\n[llm.judge]\nmodel = "anthropic/b"\n'
    )
    coder, judge = of(models, "coder"), of(models, "judge")
    assert coder is not None
    assert judge is not None
    assert (coder.model, coder.base_url, coder.max_tokens) == ("openai/a", "http://127.0.0.1:1/v1", 5)
    assert (judge.model, judge.base_url) == ("anthropic/b", None)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["gpt"], "a model is written BACKEND/MODEL"),
        (["planer=openai/x"], "there is no role planer; did you mean planner?"),
        (["openai/x,temprature=1"], "--llm: there is no option temprature; did you mean temperature?"),
        (["openai/x,temperature=warm"], "--llm: temperature is a number, not 'warm'"),
        (["openai/x,max_tokens=0"], "max_tokens is at least 1, not 0"),
        (["openai/x,timeout=nan"], "timeout is at least 0, not nan"),
        (["openai/x,attempts"], "'attempts' is not of the form option=value"),
        (
            ["openai/x,structured=tool"],
            "structured is one of tools, json_schema, json, text, not tool; did you mean tools?",
        ),
        (["openai/x,base_url=127.0.0.1:8000"], "base_url begins with http:// or https://"),
        (["openai/x,base_url=http://me:secret@host/v1"], "base_url holds no name or password"),
        (["opena/x"], "no backend is called 'opena'; there are: anthropic, openai, replay, scripted"),
        (["opena/x"], "did you mean openai?"),
        ([f"openai/x,api_key={KEY}"], "keys are read from environment variables only"),
        ([f"planner=openai/x,key={KEY}"], "keys are read from environment variables only"),
        ([f"planer=openai/x,key={KEY}"], "--llm: there is no role planer"),
        ([f"openai/x,key={KEY}"], "keys are read from environment variables only"),
    ],
)
def test_wrong_flags(models: Open, flags: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)) as caught:
        models(*flags).role("planner")
    assert KEY not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[llm", "envscaler.toml: not TOML"),
        ("llm = 3", "llm is a table: write [llm]"),
        ("[llm]\nmodel = 3", "a model is written BACKEND/MODEL"),
        ("[llm.planer]\nmodel = 'openai/x'", "envscaler.toml: there is no role planer; did you mean planner?"),
        ("[llm]\nmodel = 'openai/x'\nmax_token = 5", "there is no option max_token; did you mean max_tokens?"),
        ("[llm]\nmodel = 'openai/x'\nmax_tokens = true", "max_tokens is a whole number, not True"),
        (f"[llm]\nmodel = 'openai/x'\napi_key = '{KEY}'", "keys are read from environment variables only"),
    ],
)
def test_wrong_files(models: Open, tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "envscaler.toml").write_text(content)
    with pytest.raises(UsageError, match=re.escape(told)) as caught:
        models().role("planner")
    assert KEY not in str(caught.value)


def test_a_wrong_variable(models: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSCALER_LLM_PLANER", "openai/x")
    with pytest.raises(UsageError, match="ENVSCALER_LLM_PLANER: there is no role planer"):
        models()


class Theirs:
    """A plugin with a backend of its own, and an option that only it knows."""

    asked: ClassVar[list[Mapping[str, Any]]] = []

    @staticmethod
    @hookimpl
    def envscaler_backends() -> list[BackendEntry]:
        def make(settings: Mapping[str, Any]) -> ScriptedBackend:
            Theirs.asked.append(dict(settings))
            if unknown := set(settings) - {"model", "timeout", "concurrency", "voice"}:
                raise UsageError(f"there is no option {unknown.pop()}")
            return ScriptedBackend(lambda r: settings["voice"], model=settings["model"])

        return [BackendEntry("theirs", "A backend of somebody else's", make)]


def test_a_plugins_backend_and_its_options() -> None:
    def plugins() -> Plugins:
        loaded = open_plugins(third_parties=False)
        loaded.add(Origin("theirs", "envscaler-theirs", "1"), Theirs)
        return loaded

    opened = open_models(LlmOptions(["theirs/x,voice=deep,max_tokens=5"], cache="off"), plugins=plugins)
    assert opened.run(opened.role("agent").chat("hi")).content == "deep"
    assert Theirs.asked == [{"model": "x", "voice": "deep", "timeout": 600.0, "concurrency": 8}]
    opened.close()
    opened = open_models(LlmOptions(["theirs/x,vioce=deep"], cache="off"), plugins=plugins)
    with pytest.raises(UsageError, match="there is no option vioce"):
        opened.role("agent")


def test_a_shipped_backend_loads_no_plugin() -> None:
    def plugins() -> Plugins:
        raise AssertionError("loaded")

    open_models(LlmOptions(["openai/x"], cache="off"), plugins=plugins).role("agent")


def test_every_option_and_role_is_explained() -> None:
    fields = set(RoleSettings.__dataclass_fields__) - {"role", "model", "extra"}
    assert fields == set(OPTIONS)
    assert all(what for _, what in OPTIONS.values())
    assert all(ROLES.values())


def test_the_reference_lists_options_roles_and_kinds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "llm.md").read_text(encoding="utf-8")
    for option in OPTIONS:
        assert re.search(rf"^\| .*`{option}`", page, re.M), option
        default = RoleSettings.__dataclass_fields__[option].default
        if default is not None:
            shown = f"`{default}`" if isinstance(default, str) else f"{default:g}"
            assert re.search(rf"^\| `{option}` \| {re.escape(shown)} \|", page, re.M), option
    for role, what in ROLES.items():
        assert f"| `{role}` | {what} |" in page
    for name in (name for name in errors.__all__ if name != "UNUSABLE"):
        kind = getattr(errors, name).kind
        if name not in ("LlmError", "CallError"):
            assert f"| `{kind}` | `{name}` |" in page
