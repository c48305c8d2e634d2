"""LoRAs of whole jobs: what fits what, what is recorded, what is refused before or after models are read."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from lora_files import dotted_tensors, kohya_tensors, random_lora, write_lora
from PIL import Image
from recorded_again import read_metadata

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    Loading,
    LoraRef,
    ModelRef,
    Notice,
    Output,
    Sampling,
    Stage,
    Transition,
)

SIDE = 64


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture(scope="module")
def sdxl_networks(tiny_sdxl_folder):
    from diffusers import UNet2DConditionModel
    from transformers import CLIPTextModel

    return {
        "unet": UNet2DConditionModel.from_pretrained(tiny_sdxl_folder / "unet"),
        "text_encoder": CLIPTextModel.from_pretrained(tiny_sdxl_folder / "text_encoder"),
    }


@pytest.fixture(scope="module")
def files(sdxl_networks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("loras")
    ink = kohya_tensors(random_lora(sdxl_networks, r"attn2\.|q_proj"))
    fog = dotted_tensors(random_lora({"unet": sdxl_networks["unet"]}, r"attn1\.|conv1", seed=2))
    return {"ink": write_lora(folder / "ink.safetensors", ink), "fog": write_lora(folder / "fog.safetensors", fog)}


@pytest.fixture
def request_for(tiny_sdxl_folder, tmp_path):
    def build(*loras: LoraRef, **fields) -> GenerateRequest:
        stage = Stage(model=ModelRef(id=str(tiny_sdxl_folder)), width=SIDE, height=SIDE, sampling=Sampling(steps=2))
        fields = {"prompt": "a red house", "seed": 7, "output": Output(path=f"{tmp_path}/out/")} | fields
        return GenerateRequest(**{"cascade": Cascade(stages=(stage,)), "loras": loras} | fields)

    return build


def ref(path: Path, weight: float = 1.0) -> LoraRef:
    return LoraRef(path=str(path), weight=weight)


def run(engine, request, events=None):
    return engine.generate(request, ([] if events is None else events).append, lambda: False)


def pixels(result) -> np.ndarray:
    return np.array(Image.open(result.images[0].path))


def notices(events) -> dict[str, str]:
    return {event.code: event.message for event in events if isinstance(event, Notice)}


def with_refiner(request, refiner_folder, **stage_fields) -> GenerateRequest:
    (base,) = request.cascade.stages
    base = replace(base, until=0.5)
    refiner = Stage(model=ModelRef(id=str(refiner_folder)), sampling=Sampling(steps=2), **stage_fields)
    return replace(request, cascade=Cascade(stages=(base, refiner), transitions=(Transition(),)))


@pytest.mark.slow
def test_changing_them_reloads_no_model_and_leaves_no_trace(engine, request_for, files):
    plain, events = run(engine, request_for()), []
    ink, fog = ref(files["ink"], 0.8), ref(files["fog"], -0.5)
    hashes = [
        run(engine, request_for(*loras), events).images[0].sha256
        for loras in ((ink,), (fog,), (ink, fog), (replace(ink, weight=0.4),), (), (ref(files["ink"], 0.0),), (ink,))
    ]
    assert not [event for event in events if isinstance(event, Loading)]
    assert hashes[4] == hashes[5] == plain.images[0].sha256
    assert hashes[0] == hashes[6]
    assert len(set(hashes)) == 5


def test_they_are_recorded_and_the_image_makes_itself_again(engine, request_for, files):
    request = request_for(ref(files["ink"], 0.8), ref(files["fog"], -0.5), prompt="a house <lora:other:1>")
    events = []
    first = run(engine, request, events)
    assert "tags in a prompt are ignored" in notices(events)["lora_tags_ignored"]
    used = first.stages[0].loras
    assert [(Path(one.file.path).stem, one.weight) for one in used] == [("ink", 0.8), ("fog", -0.5)]
    path = Path(first.images[0].path)
    recorded = read_metadata(path).request
    assert [(Path(one.path).is_absolute(), one.weight, one.sha256) for one in recorded.loras] == [
        (True, one.weight, one.file.sha256) for one in used
    ]
    assert recorded.prompt == "a house"
    again = run(engine, replace(recorded, output=request.output))
    assert again.images[0].sha256 == first.images[0].sha256
    text = Image.open(path).info["parameters"]
    assert text.startswith("a house <lora:ink:0.8> <lora:fog:-0.5>\n")
    assert f'Lora hashes: "ink: {used[0].tensors_sha256[:12]}, fog: {used[1].tensors_sha256[:12]}"' in text


def test_a_path_may_be_written_in_any_way(engine, request_for, files, monkeypatch):
    monkeypatch.chdir(files["ink"].parent)
    result = run(engine, request_for(LoraRef(path="./ink.safetensors"), LoraRef(path="ink.safetensors", weight=0.5)))
    recorded = read_metadata(Path(result.images[0].path)).request.loras
    assert [(Path(one.path), one.weight) for one in recorded] == [(files["ink"].resolve(), 1.0), (files["ink"], 0.5)]


def test_a_tag_makes_no_difference_to_the_image(engine, request_for):
    tagged = run(engine, request_for(prompt="a red house <lora:ink:0.8>"))
    np.testing.assert_array_equal(pixels(tagged), pixels(run(engine, request_for())))


def test_a_file_that_has_changed_is_refused(engine, request_for, sdxl_networks, tmp_path):
    path = write_lora(tmp_path / "a.safetensors", kohya_tensors(random_lora(sdxl_networks, r"attn2\.")))
    first = run(engine, request_for(ref(path)))
    recorded = read_metadata(Path(first.images[0].path)).request
    write_lora(path, kohya_tensors(random_lora(sdxl_networks, r"attn2\.", seed=9)))
    with pytest.raises(ModelRefused, match=r"a\.safetensors: the LoRA has changed .* give it again with --lora"):
        run(engine, recorded)
    path.unlink()
    with pytest.raises(StorageError, match="a.safetensors"):
        run(engine, recorded)


def test_what_fits_the_base_alone_is_told_and_left_out_for_the_refiner(engine, request_for, files, tiny_refiner_folder):
    events = []
    request = with_refiner(request_for(ref(files["ink"], 0.8)), tiny_refiner_folder)
    result = run(engine, request, events)
    assert [len(stage.loras) for stage in result.stages] == [1, 0]
    assert "is left out for" in notices(events)["lora_left_out"]
    assert str(tiny_refiner_folder) in notices(events)["lora_left_out"]
    assert result.images[0].sha256 != run(engine, replace(request, loras=())).images[0].sha256
    again = run(engine, replace(read_metadata(Path(result.images[0].path)).request, output=request.output))
    assert again.images[0].sha256 == result.images[0].sha256


def test_a_stage_has_its_own(engine, request_for, files, tiny_refiner_folder):
    request = with_refiner(request_for(ref(files["ink"], 0.8)), tiny_refiner_folder, loras=())
    events = []
    result = run(engine, request, events)
    assert [len(stage.loras) for stage in result.stages] == [1, 0] and not notices(events)
    assert read_metadata(Path(result.images[0].path)).request.cascade.stages[1].loras == ()
    misplaced = with_refiner(request_for(), tiny_refiner_folder, loras=(ref(files["ink"]),))
    with pytest.raises(ModelRefused, match=r"ink\.safetensors: the LoRA .* made for this model"):
        run(engine, misplaced)


def test_two_stages_of_one_model_with_different_ones(engine, request_for, files):
    request = request_for()
    (stage,) = request.cascade.stages
    first, second = (replace(stage, loras=(ref(files[name]),)) for name in ("ink", "fog"))
    first, plain = replace(first, until=0.5), replace(stage, until=0.5, loras=())
    transition = (Transition(),)
    hashes = {
        run(engine, replace(request, cascade=Cascade(stages=stages, transitions=transition))).images[0].sha256
        for stages in ((first, second), (plain, second), (first, replace(stage, loras=())))
    }
    assert len(hashes) == 3


def test_pixart_takes_them_too(engine, request_for, tiny_pixart_folder, tmp_path):
    from diffusers import PixArtTransformer2DModel

    transformer = PixArtTransformer2DModel.from_pretrained(tiny_pixart_folder / "transformer")
    added = random_lora({"transformer": transformer}, r"attn[12]\.")
    path = write_lora(tmp_path / "a.safetensors", dotted_tensors(added))
    stage = Stage(model=ModelRef(id=str(tiny_pixart_folder)), width=SIDE, height=SIDE, sampling=Sampling(steps=2))
    request = request_for(ref(path), cascade=Cascade(stages=(stage,)))
    assert run(engine, request).images[0].sha256 != run(engine, replace(request, loras=())).images[0].sha256


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["int4", "int8"])
def test_on_a_quantized_model(engine, request_for, files, scheme):
    plain = run(engine, request_for(quantization=scheme, text_quantization="int8"))
    request = request_for(ref(files["ink"], 0.8), quantization=scheme, text_quantization="int8")
    first, again = run(engine, request), run(engine, request)
    none = run(engine, request_for(ref(files["ink"], 0.0), quantization=scheme, text_quantization="int8"))
    assert first.quantization == scheme
    assert first.images[0].sha256 == again.images[0].sha256 != plain.images[0].sha256
    assert none.images[0].sha256 == plain.images[0].sha256
    recorded = read_metadata(Path(first.images[0].path)).request
    assert (recorded.quantization, recorded.text_quantization) == (scheme, "int8")
    assert [(Path(one.path), one.weight) for one in recorded.loras] == [(files["ink"], 0.8)]
    assert run(engine, replace(recorded, output=request.output)).images[0].sha256 == first.images[0].sha256
    exact = run(engine, request_for(ref(files["ink"], 0.8)))
    assert exact.images[0].sha256 != first.images[0].sha256


UNET = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
OTHERS = {
    "Stable Diffusion 1": (UNET, 320, 768),
    "FLUX": ("lora_unet_double_blocks_0_img_attn_proj", 3072, 3072),
    "Stable Diffusion 3": ("transformer.transformer_blocks.0.attn.add_k_proj", 1536, 1536),
    "PixArt": ("transformer.transformer_blocks.0.attn1.to_q", 1152, 1152),
    "SDXL": (UNET, 640, 2048),
}


@pytest.mark.parametrize("base", OTHERS)
def test_one_for_another_base_is_refused_by_its_name(engine, request_for, tmp_path, base):
    layer, n, k = OTHERS[base]
    tensors = {f"{layer}.lora_down.weight": torch.ones(2, k), f"{layer}.lora_up.weight": torch.ones(n, 2)}
    path = write_lora(tmp_path / "a.safetensors", tensors)
    with pytest.raises(ModelRefused, match=f"a.safetensors: the LoRA seems to be for {base}"):
        run(engine, request_for(ref(path)))


def test_one_for_another_family_is_refused_before_anything_is_read(request_for, tmp_path):
    layer, n, k = OTHERS["FLUX"]
    tensors = {f"{layer}.lora_down.weight": torch.ones(2, k), f"{layer}.lora_up.weight": torch.ones(n, 2)}
    events = []
    with pytest.raises(ModelRefused, match="is of the family sdxl"):
        run(Engine(Catalog.standard()), request_for(ref(write_lora(tmp_path / "a.safetensors", tensors))), events)
    assert events == []


def test_what_is_left_out_of_a_file_is_told(engine, request_for, sdxl_networks, tmp_path):
    tensors = kohya_tensors(random_lora(sdxl_networks, r"attn2\."))
    tensors |= {
        "lora_te1_nowhere.lora_down.weight": torch.ones(2, 3),
        "lora_te1_nowhere.lora_up.weight": torch.ones(3, 2),
    }
    tensors["bundle_emb.word.clip_g"] = torch.ones(1, 64)
    events = []
    run(engine, request_for(ref(write_lora(tmp_path / "a.safetensors", tensors))), events)
    told = notices(events)["lora_partly_used"]
    assert "1 of its" in told and "'nowhere'" in told and "bundle_emb.word.clip_g" in told


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), 101.0, -1e30])
def test_a_weight_beyond_reason_is_refused(engine, request_for, files, weight):
    with pytest.raises(UsageError, match="the weight of a LoRA is"):
        run(engine, request_for(ref(files["ink"], weight)))


def test_more_than_anyone_needs_are_refused(engine, request_for, files):
    with pytest.raises(UsageError, match="the number of LoRAs is 33"):
        run(engine, request_for(*[ref(files["ink"])] * 33))


def test_those_for_no_stage_are_refused(engine, request_for, files):
    request = request_for(ref(files["ink"]))
    stage = replace(request.cascade.stages[0], loras=())
    with pytest.raises(UsageError, match=r"ink\.safetensors is not used"):
        run(engine, replace(request, cascade=Cascade(stages=(stage,))))
