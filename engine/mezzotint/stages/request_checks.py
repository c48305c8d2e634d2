"""Refuse values that are impossible, before anything is loaded."""

from collections.abc import Iterator

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.families.family import ModelSources
from mezzotint.option import declared
from mezzotint.options import OPTIONS
from mezzotint.protocol import GenerateRequest, Sampling, Stage
from mezzotint.request_protocol import MAX_PROMPT, MAX_SEED

MAX_STAGES = 16
_MANY_LAYERS = 32
MAX_LORAS = 32  # per stage
MAX_LORA_WEIGHT = 100.0


def check_request(request: GenerateRequest) -> None:
    """Raise UsageError for a request that is impossible with any model."""
    cascade = request.cascade
    _within("the number of stages", len(cascade.stages), 0, MAX_STAGES)
    if not cascade.stages or len(cascade.transitions) != len(cascade.stages) - 1:
        raise UsageError(
            f"a cascade of {len(cascade.stages)} stages with {len(cascade.transitions)} transitions; "
            "there must be at least one stage, and one transition between each two"
        )
    OPTIONS["count"].check(request.count)
    for words in all_prompts(request):
        _check_prompt(words)
    _check_loras(request)
    if request.seed is not None:
        _within("seed", request.seed, 0, MAX_SEED - request.count + 1)
    if request.strength is not None:
        OPTIONS["strength"].check(request.strength)
    if cascade.stages[-1].until is not None:
        raise UsageError(f"the last stage stops at {cascade.stages[-1].until}; it must run to the end")
    for previous, transition in zip(cascade.stages, cascade.transitions, strict=False):
        if transition.strength is None and previous.until is None:
            raise UsageError("a stage that follows a finished one needs a strength, 0 to 1, in its transition")
        if transition.strength is not None:
            _within("transition strength", transition.strength, 0.0, 1.0)
        _within("transition scale", transition.scale, 0.25, 8.0)


def _check_loras(request: GenerateRequest) -> None:
    stages = request.cascade.stages
    for loras in (request.loras, *(stage.loras or () for stage in stages)):
        _within("the number of LoRAs", len(loras), 0, MAX_LORAS)
        for lora in loras:
            _within("the weight of a LoRA", lora.weight, -MAX_LORA_WEIGHT, MAX_LORA_WEIGHT)
    if request.loras and all(stage.loras is not None for stage in stages):
        raise UsageError(
            f"the LoRA {plain(request.loras[0].path)} is not used: every stage has its own LoRAs; leave it out"
        )


def all_prompts(request: GenerateRequest) -> Iterator[str]:
    """All prompts of a request."""
    yield from (request.prompt, request.negative_prompt)
    yield from (region.prompt for region in request.regions)
    yield from (detail.prompt for detail in request.details if detail.prompt is not None)
    for stage in request.cascade.stages:
        yield from (words for words in (stage.prompt, stage.negative_prompt) if words is not None)


def _check_prompt(words: str) -> None:
    if len(words) > MAX_PROMPT:
        raise UsageError(f"the prompt has {len(words)} characters; at most {MAX_PROMPT} are allowed")
    if any("\ud800" <= letter <= "\udfff" for letter in words):
        raise UsageError("the prompt contains half a character (a lone surrogate); write it in valid UTF-8")


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:  # also refuses NaN
        raise UsageError(f"{name} is {str(value)[:40]}; it must be from {low} to {high}")


def check_sampling(sampling: Sampling, stage: Stage) -> None:
    """Raise UsageError for a value that is out of range."""
    for name, option in declared(Sampling).items():
        value = getattr(sampling, name)
        if value is not None:
            option.check(value)
    if stage.until is not None and not 0.0 < stage.until < 1.0:
        raise UsageError(f"a stage switches at {stage.until}; it must be between 0 and 1, such as 0.8")


def check_clip_skip(clip_skip: int, sources: ModelSources) -> None:
    """Raise UsageError for more layers than the text encoders can skip."""
    texts = [source for name, source in sources.components.items() if name.startswith("text_encoder")]
    layers = [source.config.get("num_hidden_layers") for source in texts]
    most = min((count for count in layers if isinstance(count, int)), default=_MANY_LAYERS) - 1
    if clip_skip > most:
        raise UsageError(f"clip skip {clip_skip} is outside 0..{most}, the layers that this model's encoders can skip")
