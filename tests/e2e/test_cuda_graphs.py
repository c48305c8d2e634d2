"""Steps captured as CUDA graphs on a card that is not there: the very same image, and no Python between kernels."""

from dataclasses import replace

import pytest
from card_jobs import pixels, request_of, run
from card_kernels import CardKernels, CardProducts, card_backends
from every_device import WaitsOfSteps
from fake_card.install import fake_card

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import GraphsUsed

GIB = 2**30
STEPS = 5


def job(model, tmp_path, steps=STEPS, **fields):
    made = request_of(model, tmp_path=tmp_path, device="cuda:0", cuda_graphs="on", **fields)
    stages = tuple(replace(each, sampling=replace(each.sampling, steps=steps)) for each in made.cascade.stages)
    return replace(made, cascade=replace(made.cascade, stages=stages))


@pytest.fixture
def forwards(monkeypatch):
    """How often attention layers were called by Python."""
    from diffusers.models.attention_processor import Attention

    calls, plain = [], Attention.forward

    def forward(self, *args, **kwargs):
        calls.append(self)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(Attention, "forward", forward)
    return calls


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("model", ["tiny_pixart_folder", "tiny_sdxl_folder"])
def test_the_image_is_the_same_without_python_between_kernels(request, tmp_path, model, forwards):
    asked = job(request.getfixturevalue(model), tmp_path)
    with fake_card(2 * GIB) as card:
        plain = run(replace(asked, cuda_graphs="off"))
        eager = len(forwards)
        forwards.clear()
        waits = WaitsOfSteps(card)
        result = run(asked, waits)
        assert pixels(result) == pixels(plain) and plain.cuda_graphs is None
        assert result.cuda_graphs == GraphsUsed(captured=1, replayed=STEPS - 1, eager=1, reason="")
        assert len(forwards) < 0.7 * eager
        assert {place.partition(":")[0] for _, place in waits.between} <= {"acceleration/captured_steps.py"}
        assert len(waits.between) <= 1 and card.hazards == []
        assert card.device().pools == 0, "graphs are gone with the phase"
        for phase in result.memory.phases:
            assert phase.measured_bytes <= 1.1 * phase.predicted_bytes, phase


def test_without_being_asked_for_there_are_none(tiny_pixart_folder, tmp_path):
    with fake_card(2 * GIB):
        assert run(replace(job(tiny_pixart_folder, tmp_path), cuda_graphs="auto")).cuda_graphs is None


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("fields", [{"quantization": "int8"}, {}])
def test_our_kernels_are_captured_and_counted(tiny_pixart_folder, tmp_path, fields):
    asked = job(tiny_pixart_folder, tmp_path, dtype="bfloat16", attention="flash", **fields)
    with fake_card(2 * GIB) as card:
        engine = Engine(Catalog.standard(), **card_backends(CardKernels(), CardProducts()))
        plain, result = run(replace(asked, cuda_graphs="off"), engine=engine), run(asked, engine=engine)
        engine.close()
        assert pixels(result) == pixels(plain) and card.hazards == []
        assert (result.cuda_graphs.captured, result.cuda_graphs.replayed) == (1, STEPS - 1)
        assert (result.attention_calls, result.product_calls) == (plain.attention_calls, plain.product_calls)
        assert result.product_schemes == plain.product_schemes
        assert result.attention_calls > 0
