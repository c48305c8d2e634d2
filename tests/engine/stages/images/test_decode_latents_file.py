"""Images finished after their job has ended in decoding: the same pixels, where they were to go."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_again import read_metadata

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ImageRefused, MezzotintError, OutOfMemory, UnknownModel
from mezzotint.protocol import (
    Cascade,
    DecodeRequest,
    GenerateRequest,
    ImageInput,
    ModelRef,
    Notice,
    Output,
    Sampling,
    Saved,
    Stage,
)
from mezzotint.stages import pipeline
from mezzotint.stages.images.pending_decode import read_latents, undecoded, write_latents
from mezzotint.values.details import DetailRef

SIDE = 64


@pytest.fixture
def request_for(tmp_path, tiny_sdxl_folder):
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    stage = Stage(model=ModelRef(id=str(folder)), width=SIDE, height=SIDE, sampling=Sampling(steps=2))
    return GenerateRequest(
        prompt="a red house", seed=7, cascade=Cascade(stages=(stage,)), output=Output(path=f"{tmp_path}/out/[seed].png")
    )


def out_of_memory(*_):
    raise RuntimeError("CUDA out of memory. Tried to allocate 3.00 GiB")


@pytest.fixture
def left_behind(request_for, monkeypatch):
    """A job that ends in decoding, and the file that it leaves."""
    events = []
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "to_image", out_of_memory)
        with pytest.raises(OutOfMemory):
            Engine(Catalog.standard()).generate(request_for, events.append, lambda: False)
    (path,) = undecoded(paths.undecoded_folder())
    assert any(isinstance(event, Notice) and str(path) in event.message for event in events)
    return path


def decode_latents_file(path, events=None, **changes):
    request = DecodeRequest(path=str(path), **changes)
    return Engine(Catalog.standard()).decode(request, (events if events is not None else []).append, lambda: False)


def test_an_image_without_its_detail_pass_says_so(left_behind):
    latents, pending = read_latents(left_behind)
    request = replace(pending.record.request, details=(DetailRef(label="face", model="/gone"),))
    undetailed = replace(pending, record=replace(pending.record, request=request))
    events = []
    image = decode_latents_file(write_latents(left_behind.parent, latents, undetailed), events)
    assert any(isinstance(event, Notice) and "without its detail pass" in event.message for event in events)
    assert read_metadata(Path(image.path)).request.details == ()


def test_the_same_image_where_it_was_to_go(left_behind, request_for, tmp_path):
    events = []
    image = decode_latents_file(left_behind, events)
    assert Path(image.path) == tmp_path / "out" / "7.png" and not left_behind.exists()
    assert isinstance(events[-1], Saved) and not any(isinstance(event, Notice) for event in events)
    whole = Engine(Catalog.standard()).generate(request_for, events.append, lambda: False).images[0]
    assert image.sha256 == whole.sha256 and undecoded(paths.undecoded_folder()) == []
    again = read_metadata(Path(image.path)).request
    assert replace(again, output=Output()) == replace(read_metadata(Path(whole.path)).request, output=Output())


def test_a_file_from_elsewhere_writes_only_where_it_is_told(left_behind, tmp_path, monkeypatch):
    moved = shutil.move(left_behind, tmp_path / "from a friend.safetensors")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    image = decode_latents_file(moved)
    assert Path(image.path).absolute().parent == tmp_path / "here" and Path(moved).exists()
    assert not (tmp_path / "out").exists()


def test_another_name_and_other_files(left_behind, request_for, tmp_path):
    events = []
    weights = Path(request_for.cascade.stages[0].model.id) / "unet" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    image = decode_latents_file(left_behind, events, output=Output(path=str(tmp_path / "[seed]-late.jpg")), vae_tile=32)
    assert image.path.endswith("7-late.jpg")
    assert [event.code for event in events if isinstance(event, Notice)] == ["model_changed"]


def test_a_model_that_is_gone_keeps_the_file(left_behind, request_for):
    shutil.rmtree(request_for.cascade.stages[0].model.id)
    with pytest.raises(UnknownModel):
        decode_latents_file(left_behind)
    assert left_behind.exists()


def test_a_model_of_another_space(left_behind, request_for):
    config = Path(request_for.cascade.stages[0].model.id) / "vae" / "config.json"
    config.write_text(config.read_text().replace('"latent_channels": 4', '"latent_channels": 8'))
    with pytest.raises(MezzotintError):
        decode_latents_file(left_behind)
    assert left_behind.exists()


def test_an_image_that_is_cancelled_leaves_nothing(request_for):
    events = []

    def cancelled() -> bool:
        return any(getattr(event, "step", 0) == 2 for event in events)

    with pytest.raises(MezzotintError):
        Engine(Catalog.standard()).generate(request_for, events.append, cancelled)
    assert undecoded(paths.undecoded_folder()) == []


def test_where_nothing_can_be_kept_the_image_is_made_all_the_same(request_for, monkeypatch, tmp_path):
    (tmp_path / "state").write_text("a file, not a folder")
    monkeypatch.setenv("MEZZOTINT_STATE", str(tmp_path / "state"))
    events = []
    result = Engine(Catalog.standard()).generate(request_for, events.append, lambda: False)
    assert Path(result.images[0].path).exists()
    assert "latents_not_kept" in [event.code for event in events if isinstance(event, Notice)]


def test_no_latents(tmp_path):
    with pytest.raises(MezzotintError, match="x.safetensors"):
        decode_latents_file(_empty(tmp_path / "x.safetensors"))


def _empty(path):
    from safetensors.torch import save_file

    save_file({}, path)
    return path


def test_latents_that_name_an_image_on_another_computer_are_refused(left_behind, tmp_path):
    """Looking there alone would tell that computer who is asking."""
    latents, image = read_latents(left_behind)
    far = (ImageInput(path="\\\\elsewhere\\a.png"), ImageInput(path="//elsewhere/m.png", role="mask"))
    record = replace(image.record, request=replace(image.record.request, images=far))
    path = write_latents(tmp_path, latents, replace(image, record=record))
    with pytest.raises(ImageRefused, match="another computer"):
        decode_latents_file(path)
