"""What a server says of itself."""

from __future__ import annotations

import demem_agent
from demem_agent.server.endpoints.base import Call, Endpoint, scopes
from demem_agent.server.metrics import text_of
from demem_agent.server.refusals import Refusal
from demem_agent.wire.requests import Told, Version

__all__ = ["ENDPOINTS"]


def live(call: Call) -> Told:
    return Told(text="alive")


def ready(call: Call) -> Told:
    house = call.house
    house.pool.store.holds(house.pool.address("?"))
    missing = house.common.missing()
    if missing:
        says = f"{missing} of {house.common.workers} workers are being started"
        raise Refusal("busy", says, {"Retry-After": "1"})
    house.work.require_young()
    return Told(text="ready")


def version(call: Call) -> Version:
    return Version(name="demem-agent", version=demem_agent.__version__, api="v1")


def metrics(call: Call) -> bytes:
    house = call.house
    told = house.common.numbers(house.metrics.numbers())
    return text_of([*told, (None, house.work.numbers())])


ENDPOINTS = (
    Endpoint(
        name="live",
        method="GET",
        path="/health/live",
        does=live,
        says="Tell that the process is alive; no store is touched.",
        gives=Told,
        lane="",
    ),
    Endpoint(
        name="ready",
        method="GET",
        path="/health/ready",
        does=ready,
        says="Tell whether the store can be read, all workers serve, and background work is done.",
        gives=Told,
        lane="ready",
    ),
    Endpoint(
        name="version",
        method="GET",
        path="/version",
        does=version,
        says="Tell which version serves.",
        gives=Version,
        lane="",
    ),
    Endpoint(
        name="metrics",
        method="GET",
        path="/metrics",
        does=metrics,
        says="Return the server's numbers in the text format of Prometheus.",
        scopes=scopes("metrics"),
        tagged=False,
        text=True,
    ),
)
