"""Several requests at once on small random models: what is alike is made together, and looks as it does alone."""

from dataclasses import replace
from pathlib import Path

import pytest
from many_requests import alone, apart, images, run_many
from PIL import Image
from recorded_again import read_metadata

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled, MezzotintError, StorageError, UsageError
from mezzotint.families.samplers import SAMPLERS
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    ModelRef,
    Notice,
    OfRequest,
    Output,
    Sampling,
    Saved,
    Stage,
    Step,
)
from mezzotint.stages.images.pending_decode import undecoded
from mezzotint.stages.images.saving import Saver
from mezzotint.stages.pipeline import Pipeline

SIDE = 64
WORDS = ("a red house", "two green hills under a dark blue sky", "nothing", "a yellow boat", "one tall tree")


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def request_for(tmp_path):
    def build(folder: Path, number: int = 0, **fields) -> GenerateRequest:
        sampling = Sampling(**{"steps": 2} | fields.pop("sampling", {}))
        stage = Stage(model=ModelRef(id=str(folder)), width=SIDE, height=SIDE, sampling=sampling)
        fields = {
            "prompt": WORDS[number % len(WORDS)],
            "seed": 7 + number,
            "output": Output(path=f"{tmp_path}/out/{number}.png"),
        } | fields
        return GenerateRequest(**{"cascade": Cascade(stages=(stage,))} | fields)

    return build


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_each_is_the_one_made_alone(engine, request_for, tiny_sdxl_folder, sampler):
    requests = [request_for(tiny_sdxl_folder, number, sampling={"sampler": sampler}) for number in range(3)]
    outcomes = run_many(engine, requests)
    assert [outcome.result.together for outcome in outcomes] == [3, 3, 3]
    for request, image in zip(requests, images(outcomes), strict=True):
        assert Path(image.path) == Path(request.output.path)
        assert image.seed == request.seed
        assert apart(image, alone(engine, request)) <= 2


def test_one_at_a_time_is_the_same_byte_for_byte(engine, request_for, tiny_pixart_folder):
    for number in range(2):
        request = request_for(tiny_pixart_folder, number)
        (image,) = images(run_many(engine, [request]))
        assert image.sha256 == alone(engine, request).sha256


def test_what_is_not_alike_is_made_alone_in_the_same_call(engine, request_for, tiny_pixart_folder, tiny_sdxl_folder):
    requests = [
        request_for(tiny_pixart_folder, 0),
        request_for(tiny_sdxl_folder, 1),
        request_for(tiny_pixart_folder, 2, sampling={"guidance_scale": 2.0}),
        request_for(tiny_pixart_folder, 3, negative_prompt="rain"),
    ]
    outcomes = run_many(engine, requests)
    assert [image.seed for image in images(outcomes)] == [7, 8, 9, 10]
    assert [outcome.result.together for outcome in outcomes] == [2, 1, 1, 2]
    for request, outcome in zip(requests, outcomes, strict=True):
        if outcome.result.together == 1:
            assert outcome.result.images[0].sha256 == alone(engine, request).sha256


def test_longer_words_are_made_by_themselves(engine, request_for, tiny_sdxl_folder):
    long = ", ".join(["a red house by the sea"] * 30)  # more than one chunk of CLIP's
    requests = [request_for(tiny_sdxl_folder, 0), request_for(tiny_sdxl_folder, 1, prompt=long)]
    outcomes = run_many(engine, requests)
    assert [outcome.result.together for outcome in outcomes] == [1, 1]
    for request, image in zip(requests, images(outcomes), strict=True):
        assert image.sha256 == alone(engine, request).sha256


@pytest.mark.slow
def test_images_of_one_size_are_gone_on_from_together(engine, request_for, tiny_sdxl_folder, tmp_path):
    requests = []
    for number, (size, colour) in enumerate([((64, 64), "red"), ((64, 64), "navy"), ((128, 64), "green")]):
        path = tmp_path / f"{number}.png"
        Image.new("RGB", size, colour).save(path)
        request = request_for(tiny_sdxl_folder, number, images=(ImageInput(path=str(path)),), strength=0.5)
        free = replace(request.cascade.stages[0], width=None, height=None)
        requests.append(replace(request, cascade=Cascade(stages=(free,))))
    outcomes = run_many(engine, requests)
    assert [outcome.result.together for outcome in outcomes] == [2, 2, 1]
    for request, image in zip(requests, images(outcomes), strict=True):
        assert apart(image, alone(engine, request)) <= 2


