"""Whole jobs on a card that is not there: the same images as on the processor, our kernels in every job, no wait."""

import itertools
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from card_jobs import pixels, request_of, run
from card_kernels import CardKernels, CardNf4, CardProducts, card_backends
from every_device import WaitsOfSteps
from fake_card.install import fake_card
from fake_products import no_bitsandbytes
from lora_files import kohya_tensors, random_lora, write_lora
from recorded_again import read_metadata

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import UsageError
from mezzotint.memory.machine.calibration import load_calibration
from mezzotint.protocol import LoraRef, Step
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.products import products
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.quantization.products.self_test import CASES

GIB = 2**30
SELF_TEST = len(CASES["bitsandbytes"])  # products


def flash(model, tmp_path, **fields):
    return request_of(model, tmp_path=tmp_path, dtype="bfloat16", attention="flash", device="cuda:0", **fields)


@pytest.mark.parametrize(
    ("model", "sampler"),
    [
        ("tiny_pixart_folder", "euler"),
        pytest.param("tiny_pixart_folder", "dpmpp_2m", marks=pytest.mark.slow),
        pytest.param("tiny_sdxl_folder", "euler", marks=pytest.mark.slow),
        pytest.param("tiny_sdxl_folder", "dpmpp_2m", marks=pytest.mark.slow),
    ],
)
def test_a_card_makes_the_very_image_of_the_processor_and_no_step_waits(request, tmp_path, model, sampler):
    job = request_of(request.getfixturevalue(model), tmp_path=tmp_path, sampler=sampler)
    plain = run(replace(job, device="cpu"))
    with fake_card(2 * GIB) as card:
        waits, before = WaitsOfSteps(card), card.device().allocated
        result = run(replace(job, device="cuda:0"), waits)
        assert result.device == "cuda:0"
        assert pixels(result) == pixels(plain)
        assert (waits.between, card.hazards) == ([], [])
        assert card.device().allocated == before, "nothing is left when the engine is closed"
        for phase in result.memory.phases:
            assert phase.measured_bytes <= 1.1 * phase.predicted_bytes, phase
            assert phase.held_bytes == phase.measured_bytes


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("fields", [{}, {"quantization": "int8"}])
def test_every_job_of_an_engine_calls_our_kernels_as_often(tiny_pixart_folder, tmp_path, fields):
    kernels, library, counts = CardKernels(), CardProducts(), []
    with fake_card(2 * GIB) as card:
        engine = Engine(Catalog.standard(), **card_backends(kernels, library))
        engine._attention.compiled["flash"].self_test("cuda:0", "bfloat16")
        engine._products.integers.self_test("cuda:0", "bfloat16")
        for _ in range(2):
            kernels.launches.clear()
            library.multiplied.clear()
            waits = WaitsOfSteps(card)
            result = run(flash(tiny_pixart_folder, tmp_path, **fields), waits, engine)
            counts.append((len(kernels.launches), len(library.multiplied), pixels(result)))
            assert (result.attention, result.attention_calls) == ("flash", len(kernels.launches))
            assert result.attention_fallbacks == ()
            assert (result.product_calls, result.products) == (
                len(library.multiplied),
                "kernels" if fields else None,
            )
            assert waits.between == []
        engine.close()
    assert counts[0] == counts[1]
    assert counts[0][0] > 0
    assert (counts[0][1] > 0) == bool(fields)


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [True, False])
def test_queries_keys_and_values_share_their_rounding(tiny_sdxl_folder, tmp_path, monkeypatch, streamed):
    """Wherever weights rest, the image is the one of separate roundings; there are as many products.

    Those of several layers, which round once by themselves, are left out.
    """
    monkeypatch.setattr(Fusion, "joining", lambda *_: nullcontext())
    library, counts = CardProducts(), []
    job = flash(tiny_sdxl_folder, tmp_path, quantization="int8")
    with fake_card(2 * GIB) as card:
        engine = Engine(Catalog.standard(), **card_backends(CardKernels(), library))
        if streamed:
            ample = replace(job, vram_limit_bytes=GIB)
            job = replace(job, vram_limit_bytes=run(ample, engine=engine).plan.smallest_vram_bytes)
        engine._products.integers.self_test("cuda:0", "bfloat16")
        for share in (products.share_quantized_inputs, lambda _: nullcontext()):
            monkeypatch.setattr(products, "share_quantized_inputs", share)
            library.quantized.clear()
            library.multiplied.clear()
            result = run(job, engine=engine)
            assert result.product_calls == len(library.multiplied)
            counts.append((len(library.quantized), len(library.multiplied), pixels(result)))
        engine.close()
        assert card.hazards == []
    (shared, *same), (apart, *before) = counts
    assert same == before
    assert shared < 0.8 * apart


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("scheme", ["int4", "int8"])
def test_without_kernels_no_step_of_a_quantized_model_waits(tiny_pixart_folder, tmp_path, scheme):
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, quantization=scheme)
    plain = run(replace(job, device="cpu"))
    with fake_card(2 * GIB) as card:
        waits = WaitsOfSteps(card)
        engine = Engine(Catalog.standard(), products=ProductBackends(open_nf4=no_bitsandbytes))
        result = run(replace(job, device="cuda:0"), waits, engine)
        engine.close()
        assert (waits.between, card.hazards) == ([], [])
        assert pixels(result) == pixels(plain)
        assert result.nf4_products == ("torch" if scheme == "int4" else None)


