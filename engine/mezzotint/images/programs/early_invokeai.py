"""InvokeAI's two earlier forms: the `Dream` command, and the JSON of `sd-metadata`."""

import re

from mezzotint.images.dialect import from_invokeai
from mezzotint.images.untrusted import MAX_TEXT, mapping, others, real, text, whole
from mezzotint.protocol import ImageMetadata

# Possessive, so that hostile input cannot cause backtracking.
_COMMAND = re.compile(r'\s*+"(.*)"((?:\s.*+)?)', re.DOTALL)
_SWITCH = re.compile(r"(?:^|\s)--?([A-Za-z]\w*+)")
_NEGATIVE = re.compile(r"\[([^\[\]]*+)\]")
_SWITCHES = {
    "s": "steps", "S": "seed", "W": "width", "H": "height", "C": "cfg_scale", "A": "sampler", "f": "strength",
    "G": "gfpgan", "U": "upscale", "I": "init_img", "M": "init_mask", "v": "variation_amount", "V": "variations",
}  # fmt: skip
_READ = {"prompt", "steps", "seed", "width", "height", "cfg_scale", "sampler", "strength"}
_MOST_PROMPTS = 64


def metadata_of_dream(command: str) -> ImageMetadata | None:
    """Metadata of the command that a prompt was entered with: `"a cat [dog]" -s 50 -S 42 ...`; None for another."""
    parts = _COMMAND.fullmatch(command[:MAX_TEXT])
    if parts is None:
        return None
    prompt, rest = parts.groups()
    switches = list(_SWITCH.finditer(rest))
    starts = [*(switch.start() for switch in switches), len(rest)]
    values: dict[str, object] = {
        _SWITCHES.get(switch[1], switch[1]): rest[switch.end() : end].strip()
        for switch, end in zip(switches, starts[1:], strict=True)
    }
    return _metadata(prompt, values, None, {"further": rest[: starts[0]].strip()})


def metadata_of_sd_metadata(data: dict[str, object]) -> ImageMetadata:
    """Metadata of `sd-metadata`."""
    image = mapping(data.get("image"))
    model = text(data.get("model_weights")) or text(data.get("model"))
    about = {key: value for key, value in data.items() if key not in ("image", "model", "model_weights", "images")}
    return _metadata(_joined(image.get("prompt")), image, model, about)


def _metadata(
    prompt: str | None, image: dict[str, object], model: str | None, about: dict[str, object]
) -> ImageMetadata:
    sampler, schedule = from_invokeai(text(image.get("sampler")))
    rest = {key: value for key, value in image.items() if key not in _READ}
    return ImageMetadata(
        program="invokeai",
        prompt=None if prompt is None else text(" ".join(_NEGATIVE.sub(" ", prompt).split(" ")).strip()),
        negative_prompt=None if prompt is None else text(", ".join(_NEGATIVE.findall(prompt))) or None,
        width=whole(image.get("width")),
        height=whole(image.get("height")),
        seed=whole(image.get("seed")),
        steps=whole(image.get("steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(image.get("cfg_scale")),
        strength=real(image.get("strength")),
        model=model,
        model_hash=text(about.get("model_hash")),
        request=None,
        other=others(about | rest),
    )


def _joined(prompt: object) -> str | None:
    """The prompt: text, or texts with weights, which are named where they are not 1."""
    if not isinstance(prompt, list):
        return prompt if isinstance(prompt, str) else None
    every = [mapping(one) for one in prompt[:_MOST_PROMPTS]]
    weighted = ((text(one.get("prompt")) or "", real(one.get("weight"))) for one in every)
    texts = [words if weight in (None, 1.0) else f"({words}:{weight:g})" for words, weight in weighted]
    return ", ".join(filter(None, texts)) or None
