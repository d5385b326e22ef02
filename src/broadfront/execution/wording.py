"""What Numba says of a functor that it cannot compile, in words of our own, and at which line.

Numba tells what went wrong at the innermost place first, and then whoever called. So the first
line of a user's file in its message is that of the fault, also where a helper is at fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numba

from broadfront.elements import SAID
from broadfront.execution.states import PREFIX, _attributes

OURS = (str(Path(numba.__file__).parent), str(Path(__file__).parents[1]))
"""Where files are that users did not write."""
LINE = re.compile(r"(?:at|from) (\S.*?) \((\d+)\)")
ARRAY = r"(?:Bounded\(\S+\*, [^)]*\)|Elements\([^()]*(?:\([^()]*\))?[^()]*\)|\S+\*)"

Words = str | Callable[[re.Match[str]], str]
SINGLE = "only single elements of it are read and set, as state.field[vertex]"
KNOWN: tuple[tuple[str, Words], ...] = (
    (rf"{SAID}(.*)", lambda found: found[1]),
    (rf">>> [gs]etitem\({ARRAY}, slice", f"an array of the state has no slices: {SINGLE}"),
    (
        rf">>> [gs]etitem\({ARRAY}, (?:Literal\[)?(float|complex)",
        "an index is a whole number, and this one is real: use // or int(...)",
    ),
    (
        rf">>> [gs]etitem\({ARRAY}, ([^,)]+)",
        lambda found: f"an index is a whole number, and this one is {found[1]}",
    ),
    (
        rf">>> len\({ARRAY}\)",
        "an array of the state has no len: use state.num_vertices, or for a degree "
        "state.offsets[vertex + 1] - state.offsets[vertex]",
    ),
    (rf">>> contains\({ARRAY}", f"`in` does not search an array of the state: {SINGLE}"),
    (
        rf"getiter with parameters \({ARRAY}\)",
        "an array of the state cannot be gone through: use for edge in "
        "range(state.offsets[vertex], state.offsets[vertex + 1])",
    ),
    (
        rf"Unknown attribute '(\w+)' of type {PREFIX}(\w+)",
        lambda found: f"state has no {found[1]}; there are {', '.join(_attributes(found[2]))}",
    ),
    (
        rf"Unknown attribute '(\w+)' of type {ARRAY}",
        lambda found: f"an array of the state has no {found[1]}: {SINGLE}",
    ),
    (
        r"Cannot cast Literal\[str\]\((.*)\) to (\w+)",
        lambda found: f"a field of {found[2]} does not hold the text {found[1]!r}",
    ),
    (r"NameError: (name '.*' is not defined)", lambda found: found[1]),
    (
        r">>> exception_match\(\w+, (\w+)\)",
        lambda found: f"it catches {found[1]}, which compiled code does not raise: ask before",
    ),
    (r"DictType\[", "it uses a dictionary, which compiled code has not: use a list, or a field"),
    (r"opcode \(IMPORT_NAME\)", "it imports: do that outside of the functor"),
    (r"'with \(context manager\)", "it uses `with`, which compiled code has not"),
    (r"opcode \(STORE_GLOBAL\)", "it sets a global: store in a field instead"),
    (
        r"(\d+) argument types given, but function takes (\d+)",
        lambda found: f"it is called with {found[1]} arguments, and takes {found[2]}",
    ),
    (r"Cannot bind .* to signature '(.*?)'", lambda found: f"it calls a function of {found[1]} "
     "with other arguments"),
    (
        r"type, assigned to variable '(\w+)' in globals",
        lambda found: f"{found[1]} is no number and no array: use np.array(...)",
    ),
    (
        r"Untyped global name '(\w+)'",
        lambda found: f"{found[1]} is no number, array or function that compiled code can use",
    ),
    (
        r">>> (\w+)\((.*)\)",
        lambda found: f"compiled code has no {found[1]} of {found[2]}",
    ),
)  # fmt: skip
"""What is found in a message, and what is said instead."""


def worded(error: BaseException) -> str:
    """Return in a line what is wrong."""
    text = str(error)
    for pattern, words in KNOWN:
        if found := re.search(pattern, text):
            return words if isinstance(words, str) else words(found)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in", "During", "File", "-"))]
    return (telling or lines or ["it cannot be compiled"])[0]


def line_of(error: BaseException) -> str | None:
    """Return file and line of the fault, if Numba tells."""
    for file, line in LINE.findall(str(error)):
        if not file.startswith(OURS):
            return f"{file}, line {line}"
    where = getattr(error, "loc", None)
    if where is not None and not where.filename.startswith(OURS):
        return f"{where.filename}, line {where.line}"
    return None
