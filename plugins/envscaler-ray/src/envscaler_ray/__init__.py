"""The plugin: an executor whose units are tasks of a Ray cluster."""

from collections.abc import Iterable, Mapping
from typing import Any

from envscaler.plugin import ExecutorEntry, hookimpl

__all__ = ["envscaler_executors"]

ENVSCALER_HOOKS = 1


def _ray(settings: Mapping[str, Any]) -> Any:
    from envscaler_ray.executor import RayExecutor

    return RayExecutor(settings)


@hookimpl
def envscaler_executors() -> Iterable[ExecutorEntry]:
    """The one executor of this distribution."""
    return [ExecutorEntry("ray", "On a Ray cluster, that of an address or one begun here", _ray)]
