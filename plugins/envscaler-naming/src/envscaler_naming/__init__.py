"""The plugin: an assessor of names and descriptions that asks no model."""

from collections.abc import Iterable

from envscaler.plugin import AssessorEntry, hookimpl
from envscaler_naming.assessor import Naming

__all__ = ["Naming", "envscaler_assessors"]

ENVSCALER_HOOKS = 1


@hookimpl
def envscaler_assessors() -> Iterable[AssessorEntry]:
    """The one assessor of this distribution."""
    return [AssessorEntry("naming", "Names and descriptions that an agent can go by, judged without a model", Naming)]
