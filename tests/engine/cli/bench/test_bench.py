"""`mezzotint bench starter` over an engine that draws, and a judge that has hardly learnt."""

import dataclasses
import re

import pytest
from fake_engine import FakeEngine, model_info
from PIL import Image

from mezzotint import paths
from mezzotint.benchmarks.postcards.captions import VALUES
from mezzotint.benchmarks.postcards.judge import build_judge, save_judge
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.scoring import edit_cases, eval_cases, layout_cases
from mezzotint.cli.interrupt import Interrupt
from mezzotint.errors import Cancelled
from mezzotint.protocol import Decoding, ModelRef, Sampling, Step, Timings

MODELS = [
    model_info(id="starter-dit"),
    model_info(id="starter-xl", variant="base"),
    model_info(id="starter-xl-refiner", variant="refiner"),
    model_info(id="broken", problem="damaged"),
    model_info(id="mine", source="folder"),
]


class DrawingEngine(FakeEngine):
    """Draws what it is asked for, by the number of the question, which is the seed."""

    def __init__(self, width=64, height=64):
        super().__init__()
        self.size = width, height
        self.before = []  # called with the engine before each image

    def generate(self, request, on_event, cancelled):
        for call in self.before:
            call(self)
        if cancelled():
            raise Cancelled("stopped")
        result = super().generate(request, on_event, cancelled)
        on_event(Decoding(image=0, images=1))
        (case,) = [each for each in eval_cases(request.seed + 1) if each.number == request.seed]
        path = request.output.path.replace("[model]", request.cascade.stages[0].model.id)
        path = path.replace("[seed]", str(request.seed))
        paint(case.scene, 64).crop((0, 0, *self.size)).save(path)
        timings = Timings(load=100, encode=1, denoise=(2, 3), decode=4, save=100, total=210)
        images = (dataclasses.replace(result.images[0], path=path),)
        return dataclasses.replace(result, images=images, timings=timings, notices=())


