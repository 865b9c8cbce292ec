"""The cluster that this process belongs to: a given one, or one of its own, which ends with it."""

from __future__ import annotations

import logging
import os
import socket

import ray

from envscaler.errors import UsageError
from envscaler_ray.settings import Settings

__all__ = ["joined", "room"]

_PATIENCE = 30.0  # seconds
_TRIES = 3
_own = False


def joined(settings: Settings) -> bool:
    """Belong to a cluster from now on; one that this process has joined before is kept. Whether it is this process's own, so
    that no room need be kept for others. Raises UsageError for an address at which there is none."""
    global _own
    if ray.is_initialized():
        return _own
    where = f"at {settings.address}" if settings.address else "on this machine"
    try:
        if settings.address:
            _found(settings.address)
            ray.init(settings.address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            _begin(settings.width or os.cpu_count() or 1)
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"no Ray cluster {where}: {' '.join(str(error).split())[:300]}") from None
    _own = not settings.address
    return _own


def _begin(cpus: int) -> None:
    """A cluster on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # what is played here is told to nobody
    for attempt in range(_TRIES):
        try:
            ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
            return
        except Exception as error:  # no class of its own: Ray gives up after half a minute on a machine with other work
            ray.shutdown()
            if attempt == _TRIES - 1:
                raise RuntimeError(str(error)) from None


def _found(address: str) -> None:
    """Ray itself looks for minutes before it says that there is nobody."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def room(cpus: float) -> int:
    """How many workers that hold so many ``cpus`` the cluster has room for."""
    return max(1, int(ray.cluster_resources().get("CPU", 1) / cpus))
