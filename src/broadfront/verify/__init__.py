"""Serial checks of answers, one problem per file: each returns None or names the broken rule.

They share no code with the kernels that find the answers.
"""

from broadfront.verify.betweenness import verify_betweenness
from broadfront.verify.bfs import verify_bfs
from broadfront.verify.components import verify_components
from broadfront.verify.pagerank import verify_pagerank
from broadfront.verify.sssp import verify_sssp
from broadfront.verify.triangles import verify_triangles

__all__ = [
    "verify_betweenness",
    "verify_bfs",
    "verify_components",
    "verify_pagerank",
    "verify_sssp",
    "verify_triangles",
]
