"""The plugin: worlds as text environments of gem and SkyRL-Gym, and the rows that SkyRL trains on.

`envscaler_text.gem_env` and `envscaler_text.skyrl_env` are imported by those who have these packages.
"""

from collections.abc import Iterable

from envscaler.plugin import ExporterEntry, hookimpl
from envscaler_text.rows import SkyRLRows

__all__ = ["SkyRLRows", "envscaler_exporters"]

ENVSCALER_HOOKS = 1


@hookimpl
def envscaler_exporters() -> Iterable[ExporterEntry]:
    """The one exporter of this distribution."""
    return [ExporterEntry("skyrl", "Tasks for SkyRL, from scenarios, each row whole", SkyRLRows, takes="scenarios")]
