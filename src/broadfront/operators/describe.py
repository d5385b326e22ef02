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

from broadfront.operators.advance import Advance as Advance
from broadfront.operators.compute import Compute as Compute
from broadfront.operators.field import Field as Field
from broadfront.operators.filter import Filter as Filter
from broadfront.operators.intersect import Intersect as Intersect
from broadfront.operators.intersect import refuse_intersecting as refuse_intersecting
from broadfront.operators.levels import Levels as Levels
from broadfront.operators.once import Once as Once
from broadfront.operators.operator import Operator as Operator
from broadfront.operators.reduce import Reduce as Reduce
from broadfront.operators.roles import Functor as Functor
from broadfront.operators.unite import Unite as Unite
