"""Images enlarged within a job: by an upscaler and in tiles, planned, measured, recorded and made again."""

from dataclasses import replace
from pathlib import Path

import pytest
from card_jobs import run as card_run
from every_device import WaitsOfSteps
from fake_card.install import fake_card
from inpaint_requests import again, run
from PIL import Image
from recorded_again import read_metadata

from mezzotint.batch.job.settings import request_of
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import UsageError
from mezzotint.library_protocol import BUNDLED_UPSCALER as UPSCALER
from mezzotint.options import Options

LIMIT = 256 * 2**20


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def job(tiny_sdxl_folder, tmp_path):
    def build(**options):
        usual = {"prompt": "a red house", "seed": 7, "model": str(tiny_sdxl_folder), "size": (64, 64), "steps": 2}
        usual |= {"attention": "sdpa", "dtype": "float32", "output": f"{tmp_path}/out/", "guidance": 1.0}
        return request_of(Options(**usual | options))

    return build


def test_a_second_pass_by_an_upscaler_in_tiles_stays_within_its_plan(engine, job):
    made = run(engine, second_pass(job))
    (transition,) = made.transitions
    assert [(stage.width, stage.height, stage.tile) for stage in made.stages] == [(128, 64, 0), (208, 104, 128)]
    assert (transition.space, transition.upscaler, len(transition.upscaler_file.sha256)) == ("pixel", UPSCALER, 64)
    assert any("208x104 is denoised in 2 overlapping tiles of 128x128" in notice for notice in made.notices)
    assert [phase.name for phase in made.memory.phases] == ["encode", "stage 1", "stage 2", "decode"]
    for phase in made.memory.phases:
        assert 0 < phase.measured_bytes <= phase.predicted_bytes <= LIMIT, phase
    assert made.recoveries == ()
    recorded = read_metadata(Path(made.images[0].path)).request.cascade
    assert (recorded.transitions[0].upscaler, recorded.stages[0].sampling.denoise_tile) == (UPSCALER, 128)


def second_pass(job):
    sizes = {"size": (128, 64), "hires": 1.625, "denoise_tile": 128, "vae_tile": 128}
    return job(hires_upscaler=UPSCALER, vram_limit=LIMIT, **sizes)


@pytest.mark.slow
def test_it_is_made_again_from_its_record(engine, job):
    made = run(engine, second_pass(job))
    assert again(engine, made, second_pass(job)) == made.images[0].sha256
    other = run(engine, replace(second_pass(job), vram_limit_bytes=None))
    assert other.images[0].sha256 == made.images[0].sha256


def enlarging(job, tmp_path):
    Image.radial_gradient("L").resize((104, 64)).convert("RGB").save(tmp_path / "small.png")
    return job(init=str(tmp_path / "small.png"), size=(208, 104), strength=0.5, denoise_tile=128)


def test_an_existing_image_is_enlarged(engine, job, tmp_path):
    made = run(engine, replace(enlarging(job, tmp_path), init_upscaler=UPSCALER))
    assert (made.stages[0].tile, made.images[0].width) == (128, 208)
    request = read_metadata(Path(made.images[0].path)).request
    assert (request.init_upscaler, len(request.init_upscaler_sha256)) == (UPSCALER, 64)


@pytest.mark.slow
def test_the_upscaler_matters_and_the_image_is_made_again(engine, job, tmp_path):
    asked = enlarging(job, tmp_path)
    made = run(engine, replace(asked, init_upscaler=UPSCALER))
    assert made.images[0].sha256 == again(engine, made, asked) != run(engine, asked).images[0].sha256


def test_an_upscaler_without_an_init_image_is_refused(engine, job):
    with pytest.raises(UsageError, match="--init-upscaler"):
        run(engine, job(init_upscaler=UPSCALER))


@pytest.mark.slow
def test_a_card_makes_the_same_image_within_its_plan_and_no_step_waits(job):
    asked = replace(second_pass(job), vram_limit_bytes=None, quantization="none", text_quantization="none")
    plain = card_run(replace(asked, device="cpu"))
    with fake_card(8 * 2**30) as card:
        waits, before = WaitsOfSteps(card), card.device().allocated
        made = card_run(replace(asked, device="cuda:0"), waits)
        assert made.images[0].sha256 == plain.images[0].sha256
        assert (waits.between, card.hazards) == ([], []) and card.device().allocated == before
        for phase in made.memory.phases:
            assert phase.measured_bytes <= phase.predicted_bytes <= 8 * 2**30, phase
