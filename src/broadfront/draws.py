"""Random numbers of functors: by seed, vertex and iteration, without a state.

A number is a hash of the three: each is added to what the ones before have become, times an odd
constant, and stirred by a finaliser that sends every 64 bits to others and changes half of them if
one changes. So it is the same in any order, on any thread and device, in compiled code and in
Python, bit for bit.

Reference
---------
Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014), for the finaliser.
"""

from __future__ import annotations

import operator

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload

from broadfront.errors import FunctorError
from broadfront.kernel import inlined

ALL_BITS = (1 << 64) - 1
STEPS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7)
"""What a seed, a vertex and an iteration are multiplied by before they are added."""
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
UNIT = 2.0**-53

SEED_STEP, VERTEX_STEP, ITERATION_STEP = map(np.uint64, STEPS)
FIRST_FACTOR, SECOND_FACTOR = map(np.uint64, FACTORS)


def random(seed: int, vertex: int, iteration: int) -> float:
    """Return a random number in [0, 1) that depends on its arguments alone.

    For functors and for Python. All three are whole numbers of 64 bits; `vertex` should be what the
    vertex is called in the graph, ``state.ids[vertex]``, and any other number serves where one
    number a vertex and iteration is not enough.

    Examples
    --------
    >>> import broadfront as bf
    >>> bf.random(1, 5, 0) == bf.random(1, 5, 0), bf.random(1, 5, 0) == bf.random(1, 5, 1)
    (True, False)
    """
    bits = _stirred_in_python((_whole(seed) + 1) * STEPS[0])
    bits = _stirred_in_python(bits + (_whole(vertex) + 1) * STEPS[1])
    bits = _stirred_in_python(bits + (_whole(iteration) + 1) * STEPS[2])
    return (bits >> 11) * UNIT


def _whole(number: int) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise FunctorError(f"bf.random takes whole numbers, not {number!r:.60}") from None


def _stirred_in_python(bits: int) -> int:
    bits &= ALL_BITS
    bits = ((bits ^ (bits >> 30)) * FACTORS[0]) & ALL_BITS
    bits = ((bits ^ (bits >> 27)) * FACTORS[1]) & ALL_BITS
    return bits ^ (bits >> 31)


@inlined
def _stirred(bits):
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_FACTOR
    return bits ^ (bits >> np.uint64(31))


@overload(random)
def _random(seed, vertex, iteration):
    for given in (seed, vertex, iteration):
        if not isinstance(given, (types.Integer, types.Boolean)):
            raise TypingError(f"bf.random takes whole numbers, not {given}")
    one = np.uint64(1)

    def compiled(seed, vertex, iteration):
        bits = _stirred((np.uint64(seed) + one) * SEED_STEP)
        bits = _stirred(bits + (np.uint64(vertex) + one) * VERTEX_STEP)
        bits = _stirred(bits + (np.uint64(iteration) + one) * ITERATION_STEP)
        return np.float64(bits >> np.uint64(11)) * UNIT

    return compiled
