"""Systems that misbehave, for workers to import."""

from __future__ import annotations

import os
import time

from broadfront.benchmark.systems.broadfront import Broadfront


class Liar(Broadfront):
    def bfs(self, graph, question):
        answer = super().bfs(graph, question)()
        return lambda: {"depth": answer["depth"] + 1}


class Sleeper(Broadfront):
    def bfs(self, graph, question):
        time.sleep(60)


class Sluggard(Broadfront):
    def bfs(self, graph, question):
        time.sleep(0.6)
        return super().bfs(graph, question)


class Quitter(Broadfront):
    def bfs(self, graph, question):
        os._exit(3)


class Raiser(Broadfront):
    def convert(self, graph, form, question):
        raise ValueError("no graphs\nplease")
