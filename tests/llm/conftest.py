"""A model server for each test, and settings that no file or variable of the machine reaches."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from envscaler.llm import Models
from envscaler.session.llm import LlmOptions, open_models
from tests.llm.server import Server, serving

KEY = "canary-Zk93hfQ7xWmT5vLb"
Open = Callable[..., Models]


@pytest.fixture(scope="session", autouse=True)
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The providers' packages read all certificates of the machine for each client, which is most of these tests' time,
    and no test here speaks TLS: one certificate is enough."""
    paths = [os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile]
    bundle = next((Path(path) for path in paths if path and Path(path).is_file()), None)
    with pytest.MonkeyPatch.context() as patch:
        if bundle is not None:
            first, end, _ = bundle.read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
            file = tmp_path_factory.mktemp("tls") / "one.pem"
            file.write_text(first + end, encoding="utf-8")
            patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in list(os.environ):
        if variable.startswith(("ENVSCALER_", "OPENAI_", "ANTHROPIC_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Open]:
    """Opens models for `--llm` values: `models(server.llm())`; the ledger is in `run`, the cache off unless given."""
    opened: list[Models] = []

    def open_(*llm: str, **more: Any) -> Models:
        tell = more.pop("tell", None)
        run = more.pop("run", tmp_path / "run")
        made = open_models(LlmOptions(llm, **{"cache": "off", **more}), run=run, tell=tell)
        opened.append(made)
        return made

    yield open_
    for made in opened:
        made.close()
