"""Which settings of an image's metadata have no field of their own: all that are not known to say nothing of it."""

from collections.abc import Collection, Mapping

_LONGEST = 80  # characters of a name with its value
# What says nothing of how to make the image, in lower case: who made it and when, and what other entries say, too.
_INFORMATION = {
    *("version", "app_version", "swarm_version", "metadata_scheme", "created_by", "user", "software", "source"),
    *("date", "created date", "time taken", "generation_time", "prep_time", "total_generation_time"),
    *("image_size", "note", "template", "negative template", "wildcard prompt", "wildcard negative prompt"),
    *("model hash", "vae hash", "hashes", "lora hashes", "ti hashes", "refiner_model_hash", "civitai resources"),
    *("civitai metadata", "full_prompt", "full_negative_prompt", "generation_mode", "signed_hash", "request_type"),
    *("model_hash", "model_weights", "type", "app_id"),
}
_OFF = {"", "none", "null", "false", "off", "disabled", "0", "0.0", "[]", "{}", "cpu"}


def unused_settings(other: Mapping[str, str], read: Collection[str] = ()) -> tuple[str, ...]:
    """Names and values, on one line each, of the settings among `other`, but for those that a reader has `read`."""
    return tuple(
        _on_a_line(f"{name} {value}")
        for name, value in other.items()
        if name not in read and name.casefold() not in _INFORMATION and value.strip().casefold() not in _OFF
    )


def _on_a_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
