"""What a program can say: operators with the user's functors in them.

A functor is a plain Python function of numbers. It reads ``state``, which has an attribute for
every field, every parameter, ``weight`` (indexed by edge), ``offsets`` and ``targets`` (the rows of
the graph), ``in_offsets`` and ``in_targets`` (those of incoming arcs), ``num_vertices`` and
``ids``: ``state.ids[vertex]`` is what a vertex is called in the graph, which is what to store or
compare, since on many devices the number of a vertex is only its place in a part; ``iteration`` is
the number of the iteration in its phase, and ``frontier_size`` how many vertices are in the
frontier of all devices when it begins. A functor says what it proposes; the field's `combine`
decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from broadfront.errors import OptionError
from broadfront.operators.field import Field as Field
from broadfront.operators.monoid import Monoid

Functor = Callable[..., Any]

METHODS = ("merge", "by_id", "by_degree")
LAYOUTS = ("rows", "tiles")


@dataclass(frozen=True)
class Advance:
    """From every vertex of the frontier along its edges; who improves is the next frontier.

    Parameters
    ----------
    functor
        ``functor(source, neighbor, edge, state)`` returns a proposal for the neighbour.
    into
        The field that the proposals are for; its `combine` decides.
    cond
        ``cond(vertex, state)`` tells whether a vertex still wants proposals. With it the
        operator may also pull: vertices that want look for a neighbour in the frontier, and stop
        at the first that leaves them content.
    priority
        ``priority(vertex, state)`` returns a number; smaller goes first. With it the frontier is
        kept in buckets of width `width`, and the operator runs until all are empty.
    goal
        ``goal(state)`` returns a vertex, where there is a priority: the operator stops as soon as
        the bucket of that vertex is done. Vertices of later buckets are as far as they have come.
        A number that is no vertex of the graph raises `VertexError`.
    width
        The width of a bucket; None lets the graph decide.
    activate
        ``activate(vertex, before, after, state)`` tells whether a changed vertex joins the next
        frontier; by default every improved one does.
    record_source
        A field that takes, for each improved vertex, the source whose proposal stayed. Exact where
        a vertex improves once at most in an iteration, as in a search by levels.
    direction
        ``"push"``, ``"pull"`` or None for whichever costs less in each iteration.
    along
        ``"out"``: along the arcs that leave a vertex. ``"in"``: against those that come to it; the
        neighbour is where the arc comes from, `edge` its place among incoming arcs, and
        ``state.weight[edge]`` its weight. On undirected graphs both are the same.
    balance
        How pushed work is shared among threads: ``"by_vertex"`` (one vertex per turn),
        ``"by_degree"`` (hubs by all threads together; the default), ``"by_edges"`` (equal edges per
        turn).
    synchronous
        True: functors see what was there before the operator, and nothing of what it does itself.
        False is a promise that the answer does not depend on it: proposals then count as they come,
        which is quicker. None: as True, unless the library can prove that it makes no difference;
        see ``docs/programs.md``.
    """

    functor: Functor
    into: str
    cond: Functor | None = None
    priority: Functor | None = None
    width: float | None = None
    goal: Functor | None = None
    activate: Functor | None = None
    record_source: str | None = None
    direction: str | None = None
    balance: str | None = None
    along: str = "out"
    synchronous: bool | None = None

    def __post_init__(self) -> None:
        if self.synchronous not in (None, True, False):
            raise OptionError(f"synchronous={self.synchronous!r}: expected True or False")
        if self.synchronous and self.priority is not None:
            raise OptionError("synchronous=True: with a priority vertices are served in its order")

    @property
    def may_pull(self) -> bool:
        """Whether vertices may look for the frontier, which is then left as a bitmap."""
        return self.cond is not None and self.direction != "push" and self.priority is None


def _check_over(over: object) -> None:
    if over not in ("vertices", "frontier"):
        raise OptionError(f"over={over!r}: expected 'vertices' or 'frontier'")


@dataclass(frozen=True)
class Compute:
    """Something for every vertex of the graph, or of the frontier.

    Parameters
    ----------
    functor
        ``functor(vertex, state)``; what it returns is added up where `sums` names a field.
    sums
        Fields of length 1, of 64 bits where they are of integers, that take the total of what the
        functor returns (a number, or a tuple with one per field). Totals over all vertices are
        added in a fixed order: same bits for any number of threads.
    over
        ``"vertices"`` or ``"frontier"``.
    """

    functor: Functor
    sums: tuple[str, ...] = ()
    over: str = "vertices"

    def __post_init__(self) -> None:
        _check_over(self.over)


@dataclass(frozen=True)
class Reduce:
    """For every vertex, or every one of the frontier, combine what neighbours offer, and apply it.

    Parameters
    ----------
    functor
        ``functor(neighbor, vertex, edge, state)`` returns what the neighbour offers. Where that
        depends on the neighbour alone, ``functor(neighbor, state)``: then every vertex is asked
        once, and all of them before anything is applied, so `apply` may overwrite what the offers
        were made from.
    apply
        ``apply(vertex, total, state)`` is handed the combined offers; it stores what it likes, and
        what it returns is added up where `sums` names fields.
    identity
        What a vertex without offers gets, and where combining starts. Where every vertex is asked
        once, the offers are real numbers if it is one, and integers of 64 bits if it is an integer.
        Offers of uint64 are asked for at each edge, and begin with an ``np.uint64(...)``.
        Of a `Monoid` it is that of the monoid.
    combine
        ``"sum"``, ``"min"``, ``"max"`` or a `Monoid`. A sum of real numbers is added in an order
        that depends on the graph alone: same bits for any number of threads.
    sums
        As in `Compute`.
    layout
        ``"rows"``: neighbours row by row. ``"tiles"``: edges sorted into squares whose two sides
        fit in a core's cache, a copy kept with the graph (about 4 bytes an arc), for a functor of
        the neighbour alone. None: tiles for such a functor where the phase repeats and the graph
        has more than 8,192 vertices.
    along
        ``"in"``: incoming neighbours offer, those from which arcs come. ``"out"``: outgoing ones;
        `edge` and ``state.weight[edge]`` are then those of the arc that leaves the vertex. Tiles
        are for ``"in"``.
    over
        ``"vertices"`` or ``"frontier"``; over the frontier the functor is one of edges, and totals
        are added up by a `Compute` after it.
    """

    functor: Functor
    apply: Functor
    identity: Any = None
    combine: str | Monoid = "sum"
    sums: tuple[str, ...] = ()
    layout: str | None = None
    along: str = "in"
    over: str = "vertices"

    def __post_init__(self) -> None:
        _check_over(self.over)
        neutral: Any = 0.0
        if isinstance(self.combine, Monoid):
            self.combine.check()
            neutral = self.combine.identity
            if self.identity is not None and self.identity != neutral:
                raise OptionError(
                    f"identity={self.identity!r:.60} is not that of the Monoid: leave it out"
                )
        elif self.combine not in ("sum", "min", "max"):
            raise OptionError(f"combine={self.combine!r:.60}: expected 'sum', 'min' or 'max'")
        given = neutral if self.identity is None else self.identity
        object.__setattr__(self, "identity", _settled_identity(given))
        if isinstance(self.identity, (tuple, np.uint64)) and self.of_neighbor:
            what = "uint64" if isinstance(self.identity, np.uint64) else "several numbers"
            raise OptionError(
                f"offers of {what} are asked for at each edge: write the functor of the Reduce as "
                "functor(neighbor, vertex, edge, state)"
            )
        if self.layout not in (None, *LAYOUTS):
            raise OptionError(f"layout={self.layout!r}: expected one of {', '.join(LAYOUTS)}")
        if self.layout == "tiles" and not self.of_neighbor:
            raise OptionError("layout='tiles' needs a functor(neighbor, state)")
        if self.along not in ("in", "out"):
            raise OptionError(f"along={self.along!r}: expected 'in' or 'out'")
        if self.layout == "tiles" and self.along == "out":
            raise OptionError("layout='tiles' is for along='in': leave layout out")
        if self.over == "frontier" and self.of_neighbor:
            raise OptionError(
                "over='frontier' needs a functor(neighbor, vertex, edge, state): write it so"
            )
        if self.over == "frontier" and self.sums:
            raise OptionError("over='frontier' takes no sums: add them up by a Compute after it")

    @property
    def of_neighbor(self) -> bool:
        """Whether what a neighbour offers depends on the neighbour alone."""
        code = getattr(self.functor, "__code__", None)  # what has none is refused by the program
        return code is not None and bool(code.co_argcount == 2)

    def in_tiles(self, large: bool) -> bool:
        """Whether edges are gone through in tiles, on a graph that is `large` enough or not."""
        if self.along == "out":
            return False
        return self.layout == "tiles" or (self.layout is None and self.of_neighbor and large)


def _settled_identity(identity: Any) -> Any:
    """Return an identity as a number of Python's, or as a uint64 if it is unsigned."""
    if isinstance(identity, np.unsignedinteger):
        return np.uint64(identity)
    if isinstance(identity, (np.generic, bool)):
        identity = np.asarray(identity).item() + 0
    if isinstance(identity, int) and identity >= 1 << 63:
        if identity >= 1 << 64:
            raise OptionError(f"identity={identity} is beyond 64 bits")
        return np.uint64(identity)
    if isinstance(identity, int) and identity < -(1 << 63):
        raise OptionError(f"identity={identity} is beyond 64 bits")
    return identity


