"""Images with what is remembered of the words and without: bit for bit the same, and the work done once."""

from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lora_files import dotted_tensors, random_lora, write_lora
from PIL import Image
from tiny_pixart import write_tiny_pixart

from mezzotint.acceleration.text_cache import CachedLayer, cached_text
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Step,
    Transition,
)
from mezzotint.stages.denoise import denoise

pytestmark = pytest.mark.usefixtures("every_device")

SIDE, STEPS = 64, 4
WORD_LAYERS = ("attn2.to_k", "attn2.to_v")


class Watch:
    """In the place of `cached_text`: the same or nothing, with the calls of the layers that see the words."""

    def __init__(self, monkeypatch) -> None:
        self.on = True
        self.calls: list[Counter[str]] = []  # of each stage
        self.latents = []  # that each stage ended with
        self.now: Any = None  # what is remembered at this moment, and where
        monkeypatch.setattr("mezzotint.stages.denoise.cached_text", self)
        monkeypatch.setattr("mezzotint.stages.pipeline.denoise", self._denoise)

    def _denoise(self, *args, **kwargs):
        done = denoise(*args, **kwargs)
        self.latents.append(done.latents)
        return done

    @contextmanager
    def __call__(self, network):
        calls = Counter()
        handles = [
            layer.register_forward_hook(lambda *_, name=name: calls.update([name]))
            for name, layer in network.named_modules()
            if name.endswith(WORD_LAYERS) or name == "caption_projection"
        ]
        self.calls.append(calls)
        try:
            with cached_text(network) if self.on else nullcontext() as cache:
                self.now = network, cache
                yield cache
        finally:
            for handle in handles:
                handle.remove()

    def kept_bytes(self) -> int:
        """What is remembered now."""
        return self.now[1].kept_bytes

    def assert_nothing_left(self) -> None:
        """The network is as diffusers made it."""
        network, cache = self.now
        assert cache.kept_bytes == 0
        assert not any(isinstance(module, CachedLayer) for module in network.modules())


@pytest.fixture
def watch(monkeypatch):
    return Watch(monkeypatch)


@pytest.fixture(scope="module")
def engine(every_device):
    return Engine(Catalog.standard())


@pytest.fixture(scope="module")
def told_pixart_folder(tmp_path_factory):
    return write_tiny_pixart(tmp_path_factory.mktemp("told") / "model", sigma=False, told_sizes=True)


def stage(folder: Path, **fields) -> Stage:
    sampling = Sampling(steps=STEPS, guidance_scale=fields.pop("guidance", 5.0), sampler=fields.pop("sampler", None))
    return Stage(model=ModelRef(id=str(folder)), sampling=sampling, **{"width": SIDE, "height": SIDE, **fields})


def request_of(*stages: Stage, transitions=(), **fields) -> GenerateRequest:
    fields = {
        "prompt": "a red house by the sea",
        "negative_prompt": "rain",
        "seed": 7,
        "attention": "sdpa",
        "dtype": "float32",
    } | fields
    return GenerateRequest(cascade=Cascade(stages=stages, transitions=transitions), **fields)


def pixels_made(engine, request: GenerateRequest, path: Path, on_event=lambda _: None) -> np.ndarray:
    output = Output(path=str(path), overwrite=True)
    result = engine.generate(replace(request, output=output), on_event, lambda: False)
    return np.stack([np.array(Image.open(image.path)) for image in result.images])


