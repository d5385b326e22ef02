"""Runs with what users cannot ask for: devices that fail on purpose, and random delays."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

import broadfront as bf
from broadfront.backends.contract import Job, carry_out
from broadfront.backends.registry import backend_of
from broadfront.devices.choose import Device
from broadfront.execution.answer import Answer
from broadfront.partition.partition import Partition


def run_job(job: Job) -> Answer:
    return carry_out(backend_of().prepared(job), job.time_limit)


def run_alone(
    program: bf.Program, graph: bf.Graph, frontier: ArrayLike, init: Mapping[str, Any],
    parameters: Mapping[str, float], **rest: Any,
) -> Answer:  # fmt: skip
    return run_job(Job(program, graph, frontier, init, parameters, **rest))


def run_on(
    program: bf.Program, partition: Partition, devices: Sequence[Device], frontier: ArrayLike,
    init: Mapping[str, Any], parameters: Mapping[str, float], **rest: Any,
) -> Answer:  # fmt: skip
    job = Job(program, partition.graph, frontier, init, parameters)
    return run_job(job._replace(devices=devices, partition=partition, **rest))
