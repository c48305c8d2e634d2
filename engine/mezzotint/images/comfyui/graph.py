"""ComfyUI's graph as data: nodes, the links between them, and values found through links."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from mezzotint.images.untrusted import mapping

MAX_VISITS = 2000  # nodes per traversal: a graph may have cycles, or be huge
MAX_HOPS = 16  # from a field to the node that holds its value
_VALUE_FIELDS = ("value", "text", "string", "seed", "noise_seed", "int", "float", "Text", "String")

Inputs = dict[str, object]


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes by their names."""

    nodes: dict[str, object]

    def inputs(self, link: object) -> Inputs | None:
        """Inputs of the node that a link `[name, output]` points to; None if it is no link or points nowhere."""
        if not isinstance(link, list) or len(link) != 2 or not isinstance(link[0], str | int):
            return None
        node = mapping(self.nodes.get(str(link[0])))
        if not node:
            return None
        return mapping(node.get("inputs")) | {"class_type": node.get("class_type")}

    def upstream(self, start: Inputs, fields: tuple[str, ...]) -> Iterator[Inputs]:
        """Nodes upstream of `start` through these fields, nearest first, each once."""
        waiting, seen = deque([start]), set[str]()
        while waiting and len(seen) < MAX_VISITS:
            node = waiting.popleft()
            for field in fields:
                link = node.get(field)
                found = self.inputs(link)
                if found is None or not isinstance(link, list) or str(link[0]) in seen:
                    continue
                seen.add(str(link[0]))
                waiting.append(found)
                yield found

    def value(self, value: object) -> object:
        """The value of a field, resolved through other nodes if it is a link."""
        for _ in range(MAX_HOPS):
            node = self.inputs(value)
            if node is None:
                return None if isinstance(value, list | dict) else value
            value = next((node[name] for name in _VALUE_FIELDS if name in node), None)
        return None

    def find(self, nodes: list[Inputs], *names: str) -> object:
        """The first value that one of the nodes has for these fields."""
        found = (self.value(node[name]) for node in nodes for name in names if name in node)
        return next((value for value in found if value is not None), None)