def compare(engine, watch, tmp_path, request: GenerateRequest) -> np.ndarray:
    """The images, which are the same both ways; words went through their layers once for each stage of each."""
    made = []
    watch.latents.clear()
    for watch.on in (False, True):
        watch.calls.clear()
        made.append(pixels_made(engine, request, tmp_path / f"{watch.on}.png"))
        assert len(watch.calls) == request.count * len(request.cascade.stages)
        for calls in watch.calls:
            assert len(calls) >= 2
            assert set(calls.values()) == {1} if watch.on else min(calls.values()) > 1
    watch.assert_nothing_left()
    without, remembered = watch.latents[: len(watch.latents) // 2], watch.latents[len(watch.latents) // 2 :]
    assert all(torch.equal(a, b) for a, b in zip(without, remembered, strict=True))
    assert made[0].std() > 1  # two grey images would prove nothing
    np.testing.assert_array_equal(*made)
    return made[0]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("attention", ["sdpa", "reference"])
@pytest.mark.parametrize("guidance", [1.0, 5.0])
@pytest.mark.parametrize("model", ["sdxl", "refiner", "sigma", "told"])
def test_an_image(
    engine,
    watch,
    tmp_path,
    tiny_sdxl_folder,
    tiny_refiner_folder,
    tiny_pixart_folder,
    told_pixart_folder,
    model,
    guidance,
    attention,
):
    folders = {"sdxl": tiny_sdxl_folder, "refiner": tiny_refiner_folder}
    folders |= {"sigma": tiny_pixart_folder, "told": told_pixart_folder}
    compare(engine, watch, tmp_path, request_of(stage(folders[model], guidance=guidance), attention=attention))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("scheme", ["int8", "int8-weight", "int4"])
@pytest.mark.parametrize("family", ["pixart", "sdxl"])
def test_quantized(engine, watch, tmp_path, tiny_sdxl_folder, tiny_pixart_folder, family, scheme):
    folder = {"sdxl": tiny_sdxl_folder, "pixart": tiny_pixart_folder}[family]
    compare(engine, watch, tmp_path, request_of(stage(folder), quantization=scheme))


@pytest.mark.slow
def test_a_sampler_that_asks_twice_in_a_step(engine, watch, tmp_path, tiny_sdxl_folder):
    compare(engine, watch, tmp_path, request_of(stage(tiny_sdxl_folder, sampler="heun")))


def test_several_images_of_one_job(engine, watch, tmp_path, tiny_pixart_folder):
    made = compare(engine, watch, tmp_path, request_of(stage(tiny_pixart_folder), count=3))
    assert not np.array_equal(made[0], made[1])


def test_from_an_image(engine, watch, tmp_path, tiny_sdxl_folder):
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    init = (ImageInput(path=str(tmp_path / "init.png")),)
    compare(engine, watch, tmp_path, request_of(stage(tiny_sdxl_folder), images=init, strength=0.6))


@pytest.mark.slow
def test_base_and_refiner(engine, watch, tmp_path, tiny_sdxl_folder, tiny_refiner_folder):
    stages = stage(tiny_sdxl_folder, until=0.5), stage(tiny_refiner_folder)
    compare(engine, watch, tmp_path, request_of(*stages, transitions=(Transition(),)))


@pytest.mark.slow
@pytest.mark.parametrize("space", ["latent", "pixel"])
def test_a_larger_stage_of_the_same_model_with_other_words(engine, watch, tmp_path, tiny_sdxl_folder, space):
    larger = stage(tiny_sdxl_folder, width=2 * SIDE, height=2 * SIDE, prompt="a green hill")
    transition = Transition(space=space, scale=2.0, strength=0.6)
    compare(engine, watch, tmp_path, request_of(stage(tiny_sdxl_folder), larger, transitions=(transition,)))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["none", "int8"])
@pytest.mark.parametrize("family", ["sdxl", "pixart"])
def test_loras_that_change_between_jobs(engine, watch, tmp_path, tiny_sdxl_folder, tiny_pixart_folder, family, scheme):
    from diffusers import PixArtTransformer2DModel, UNet2DConditionModel

    folder = {"sdxl": tiny_sdxl_folder, "pixart": tiny_pixart_folder}[family]
    component, class_ = {"sdxl": ("unet", UNet2DConditionModel), "pixart": ("transformer", PixArtTransformer2DModel)}[
        family
    ]
    network = class_.from_pretrained(folder / component)
    layers = r"attn2\.to_[kv]|caption_projection"
    loras = []
    for seed in (1, 2):
        added = random_lora({component: network}, layers, size=1.0, seed=seed)
        loras.append(LoraRef(path=str(write_lora(tmp_path / f"{seed}.safetensors", dotted_tensors(added)))))
    made = [
        compare(engine, watch, tmp_path, request_of(stage(folder), loras=chosen, quantization=scheme))
        for chosen in ((loras[0],), (loras[1],), (), tuple(loras))
    ]
    assert len({image.tobytes() for image in made}) == len(made)


class Stopped(Exception):
    """What an event raised."""


@pytest.mark.parametrize("how", ["error", "cancel"])
def test_nothing_is_left_of_an_image_that_was_broken_off(engine, watch, tmp_path, tiny_pixart_folder, how):
    kept, request = [], request_of(stage(tiny_pixart_folder), output=Output(path=str(tmp_path / "a.png")))

    def on_event(event):
        if isinstance(event, Step):
            kept.append(watch.kept_bytes())
            if how == "error":
                raise Stopped

    with pytest.raises(Stopped if how == "error" else Cancelled):
        engine.generate(request, on_event, lambda: bool(kept))
    assert kept[0] > 0
    watch.assert_nothing_left()
    watch.calls.clear()
    pixels_made(engine, request, tmp_path / "b.png")  # the model is in memory still, and makes another one
    assert set(watch.calls[0].values()) == {1}