def test_the_file_makes_the_image_again(engine, request_for, tiny_pixart_folder, tmp_path):
    requests = [request_for(tiny_pixart_folder, number, seed=None) for number in range(2)]
    outcomes = run_many(engine, requests)
    assert outcomes[0].result.seed != outcomes[1].result.seed
    for request, outcome, image in zip(requests, outcomes, images(outcomes), strict=True):
        record = read_metadata(Path(image.path)).request
        assert (record.prompt, record.seed) == (request.prompt, outcome.result.seed)
        assert outcome.result.stages[0].prompt == request.prompt
        again = alone(engine, replace(record, output=Output(path=f"{tmp_path}/again/")))
        assert apart(image, again) <= 2


def test_one_that_is_wrong_fails_by_itself(engine, request_for, tiny_pixart_folder, tmp_path):
    text = tmp_path / "text.png"
    text.write_text("no image")
    good = Image.new("RGB", (64, 64), "red")
    good.save(tmp_path / "good.png")
    wanted = tmp_path / "out" / "3.png"
    made = [
        request_for(tiny_pixart_folder, number, images=(ImageInput(path=str(tmp_path / name), sha256=sha256),))
        for number, (name, sha256) in enumerate(
            [("good.png", None), ("text.png", None), ("missing.png", None), ("good.png", "0" * 64), ("good.png", None)]
        )
    ]
    wrong_size = request_for(tiny_pixart_folder, 5)
    stage = replace(wrong_size.cascade.stages[0], width=63)
    outcomes = run_many(engine, [*made, replace(wrong_size, cascade=Cascade(stages=(stage,)))])
    kinds = [outcome.failure.kind if outcome.failure else None for outcome in outcomes]
    assert kinds == [None, "image_refused", "image_refused", "image_refused", None, "usage"]
    assert not wanted.exists()
    assert [outcomes[0].result.together, outcomes[4].result.together] == [2, 2]


def test_steps_are_told_for_each_and_images_one_by_one(engine, request_for, tiny_pixart_folder):
    events = []
    run_many(engine, [request_for(tiny_pixart_folder, number) for number in range(2)], events)
    assert all(isinstance(event, OfRequest) for event in events)
    steps = [(event.request, event.event.step) for event in events if isinstance(event.event, Step)]
    assert steps == [(0, 1), (1, 1), (0, 2), (1, 2)]
    assert {(event.event.image, event.event.images) for event in events if isinstance(event.event, Step)} == {(0, 1)}
    assert [event.request for event in events if isinstance(event.event, Saved)] == [0, 1]


def test_what_is_told_of_one_is_not_told_of_others(engine, request_for, tiny_sdxl_folder):
    requests = [
        request_for(tiny_sdxl_folder, 0, sampling={"guidance_scale": 1.0}),
        request_for(tiny_sdxl_folder, 1, sampling={"guidance_scale": 1.0}, negative_prompt="rain"),
    ]
    first, second = run_many(engine, requests)
    assert (first.result.together, first.result.notices) == (2, ())
    assert len(second.result.notices) == 1 and "negative prompt is ignored" in second.result.notices[0]


@pytest.mark.parametrize("last", [Step, Saved])
def test_cancelling_ends_all_and_what_is_saved_stays(engine, request_for, tiny_pixart_folder, tmp_path, last):
    events = []
    requests = [request_for(tiny_pixart_folder, number) for number in range(3)]
    with pytest.raises(Cancelled):
        run_many(engine, requests, events, lambda: any(isinstance(event.event, last) for event in events))
    saved = [event.event.image.path for event in events if isinstance(event.event, Saved)]
    assert len(saved) == (1 if last is Saved else 0)
    assert sorted(map(str, (tmp_path / "out").glob("*"))) == saved
    steps = [event for event in events if isinstance(event.event, Step)]
    assert len(steps) == (6 if last is Saved else 3)