@pytest.fixture(autouse=True)
def assets(tmp_path, monkeypatch):
    save_judge(build_judge(0), tmp_path / "starter" / "judge", {})
    monkeypatch.setattr(paths, "assets_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def bench(command):
    def call(*words, engine=None, models=MODELS, **more):
        engine = engine or DrawingEngine()
        return command("bench", "starter", "--prompts", "2", *words, engine=engine, models=models, **more)

    return call


def test_every_bundled_model_that_works_alone_is_asked_every_question(bench):
    done = bench()
    assert done.code == 0, done.err
    asked = [(request.cascade.stages[0].model.id, request.seed, request.prompt) for request in done.engine.requests]
    prompts = [case.prompt for case in eval_cases(2)]
    assert asked == [(model, n, prompts[n]) for model in ("starter-dit", "starter-xl") for n in (0, 1)]
    assert done.engine.closed


def test_edits_are_asked_of_drawings(bench, tmp_path):
    done = bench("--edits", "-m", "starter-dit", "--keep", str(tmp_path / "kept"))
    assert done.code == 0, done.err
    cases = list(edit_cases(2))
    assert [request.prompt for request in done.engine.requests] == [case.prompt for case in cases]
    for request, case in zip(done.engine.requests, cases, strict=True):
        (reference,) = request.images
        assert (reference.role, Image.open(reference.path).size) == ("reference", (256, 256))
        assert list(Image.open(reference.path).getdata()) == list(paint(case.edit.before, 256).getdata())
    assert {"edited", "all"} <= {line.split()[0] for line in done.out.splitlines()}


def test_layouts_of_drawings_are_followed(bench, tmp_path):
    done = bench("--layout", "starter-edges", "-m", "starter-dit", "--keep", str(tmp_path / "kept"))
    assert done.code == 0, done.err
    for request, case in zip(done.engine.requests, layout_cases(2), strict=True):
        (control,) = request.controls
        assert (control.model, control.preprocess, request.prompt) == ("starter-edges", "canny", case.prompt)
        assert list(Image.open(control.image).getdata()) == list(paint(case.scene, 256).getdata())
    (row,) = [line.split() for line in done.out.splitlines() if line.startswith("layout")]
    assert row[1:3] == ["0.062", "1.000"]  # the stand-in for the engine draws the scenes
    assert not any(request.controls for request in bench("--layout", "none", "-m", "mine").engine.requests)


def test_the_table(bench):
    done = bench()
    header, *rows = done.out.splitlines()
    assert header.split() == ["CHANCE", "starter-dit", "starter-xl", "DRAWN"]
    assert [row.split()[0] for row in rows] == [*VALUES, "distance", "detail", "seconds"]
    share = r"[01]\.\d{3} \([01]\.\d{3} to [01]\.\d{3}\)"
    assert all(re.fullmatch(rf"\w+ +0\.\d{{3}}(  +{share}){{3}}", row) for row in rows[:6])
    assert rows[0].split()[1] == "0.125"
    assert rows[-2].split()[1:3] == ["1.000", "1.000"]
    assert rows[-1].split() == ["seconds", "10.00", "10.00"]
    assert "starter-dit: 2 images" in done.err


def test_the_json(bench):
    done = bench("-m", "mine", "--json")
    assert set(done.json) == {"models", "judge"}
    assert set(done.json["models"]) == {"mine"}
    score = done.json["models"]["mine"]
    assert set(score) == {"attributes", "frechet", "detail", "seconds", "images", "edits", "layout"}
    assert list(score["attributes"]) == list(VALUES)
    for share in score["attributes"].values():
        assert share["low"] <= share["accuracy"] <= share["high"]
        assert set(share) == {"accuracy", "chance", "low", "high"}
    assert score["frechet"] == pytest.approx(0, abs=1e-5)
    assert (score["seconds"], score["images"]) == (10, 2)
    assert set(done.json["judge"]) == set(score)
    assert done.json["judge"]["seconds"] is None


def test_how_an_image_is_made_can_be_said_as_for_generate(bench):
    words = "--steps 7 --guidance 2.5 --sampler euler --schedule karras --size 64x64 --negative rain --device cpu"
    done = bench("-m", "mine", *words.split(), "--hires", "2", "--models-folder", "/m")
    request = done.engine.requests[0]
    first, second = request.cascade.stages
    sampling = Sampling(steps=7, guidance_scale=2.5, sampler="euler", schedule="karras")
    assert first.sampling == second.sampling == sampling
    assert (first.model, first.width, first.height) == (ModelRef(id="mine"), 64, 64)
    assert (request.negative_prompt, request.device, request.count) == ("rain", "cpu", 1)
    assert request.cascade.transitions[0].scale == 2
    assert [str(folder) for folder in done.folders] == ["/m"]


def test_images_are_kept_only_where_asked(bench, tmp_path):
    (tmp_path / "kept").mkdir()
    bench("-m", "mine", "--keep", str(tmp_path / "kept"))
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["mine-0.png", "mine-1.png"]
    from pathlib import Path

    done = bench("-m", "mine")
    assert not Path(done.engine.requests[0].output.path).parent.exists()


def test_a_sheet_shows_every_image(bench, tmp_path):
    done = bench("-m", "mine", "--sheet", str(tmp_path / "sheet.png"))
    assert done.code == 0, done.err
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (8 * 68 + 4, 68 + 4)
        shown = sheet.crop((4, 4, 68, 68)), sheet.crop((72, 4, 136, 68))
    for case, image in zip(eval_cases(2), shown, strict=True):
        assert image.tobytes() == paint(case.scene, 64).tobytes()


def test_a_sheet_is_of_one_model_a_png_and_new(bench, tmp_path):
    (tmp_path / "old.png").write_bytes(b"mine")
    for words in (
        ["--sheet", "s.png"],
        ["-m", "mine", "--sheet", "s.jpg"],
        ["-m", "mine", "--sheet", str(tmp_path / "old.png")],
    ):
        done = bench(*words)
        assert done.code == 2
        assert "--sheet" in done.err
        assert done.engine.requests == []
    assert (tmp_path / "old.png").read_bytes() == b"mine"


def test_enlarged_images_are_judged_beside_drawings_of_that_size(bench):
    plain, large = (bench("-m", "mine", "--json", *words).json["models"]["mine"] for words in ([], ["--enlarge", "2"]))
    assert large["detail"] < 0.9 < plain["detail"]


def test_a_terminal_sees_how_far_the_whole_is(bench, stream):
    done = bench("-m", "mine", stderr=stream(tty=True))
    assert done.code == 0
    assert "step 2 of 2" in done.err
    quiet = bench("-m", "mine", "-q", stderr=stream(tty=True))
    assert quiet.err == ""


def test_steps_are_counted_over_all_images_and_stages():
    from mezzotint.cli.bench.bench import _overall_step

    step = Step(image=0, images=1, stage=1, stages=2, step=3, steps=20, sigma=0.5, preview=None)
    told = _overall_step(step, 4, 10)
    assert (told.stage, told.stages, told.step, told.steps) == (0, 1, 4 * 40 + 20 + 3, 400)
    other = Decoding(image=0, images=1)
    assert _overall_step(other, 4, 10) is other


def test_without_a_judge_the_command_says_what_makes_one(bench, assets):
    (assets / "starter" / "judge" / "config.json").unlink()
    done = bench("--json")
    assert done.code == 7
    assert "no judge" in done.err
    assert "make starter" in done.err
    assert done.json["error"]["kind"] == "storage"
    assert done.engine.requests == []


def test_another_judge_can_be_named(bench, assets, tmp_path):
    (assets / "starter" / "judge").rename(tmp_path / "mine")
    assert bench("-m", "mine").code == 7
    assert bench("-m", "mine", "--judge", str(tmp_path / "mine")).code == 0


def test_without_a_bundled_model_one_must_be_named(bench):
    done = bench(models=MODELS[2:])
    assert done.code == 2
    assert "name one" in done.err


def test_an_unknown_model_ends_the_command_before_any_image(bench):
    done = bench("-m", "mine", "-m", "nobody's")
    assert done.code == 2
    assert done.engine.requests == []


def test_images_that_are_not_square_are_refused(bench):
    done = bench("-m", "mine", engine=DrawingEngine(64, 48))
    assert done.code == 2
    assert "64x48; use a square --size" in done.err


def test_ctrl_c_stops_between_images(bench):
    interrupt = Interrupt(tell=lambda text: None, end=lambda code: pytest.fail("ended at once"))
    engine = DrawingEngine()
    engine.before.append(lambda it: interrupt.handle(2, None) if it.requests else None)
    done = bench("-m", "mine", "--json", engine=engine, interrupt=interrupt)
    assert done.code == 130
    assert done.json["error"]["kind"] == "cancelled"
    assert len(engine.requests) == 1
    assert engine.closed


@pytest.mark.parametrize(
    "words",
    [
        ["starter", "--prompts", "1"],
        ["starter", "--prompts", "many"],
        ["starter", "a prompt"],
        ["starter", "--seed", "1"],
        ["starter", "--new-word", "zibble"],
        ["starter", "--layout", "starter-edges", "--edits"],
        ["starter", "--new-word", "zibble=purple dragon"],
        ["starter", "--steps", "0"],
        ["starter", "--hires-space", "pixel"],
        [],
    ],
)
def test_words_that_cannot_work_are_refused_in_one_line(command, words):
    done = command("bench", *words, engine=DrawingEngine(), models=MODELS)
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("mezzotint: error: ")
    assert done.engine.requests == []
