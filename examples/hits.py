"""HITS: good hubs point to good authorities, and good authorities are pointed to by good hubs.

Both are sums over neighbours, along incoming and along outgoing edges, made to add up to 1
(Kleinberg 1999).
"""

import broadfront as bf


def hub_of(neighbor, state):
    return state.hub[neighbor]


def set_authority(vertex, total, state):
    state.authority[vertex] = total
    return total


def authority_of(neighbor, state):
    return state.authority[neighbor] / state.authorities[0]


def set_hub(vertex, total, state):
    state.hub[vertex] = total
    return total


def scale(vertex, state):
    state.hub[vertex] /= state.hubs[0]


TOTAL = bf.Field(float, length=1)
TO_AUTHORITIES = bf.Reduce(hub_of, set_authority, sums=("authorities",))
TO_HUBS = bf.Reduce(authority_of, set_hub, along="out", sums=("hubs",))
ROUND = [TO_AUTHORITIES, TO_HUBS, bf.Compute(scale)]


def hits(graph, rounds=50, **options):
    fields = {"hub": bf.Field(float, fill=1 / graph.num_vertices)}
    fields |= {"authority": bf.Field(float), "authorities": TOTAL, "hubs": TOTAL}
    answer = bf.run(bf.Program(fields, phases=[bf.Phase(ROUND, limit=rounds)]), graph, **options)
    return answer["hub"], answer["authority"] / answer["authority"].sum()


if __name__ == "__main__":
    print(hits(bf.generate("rmat:8:directed=yes"))[1].argsort()[-5:])
