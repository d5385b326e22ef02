"""Generators: graphs from a few numbers and a seed, the same for any number of threads."""

from broadfront.graph.generate.geometric import delaunay, rgg
from broadfront.graph.generate.kronecker import kron, rmat
from broadfront.graph.generate.lattice import grid
from broadfront.graph.generate.named import complete, cycle, path, star, tree
from broadfront.graph.generate.regular import regular
from broadfront.graph.generate.smallworld import smallworld
from broadfront.graph.generate.spec import generate, is_spec, known, summaries
from broadfront.graph.generate.uniform import uniform
from broadfront.graph.generate.weights import random_weights

__all__ = [
    "complete",
    "cycle",
    "delaunay",
    "generate",
    "grid",
    "is_spec",
    "known",
    "kron",
    "path",
    "random_weights",
    "regular",
    "rgg",
    "rmat",
    "smallworld",
    "star",
    "summaries",
    "tree",
    "uniform",
]
