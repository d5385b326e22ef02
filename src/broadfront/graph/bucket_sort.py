"""Sorting buckets of arcs by radix, and merging equal arcs, each bucket in the cache of a core.

Invariant: the sort is stable, so of equal arcs the first given comes first.
"""

from __future__ import annotations

import numpy as np

from broadfront.kernel import kernel

MOST_DIGIT_BITS = 11
INSERTION_SORT_BELOW = 48


@kernel
def bucket_sort(
    first, last, bucket_starts, keys, values, spare_keys, spare_values,
    shift, target_bits, vertices_before, keep, degrees, kept, loops,
):  # fmt: skip
    """Sort buckets in place, each in itself, and merge equal arcs; count what stays.

    The first of all buckets begins with the vertex numbered `vertices_before`.
    """
    key_bits = shift + target_bits
    passes = (key_bits + MOST_DIGIT_BITS - 1) // MOST_DIGIT_BITS
    digit = (key_bits + passes - 1) // passes
    counts = np.empty(1 << digit, np.int64)
    for bucket in range(first, last):
        begin = bucket_starts[bucket]
        length = bucket_starts[bucket + 1] - begin
        own = keys[begin : begin + length]
        own_values = None if values is None else values[begin : begin + length]
        if length < INSERTION_SORT_BELOW:
            _insertion_sort(own, own_values)
        else:
            _radix_sort(own, own_values, spare_keys, spare_values, counts, passes, digit)
        kept[bucket], loops[bucket] = _merge_equal(
            own, own_values, bucket << shift, vertices_before, target_bits, keep, degrees
        )


@kernel
def _insertion_sort(keys, values):
    for place in range(1, len(keys)):
        key = keys[place]
        if values is not None:
            value = values[place]
        hole = place
        while hole > 0 and keys[hole - 1] > key:
            keys[hole] = keys[hole - 1]
            if values is not None:
                values[hole] = values[hole - 1]
            hole -= 1
        keys[hole] = key
        if values is not None:
            values[hole] = value


@kernel
def _radix_sort(keys, values, spare_keys, spare_values, counts, passes, digit):
    length = len(keys)
    for turn in range(passes):
        if turn % 2 == 0:
            _radix_pass(length, keys, values, spare_keys, spare_values, counts, turn * digit)
        else:
            _radix_pass(length, spare_keys, spare_values, keys, values, counts, turn * digit)
    if passes % 2 == 1:
        for place in range(length):  # a slice assignment would compile 5 s of error text
            keys[place] = spare_keys[place]
            if values is not None:
                values[place] = spare_values[place]


@kernel
def _radix_pass(length, keys, values, goal_keys, goal_values, counts, bits_below):
    shift = np.uint64(bits_below)
    mask = np.uint64(len(counts) - 1)
    for figure in range(len(counts)):
        counts[figure] = 0
    for place in range(length):
        counts[(keys[place] >> shift) & mask] += 1
    total = 0
    for figure in range(len(counts)):
        total, counts[figure] = total + counts[figure], total
    for place in range(length):
        key = keys[place]
        figure = (key >> shift) & mask
        slot = counts[figure]
        counts[figure] = slot + 1
        goal_keys[slot] = key
        if values is not None:
            goal_values[slot] = values[place]


@kernel
def _merge_equal(keys, values, first_vertex, vertices_before, target_bits, keep, degrees):
    bits = np.uint64(target_bits)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    kept = 0
    loops = 0
    for place in range(len(keys)):
        key = keys[place]
        if not keep and kept > 0 and keys[kept - 1] == key:
            if values is not None:
                values[kept - 1] = min(values[kept - 1], values[place])
            continue
        keys[kept] = key
        if values is not None:
            values[kept] = values[place]
        kept += 1
        vertex = first_vertex + np.int64(key >> bits)
        degrees[vertex] += 1
        if vertices_before + vertex == np.int64(key & mask):
            loops += 1
    return kept, loops
