"""The Graph500 benchmark: its flow and rules, five searches by the book, and Broadfront's own.

The route: edges (the list and the roots), implementations (kernels 1 to 3), index and validate (the
rules), flow (one run), results (the official block), compare (all implementations over scales).

References
----------
Graph500 benchmark specification 3.0.
"""

from broadfront.graph500.compare import Comparison, compare
from broadfront.graph500.edges import EdgeList, draw_edges, draw_roots
from broadfront.graph500.flow import Benchmark, Settings
from broadfront.graph500.implementations import IMPLEMENTATIONS, Implementation, implementation
from broadfront.graph500.index import index_edges
from broadfront.graph500.results import Outcome
from broadfront.graph500.validate import check_distances, check_levels

__all__ = [
    "IMPLEMENTATIONS", "Benchmark", "Comparison", "EdgeList", "Implementation", "Outcome",
    "Settings", "check_distances", "check_levels", "compare", "draw_edges", "draw_roots",
    "implementation", "index_edges",
]  # fmt: skip
