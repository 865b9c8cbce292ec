"""Tasks from files, folders and data sets: the source is named, or guessed from the form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envscaler.session.files import StrPath

if TYPE_CHECKING:
    from envscaler.plugin.manager import Plugins
    from envscaler.plugin.records import BadRow, Task

__all__ = ["read_tasks"]


def read_tasks(
    locations: Sequence[StrPath],
    source: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    plugins: Plugins | None = None,
) -> Iterator[tuple[str, Task | BadRow]]:
    """Rows one by one, each with the name of the source that read it.

    ``locations`` are files, folders, or names of data sets (`hf:OWNER/NAME`); ``source`` names the one that reads them, by
    default it is guessed from each file's form. Raises UsageError for what cannot be read, PluginError.
    """
    raise NotImplementedError
