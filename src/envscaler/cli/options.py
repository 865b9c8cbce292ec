"""Options that several commands have, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Jobs"]

Jobs = Annotated[int, typer.Option("--jobs", "-j", help="How many processes; 0 means one for each core.")]
