"""Stepping through lines and the fields of a line, inside kernels.

A separator is the code of a character, or -1 for any run of blanks. Fields in quotes may hold the
separator, and a doubled quote for a quote.
"""

from __future__ import annotations

from broadfront.graph.lines import NEWLINE
from broadfront.kernel import kernel

SPACE, TAB, RETURN, QUOTE = (ord(sign) for sign in ' \t\r"')
FINE, COLUMNS, QUOTES = 0, 1, 2
"""What can be wrong with the fields of a line."""
SOURCE, TARGET, WEIGHT = range(3)
"""What a field can be to an edge: rows of what `row_fields` finds."""


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
def next_row(data, position, end, code):
    """Return where the next line that is neither blank nor a comment begins; else `end`."""
    while position < end:
        position = skip_blanks(data, position, end, code.separator)
        if position >= end:
            break
        letter = data[position]
        if letter == NEWLINE:
            position += 1
        elif letter == code.comment or letter == code.other_comment:
            position = skip_line(data, position, end) + 1
        else:
            return position
    return end


@kernel
def row_fields(data, position, end, code, fields):
    """Find begin and end of source, target and weight in the line whose first field is here.

    Returns a problem and where it is, or `FINE` and where the next line begins.
    """
    line = position
    column = 0
    more = True
    while more:
        after = skip_field(data, position, end, code.separator)
        if after < 0:
            return QUOTES, position
        if column == code.source:
            _keep(data, position, after, fields[SOURCE])
        if column == code.target:
            _keep(data, position, after, fields[TARGET])
        if column == code.weight:
            _keep(data, position, after, fields[WEIGHT])
        problem, position, more = next_field(data, after, end, code.separator)
        if problem:
            return problem, position
        column += 1
    if column <= code.last or (code.columns > 0 and column != code.columns):
        return COLUMNS, line
    return FINE, position + 1


@kernel
def _keep(data, begin, end, field):
    """Keep where a field is, the blanks at its end left out."""
    while end > begin and data[end - 1] in (SPACE, TAB, RETURN):
        end -= 1
    field[0] = begin
    field[1] = end


@kernel
def skip_field(data, position, end, separator):
    """Return where the field at `position` ends; -1 when its quote is not closed."""
    if position < end and data[position] == QUOTE:
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
    before = position
    position = skip_blanks(data, position, end, separator)
    if position >= end or data[position] == NEWLINE:
        return FINE, position, False
    if separator >= 0:
        if data[position] != separator:
            return COLUMNS, position, False
        position = skip_blanks(data, position + 1, end, separator)
    elif position == before:
        return COLUMNS, position, False
    return FINE, position, True


@kernel
def unquoted(data, begin, end):
    """Return begin and end of a field without its quotes."""
    if begin < end and data[begin] == QUOTE:
        return begin + 1, end - 1
    return begin, end
