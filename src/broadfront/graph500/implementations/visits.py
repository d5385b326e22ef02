"""The sequential search: a list of vertices to visit, in the order in which they were reached.

A vertex without a parent gets one when it is first seen, and goes to the end of the list. The list
is in order of depth, so the first to see a vertex is one level above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import check_time
from broadfront.graph500.implementations.contract import Tree, root_alone

VISITS_PER_CALL = 1 << 14

Visit = Callable[[int, int, int, NDArray[Any], Tree], int]
"""Visits a part of the list, which ends at the third number, and returns where it ends then."""


def search_in_order(visit: Visit, num_vertices: int, root: int, dtype: np.dtype[Any]) -> Tree:
    """Visit vertices from the root on until none is left."""
    tree = root_alone(num_vertices, root, dtype)
    visits = np.empty(num_vertices, dtype)
    visits[0] = root
    begin, length = 0, 1
    while begin < length:
        check_time()
        end = min(length, begin + VISITS_PER_CALL)
        length = visit(begin, end, length, visits, tree)
        begin = end
    return tree
