import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from mezzotint.images.own_record import MAX_RECORD, metadata_of_record
from mezzotint.images.record import ImageRecord, record_to_json
from mezzotint.images.untrusted import UnreadableError
from mezzotint.protocol import (
    Cascade,
    ControlRef,
    ControlUsed,
    FileUsed,
    ImageInput,
    LoraRef,
    LoraUsed,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.values.details import DetailRef

MakeRecord = Callable[..., ImageRecord]


def test_a_record_gives_its_request_and_the_common_words(make_record: MakeRecord) -> None:
    record = make_record(prompt="a\x1bb", negative_prompt="c", strength=0.5)
    found = metadata_of_record(record_to_json(record))
    assert found.request == record.request
    assert (found.prompt, found.negative_prompt, found.strength) == ("ab", "c", 0.5)
    assert (found.width, found.height, found.seed, found.steps) == (48, 32, 965400086, 20)
    assert (found.sampler, found.schedule, found.guidance_scale) == ("dpmpp_2m", "karras", 7.5)
    assert (found.model, found.model_hash) == ("sd_xl_base_1.0", "0123456789")
    assert found.other["torch"] == "2.13.0" and found.other["device"] == "cpu"
    assert found.other["pixels_sha256"] == record.image.sha256


def test_an_image_does_not_say_where_the_next_one_goes(make_record: MakeRecord) -> None:
    output = Output(path="/home/someone/.ssh/key.png", overwrite=True, preview_folder="/tmp")
    found = metadata_of_record(record_to_json(make_record(output=output, count=10_000)))
    assert found.request is not None
    assert found.request.output == Output() and found.request.count == 1


@pytest.mark.parametrize("path", ["\\\\host\\share\\a.png", "//host/share/a.png", "/\\host\\a.png"])
def test_an_image_does_not_call_other_computers(make_record: MakeRecord, path: str) -> None:
    stage = Stage(model=ModelRef(id=path))
    for changes in (
        {"images": (ImageInput(path=path),)},
        {"embeddings": (path,)},
        {"loras": (LoraRef(path=path),)},
        {"cascade": Cascade(stages=(Stage(), Stage(loras=(LoraRef(path=path),))))},
        {"cascade": Cascade(stages=(Stage(), stage))},
        {"cascade": Cascade(stages=(Stage(model=ModelRef(id="flux", text_encoders=(path,))),))},
    ):
        with pytest.raises(UnreadableError, match="another computer"):
            metadata_of_record(record_to_json(make_record(**changes)))


def test_an_empty_cascade_is_no_trouble(make_record: MakeRecord) -> None:
    record = replace(make_record(cascade=Cascade(stages=())), stages=())
    found = metadata_of_record(record_to_json(record))
    assert (found.model, found.steps, found.model_hash) == (None, None, None)


def test_a_newer_version_says_to_update(make_record: MakeRecord) -> None:
    data = json.loads(record_to_json(make_record())) | {"schema_version": 2, "new": 1}
    with pytest.raises(UnreadableError, match=r"newer Mezzotint .*record version 2.*update"):
        metadata_of_record(json.dumps(data))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "damaged"),
        ("[]", "no version"),
        ("{}", "no version"),
        ('{"schema_version": true}', "no version"),
        ('{"schema_version": 1}', "damaged"),
        ('{"schema_version": 1, "schema_version": 1}', "damaged"),
        ("[" * 100_000, "damaged"),
        (" " * (MAX_RECORD + 1), "at most"),
    ],
)
def test_damage_is_told(written: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        metadata_of_record(written)


def test_a_wrong_field_is_damage(make_record: MakeRecord) -> None:
    data = json.loads(record_to_json(make_record()))
    data["request"]["prompt"] = 7
    with pytest.raises(UnreadableError, match=r"damaged .*request\.prompt"):
        metadata_of_record(json.dumps(data))


def test_loras_are_told_with_their_weights(make_record: MakeRecord) -> None:
    record = make_record()
    file = FileUsed(path="C:\\l\\ink.safetensors", sha256="0" * 64, bytes=1)
    lora = LoraUsed(file=file, weight=0.8, tensors_sha256="1" * 64)
    stage = replace(record.stages[0], loras=(lora, replace(lora, weight=-1.0)))
    found = metadata_of_record(record_to_json(replace(record, stages=(stage, stage))))
    assert found.other["loras"] == "ink.safetensors:0.8, ink.safetensors:-1"
    assert "loras" not in metadata_of_record(record_to_json(record)).other


def test_control_images_are_told_and_never_on_another_computer(make_record: MakeRecord) -> None:
    record = make_record()
    file = FileUsed(path="C:\\nets\\canny.safetensors", sha256="0" * 64, bytes=1)
    used = ControlUsed(file=file, image=file, weight=0.8, start=0.0, end=1.0, type="canny", preprocess="none")
    stage = replace(record.stages[0], controls=(used, used))
    found = metadata_of_record(record_to_json(replace(record, stages=(stage, stage))))
    assert found.other["controls"] == "canny.safetensors:0.8"
    for names in ({"image": "//evil/a.png", "model": "m"}, {"image": "a.png", "model": "\\\\evil\\m"}):
        request = replace(record.request, controls=(ControlRef(**names),))
        with pytest.raises(UnreadableError, match="names a file on another computer"):
            metadata_of_record(record_to_json(replace(record, request=request)))


def test_upscalers_and_detectors_are_never_on_another_computer(make_record: MakeRecord) -> None:
    record = make_record()
    away = Cascade(stages=record.request.cascade.stages, transitions=(Transition(upscaler="//evil/4x.pth"),))
    detector = replace(record.request, details=(DetailRef(label="face", model="//evil/faces"),))
    for request in (
        replace(record.request, cascade=away),
        replace(record.request, init_upscaler="\\\\evil\\4x.pth"),
        detector,
    ):
        with pytest.raises(UnreadableError, match="names a file on another computer"):
            metadata_of_record(record_to_json(replace(record, request=request)))


def test_second_pass_refiner_clip_skip_and_both_guidances_are_shown(make_record: MakeRecord) -> None:
    record = make_record()
    first = Stage(model=ModelRef(id="base"), sampling=Sampling(clip_skip=1, guidance_scale=3.5))
    cascade = Cascade(
        stages=(first, replace(first, until=0.7), Stage(model=ModelRef(id="refiner"))),
        transitions=(Transition(scale=2.0, strength=0.4, upscaler="/models/4x.pth", space="pixel"), Transition()),
    )
    record = replace(record, request=replace(record.request, cascade=cascade))
    record = replace(record, stages=(replace(record.stages[0], true_cfg_scale=1.5),))
    found = metadata_of_record(record_to_json(record))
    assert (found.clip_skip, found.hires_scale, found.hires_space, found.hires_upscaler) == (1, 2.0, "pixel", "4x.pth")
    assert (found.refiner, found.refiner_at) == ("refiner", 0.7)
    assert (found.guidance_scale, found.distilled_guidance_scale) == (1.5, 3.5)