@dataclass(frozen=True)
class Levels:
    """Vertices level by level: each sums what its neighbours offer, then the level applies it.

    Ascending, a vertex looks at its incoming neighbours, descending at its outgoing ones. A vertex
    whose level is negative, or not below the number of vertices, is left out.

    Parameters
    ----------
    gather
        ``gather(neighbor, vertex, edge, state)`` returns what the neighbour offers. Offers are
        added in a fixed order: same bits for any number of threads.
    apply
        ``apply(vertex, total, state)`` is handed the sum, and stores what it likes. It runs when
        all sums of the level are there, so what it stores is seen by later levels only.
    by
        The field of integers that holds the levels; None for those of the `Levels` before.
    descending
        Whether the last level comes first.
    when, instead
        In levels before which ``when(state)`` is true, ``instead(vertex, state)`` returns the whole
        sum in place of `gather`: a dearer way, for what is rarely needed, that costs nothing else.
        On several devices `when` sees what has reached the device: its own values, and others' that
        came with the values of neighbours.
    """

    gather: Functor
    apply: Functor
    by: str | None = None
    descending: bool = False
    when: Functor | None = None
    instead: Functor | None = None

    def __post_init__(self) -> None:
        if (self.when is None) != (self.instead is None):
            raise OptionError("a Levels takes when and instead together")


