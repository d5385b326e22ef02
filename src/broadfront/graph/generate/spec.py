"""Graphs by text: ``kron:20``, ``grid:1000x1000:0.2``, ``rmat:18:8:a=0.45:weights=1-63``.

The text is a generator's name, its arguments in order, then ``key=value`` pairs, all separated by
colons. Names, arguments and their kinds come from the generators' signatures; the keys ``seed``,
``weights`` and ``simple`` go with every generator.

Invariant: a text gives a graph or an `OptionError` of one line that says what is wrong.
"""

from __future__ import annotations

import dataclasses
import difflib
import operator
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from broadfront import threads
from broadfront.clock import Clock
from broadfront.errors import OptionError, OutOfMemoryError
from broadfront.given import flag
from broadfront.graph.csr import Graph
from broadfront.graph.generate.registry import (
    GENERATORS,
    built,
    form,
    parameters,
    positions,
    summary,
)
from broadfront.graph.generate.weights import random_weights
from broadfront.progress import Listener, listening

LONGEST_SHOWN = 60
TRUTHS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Request(NamedTuple):
    """What a text asks for."""

    name: str
    arguments: dict[str, Any]
    """Of the generator, by parameter."""
    settings: dict[str, Any]
    """`seed`, `weights` and `simple`, as far as the text says."""


def generate(
    spec: str,
    seed: int = 0,
    *,
    weights: tuple[int, int] | str | None = None,
    simple: bool = False,
    progress: Listener | None = None,
) -> Graph:
    """Generate the graph that a text describes; the same one for any number of threads.

    Parameters
    ----------
    spec
        A name and arguments, such as ``kron:20``; `known` lists all forms. The keys ``seed=7``,
        ``weights=1-63`` and ``simple=yes`` in the text win over the options below.
    seed
        Another seed, another graph.
    weights
        Smallest and largest of the random integer weights, as ``(1, 63)`` or ``"1-63"``; None for
        no weights.
    simple
        Drop self-loops; duplicates are always merged.
    progress
        Called as ``progress(stage, done, total)`` while the graph is made.

    Examples
    --------
    >>> from broadfront.graph.generate import generate
    >>> generate("grid:3x2:0")
    Graph(undirected, 6 vertices, 7 edges, degree 2..3 mean 2.3, 84 bytes)
    >>> generate("cycle:3", weights=(7, 7)).weights
    array([7, 7, 7, 7, 7, 7], dtype=int32)
    """
    clock = Clock()
    if not isinstance(spec, str):
        raise OptionError(f"spec={spec!r:.60}: expected a text such as 'kron:20'")
    request = parse(spec)
    threads.count()  # a wrong BROADFRONT_THREADS is not the fault of the text
    settings = {
        "seed": seed,
        "weights": _bounds(weights),
        "simple": flag(simple, "simple"),
        **request.settings,
    }
    with listening(progress):
        return _made(spec, request, settings, clock)


def is_spec(text: str) -> bool:
    """Return whether `text` starts with the name of a generator and a colon.

    Examples
    --------
    >>> is_spec("kron:20"), is_spec("kron.mtx"), is_spec("C:/kron.mtx")
    (True, False, False)
    """
    name, colon, _ = text.partition(":")
    return bool(colon) and name in GENERATORS


def known() -> dict[str, str]:
    """Return the form of every generator by its name.

    Examples
    --------
    >>> known()["kron"]
    'kron:SCALE[:EDGE_FACTOR]'
    """
    return {name: form(name) for name in sorted(GENERATORS)}


def summaries() -> dict[str, str]:
    """Return one line about every generator by its name."""
    return {name: summary(name) for name in sorted(GENERATORS)}


def parse(spec: str) -> Request:
    """Read the text form; whether the values make a graph is for the generator to say."""
    name, *parts = spec.split(":")
    if name not in GENERATORS:
        near = difflib.get_close_matches(name, GENERATORS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        names = ", ".join(sorted(GENERATORS))
        raise OptionError(f"unknown generator {_shown(name)}; {hint}known: {names}")
    known_parameters = parameters(GENERATORS[name])
    kinds = {word: parameter.annotation for word, parameter in known_parameters.items()} | SETTINGS
    try:
        values: dict[str, Any] = {}
        for word, text in _assigned(name, parts):
            if word not in kinds:
                raise OptionError(f"there is no key {_shown(word)}")
            if word in values:
                raise OptionError(f"{word} is given twice")
            values[word] = _value(word, kinds[word], text)
        for word, parameter in known_parameters.items():
            if parameter.default is parameter.empty and word not in values:
                raise OptionError(f"{word.upper()} is missing")
    except OptionError as error:
        raise _wrong(spec, name, str(error)) from None
    settings = {word: values.pop(word) for word in SETTINGS if word in values}
    return Request(name, values, settings)


def _assigned(name: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what each part of the text says about which parameter."""
    places = iter(positions(GENERATORS[name]))
    for part in parts:
        word, equals, text = part.partition("=")
        if equals:
            yield word, text
            continue
        group = next(places, None)
        if group is None:
            raise OptionError(f"{_shown(part)} is one argument too many")
        texts = part.split("x") if len(group) > 1 else [part]
        if len(texts) != len(group):
            shape = "x".join(word.upper() for word in group)
            raise OptionError(f"{_shown(part)} is not {shape}")
        yield from zip(group, texts, strict=True)


def _value(word: str, kind: object, text: str) -> object:
    read, wanted = READERS.get(kind, READERS[int])
    try:
        return read(text)
    except (ValueError, KeyError):
        raise OptionError(f"{word} is {wanted}, not {_shown(text)}") from None


def _made(spec: str, request: Request, settings: dict[str, Any], clock: Clock) -> Graph:
    make = GENERATORS[request.name]
    seeded = {"seed": settings["seed"]} if "seed" in make.__annotations__ else {}
    try:
        graph = built(make(**request.arguments, **seeded), settings["simple"], clock, spec)
        if settings["weights"] is not None:
            low, high = settings["weights"]
            graph = random_weights(graph, low, high, settings["seed"])
            graph.origin = dataclasses.replace(graph.origin, seconds=clock.seconds)
    except OptionError as error:
        raise _wrong(spec, request.name, str(error)) from error
    except MemoryError as error:
        raise OutOfMemoryError(f"{_shown(spec)}: there is not enough free memory") from error
    return graph


def _wrong(spec: str, name: str, problem: str) -> OptionError:
    return OptionError(f"{_shown(spec)}: {problem}; the form is {form(name)}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "...")


# ---------------------------------------------------------------------- values


def _integer(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueError
    return int(text)


def _range(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(-?[0-9]{1,18})-(-?[0-9]{1,18})", text)
    if not found:
        raise ValueError
    return int(found[1]), int(found[2])


def _bounds(weights: tuple[int, int] | str | None) -> tuple[int, int] | None:
    if weights is None:
        return None
    try:
        low, high = _range(weights) if isinstance(weights, str) else map(operator.index, weights)
    except (TypeError, ValueError):
        raise OptionError(f"weights={weights!r}: expected a range such as (1, 63)") from None
    return low, high


READERS: dict[object, tuple[Any, str]] = {
    int: (_integer, "an integer"),
    float: (float, "a number"),
    bool: (TRUTHS.__getitem__, "yes or no"),
    tuple: (_range, "a range such as 1-63"),
}
SETTINGS: dict[str, object] = {"seed": int, "weights": tuple, "simple": bool}
