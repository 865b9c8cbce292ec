"""The wheel, built once, and an environment that holds it with its dependencies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.packaging.env import Env

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", out, ROOT], check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def full(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Env:
    env = Env(tmp_path_factory.mktemp("full") / "v", tmp_path_factory.mktemp("work"))
    env.run("pip", "install", "--quiet", wheel)
    return env
