"""ComfyUI's node graph, traversed from the sampler back to the prompts, the model and the size."""

from collections.abc import Iterator

from mezzotint.images.comfyui.graph import MAX_HOPS, Graph, Inputs
from mezzotint.images.comfyui.words import Words, words_of
from mezzotint.images.dialect import from_comfyui
from mezzotint.images.untrusted import cleaned, mapping, others, real, text, whole
from mezzotint.protocol import ImageMetadata, LoraNamed

_MODEL_FIELDS = ("ckpt_name", "unet_name", "model_name")
_LATENT_FIELDS = ("latent_image", "samples", "latent", "latents", "pixels", "image")
_PART_FIELDS = ("sampler", "sigmas", "guider", "noise")  # a custom sampler is split over these nodes
# The links of samplers and guiders to conditionings, the first that there is.
_POSITIVE = ("positive", "conditioning", "cond1", "cond", "positive_conditioning", "conditioning_1")
_NEGATIVE = ("negative", "neg_conditioning", "negative_conditioning", "uncond")
_MOST_LORAS = 64
_SCHEDULE_NODES = {
    "KarrasScheduler": "karras",
    "ExponentialScheduler": "exponential",
    "SDTurboScheduler": "sgm_uniform",
}
# Nodes whose effect on the image is read, or that have none.
_UNDERSTOOD = {
    *("KSampler", "KSamplerAdvanced", "SamplerCustom", "SamplerCustomAdvanced", "KSamplerSelect", "RandomNoise"),
    *("BasicScheduler", *_SCHEDULE_NODES, "CFGGuider", "BasicGuider", "FluxGuidance", "ConditioningZeroOut"),
    *("CheckpointLoaderSimple", "CheckpointLoader", "UNETLoader", "UnetLoaderGGUF", "CLIPLoader", "DualCLIPLoader"),
    *("TripleCLIPLoader", "QuadrupleCLIPLoader", "VAELoader", "VAEDecode", "VAEDecodeTiled", "SaveImage"),
    *("SaveImageWebsocket", "PreviewImage", "EmptyLatentImage", "EmptySD3LatentImage", "LoraLoader"),
    *("LoraLoaderModelOnly", "CLIPSetLastLayer", "Note", "MarkdownNote", "Reroute", "PrimitiveNode", "PreviewAny"),
    *("PrimitiveInt", "PrimitiveFloat", "PrimitiveString", "PrimitiveStringMultiline", "StringConcatenate"),
    *("CLIPTextEncode", "CLIPTextEncodeFlux", "CLIPTextEncodeSDXL", "CLIPTextEncodeSD3", "CLIPTextEncodeHiDream"),
}


def is_graph(graph: dict[str, object]) -> bool:
    """Whether this is ComfyUI's `prompt`: named nodes, each with a class."""
    return any("class_type" in mapping(node) for node in graph.values())


def metadata_of_graph(nodes: dict[str, object]) -> ImageMetadata:
    """Metadata of the graph's first sampler; with several, the one whose latents come from no other."""
    graph = Graph(nodes)
    samplers = _samplers(graph)
    first = _first(graph, samplers)
    parts = [first, *graph.upstream(first, _PART_FIELDS)]
    sampler, schedule = from_comfyui(text(graph.find(parts, "sampler_name")), _schedule(graph, parts))
    latents = list(graph.upstream(first, _LATENT_FIELDS))
    denoise = real(graph.find(parts, "denoise"))
    positive = words_of(graph, _link(parts, _POSITIVE), "positive")
    negative = words_of(graph, _link(parts, _NEGATIVE), "negative")
    chain = [node for part in parts for node in graph.upstream(part, ("model",))]
    loras = tuple(_loras(chain))
    layer = whole(graph.find(_every(graph), "stop_at_clip_layer"))
    extra: dict[str, object] = {
        "loras": ", ".join(_lora_names(_every(graph))),
        "loras elsewhere": ", ".join(set(_lora_names(_every(graph))) - {lora.name for lora in loras}),
        "samplers": len(samplers) if len(samplers) > 1 else None,
        "nodes": ", ".join(_not_understood(graph)),
        "words from": ", ".join(dict.fromkeys(_lost(positive, negative, has_sampler=bool(samplers)))),
    }
    return ImageMetadata(
        program="comfyui",
        prompt=text(positive.text()),
        negative_prompt=text(negative.text()),
        width=whole(graph.find(latents, "width")),
        height=whole(graph.find(latents, "height")),
        seed=whole(graph.find(parts, "seed", "noise_seed")),
        steps=whole(graph.find(parts, "steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(graph.find(parts, "cfg", "cfg_conds")),
        distilled_guidance_scale=positive.guidance,
        clip_skip=None if layer is None else -1 - layer,
        strength=denoise if denoise is not None and denoise < 1 else None,
        loras=loras,
        model=text(graph.find(chain, *_MODEL_FIELDS)),
        model_hash=None,
        request=None,
        other=others(extra),
    )


def _every(graph: Graph) -> list[Inputs]:
    every = (graph.inputs([name, 0]) for name in graph.nodes)
    return [node for node in every if node is not None]


def _samplers(graph: Graph) -> list[Inputs]:
    """The nodes that sample latents."""
    return [node for node in _every(graph) if _is_sampler(node)]


def _first(graph: Graph, samplers: list[Inputs]) -> Inputs:
    """The sampler at the start of the chain."""
    for sampler in samplers[:MAX_HOPS]:
        if not any(_is_sampler(node) for node in graph.upstream(sampler, _LATENT_FIELDS)):
            return sampler
    return samplers[0] if samplers else {}


def _is_sampler(node: Inputs) -> bool:
    return "latent_image" in node and ("steps" in node or "sigmas" in node)


def _link(parts: list[Inputs], roles: tuple[str, ...]) -> object:
    return next((node[role] for role in roles for node in parts if role in node), None)


def _lost(positive: Words, negative: Words, *, has_sampler: bool) -> list[str]:
    """The nodes whose words are not known; a prompt without any is said, too."""
    nowhere = ["no node: no text reaches the sampler"] if has_sampler and not positive.texts else []
    return [cleaned(one, 80) for one in (*positive.lost, *negative.lost)] or nowhere


def _not_understood(graph: Graph) -> list[str]:
    classes = dict.fromkeys(str(node["class_type"]) for node in _every(graph))
    return [cleaned(name, 80) for name in classes if name not in _UNDERSTOOD]


def _loras(chain: list[Inputs]) -> Iterator[LoraNamed]:
    """The LoRAs between the sampler and its model, the first applied first."""
    for node in reversed(chain[:_MOST_LORAS]):
        name, weight = text(node.get("lora_name")), real(node.get("strength_model"))
        if name:
            yield LoraNamed(name=name, weight=1.0 if weight is None else weight)
        for entry in map(mapping, node.values()):  # of a node with a list of them
            name, weight = text(entry.get("lora")), real(entry.get("strength"))
            if name and weight is not None and entry.get("on") is not False:
                yield LoraNamed(name=name, weight=weight)


def _lora_names(nodes: list[Inputs]) -> list[str]:
    return [name for node in nodes for name in (node.get("lora_name"),) if isinstance(name, str)]


def _schedule(graph: Graph, parts: list[Inputs]) -> str | None:
    named = text(graph.find(parts, "scheduler"))
    by_class = (_SCHEDULE_NODES.get(str(node.get("class_type"))) for node in parts)
    return named or next((schedule for schedule in by_class if schedule), None)
