"""Constructs for dataflow of your own: endpoints, links, routers, distributed worklists.

They need no graph. See `docs/routing.md`.

References
----------
Ben-Nun, Sutton, Pai, Pingali: Groute: Asynchronous multi-GPU programming model with applications
to large-scale graph processing (ACM TOPC 7, 2020).
"""

from broadfront.routing.collectives import Collectives
from broadfront.routing.components import connected_components
from broadfront.routing.context import Context
from broadfront.routing.endpoint import Endpoint
from broadfront.routing.future import Future
from broadfront.routing.link import Link
from broadfront.routing.pending import PendingSegment
from broadfront.routing.policy import (
    Every,
    Policy,
    always,
    broadcast,
    first_available,
    ring,
    tree_reduction,
)
from broadfront.routing.report import Report
from broadfront.routing.router import Router
from broadfront.routing.segment import Segment
from broadfront.routing.worklist import DROP, KEEP, PASS, DistributedWorklist

__all__ = [
    "DROP",
    "KEEP",
    "PASS",
    "Collectives",
    "Context",
    "DistributedWorklist",
    "Endpoint",
    "Every",
    "Future",
    "Link",
    "PendingSegment",
    "Policy",
    "Report",
    "Router",
    "Segment",
    "always",
    "broadcast",
    "connected_components",
    "first_available",
    "ring",
    "tree_reduction",
]
