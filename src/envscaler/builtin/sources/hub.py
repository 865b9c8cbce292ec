"""Data sets at Hugging Face, by their client (the extra `hub`), which keeps what it fetched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from envscaler.builtin.sources.places import HUB, Place
from envscaler.errors import UsageError

__all__ = ["fetched", "listed"]

T = TypeVar("T")


def listed(location: str) -> list[str]:
    """The files of `hf:OWNER/NAME[@REVISION]`. Raises UsageError."""
    name, revision = _named(location)
    files = _asked(
        location,
        lambda hub: hub.HfApi(endpoint=_endpoint()).list_repo_files(name, revision=revision, repo_type="dataset"),
    )
    return sorted(files)


def fetched(location: str, file: str) -> Place:
    """A file of the data set, on disk. Raises UsageError."""
    name, revision = _named(location)
    path = _asked(
        location,
        lambda hub: hub.hf_hub_download(name, file, revision=revision, repo_type="dataset", endpoint=_endpoint()),
    )
    return Place(Path(path), f"{location}/{file}")


def _named(location: str) -> tuple[str, str | None]:
    name, _, revision = location.removeprefix(HUB).partition("@")
    if name.count("/") != 1 or not all(name.split("/")):
        raise UsageError(f"{location}: a data set is written {HUB}OWNER/NAME or {HUB}OWNER/NAME@REVISION")
    return name, revision or None


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


def _asked(location: str, ask: Callable[[Any], T]) -> T:
    try:
        import huggingface_hub
        import huggingface_hub.errors as errors
    except ImportError:
        raise UsageError(f"{location} needs huggingface_hub: pip install 'envscaler[hub]'") from None
    try:
        return ask(huggingface_hub)
    except errors.RepositoryNotFoundError:
        raise UsageError(f"{location}: there is no such data set, or it is private and no token is set") from None
    except errors.RevisionNotFoundError:
        raise UsageError(f"{location}: the data set has no such revision") from None
    except errors.GatedRepoError:
        raise UsageError(f"{location}: the data set is for those who were let in: set HF_TOKEN") from None
    except Exception as error:  # its HTTP client differs between versions
        said = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"{location}: it cannot be fetched: {said[:300]}") from None
