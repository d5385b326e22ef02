"""A specification or two of every generator."""

from __future__ import annotations

SPECS = [
    "kron:11",
    "rmat:11:8:a=0.45:b=0.22:c=0.22:directed=yes",
    "rmat:9:permuted=no",
    "uniform:11:4",
    "rgg:11",
    "grid:70x50",
    "delaunay:9",
    "regular:300:7",
    "regular:41:30",
    "smallworld:500:6:0.3",
    "path:100",
    "cycle:100",
    "star:100",
    "tree:3:5",
    "complete:40",
]
