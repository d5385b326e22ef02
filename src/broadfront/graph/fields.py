"""Stepping through the fields of a line, inside kernels.

A separator is the code of a character, or -1 for any run of blanks. Fields in quotes may hold the
separator, and a doubled quote for a quote.
"""

from __future__ import annotations

from broadfront.graph.lines import NEWLINE
from broadfront.kernel import kernel

SPACE, TAB, RETURN, QUOTE = (ord(sign) for sign in ' \t\r"')
FINE, COLUMNS, QUOTES = 0, 1, 2
"""What can be wrong with the fields of a line."""


@kernel
def skip_blanks(data, position, end, separator):
    """Return the first position that holds no blank; a tab that separates columns is none."""
    while position < end:
        letter = data[position]
        if letter != SPACE and letter != RETURN and (letter != TAB or separator == TAB):
            break
        position += 1
    return position


@kernel
def skip_line(data, position, end):
    """Return the position of the newline that ends this line."""
    while position < end and data[position] != NEWLINE:
        position += 1
    return position


@kernel
def skip_field(data, position, end, separator):
    """Return where the field at `position` ends; -1 when its quote is not closed."""
    if position < end and data[position] == QUOTE and separator >= 0:
        position += 1
        while position < end and data[position] != NEWLINE:
            if data[position] == QUOTE:
                position += 1
                if position >= end or data[position] != QUOTE:
                    return position
            position += 1
        return -1
    while position < end:
        letter = data[position]
        if letter == NEWLINE or letter == separator:
            break
        if separator < 0 and (letter == SPACE or letter == TAB or letter == RETURN):
            break
        position += 1
    return position


@kernel
def next_field(data, position, end, separator):
    """Step over what separates fields; return a problem, the position, and if there is a field."""
    position = skip_blanks(data, position, end, separator)
    if position >= end or data[position] == NEWLINE:
        return FINE, position, False
    if separator >= 0:
        if data[position] != separator:
            return COLUMNS, position, False
        position = skip_blanks(data, position + 1, end, separator)
    return FINE, position, True


@kernel
def ends_field(data, position, end, separator):
    """Return whether no more of a field can follow at `position`."""
    if position >= end:
        return True
    letter = data[position]
    if letter == NEWLINE or letter == separator:
        return True
    return letter == SPACE or letter == TAB or letter == RETURN
