"""ComfyUI's node graph, traversed from the sampler back to the prompts, the model and the size."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from mezzotint.images.dialect import from_comfyui
from mezzotint.images.untrusted import mapping, others, real, text, whole
from mezzotint.protocol import ImageMetadata

_MAX_VISITS = 2000  # nodes per traversal: a graph may have cycles, or be huge
_MAX_HOPS = 16  # from a field to the node that holds its value
_VALUE_FIELDS = ("value", "text", "string", "seed", "noise_seed", "int", "float", "Text", "String")
_TEXT_FIELDS = ("text", "text_g", "text_l", "clip_l", "t5xxl", "prompt")
_MODEL_FIELDS = ("ckpt_name", "unet_name", "model_name")
_LATENT_FIELDS = ("latent_image", "samples", "latent", "latents", "pixels", "image")
_PART_FIELDS = ("sampler", "sigmas", "guider", "noise")  # a custom sampler is split over these nodes
_NOT_WORDS = {"clip", "model", "vae", "control_net", "mask", *_LATENT_FIELDS}
_SCHEDULE_NODES = {
    "KarrasScheduler": "karras",
    "ExponentialScheduler": "exponential",
    "SDTurboScheduler": "sgm_uniform",
}

Inputs = dict[str, object]


def is_graph(graph: dict[str, object]) -> bool:
    """Whether this is ComfyUI's `prompt`: named nodes, each with a class."""
    return any("class_type" in mapping(node) for node in graph.values())


def metadata_of_graph(nodes: dict[str, object]) -> ImageMetadata:
    """Metadata of the graph's first sampler; with several, the one whose latents come from no other."""
    graph = _Graph(nodes)
    samplers = graph.samplers()
    first = graph.first(samplers)
    parts = [first, *graph.upstream(first, _PART_FIELDS)]
    sampler, schedule = from_comfyui(text(graph.find(parts, "sampler_name")), _schedule(graph, parts))
    latents = list(graph.upstream(first, _LATENT_FIELDS))
    denoise = real(graph.find(parts, "denoise"))
    extra: dict[str, object] = {"loras": graph.loras(), "samplers": len(samplers) if len(samplers) > 1 else None}
    return ImageMetadata(
        program="comfyui",
        prompt=_words(graph, parts, ("positive", "conditioning"), "negative"),
        negative_prompt=_words(graph, parts, ("negative",), "positive"),
        width=whole(graph.find(latents, "width")),
        height=whole(graph.find(latents, "height")),
        seed=whole(graph.find(parts, "seed", "noise_seed")),
        steps=whole(graph.find(parts, "steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(graph.find(parts, "cfg")),
        strength=denoise if denoise is not None and denoise < 1 else None,
        model=_model(graph, parts),
        model_hash=None,
        request=None,
        other=others(extra),
    )


@dataclass(frozen=True, slots=True)
class _Graph:
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
        while waiting and len(seen) < _MAX_VISITS:
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
        for _ in range(_MAX_HOPS):
            node = self.inputs(value)
            if node is None:
                return None if isinstance(value, list | dict) else value
            value = next((node[name] for name in _VALUE_FIELDS if name in node), None)
        return None

    def find(self, nodes: list[Inputs], *names: str) -> object:
        """The first value that one of the nodes has for these fields."""
        found = (self.value(node[name]) for node in nodes for name in names if name in node)
        return next((value for value in found if value is not None), None)

    def samplers(self) -> list[Inputs]:
        """The nodes that sample latents."""
        every = (self.inputs([name, 0]) for name in self.nodes)
        return [node for node in every if node is not None and _is_sampler(node)]

    def first(self, samplers: list[Inputs]) -> Inputs:
        """The sampler at the start of the chain."""
        for sampler in samplers[:_MAX_HOPS]:
            if not any(_is_sampler(node) for node in self.upstream(sampler, _LATENT_FIELDS)):
                return sampler
        return samplers[0] if samplers else {}

    def loras(self) -> str:
        """The names of the graph's LoRA files."""
        every = (mapping(mapping(node).get("inputs")).get("lora_name") for node in self.nodes.values())
        return ", ".join(name for name in every if isinstance(name, str))


def _is_sampler(node: Inputs) -> bool:
    return "latent_image" in node and ("steps" in node or "sigmas" in node)


def _schedule(graph: _Graph, parts: list[Inputs]) -> str | None:
    named = text(graph.find(parts, "scheduler"))
    by_class = (_SCHEDULE_NODES.get(str(node.get("class_type"))) for node in parts)
    return named or next((schedule for schedule in by_class if schedule), None)


def _model(graph: _Graph, parts: list[Inputs]) -> str | None:
    """The checkpoint at the end of the model links, after LoRAs and patches."""
    chain = [node for part in parts for node in graph.upstream(part, ("model",))]
    return text(graph.find(chain, *_MODEL_FIELDS))


def _words(graph: _Graph, parts: list[Inputs], roles: tuple[str, ...], other_role: str) -> str | None:
    """All text that reaches the sampler in these roles, through any nodes in between."""
    start = next((node[role] for node in parts for role in roles if role in node), None)
    waiting, seen, found = deque([start]), set[str](), list[str]()
    while waiting and len(seen) < _MAX_VISITS:
        link = waiting.popleft()
        node = graph.inputs(link)
        if node is None or not isinstance(link, list) or str(link[0]) in seen:
            continue
        seen.add(str(link[0]))
        if node["class_type"] == "ConditioningZeroOut":
            continue
        texts = [one for name in _TEXT_FIELDS if name in node and isinstance(one := graph.value(node[name]), str)]
        found += [one for one in dict.fromkeys(texts) if one not in found]
        if not texts:
            waiting.extend(value for name, value in node.items() if name not in _NOT_WORDS and name != other_role)
    return text("\n".join(found)) if found else None
