"""Jobs under a limit, and jobs that run out of memory at every point: the same image, or an error that says why."""

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recorded_again import read_metadata

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.cli.argument_types import memory_size
from mezzotint.engine import Engine
from mezzotint.errors import OutOfMemory
from mezzotint.memory.device import open_device
from mezzotint.protocol import (
    Cascade,
    DecodeRequest,
    GenerateRequest,
    ModelRef,
    Notice,
    Output,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.stages.images.pending_decode import undecoded
from mezzotint.stages.models import model_cache, placement

MIB = 2**20
AMPLE = 512 * MIB


def engine():
    return Engine(Catalog.standard())


def request_of(*stages, tmp_path, **fields):
    transitions = tuple(Transition() for _ in stages[1:])
    fields = {"prompt": "a red house", "seed": 7, "output": Output(path=f"{tmp_path}/out/")} | fields
    return GenerateRequest(cascade=Cascade(stages=stages, transitions=transitions), **fields)


@pytest.fixture
def sdxl(tiny_sdxl_folder, tmp_path):
    sampling = Sampling(steps=3, sampler="euler_a", guidance_scale=4.0)
    return request_of(
        Stage(model=ModelRef(id=str(tiny_sdxl_folder)), width=64, height=64, sampling=sampling), tmp_path=tmp_path
    )


@pytest.fixture
def cascade(tmp_path):
    base = Stage(model=ModelRef(id="starter-xl"), until=0.6, sampling=Sampling(steps=3))
    refiner = Stage(model=ModelRef(id="starter-xl-refiner"), sampling=Sampling(steps=3))
    return request_of(base, refiner, tmp_path=tmp_path)


def run(request, events=None, on=None):
    return (on or engine()).generate(request, (events if events is not None else []).append, lambda: False)


def pixels(image):
    return np.asarray(Image.open(image.path)).astype(int)


# ---- under a limit


@pytest.mark.slow
def test_a_cascade_under_a_limit_is_the_same_image_and_reports_its_peaks(cascade):
    plain, ample = run(cascade), run(replace(cascade, vram_limit_bytes=AMPLE))
    least = ample.plan.smallest_vram_bytes
    tight = run(replace(cascade, vram_limit_bytes=least))
    assert plain.plan is None and plain.memory.peak_vram_bytes is None
    assert {result.images[0].sha256 for result in (plain, ample, tight)} == {plain.images[0].sha256}
    for result, limit in ((ample, AMPLE), (tight, least)):
        phases = {phase.name: phase for phase in result.memory.phases}
        assert list(phases) == ["encode", "stage 1", "stage 2", "decode"]
        assert all(0 < phase.measured_bytes <= limit for phase in phases.values())
        assert result.memory.peak_vram_bytes == max(phase.measured_bytes for phase in phases.values())
        assert phases["decode"].measured_bytes == pytest.approx(phases["decode"].predicted_bytes, rel=0.25)
        assert result.recoveries == ()
    assert tight.memory.peak_vram_bytes < ample.memory.peak_vram_bytes


@pytest.mark.slow
def test_too_small_a_limit_is_refused_with_the_smallest_that_works(sdxl):
    sdxl = replace(sdxl, quantization="none", text_quantization="none")
    with pytest.raises(OutOfMemory, match=r"the minimum is [\d.]+ MB of device memory") as refused:
        run(replace(sdxl, vram_limit_bytes=2 * MIB))
    assert refused.value.exit_code == 4
    smallest = memory_size(str(refused.value).partition("minimum is ")[2].partition(" of")[0])
    assert run(replace(sdxl, vram_limit_bytes=smallest)).images[0].sha256 == run(sdxl).images[0].sha256


@pytest.mark.slow
def test_what_was_planned_is_replayed_without_the_limit(sdxl):
    first = run(replace(sdxl, vram_limit_bytes=AMPLE, memory="lowest", quantization="none", text_quantization="none"))
    recorded = read_metadata(Path(first.images[0].path)).request
    assert (recorded.vram_limit_bytes, recorded.memory, recorded.vae_tile) == (None, "auto", first.vae_tile)
    assert run(replace(recorded, output=sdxl.output)).images[0].sha256 == first.images[0].sha256


def test_models_stay_warm_and_share_what_they_have_in_common(cascade):
    kept, request = engine(), replace(cascade, vram_limit_bytes=AMPLE)
    first = run(request, on=kept)
    events = []
    second = run(request, events, on=kept)
    assert second.images[0].sha256 == first.images[0].sha256
    assert not any(type(event).__name__ == "Loading" for event in events)
    models = kept._model_cache._warm.models
    assert len({id(model.networks["vae"]) for model in models if "vae" in model.networks}) == 1
    kept.close()


# ---- out of memory


class Shortage:
    """Refuses what `when(number, size)` says, on the devices that are opened."""

    def __init__(self, monkeypatch):
        self.requests = []
        self.when = lambda number, size: False
        monkeypatch.setattr(model_cache, "open_device", partial(open_device, refuse=self._refuse))

    def _refuse(self, number, size):
        self.requests.append(size)
        return self.when(number, size)


@pytest.fixture
def shortage(monkeypatch):
    return Shortage(monkeypatch)


@pytest.mark.slow
def test_once_at_any_point_makes_no_difference(sdxl, shortage):
    request = replace(sdxl, vram_limit_bytes=AMPLE)
    whole = run(request)
    count = len(shortage.requests)
    for at in [0, 3, *range(6, count, count // 7), count - 1]:
        shortage.when = lambda number, _, at=at: number == at
        result = run(request)
        assert result.images[0].sha256 == whole.images[0].sha256, at
        assert result.recoveries == (), "freed caches are no news"


def in_phase(phase, shortage, monkeypatch, condition):
    """Refuse, in phases of such a name, what the condition says of the work there and of the bytes."""
    working = []
    begun = placement.Placement._load_phase

    def enter(self, stack, at):
        begun(self, stack, at)
        working[:] = [at]

    monkeypatch.setattr(placement.Placement, "_load_phase", enter)
    shortage.when = lambda _, size: bool(working) and working[0].name.startswith(phase) and condition(working[0], size)


@pytest.mark.slow
def test_blocks_are_given_up_then_halves_come_in_turn(sdxl, shortage, monkeypatch):
    request, events = replace(sdxl, vram_limit_bytes=AMPLE), []
    whole = run(request)
    in_phase("stage", shortage, monkeypatch, lambda at, _: at.model.passes == "batched")
    result = run(request, events)
    assert result.guidance_passes == "sequential"
    assert any("blocks of unet stay" in done for done in result.recoveries)
    assert result.recoveries[-1] == "conditional and unconditional passes run one after the other"
    assert np.abs(pixels(result.images[0]) - pixels(whole.images[0])).max() <= 2
    told = [event.message for event in events if isinstance(event, Notice) and event.code == "memory_short"]
    assert len(told) >= 2 and "stage 1 ran out of memory" in told[0]


@pytest.mark.slow
def test_precision_is_the_last_resort_and_is_recorded(sdxl, shortage, monkeypatch):
    request, kept = replace(sdxl, vram_limit_bytes=AMPLE, quantization="none"), engine()
    whole = run(request, on=kept)
    in_phase("stage", shortage, monkeypatch, lambda at, _: not at.model.lowered)
    result = run(request, on=kept)
    assert result.recoveries[-1] == "unet is quantized to int8"
    assert read_metadata(Path(result.images[0].path)).request is not None
    assert result.images[0].sha256 != whole.images[0].sha256
    assert np.abs(pixels(result.images[0]) - pixels(whole.images[0])).mean() < 12
    shortage.when = lambda *_: False
    assert run(request, on=kept).images[0].sha256 == whole.images[0].sha256  # the lowered one is gone


@pytest.mark.slow
def test_strict_refuses_what_changes_the_image(sdxl, shortage, monkeypatch):
    in_phase("stage", shortage, monkeypatch, lambda at, _: not at.model.lowered)
    with pytest.raises(OutOfMemory, match="leave out --strict"):
        run(replace(sdxl, vram_limit_bytes=AMPLE, strict=True))


@pytest.fixture
def large(tiny_sdxl_folder, tmp_path):
    stage = Stage(model=ModelRef(id=str(tiny_sdxl_folder)), width=256, height=192, sampling=Sampling(steps=1))
    return request_of(stage, tmp_path=tmp_path, vram_limit_bytes=AMPLE)


@pytest.mark.slow
def test_decoding_takes_smaller_squares(large, shortage, monkeypatch):
    whole = run(large)
    in_phase("decode", shortage, monkeypatch, lambda at, _: at.model.vae_tile != 128 and bool(at.pixels))
    result = run(large)
    assert result.recoveries[-1] == "the image is decoded in tiles of 128 pixels" and result.vae_tile == 128
    recorded = read_metadata(Path(result.images[0].path)).request
    assert recorded.vae_tile == 128
    shortage.when = lambda *_: False
    assert run(replace(recorded, output=large.output)).images[0].sha256 == result.images[0].sha256
    assert np.abs(pixels(result.images[0]) - pixels(whole.images[0])).mean() < 20


@pytest.mark.slow
def test_an_image_that_cannot_be_decoded_is_finished_later(large, shortage, monkeypatch):
    whole = run(large)
    in_phase("decode", shortage, monkeypatch, lambda at, _: bool(at.pixels))
    with pytest.raises(OutOfMemory):
        run(replace(large, strict=True))
    (path,) = undecoded(paths.undecoded_folder())
    shortage.when = lambda *_: False
    image = engine().decode(DecodeRequest(path=str(path)), lambda _: None, lambda: False)
    assert image.sha256 == whole.images[0].sha256


@pytest.mark.slow
def test_nothing_left_to_give_is_an_error_with_numbers(sdxl, shortage):
    shortage.when = lambda *_: True
    with pytest.raises(OutOfMemory, match="MiB") as refused:
        run(replace(sdxl, vram_limit_bytes=AMPLE))
    assert refused.value.exit_code == 4


# ---- an engine that dies


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_killed_before_decoding_the_image_is_finished_by_the_next(sdxl, tmp_path):
    request = replace(sdxl, output=Output(path=str(tmp_path / "killed.png")))
    from mezzotint.codec import to_json

    script = """
        import os, signal, sys
        from mezzotint.codec import from_json
        from mezzotint.catalog.catalog import Catalog
        from mezzotint.engine import Engine
        from mezzotint.protocol import GenerateRequest
        from mezzotint.stages import pipeline
        pipeline.to_image = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        Engine(Catalog.standard()).generate(from_json(GenerateRequest, sys.argv[1]), lambda _: None, lambda: False)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), to_json(request)], check=False)
    assert done.returncode == -signal.SIGKILL and not (tmp_path / "killed.png").exists()
    (path,) = undecoded(paths.undecoded_folder())
    image = engine().decode(DecodeRequest(path=str(path)), lambda _: None, lambda: False)
    assert image.path == str(tmp_path / "killed.png")
    assert image.sha256 == run(sdxl).images[0].sha256
