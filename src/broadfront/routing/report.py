"""What a run did: packets and bytes per link, items and idle time per device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from broadfront.errors import require
from broadfront.report.table import aligned, seconds_text
from broadfront.routing.monitor import Worker

if TYPE_CHECKING:
    import pandas

    from broadfront.routing.context import Context

Row = dict[str, Any]
WORK = ("produced", "consumed", "useless")


@dataclass(frozen=True, repr=False)
class Report:
    """The report of a run.

    Attributes
    ----------
    links
        A row per link: source, target, packets and bytes sent, and packets that nobody received.
    endpoints
        A row per function that ran: the endpoint, seconds, those spent waiting (`idle_seconds`),
        and of worklists the items produced, consumed, and useless.
    """

    links: tuple[Row, ...]
    endpoints: tuple[Row, ...]

    @classmethod
    def of(cls, context: Context, workers: Sequence[Worker]) -> Report:
        """Return what a context and the threads of its run have counted."""
        links = tuple(
            {
                "source": link.source.name,
                "target": link.target.name,
                "packets": link.packets,
                "bytes": link.bytes,
                "unreceived": len(link.arriving),
            }
            for link in context.links
        )
        work: dict[str, Row] = {}
        for worklist in context.worklists:
            for name, counted in worklist.counted().items():
                row = work.setdefault(name, dict.fromkeys(WORK, 0))
                for column in WORK:
                    row[column] += counted[column]
        endpoints = tuple(
            {
                "endpoint": worker.name,
                "seconds": worker.seconds,
                "idle_seconds": worker.idle_seconds,
                **work.get(worker.name, dict.fromkeys(WORK, 0)),
            }
            for worker in workers
        )
        return cls(links, endpoints)

    def to_pandas(self, of: str = "links") -> pandas.DataFrame:
        """Return the rows of ``"links"`` or ``"endpoints"`` as a data frame."""
        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(list(getattr(self, of)))

    def __repr__(self) -> str:
        lines = aligned(
            ("source", "target", "packets", "bytes", "unreceived"),
            [
                (row["source"], row["target"], *(f"{row[name]:,}" for name in tuple(row)[2:]))
                for row in self.links
            ],
        )
        if self.endpoints:
            lines += [""] + aligned(
                ("endpoint", "", "time", "idle", *WORK),
                [
                    (
                        row["endpoint"], "", seconds_text(row["seconds"]),
                        seconds_text(row["idle_seconds"]), *(f"{row[name]:,}" for name in WORK),
                    )
                    for row in self.endpoints
                ],
            )  # fmt: skip
        return "\n".join(lines)
