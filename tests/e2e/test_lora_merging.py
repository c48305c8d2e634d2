"""Whole jobs with LoRAs: merged where weights compute, alike where they rest, stay and pass, and gone afterwards."""

from dataclasses import replace

import pytest
from card_jobs import pixels, request_of, run
from every_device import WaitsOfSteps
from fake_card.install import fake_card
from lora_files import kohya_tensors, oft_tensors, random_lora, write_lora

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.memory.streaming import StreamedNetwork
from mezzotint.protocol import LoraRef
from mezzotint.stages.models import model_cache
from mezzotint.stages.models.placement import network_key

MIB = 2**20


@pytest.fixture(scope="module")
def loras(tiny_pixart_folder, tmp_path_factory):
    from diffusers import PixArtTransformer2DModel

    networks = {"transformer": PixArtTransformer2DModel.from_pretrained(tiny_pixart_folder / "transformer")}
    folder = tmp_path_factory.mktemp("loras")
    found = {
        "ink": random_lora(networks, r"attn[12]\.|ff\.net|pos_embed\.proj"),
        "fog": random_lora(networks, r"attn2\.|adaln_single\.linear"),
        "oil": random_lora(networks, r"attn[12]\.|ff\.net|pos_embed\.proj", seed=3, dora="outputs"),
        "wax": random_lora(networks, r"attn1\.|ff\.net", seed=4, dora="inputs"),
    }
    files = {name: kohya_tensors(added) for name, added in found.items()}
    files["tin"] = oft_tensors(networks, r"attn[12]\.|ff\.net|pos_embed\.proj", "outputs")
    files["zinc"] = oft_tensors(networks, r"attn1\.|ff\.net|pos_embed\.proj", "inputs", seed=4)
    return {
        name: LoraRef(path=str(write_lora(folder / f"{name}.safetensors", tensors)), weight=0.7)
        for name, tensors in files.items()
    }


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("names", [("ink",), ("oil", "wax", "tin", "zinc")], ids="-".join)
def test_a_streamed_image_is_the_resident_one(tiny_pixart_folder, tmp_path, loras, dtype, names, monkeypatch):
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, dtype=dtype, loras=tuple(loras[name] for name in names))
    plain, original, streamed = run(job), model_cache._arrange, []

    def settle(residency, model, part):
        original(residency, model, replace(part, resident_blocks=min(part.blocks, 2), slots=2))
        streamed.append(residency[network_key(model, part.name)].resident < part.blocks)

    monkeypatch.setattr(model_cache, "_arrange", settle)
    assert pixels(run(replace(job, vram_limit_bytes=512 * MIB))) == pixels(plain)
    assert any(streamed) and plain.merged_layers > 0
    assert pixels(run(replace(job, loras=()))) != pixels(plain)


@pytest.mark.slow
def test_on_a_card_jobs_change_them_in_place_and_leave_none(tiny_pixart_folder, tmp_path, loras, monkeypatch):
    job, entered = request_of(tiny_pixart_folder, tmp_path=tmp_path), []
    chosen = [(loras["ink"],), (loras["ink"], replace(loras["fog"], weight=-0.4)), (loras["fog"],), ()]
    chosen += [(loras["oil"],), (replace(loras["oil"], weight=0.3), loras["wax"], loras["fog"])]
    chosen += [(loras["tin"],), (loras["tin"], loras["wax"], replace(loras["zinc"], weight=-0.4))]
    plain = [pixels(run(replace(job, device="cpu", loras=each))) for each in chosen]
    original = StreamedNetwork._bind

    def bound(network, *how):
        entered.append(type(network.network).__name__)
        original(network, *how)

    monkeypatch.setattr(StreamedNetwork, "_bind", bound)
    with fake_card(2**31) as card:
        engine = Engine(Catalog.standard())
        for each, wanted in zip(chosen, plain, strict=True):
            waits = WaitsOfSteps(card)
            result = run(replace(job, device="cuda:0", loras=each), waits, engine)
            assert pixels(result) == wanted
            assert (waits.between, card.hazards) == ([], [])
            assert (result.merged_layers > 0) == bool(each)
        engine.close()
    assert entered.count("PixArtTransformer2DModel") == 1, "weights stay on the card from job to job"


@pytest.mark.slow
def test_beside_quantized_weights_they_are_not_merged(tiny_pixart_folder, tmp_path, loras):
    quantized = request_of(tiny_pixart_folder, tmp_path=tmp_path, quantization="int8", loras=(loras["fog"],))
    assert run(quantized).merged_layers == 1  # adaln_single.linear, which is never quantized


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["int8", "int4"])
def test_doras_and_ofts_beside_quantized_weights_on_a_card(tiny_pixart_folder, tmp_path, loras, scheme):
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, quantization=scheme)
    chosen = [(loras["fog"],), (loras["oil"],), (replace(loras["oil"], weight=0.3), loras["wax"], loras["fog"]), ()]
    chosen += [(loras["tin"],), (loras["zinc"], replace(loras["tin"], weight=0.3), loras["oil"])]
    plain = [pixels(run(replace(job, device="cpu", loras=each))) for each in chosen]
    with fake_card(2**31):
        engine = Engine(Catalog.standard())
        for each, wanted in zip(chosen, plain, strict=True):  # weights stay on the card, with the LoRAs of the last job
            assert pixels(run(replace(job, device="cuda:0", loras=each), engine=engine)) == wanted
        engine.close()
    assert len({str(each) for each in plain}) == len(plain)
