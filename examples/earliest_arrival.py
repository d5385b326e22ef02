"""Earliest arrival: when can one be at each stop, leaving a stop at a given time?

An edge is a connection of a timetable: it leaves at its departure and takes its duration. Two stops
have as many edges as there are connections between them, so duplicates are kept.
"""

import numpy as np

import broadfront as bf

NEVER = 2**31 - 1


def take_connection(source, neighbor, edge, state):
    if state.departure[edge] < state.arrival[source]:
        return NEVER
    return state.departure[edge] + state.duration[edge]


EARLIEST_ARRIVAL = bf.Program(
    fields={"arrival": bf.Field(np.int32, fill=NEVER, combine="min")},
    step=[bf.Advance(take_connection, into="arrival")],
)


def earliest_arrival(timetable, stop, time, **options):
    start = {"arrival": {stop: time}}
    return bf.run(EARLIEST_ARRIVAL, timetable, frontier=[stop], init=start, **options)["arrival"]


def timetable(rows):
    origin, destination, departure, duration = np.array(rows).T
    connections = {"departure": departure, "duration": duration}
    return bf.from_edges(origin, destination, edge_data=connections, duplicates="keep")


if __name__ == "__main__":
    rows = [(0, 1, 480, 10), (0, 1, 500, 10), (1, 2, 495, 20), (1, 2, 520, 15), (0, 2, 485, 60)]
    print(earliest_arrival(timetable(rows), 0, 490))
