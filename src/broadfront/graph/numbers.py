"""Reading numbers from bytes, inside kernels.

Integers by digits. Reals exactly rounded by the method of Lemire: the digits as a 64-bit integer,
times a 128-bit power of five from a table, is enough to know the nearest double in all but a
vanishing share of cases; those are called hard and left to Python's own `float`.

References
----------
Lemire: Number parsing at a gigabyte per second. Software: Practice and Experience 51 (2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.bits import leading_zeros, trailing_zeros, wide_product, word_at
from broadfront.kernel import kernel

ZERO, PLUS, MINUS, POINT = (ord(sign) for sign in "0+-.")
LOWER_E, UPPER_E = ord("e"), ord("E")
MOST_DIGITS = 19  # as many as 64 bits always hold
LARGEST = np.uint64(2**63 - 1)
SMALLEST_POWER, LARGEST_POWER = -342, 308
NOT_A_NUMBER, HARD, INTEGER, REAL = -1, 0, 1, 2
"""What `real` found."""


def _powers_of_five() -> NDArray[np.uint64]:
    """Return the 128 leading bits of ``5 ** power`` for every power a double can need."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for row, power in enumerate(range(SMALLEST_POWER, LARGEST_POWER + 1)):
        if power >= 0:
            value = 5**power
            excess = value.bit_length() - 128
            leading = value >> excess if excess > 0 else value << -excess
        else:
            divisor = 5**-power
            leading = (1 << (divisor.bit_length() + 127)) // divisor + 1
            leading >>= leading.bit_length() - 128
        table[row] = leading >> 64, leading & (2**64 - 1)
    return table


_table: list[NDArray[np.uint64]] = []


def powers_of_five() -> NDArray[Any]:
    """Return the table `real` needs, made once."""
    if not _table:
        _table.append(_powers_of_five())
    return _table[0]


@kernel
def _eight(word):
    """Return the number spelled by 8 bytes that hold the values of digits, the first lowest."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    pairs = np.uint64(0x000000FF000000FF)
    upper = (word & pairs) * np.uint64(0x000F424000000064)
    lower = ((word >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    return (upper + lower) >> np.uint64(32)


@kernel
def short_integer(data, position):
    """Return the 1 to 7 digits at `position` as a number, and how many there are; 0 or 8: others.

    Eight bytes from `position` on must lie in the array.
    """
    word = word_at(data, position)
    values = word - np.uint64(0x3030303030303030)
    others = ((word + np.uint64(0x4646464646464646)) | values) & np.uint64(0x8080808080808080)
    count = trailing_zeros(others) >> np.uint64(3)
    if count == 0 or count == 8:
        return np.uint64(0), count
    return _eight(values << (np.uint64(64) - (count << np.uint64(3)))), count


@kernel
def integer(data, position, end):
    """Return the digits at `position` as a number (-1: none or too many) and where they end."""
    value = np.uint64(0)
    significant = 0
    begin = position
    while position < end:
        figure = np.uint8(data[np.uint64(position)] - ZERO)
        if figure > 9:
            break
        value = value * np.uint64(10) + np.uint64(figure)
        significant += figure > 0 or significant > 0
        position += 1
    if position == begin or significant > MOST_DIGITS or value > LARGEST:
        return np.int64(-1), position
    return np.int64(value), position


@kernel
def _nearest_double(digits, power, table):
    """Return the bits of the double nearest to ``digits * 10 ** power``, and whether they are sure.

    `digits` is not zero, and `power` is within the table.
    """
    one = np.uint64(1)
    zeros = leading_zeros(digits)
    digits = digits << zeros
    high, low = wide_product(digits, table[power - SMALLEST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        further, _ = wide_product(digits, table[power - SMALLEST_POWER, 1])
        low += further
        if low < further:
            high += one
        if low == np.uint64(0xFFFFFFFFFFFFFFFF) and (power < -27 or power > 55):
            return np.uint64(0), False
    top = high >> np.uint64(63)
    fraction = high >> (top + np.uint64(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    if exponent <= 0 or exponent >= 2046:
        return np.uint64(0), False
    if low <= one and power >= -4 and power <= 23 and fraction & np.uint64(3) == one:
        if fraction << (top + np.uint64(9)) == high:
            fraction -= one  # exactly between two doubles: to the even one
    fraction = (fraction + (fraction & one)) >> one
    if fraction >= np.uint64(1 << 53):
        fraction = np.uint64(1 << 52)
        exponent += 1
    return (np.uint64(exponent) << np.uint64(52)) | (fraction & np.uint64((1 << 52) - 1)), True


@kernel
def real(data, position, end, table):
    """Return what kind of number stands at `position`, its bits as a double, and where it ends."""
    nothing = np.uint64(0)
    sign = nothing
    if position < end and (data[position] == MINUS or data[position] == PLUS):
        sign = np.uint64(data[position] == MINUS) << np.uint64(63)
        position += 1
    begin = position
    digits, significant, position = _digits(data, position, end, nothing, 0)
    found = position - begin
    power = 0
    whole = True
    if position < end and data[np.uint64(position)] == POINT:
        whole = False
        point = position + 1
        digits, significant, position = _digits(data, point, end, digits, significant)
        power = point - position
        found -= power
    if found == 0:
        return NOT_A_NUMBER, nothing, position
    if position < end and (data[position] == LOWER_E or data[position] == UPPER_E):
        whole = False
        position += 1
        negative = False
        if position < end and (data[position] == MINUS or data[position] == PLUS):
            negative = data[position] == MINUS
            position += 1
        scale, position = integer(data, position, end)
        if scale < 0:
            return NOT_A_NUMBER, nothing, position
        power += -min(scale, 100_000) if negative else min(scale, 100_000)
    wrapped = digits == 0 and significant > 0
    if significant > MOST_DIGITS or wrapped or power < SMALLEST_POWER or power > LARGEST_POWER:
        return HARD, nothing, position
    kind = INTEGER if whole else REAL
    if digits == 0:
        return kind, sign, position
    bits, sure = _nearest_double(digits, power, table)
    return (kind if sure else HARD), sign | bits, position


@kernel
def _digits(data, position, end, value, significant):
    """Read on: return the number so far, how many of its digits count, and where they end."""
    while position < end:
        if position + 8 <= end and (significant > 0 or data[np.uint64(position)] != ZERO):
            word = word_at(data, np.uint64(position))
            values = word - np.uint64(0x3030303030303030)
            others = (word + np.uint64(0x4646464646464646)) | values
            if others & np.uint64(0x8080808080808080) == 0:
                value = value * np.uint64(100_000_000) + _eight(values)
                significant += 8
                position += 8
                continue
        figure = np.uint8(data[np.uint64(position)] - ZERO)
        if figure > 9:
            break
        value = value * np.uint64(10) + np.uint64(figure)
        significant += value != 0
        position += 1
    return value, significant, position