@dataclass(frozen=True)
class Intersect:
    """The common neighbours of the two ends of every edge, and so the triangles of the graph.

    For undirected graphs; self-loops do not count.

    Parameters
    ----------
    functor
        Hears what is found, in the way that `each` says; None where only the total is of interest,
        which is by far the quickest.
    each
        ``"edge"``: ``functor(first, second, edge, common, state)`` for every edge once, with the
        number of all common neighbours of its ends; `first` has the smaller id of the two, and
        `edge` is the arc from first to second. ``"triangle"``:
        ``functor(first, second, third, state)`` for every triangle once, its corners in any order.
        ``"vertex"``: ``functor(vertex, count, state)`` for every vertex once, with the number of
        triangles at it.
    total
        A field of length 1, of 64 bits, that takes the number of triangles.
    method
        How triangles are found: ``"by_degree"`` or ``"by_id"`` (marks, with every edge kept at its
        end of smaller degree or larger id), ``"merge"`` (rows side by side), or None for what suits
        the degrees of the graph. It does not matter for ``"edge"``, nor on several devices.
    """

    functor: Functor | None = None
    each: str = "edge"
    total: str | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        if self.each not in ("edge", "triangle", "vertex"):
            raise OptionError(f"each={self.each!r}: expected 'edge', 'triangle' or 'vertex'")
        if self.method is not None and self.method not in METHODS:
            raise OptionError(f"method={self.method!r}: expected one of {', '.join(METHODS)}")
        if self.functor is None and self.total is None:
            raise OptionError("an Intersect needs a functor or a total")


def refuse_intersecting(directed: bool, parallel: bool) -> None:
    """Refuse graphs that `Intersect` has no meaning on."""
    if directed:
        raise OptionError("Intersect is for undirected graphs, and this one is directed")
    if parallel:
        raise OptionError(
            "Intersect is for graphs without parallel edges, and this one keeps them: build it "
            "with duplicates='first'"
        )


@dataclass(frozen=True)
class Unite:
    """The ends of every edge in one set, or of some edges: the components that these leave.

    Parameters
    ----------
    into
        A ``Field("vertex")`` that takes, for each vertex, the id of the smallest one in its set.
    functor
        ``functor(source, neighbor, edge, state)`` tells whether an edge counts; None for all. Each
        edge is asked for as often as suits, an undirected one both ways, where it counts if one
        says so. It may not look at `into`.
    """

    into: str
    functor: Functor | None = None


@dataclass(frozen=True)
class Filter:
    """Keep the vertices of the frontier for which ``functor(vertex, state)`` is true.

    Parameters
    ----------
    functor
        ``functor(vertex, state)`` tells whether a vertex is in the frontier from here on.
    over
        ``"frontier"``: of those in the frontier. ``"vertices"``: of all, whatever the frontier was.
    """

    functor: Functor
    over: str = "frontier"

    def __post_init__(self) -> None:
        _check_over(self.over)


@dataclass(frozen=True)
class Once:
    """Something that one thread does alone: ``functor(state)``, while the others wait."""

    functor: Functor


Operator = Advance | Compute | Reduce | Filter | Once | Levels | Intersect | Unite
