"""Whole jobs on a card that is not there: the same pictures as on the processor, our kernels in every job, no wait."""

from dataclasses import replace

import pytest
from card_jobs import WaitsOfSteps, pixels, request_of, run
from card_kernels import CardKernels, CardNf4, CardProducts, card_backends
from fake_card.install import fake_card
from fake_products import no_bitsandbytes

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.quantization.product_selection import ProductBackends
from mezzotint.quantization.product_self_test import CASES

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
def test_a_card_makes_the_very_picture_of_the_processor_and_no_step_waits(request, tmp_path, model, sampler):
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
    kernels, products, counts = CardKernels(), CardProducts(), []
    with fake_card(2 * GIB) as card:
        engine = Engine(Catalog.standard(), **card_backends(kernels, products))
        engine._attention.self_test("flash", "cuda:0", "bfloat16")
        engine._products.integers.self_test("cuda:0", "bfloat16")
        for _ in range(2):
            kernels.launches.clear()
            products.multiplied.clear()
            waits = WaitsOfSteps(card)
            result = run(flash(tiny_pixart_folder, tmp_path, **fields), waits, engine)
            counts.append((len(kernels.launches), len(products.multiplied), pixels(result)))
            assert (result.attention, result.attention_calls) == ("flash", len(kernels.launches))
            assert result.attention_fallbacks == ()
            assert (result.product_calls, result.products) == (
                len(products.multiplied),
                "kernels" if fields else None,
            )
            assert waits.between == []
        engine.close()
    assert counts[0] == counts[1]
    assert counts[0][0] > 0
    assert (counts[0][1] > 0) == bool(fields)


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
