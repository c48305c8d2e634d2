"""Full-size models with random weights: memory and time depend only on shapes."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kernel_build.sources import KERNELS

RECIPES = KERNELS.parent / "bench" / "footprint_models.json"
_LIBRARIES = {"AutoencoderKL": "diffusers", "UNet2DConditionModel": "diffusers"}  # all others are in transformers
_PIPELINES = {False: "StableDiffusionXLPipeline", True: "StableDiffusionXLImg2ImgPipeline"}
_CHUNK = 2**24  # values, repeated to fill the file
_SPREAD = 0.02  # small enough that nothing overflows


def write_sdxl(folder: Path, name: str) -> int:
    """Write the SDXL base (`sdxl`) or refiner (`sdxl-refiner`) as a diffusers folder; return the bytes of weights."""
    from diffusers import EulerDiscreteScheduler

    from mezzotint.families.tokenizers import END, clip_tokenizer

    recipes = json.loads(RECIPES.read_text("utf-8"))
    is_refiner = name == "sdxl-refiner"
    index: dict[str, Any] = {"_class_name": _PIPELINES[is_refiner], "requires_aesthetics_score": is_refiner}
    index |= {"force_zeros_for_empty_prompt": not is_refiner, "text_encoder": [None, None], "tokenizer": [None, None]}
    written = 0
    for component, part in recipes["models"][name]["components"].items():
        described = recipes["parts"][part]
        written += _write_network(folder / component, described["class"], described["config"])
        index[component] = [_library(described["class"]), described["class"]]
        if component.startswith("text_encoder"):
            tokenizer = component.replace("text_encoder", "tokenizer")
            clip_tokenizer(pad_token=END if tokenizer == "tokenizer" else "!").save_pretrained(folder / tokenizer)
            index[tokenizer] = ["transformers", "CLIPTokenizer"]
    scheduler = EulerDiscreteScheduler(
        beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012, timestep_spacing="leading", steps_offset=1
    )
    scheduler.save_pretrained(folder / "scheduler")
    index["scheduler"] = ["diffusers", "EulerDiscreteScheduler"]
    (folder / "model_index.json").write_text(json.dumps(index), "utf-8")
    return written


def _library(class_name: str) -> str:
    return _LIBRARIES.get(class_name, "transformers")


def _write_network(folder: Path, class_name: str, config: Mapping[str, Any]) -> int:
    network = _empty(class_name, config)
    folder.mkdir(parents=True)
    if _library(class_name) == "diffusers":
        network.save_config(folder)
        return _write_weights(network, folder / "diffusion_pytorch_model.safetensors")
    network.config.save_pretrained(folder)
    return _write_weights(network, folder / "model.safetensors")


def _empty(class_name: str, config: Mapping[str, Any]) -> Any:  # noqa: ANN401  from either library
    import accelerate
    import diffusers
    import transformers

    with accelerate.init_empty_weights(include_buffers=False):
        if _library(class_name) == "diffusers":
            return getattr(diffusers, class_name).from_config(dict(config))
        kind = getattr(transformers, class_name)
        ends = {"bos_token_id": 49406, "eos_token_id": 49407, "pad_token_id": 1}
        return kind(kind.config_class(**{**ends, **config}))


def _write_weights(network: Any, path: Path) -> int:  # noqa: ANN401
    shapes = {name: list(each.shape) for name, each in network.state_dict().items() if each.is_floating_point()}
    header, position = {}, 0
    for name, shape in shapes.items():
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for part in _random(position):
            file.write(part)
    return position


def _random(size: int) -> Iterator[memoryview]:
    import numpy

    numbers = numpy.random.default_rng(0).standard_normal(min(_CHUNK, size // 2 + 1), dtype=numpy.float32)
    chunk = memoryview((numbers * _SPREAD).astype(numpy.float16).tobytes())
    while size > 0:
        yield chunk[:size]
        size -= len(chunk)
