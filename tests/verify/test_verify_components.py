"""Right labels pass; each kind of wrong one is caught by its rule."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.errors import VerificationError
from broadfront.verify import verify_components
from zoo import Animal, edges

THREE = bf.from_edges([0, 1, 3, 5], [2, 2, 4, 4], num_vertices=7)  # {0, 1, 2}, {3, 4, 5}, {6}
LABELS = np.array([0, 0, 0, 3, 3, 3, 6], np.int32)


def right(graph: bf.Graph) -> tuple[np.ndarray, int]:
    found = graph.to_networkx()
    labels = np.empty(graph.num_vertices, np.int32)
    classes = nx.weakly_connected_components if graph.directed else nx.connected_components
    count = 0
    for members in classes(found):
        labels[list(members)] = min(members)
        count += 1
    return labels, count


def test_right_answers_on_the_zoo(animal: Animal) -> None:
    graph = animal.graph()
    verify_components(graph, *right(graph))


@given(edges())
def test_right_answers_on_any_graph(animal: Animal) -> None:
    graph = animal.graph()
    verify_components(graph, *right(graph))


@given(edges(), st.data())
def test_any_other_label_is_caught(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    labels, _ = right(graph)
    place = st.integers(0, graph.num_vertices - 1)
    vertex, label = data.draw(place), data.draw(place)
    if labels[vertex] != label:
        labels[vertex] = label
        with pytest.raises(VerificationError):
            verify_components(graph, labels)


@pytest.mark.parametrize(
    ("labels", "rule", "where"),
    [
        ([1, 1, 1, 3, 3, 3, 6], "smallest of their class", "vertex 0: label 1"),
        ([0, 0, 0, 4, 4, 4, 6], "smallest of their class", "vertex 3: label 4"),
        ([3, 3, 3, 0, 0, 0, 6], "smallest of their class", "vertex 0: label 3"),
        ([0, 0, 0, 3, 3, 4, 6], "label of a label", "vertex 5: label 4, whose label is 3"),
        ([0, 0, 0, 3, 3, 5, 6], "both ends of an arc", "edge 5 -> 4: labels 5 and 3"),
        ([0, 1, 1, 3, 3, 3, 6], "both ends of an arc", "edge 0 -> 2: labels 0 and 1"),
        ([0, 0, 0, 0, 0, 0, 6], "classes are connected", "vertex 3: no way to 0"),
        ([0, 0, 0, 3, 3, 3, 0], "classes are connected", "vertex 6: no way to 0"),
        ([0, 0, 0, 3, 3, 3, -1], "labels are vertices", "vertex 6: label -1"),
        ([0, 0, 0, 3, 3, 3, 7], "labels are vertices", "vertex 6: label 7"),
    ],
)
def test_wrong_labels(labels: list[int], rule: str, where: str) -> None:
    verify_components(THREE, LABELS, 3)
    with pytest.raises(VerificationError, match=rule) as caught:
        verify_components(THREE, np.array(labels, np.int32))
    assert where in caught.value.problem


def test_count() -> None:
    with pytest.raises(VerificationError, match="count is the number of labels: 2, but 3"):
        verify_components(THREE, LABELS, 2)


def test_form() -> None:
    with pytest.raises(VerificationError, match="one entry per vertex"):
        verify_components(THREE, LABELS[:-1])
    with pytest.raises(VerificationError, match="dtype: component has dtype float64"):
        verify_components(THREE, LABELS.astype(float))
