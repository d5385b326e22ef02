"""Broadfront beside its peers: the same questions on the same graphs, timed and verified.

`measure.run` asks, `worker` answers in a process of its own for each system, `systems` knows how
each library is asked, `checks` verifies, `table` and `results` tell.
"""
