"""Images by compiled blocks."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from recorded_again import read_metadata

from mezzotint.acceleration.compiled_blocks import CompiledBlocks
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage


@pytest.fixture(autouse=True)
def _without_a_compiler(monkeypatch):
    """Graphs are taken apart and run as they are: what a machine needs to compile them is not asked for."""
    monkeypatch.setattr(CompiledBlocks.__init__, "__defaults__", ("eager",))
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.fixture(params=["tiny_pixart_folder", "tiny_sdxl_folder"])
def request_for(request, tmp_path):
    folder = request.getfixturevalue(request.param)
    stage = Stage(model=ModelRef(id=str(folder)), width=64, height=64, sampling=Sampling(steps=2))
    return GenerateRequest(
        prompt="a red house", seed=7, cascade=Cascade(stages=(stage,)), output=Output(path=f"{tmp_path}/out/")
    )


def run(request):
    return Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)


@pytest.mark.slow
def test_the_image_is_the_same_and_says_so(request_for):
    plain, compiled = run(request_for), run(replace(request_for, compile=True))
    assert (plain.compiled, compiled.compiled) == (False, True)
    assert compiled.images[0].sha256 == plain.images[0].sha256 and compiled.notices == ()
    assert read_metadata(Path(compiled.images[0].path)).request.compile is True


@pytest.mark.slow
def test_a_simulated_card_is_none_to_compile_for(request_for):
    result = run(replace(request_for, compile=True, vram_limit_bytes=2**29))
    assert not result.compiled and any("simulated card" in notice for notice in result.notices)