def test_when_a_batch_fails_each_is_tried_by_itself(engine, request_for, tiny_sdxl_folder, monkeypatch):
    predict = Sdxl.predict

    def fails(self, model, sample, timestep, conditioning):
        if sample.shape[0] > 1 or float(sample.abs().max()) == worst:
            raise MezzotintError("not a number")
        return predict(self, model, sample, timestep, conditioning)

    requests = [request_for(tiny_sdxl_folder, number, sampling={"steps": 1}) for number in range(3)]
    seen = []

    def looks(self, model, sample, *rest):
        seen.append(sample)
        return predict(self, model, sample, *rest)

    monkeypatch.setattr(Sdxl, "predict", looks)
    alone(engine, requests[1])
    worst = float(seen[0].abs().max())
    monkeypatch.setattr(Sdxl, "predict", fails)
    outcomes = run_many(engine, [replace(one, output=replace(one.output, overwrite=True)) for one in requests])
    assert [outcome.failure is None for outcome in outcomes] == [True, False, True]
    assert outcomes[1].failure.message == "not a number"
    assert outcomes[0].result.together == 1


@pytest.mark.slow
def test_short_of_memory_fewer_are_made_at_a_time(engine, request_for, tiny_sdxl_folder, monkeypatch):
    asked, events = [], []

    def short(self, *words, **named):
        asked.append(words[0].shape[0] // 2)
        if asked[-1] > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GB")
        return forward(self, *words, **named)

    from diffusers import UNet2DConditionModel

    forward = UNet2DConditionModel.forward
    monkeypatch.setattr(UNet2DConditionModel, "forward", short)
    requests = [request_for(tiny_sdxl_folder, number) for number in range(5)]
    outcomes = run_many(engine, requests, events)
    assert asked == [5, 5, 3, 2, 2, 1, 2, 2, 1]  # after the first time caches are let go, then it is halved
    notices = [event.event for event in events if isinstance(event.event, Notice)]
    assert {notice.code for notice in notices} == {"memory_short"}
    assert len(outcomes[0].result.recoveries) == 2 and "passes of 2" in outcomes[0].result.recoveries[1]
    assert [outcome.result.together for outcome in outcomes] == [2] * 5
    monkeypatch.undo()
    for request, image in zip(requests, images(outcomes), strict=True):
        assert apart(image, alone(engine, request)) <= 2


@pytest.mark.parametrize("count", [0, 65])
def test_how_many_there_may_be(engine, request_for, tiny_sdxl_folder, count):
    with pytest.raises(UsageError, match="allowed are 1 to 64"):
        run_many(engine, [request_for(tiny_sdxl_folder)] * count)


def test_one_that_cannot_be_named_fails_by_itself(engine, request_for, tiny_pixart_folder, monkeypatch):
    begin = Saver.begin

    def refuses(self, index, *rest):
        if self.first_seed == 8:
            raise StorageError("the disk is full")
        return begin(self, index, *rest)

    monkeypatch.setattr(Saver, "begin", refuses)
    outcomes = run_many(engine, [request_for(tiny_pixart_folder, number) for number in range(3)])
    assert [outcome.failure.kind if outcome.failure else None for outcome in outcomes] == [None, "storage", None]
    assert [outcome.result.together for outcome in outcomes if outcome.result] == [3, 3]


def test_what_is_left_to_decode_is_on_disk_and_goes_when_it_is_saved(
    engine, request_for, tiny_pixart_folder, monkeypatch
):
    waiting = []
    decode = Pipeline.decode

    def looks(self, index, latents):
        waiting.append(len(undecoded(paths.undecoded_folder())))
        return decode(self, index, latents)

    before = len(undecoded(paths.undecoded_folder()))
    monkeypatch.setattr(Pipeline, "decode", looks)
    run_many(engine, [request_for(tiny_pixart_folder, number) for number in range(3)])
    assert [each - before for each in waiting] == [3, 2, 1]
    assert len(undecoded(paths.undecoded_folder())) == before
