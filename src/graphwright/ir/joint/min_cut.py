"""Minimum cuts of flow networks, by Dinic's algorithm.

E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
estimation", Soviet Math. Doklady 11 (1970). Breadth-first search layers the edges that still have
room; depth-first search fills paths along the layers until none is left.
"""

from __future__ import annotations

from collections import deque

UNBOUNDED = 1 << 62
"""The capacity of an edge that no cut may cross."""


class FlowNetwork:
    """Nodes are numbers from 0; edge 2n + 1 is the way back along edge 2n."""

    def __init__(self, count: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(count)]
        self._targets: list[int] = []
        self._room: list[int] = []

    def add(self, source: int, target: int, capacity: int) -> None:
        """An edge with so much room."""
        for begin, end, room in ((source, target, capacity), (target, source, 0)):
            self._edges[begin].append(len(self._targets))
            self._targets.append(end)
            self._room.append(room)

    def cut(self, source: int, sink: int) -> set[int]:
        """The sink's side of a minimum cut, the smallest if there are several.

        Uses up the network's room.
        """
        levels = self._levels(source, sink)
        while levels[sink] >= 0:
            self._fill(source, sink, levels)
            levels = self._levels(source, sink)
        side, pending = {sink}, [sink]
        while pending:
            for edge in self._edges[pending.pop()]:
                before = self._targets[edge]
                if self._room[edge ^ 1] > 0 and before not in side:
                    side.add(before)
                    pending.append(before)
        return side

    def _levels(self, source: int, sink: int) -> list[int]:
        """For each node its distance from the source along edges with room, or -1."""
        edges, targets, room = self._edges, self._targets, self._room
        levels = [-1] * len(edges)
        levels[source] = 0
        pending = deque([source])
        while pending and levels[sink] < 0:
            node = pending.popleft()
            for edge in edges[node]:
                after = targets[edge]
                if room[edge] > 0 and levels[after] < 0:
                    levels[after] = levels[node] + 1
                    pending.append(after)
        return levels

    def _fill(self, source: int, sink: int, levels: list[int]) -> None:
        """Fill paths until each has an edge without room."""
        edges, targets, room = self._edges, self._targets, self._room
        following = [0] * len(edges)
        path: list[int] = []
        node = source
        while True:
            if node == sink:
                amount = min(room[edge] for edge in path)
                first = len(path)
                for place in range(len(path) - 1, -1, -1):
                    room[path[place]] -= amount
                    room[path[place] ^ 1] += amount
                    if room[path[place]] == 0:
                        first = place
                node = targets[path[first] ^ 1]
                del path[first:]
            edge = self._way_on(node, levels, following)
            if edge >= 0:
                path.append(edge)
                node = targets[edge]
            elif path:
                node = targets[path.pop() ^ 1]
                following[node] += 1
            else:
                return

    def _way_on(self, node: int, levels: list[int], following: list[int]) -> int:
        """An edge with room to the next level, -1 if none is left."""
        edges, targets, room = self._edges[node], self._targets, self._room
        for place in range(following[node], len(edges)):
            edge = edges[place]
            if room[edge] > 0 and levels[targets[edge]] == levels[node] + 1:
                following[node] = place
                return edge
        following[node] = len(edges)
        return -1
