"""The words of ComfyUI's graph: any text upstream of a conditioning, and what of it is not in the graph."""

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from mezzotint.images.comfyui.graph import MAX_HOPS, MAX_VISITS, Graph, Inputs
from mezzotint.images.untrusted import MAX_TEXT, real

Role = Literal["positive", "negative"]

# Fields with words, of nodes that encode or make text.
_TEXT = re.compile(
    r"text|prompt|string|caption|words|tags|lyrics|instruct|populated|^value$|^positive$|^negative$|^str\d*$|"
    r"^(clip_[lgh]|t5(xxl)?|llama|bert|mt5xl|byt5|gemma|qwen\w*)$",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(
    r"system_prompt|mode|name|path|file|delimiter|separator|style|type|template|clean|strip|regex|find|replace|wildcard_|"
    r"encoder|embed|strength|weight|enabled|force",
    re.IGNORECASE,
)
# Links that lead away from words: to networks, latents, images.
_ELSEWHERE = re.compile(
    r"^(clip|model|unet|vae|control_net|controlnet|mask|image|pixels|latent|samples|reference|noise|sampler|sigmas)",
    re.IGNORECASE,
)
_JOINS = re.compile(r"concat|join|combine|append|merge", re.IGNORECASE)
_FILE = re.compile(r"file|path|name")
_SEPARATORS = ("delimiter", "separator", "text_delimiter")
_MOST_TEXTS = 64


@dataclass(slots=True, kw_only=True)
class Words:
    """The texts that reach a conditioning."""

    texts: list[str] = field(default_factory=list)
    guidance: float | None = None  # distilled guidance on the way
    lost: list[str] = field(default_factory=list)  # nodes whose text is not in the graph

    def add(self, text: str) -> None:
        """Add a text, once."""
        if text not in self.texts and len(self.texts) < _MOST_TEXTS:
            self.texts.append(text)

    def text(self) -> str | None:
        """All texts, each on its line; None without any."""
        return "\n".join(self.texts) if self.texts else None


def words_of(graph: Graph, link: object, role: Role) -> Words:
    """All text that reaches a conditioning, through any nodes in between."""
    found, waiting, seen, texts = Words(), deque([link]), set[tuple[str, object]](), _Texts(graph)
    while waiting and len(seen) < MAX_VISITS:
        link = waiting.popleft()
        node = graph.inputs(link)
        if node is None or not isinstance(link, list) or (str(link[0]), _output(link)) in seen:
            continue
        seen.add((str(link[0]), _output(link)))
        if node["class_type"] == "ConditioningZeroOut":
            continue
        if found.guidance is None and "guidance" in node:
            found.guidance = real(graph.value(node["guidance"]))
        waiting.extend(_of_node(texts, node, _output(link), role, found))
    return found


def _of_node(texts: "_Texts", node: Inputs, output: int, role: Role, found: Words) -> list[object]:
    """Add the texts of a node; returns its links to further conditionings."""
    sides = [node.get(name) for name in ("positive", "negative")]
    if all(isinstance(side, list) for side in sides):  # the outputs of such a node have the same order
        return [sides[min(output, 1)]]
    other = "negative" if role == "positive" else "positive"
    further = []
    for name, value in node.items():
        if not _is_text(name):
            further += [value] if not _ELSEWHERE.match(name) else []
        elif other in name.lower():
            continue
        elif (text := texts.of(value)) is not None:
            found.add(text)
        elif isinstance(value, list):
            found.lost.append(texts.source(value))
    return further


class _Texts:
    """The texts of fields, found in a number of steps that is bounded for the whole graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._left = MAX_VISITS

    def of(self, value: object, hops: int = MAX_HOPS) -> str | None:
        """The text of a field: written there, or made by the nodes upstream of it."""
        if isinstance(value, str):
            return value
        node = self._graph.inputs(value)
        self._left -= 1
        if node is None or hops == 0 or self._left < 0:
            return None
        names = _text_fields(node, _output(value))
        known = [text for name in names if (text := self.of(node[name], hops - 1))]
        if not known:  # such as a switch
            links = (each for each in node.values() if isinstance(each, list))
            return next((text for link in links if (text := self.of(link, hops - 1))), None)
        joins = _JOINS.search(str(node["class_type"])) or any(name in node for name in _SEPARATORS)
        return self._separator(node).join(known)[:MAX_TEXT] if joins else known[0]

    def _separator(self, node: Inputs) -> str:
        written = (self._graph.value(node[name]) for name in _SEPARATORS if name in node)
        return next((one for one in written if isinstance(one, str)), " ")

    def source(self, link: object) -> str:
        """The node that a text comes from, and the file that it names."""
        node = self._graph.inputs(link) or {}
        written = (value for name, value in node.items() if isinstance(value, str) and _FILE.search(name))
        file = next(written, "").replace("\\", "/").rpartition("/")[2]
        return f"{node.get('class_type', 'a missing node')}{f' ({file})' if file else ''}"


def _text_fields(node: Inputs, output: int) -> list[str]:
    """The fields with the text of an output: what was drawn of wildcards, and that of its side if there are two."""
    names = [name for name in node if _is_text(name)]
    other = "negative" if output == 0 else "positive"
    drawn = [name for name in names if "populated" in name.lower()]
    return drawn or [name for name in names if other not in name.lower()] or names


def _is_text(name: str) -> bool:
    return _TEXT.search(name) is not None and _NO_TEXT.search(name) is None


def _output(link: object) -> int:
    return link[1] if isinstance(link, list) and len(link) == 2 and isinstance(link[1], int) else 0
