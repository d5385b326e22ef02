"""Gather-apply-scatter: a vertex hears its neighbours, changes itself, and wakes neighbours."""

from broadfront.models.gas.program import STYLES as STYLES
from broadfront.models.gas.program import VertexProgram as VertexProgram
from broadfront.models.gas.run import run as run
