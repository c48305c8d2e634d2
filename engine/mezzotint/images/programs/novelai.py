"""NovelAI's metadata: a JSON comment, beside the prompt and the model as texts."""

from mezzotint.images.dialect import from_novelai
from mezzotint.images.untrusted import mapping, others, parse_object, real, text, whole
from mezzotint.protocol import ImageMetadata

SOFTWARE = "NovelAI"
_READ = {
    *("prompt", "uc", "width", "height", "seed", "steps", "sampler", "noise_schedule", "scale", "strength"),
    *("v4_prompt", "v4_negative_prompt", "version", "signed_hash", "request_type", "n_samples"),
}
_MOST_CHARACTERS = 32


def metadata_of_novelai(chunks: dict[str, str]) -> ImageMetadata:
    """Metadata from its text chunks. Raises UnreadableError for a broken comment."""
    data = parse_object(chunks.get("Comment") or "{}")
    sampler, schedule = from_novelai(text(data.get("sampler")), text(data.get("noise_schedule")))
    extra: dict[str, object] = {
        "prompts of characters": _characters(data.get("v4_prompt")),
        "negative prompts of characters": _characters(data.get("v4_negative_prompt")),
    }
    return ImageMetadata(
        program="novelai",
        prompt=text(data.get("prompt")) or _caption(data.get("v4_prompt")) or text(chunks.get("Description")),
        negative_prompt=text(data.get("uc")) or _caption(data.get("v4_negative_prompt")),
        width=whole(data.get("width")),
        height=whole(data.get("height")),
        seed=whole(data.get("seed")),
        steps=whole(data.get("steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(data.get("scale")),
        strength=real(data.get("strength")),
        model=text(chunks.get("Source")),
        model_hash=None,
        request=None,
        other=others(extra | {key: value for key, value in data.items() if key not in _READ}),
    )


def _caption(prompt: object) -> str | None:
    return text(mapping(mapping(prompt).get("caption")).get("base_caption"))


def _characters(prompt: object) -> str:
    captions = mapping(mapping(prompt).get("caption")).get("char_captions")
    every = captions[:_MOST_CHARACTERS] if isinstance(captions, list) else []
    return "; ".join(caption for one in every if (caption := text(mapping(one).get("char_caption"))))
