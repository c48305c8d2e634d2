"""Detail passes: found parts are made anew, the rest stays as it was, and both are recorded and repeated."""

from dataclasses import replace
from pathlib import Path

import pytest
from inpaint_requests import again, run
from PIL import Image, ImageChops
from recorded_again import read_metadata
from tiny_perception import write_pointing_detector

from mezzotint.batch.job.settings import request_of
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import StorageError, UsageError
from mezzotint.options import Options
from mezzotint.protocol import DetailFound, Step
from mezzotint.stages.images.pending_decode import undecoded
from mezzotint.values.details import DetailRef


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture(scope="module")
def face(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detectors") / "pointing"
    write_pointing_detector(folder)
    return DetailRef(label="face", model=str(folder), strength=1.0, padding=8)


@pytest.fixture
def job(tmp_path):
    def build(**options):
        usual = {"prompt": "a red house", "seed": 7, "model": "starter-xl", "steps": 2, "dtype": "float32"}
        return request_of(Options(**usual | {"output": f"{tmp_path}/out/", "attention": "sdpa"} | options))

    return build


def pixels(result, number=0):
    return Image.open(result.images[number].path).convert("RGB")


def differs(one, other):
    return ImageChops.difference(one, other).getbbox()


def test_a_drawn_scene_changes_where_something_is_found(engine, job, face):
    plain = pixels(run(engine, job()))
    made = run(engine, request := job(detail=(face,)))
    width, height = plain.size
    box = (width // 2, height // 2, width, height)
    left, top, right, bottom = differs(plain, pixels(made))
    assert left >= box[0] and top >= box[1]
    assert (right - left) * (bottom - top) > 0.7 * (box[2] - box[0]) * (box[3] - box[1])
    assert made.images[0].details == (DetailFound(label="face", box=box, score=0.8808),)
    found = read_metadata(Path(made.images[0].path))
    assert found.other["details"] == f"face at {','.join(map(str, box))}"
    assert found.request.details[0].sha256 is not None
    assert again(engine, made, request) == made.images[0].sha256


def test_nothing_found_leaves_every_bit_and_is_said(engine, job, face):
    made = run(engine, job(detail=(replace(face, confidence=0.95),)))
    assert any("no face was found with a confidence of 0.95" in each for each in made.notices)
    assert pixels(made).tobytes() == pixels(run(engine, job())).tobytes()
    assert made.images[0].details == ()


def test_the_detector_is_planned_and_leaves_the_card(engine, job, face):
    made = run(engine, job(detail=(face,), steps=1, vram_limit=400 * 2**20))
    planned = {phase.name: phase for phase in made.plan.phases}
    assert planned["decode"].activation_bytes > 150 * 10**6
    assert made.images[0].details and all(
        phase.measured_bytes <= 1.05 * phase.predicted_bytes for phase in made.memory.phases
    )


@pytest.mark.slow
def test_several_images_and_passes(engine, job, face, tmp_path):
    told = []
    passes = (face, replace(face, prompt="a blue door", strength=0.5))
    made = engine.generate(job(detail=passes, count=2, output=f"{tmp_path}/out/[seed].png"), told.append)
    assert [Path(image.path).name for image in made.images] == ["7.png", "8.png"]
    assert [len(image.details) for image in made.images] == [2, 2]
    steps = [(each.image, each.stage, each.step, each.steps) for each in told if isinstance(each, Step)]
    assert steps[:2] == [(0, 0, 1, 2), (0, 0, 2, 2)] and {each.stages for each in told if isinstance(each, Step)} == {2}
    assert {image for image, *_ in steps} == {0, 1} and all(step <= of for *_, step, of in steps)


def test_an_interrupted_pass_leaves_the_latents(engine, job, face, monkeypatch, tmp_path):
    from mezzotint import paths
    from mezzotint.stages.details.parts import PartJob

    monkeypatch.setattr(paths, "undecoded_folder", lambda: tmp_path / "undecoded")

    def fail(self):
        raise StorageError("the disk is full")

    monkeypatch.setattr(PartJob, "run", fail)
    with pytest.raises(StorageError):
        run(engine, job(detail=(face,)))
    assert len(undecoded(tmp_path / "undecoded")) == 1 and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changed", "reason"), [({"label": "dog"}, "cannot find 'dog'"), ({"strength": 0.1}, "no steps left")]
)
def test_what_cannot_work_is_refused_first(engine, job, face, changed, reason):
    told = []
    with pytest.raises(UsageError, match=reason):
        engine.generate(job(detail=(replace(face, **changed),)), told.append)
    assert told == []
