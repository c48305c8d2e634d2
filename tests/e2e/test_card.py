"""Whole jobs on a card that is not there: the same pictures as on the processor, our kernels in every job, no wait."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
from card_jobs import pixels, request_of, run
from card_kernels import CardKernels, CardNf4, CardProducts, card_backends
from fake_card.install import fake_card
from fake_products import no_bitsandbytes

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Step
from mezzotint.quantization import products
from mezzotint.quantization.product_selection import ProductBackends
from mezzotint.quantization.product_self_test import CASES

GIB = 2**30
SELF_TEST = len(CASES["bitsandbytes"])  # products


def flash(model, tmp_path, **fields):
    return request_of(model, tmp_path=tmp_path, dtype="bfloat16", attention="flash", device="cuda:0", **fields)


class WaitsOfSteps:
    """What the thread that computes waited for, from the end of one step to the end of the next."""

    def __init__(self, card):
        self._card, self._counts = card, []
        self.between = []

    def __call__(self, event):
        if isinstance(event, Step):
            now = {key: times for key, times in self._card.waits.items() if " in " not in key[1]}
            if self._counts and event.step > 1:
                before = self._counts[-1]
                self.between += [key for key, times in now.items() if times > before.get(key, 0)]
            self._counts.append(now)


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
    kernels, library, counts = CardKernels(), CardProducts(), []
    with fake_card(2 * GIB) as card:
        engine = Engine(Catalog.standard(), **card_backends(kernels, library))
        engine._attention.self_test("flash", "cuda:0", "bfloat16")
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


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("streamed", [True, False])
def test_queries_keys_and_values_share_their_rounding(tiny_sdxl_folder, tmp_path, monkeypatch, streamed):
    """Wherever weights rest, the picture is the one of separate roundings; there are as many products."""
    library, counts = CardProducts(), []
    job = flash(tiny_sdxl_folder, tmp_path, quantization="int8")
    with fake_card(2 * GIB) as card:
        engine = Engine(Catalog.standard(), **card_backends(CardKernels(), library))
        if streamed:
            ample = replace(job, vram_limit_bytes=GIB)
            job = replace(job, vram_limit_bytes=run(ample, engine=engine).plan.smallest_vram_bytes)
        engine._products.integers.self_test("cuda:0", "bfloat16")
        for share in (products.sharing, lambda _: nullcontext()):
            monkeypatch.setattr(products, "sharing", share)
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