def test_weights_in_nf4_are_multiplied_by_bitsandbytes_and_no_step_waits(tiny_pixart_folder, tmp_path):
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, quantization="int4")
    plain, gemm = run(replace(job, device="cpu")), CardNf4()
    with fake_card(2 * GIB) as card:
        engine, waits = Engine(Catalog.standard(), **card_backends(nf4=gemm)), WaitsOfSteps(card)
        result = run(replace(job, device="cuda:0"), waits, engine)
        engine.close()
        assert (waits.between, card.hazards) == ([], [])
    assert (plain.nf4_products, plain.nf4_calls) == ("torch", 0)
    assert (result.nf4_products, result.nf4_calls) == ("bitsandbytes", gemm.calls - SELF_TEST)
    assert result.nf4_calls > 0 and result.product_fallbacks == ()
    assert pixels(result) == pixels(plain)


def test_loras_leave_the_card_before_another_model_works(tiny_sdxl_folder, tiny_pixart_folder, tmp_path):
    from diffusers import UNet2DConditionModel

    unet = UNet2DConditionModel.from_pretrained(tiny_sdxl_folder / "unet")
    path = write_lora(tmp_path / "a.safetensors", kohya_tensors(random_lora({"unet": unet}, r"attn2\.|ff\.net")))
    job = request_of(tiny_sdxl_folder, tmp_path=tmp_path, device="cuda:0", loras=(LoraRef(path=str(path)),))
    other = request_of(tiny_pixart_folder, tmp_path=tmp_path, device="cuda:0")

    def peaks(*before):
        with fake_card(2 * GIB):
            engine = Engine(Catalog.standard())
            for each in before:
                run(each, engine=engine)
            result = run(other, engine=engine)
            engine.close()
        return [(phase.name, phase.measured_bytes) for phase in result.memory.phases]

    assert peaks(job) == peaks()


def test_sums_are_in_float16_while_it_denoises_and_then_no_more(tiny_pixart_folder, tmp_path):
    products, seen = torch.backends.cuda.matmul, set()
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, fast=True, dtype="auto")
    with fake_card(2 * GIB):
        result = run(
            replace(job, device="cuda:0"), lambda event: seen.add((type(event), products.allow_fp16_accumulation))
        )
    assert (result.fast, result.dtype, products.allow_fp16_accumulation) == (True, "float16", False)
    assert {on for event, on in seen if event is Step} == {True}
    assert {on for event, on in seen if event is not Step} == {False}
    again = read_metadata(Path(result.images[0].path)).request
    assert (again.fast, again.dtype) == (True, "float16")


def test_where_sums_are_not_it_is_told(tiny_pixart_folder, tmp_path):
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, device="cpu", fast=True, dtype="auto")
    result = run(job)
    assert (result.fast, result.dtype) == (False, "float32")
    assert [notice for notice in result.notices if "--fast has no effect on cpu" in notice]
    with pytest.raises(UsageError, match="--fast means float16 with float16 accumulation, but dtype is bfloat16"):
        run(replace(job, dtype="bfloat16"))


def test_a_job_teaches_how_long_steps_take_and_odd_ones_do_not(tiny_pixart_folder, tmp_path, monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 1000)
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, device="cuda:0", steps=8)
    with fake_card(2 * GIB):
        engine = Engine(Catalog.standard())
        name = run(replace(job, attention="sdpa"), engine=engine).device_name
        assert load_calibration(paths.cache_folder(), name).times == {}
        run(job, engine=engine)
        engine.close()
    assert set(load_calibration(paths.cache_folder(), name).times) == {"pixart/denoiser/none"}
