"""What a job will take, from what is known."""

import itertools
from pathlib import Path

import pytest
from PIL import Image

from mezzotint.batch.tasks.estimate import Sizes, Times, bytes_of, free_bytes
from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import UnknownModel, UsageError
from mezzotint.jobs.store import JobStore, PhaseSeconds
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    Inpaint,
    ModelRef,
    Output,
    Plan,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.stages.planning import planned

SAMPLES = Path(__file__).parents[4] / "assets" / "samples"


@pytest.fixture
def sizes():
    catalog = Catalog.standard(())
    return Sizes(catalog.find, catalog.default())


def request(*stages, **said):
    cascade = Cascade(
        stages=stages or (Stage(),), transitions=(Transition(scale=1.5, strength=0.5),) * (len(stages) - 1)
    )
    return GenerateRequest(prompt="a", cascade=cascade, **said)


@pytest.fixture
def init_image(tmp_path):
    path = tmp_path / "p.png"
    Image.new("RGB", (300, 100), "red").save(path, exif=_turned())
    return path


def _turned():
    exif = Image.Exif()
    exif[0x0112] = 6  # it stands on its side
    return exif


def test_sizes_are_those_that_come_out(sizes, init_image):
    init = ImageInput(path=str(init_image))
    mask = ImageInput(path=str(init_image), role="mask")
    assert sizes.size(request()) == (128, 128)
    assert sizes.size(request(Stage(width=128, height=64), Stage())) == (192, 96)
    tall = sizes.size(request(images=(init,)))
    assert tall[0] < tall[1]
    assert all(side % 16 == 0 for side in tall)
    assert sizes.size(request(images=(init, mask), inpaint=Inpaint(area="masked", left=5))) == (105, 300)
    assert sizes.size(request(images=(init,), inpaint=Inpaint(left=5))) == (105, 300)
    assert sizes.size(request(images=(init, mask), inpaint=Inpaint())) == tall


def test_what_the_engine_refuses_is_refused_here(sizes):
    for _ in range(2):  # also when it is known
        with pytest.raises(UsageError, match="multiples"):
            sizes.size(request(Stage(width=130)))
        with pytest.raises(UnknownModel):
            sizes.size(request(Stage(model=ModelRef(id="no such model"))))


def test_models_are_looked_for_once():
    catalog, asked = Catalog.standard(()), []
    sizes = Sizes(lambda ref: asked.append(ref) or catalog.find(ref), catalog.default())
    for width in (64, 128, 64, 192):
        sizes.size(request(Stage(width=width)))
    assert asked == [catalog.default()]


def test_times_that_the_queue_has_learned(tmp_path):
    with JobStore.open(tmp_path / "queue.sqlite").store as store:
        stage = Stage(width=64, height=64, model=ModelRef(id="m"), sampling=Sampling(steps=10))
        asked = GenerateRequest(prompt="a", seed=1, cascade=Cascade(stages=(stage,)), output=Output(path="/p/"))
        store.add([asked])
        store.finish(store.claim("the test").id, PhaseSeconds(load=8, encode=1, step=0.5, decode=2, save=1, steps=10))
        known = Times(store.expected).duration(asked, (64, 64))
        assert (known.seconds, known.load, known.how) == (9.0, 8.0, "measured")
        other = Times(store.expected).duration(request(Stage(model=ModelRef(id="n"))), (64, 64))
        assert (other.seconds, other.how) == (None, "unknown")


def test_times_that_the_planner_expects():
    asked = []

    def plan(question) -> Plan:
        asked.append(question)
        return planned(question, lambda: None)

    times = Times(None, plan, "sdxl")
    longer, shorter = (times.duration(request(Stage(sampling=Sampling(steps=n))), (512, 512)) for n in (40, 20))
    assert longer.how == "planned"
    assert 0 < shorter.seconds < longer.seconds
    assert times.duration(request(Stage(sampling=Sampling(steps=40))), (512, 512)) == longer
    assert len(asked) == 2
    assert (asked[0].models, asked[0].width, asked[0].steps) == (("sdxl",), 512, 40)


def test_room_is_of_the_right_order(tmp_path):
    ways = {"png": {}, "jpg": {"quality": 95, "subsampling": 0}, "webp": {"quality": 95}}
    with Image.open(SAMPLES / "starter-xl.webp") as image:
        for form, way in ways.items():
            path = tmp_path / f"p.{form}"
            image.convert("RGB").save(path, **way)
            assert 0.5 < bytes_of(image.size, form) / path.stat().st_size < 4
    assert all(bytes_of((n, n), "png") < bytes_of((n + 1, n), "png") for n in range(1, 99))


def test_free_room_of_a_folder_that_is_not_there_yet(tmp_path):
    assert free_bytes(tmp_path / "a" / "b") == pytest.approx(free_bytes(tmp_path), rel=0.5)
    assert list(itertools.islice(tmp_path.iterdir(), 1)) == []
