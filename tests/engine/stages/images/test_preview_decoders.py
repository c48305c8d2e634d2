"""Which decoder makes a job's previews: the named file, one that is found, or none."""

import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_decoders import diffusers_file, original_file, tiny_autoencoder

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import MezzotintError, ModelRefused, UsageError
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Notice, Output, Sampling, Stage, Step
from mezzotint.stages.images import preview_decoders

STEPS = 2


@pytest.fixture
def model(tiny_sdxl_folder, tmp_path):
    """A copy of the tiny SDXL model, with 2 pixels per latent."""
    return shutil.copytree(tiny_sdxl_folder, tmp_path / "model")


@pytest.fixture
def previews(model, tmp_path):
    """Generates with previews; returns these as arrays, and the codes of notices."""

    def build(wanted="auto", catalog=None):
        stage = Stage(model=ModelRef(id=str(model)), width=64, height=64, sampling=Sampling(steps=STEPS))
        request = GenerateRequest(
            prompt="a house",
            seed=1,
            cascade=Cascade(stages=(stage,)),
            previews=True,
            output=Output(path=f"{tmp_path}/out/", preview_folder=str(tmp_path / "steps"), preview_decoder=str(wanted)),
        )
        events = []
        shutil.rmtree(tmp_path / "steps", ignore_errors=True)
        Engine(catalog or Catalog.standard()).generate(request, events.append, lambda: False)
        assert len([event for event in events if isinstance(event, Step) and event.preview]) == STEPS
        shown = [np.array(Image.open(path)) for path in sorted((tmp_path / "steps").iterdir())]
        return shown, [event.code for event in events if isinstance(event, Notice)]

    return build


def decoder(channels=4, blocks=(1, 1)):
    return tiny_autoencoder(channels, blocks=blocks)


def differs(first, second):
    return not np.array_equal(first[-1], second[-1])


def test_a_decoder_beside_the_vae_is_used_unless_linear_is_asked_for(previews, model):
    linear, _ = previews()
    diffusers_file(model / "preview_decoder" / "diffusion_pytorch_model.safetensors", decoder())
    small, notices = previews()
    assert differs(small, linear)
    assert "preview_decoder_refused" not in notices
    assert small[0].shape == (256, 256, 3)  # 64 pixels, enlarged 4 times
    assert not differs(previews("small")[0], small)
    assert not differs(previews("linear")[0], linear)


def test_a_file_is_named(previews, tmp_path):
    linear, _ = previews()
    assert differs(previews(original_file(tmp_path / "mine.safetensors", decoder()))[0], linear)


def test_vae_approx_is_searched_beside_checkpoints_and_in_named_trees(previews, model, tmp_path, monkeypatch):
    linear, _ = previews("linear")
    tree = tmp_path / "comfy"
    (tree / "models" / "checkpoints").mkdir(parents=True)
    (tree / "models" / "loras").mkdir()
    original_file(tree / "models" / "vae_approx" / "taesdxl_decoder.safetensors", decoder())
    assert differs(previews(catalog=Catalog.standard((tree,)))[0], linear)
    monkeypatch.setenv("MEZZOTINT_MODEL_PATH", str(tmp_path / "paths.yaml"))
    (tmp_path / "paths.yaml").write_text("comfy:\n  base_path: comfy/models\n  vae_approx: vae_approx\n")
    assert differs(previews("small")[0], linear)


def test_without_a_file_small_says_what_is_missing(previews):
    with pytest.raises(UsageError, match=r"taesdxl_decoder\.safetensors .*preview_decoder.*--preview-decoder FILE"):
        previews("small")


HOSTILE = {
    "too many channels": lambda path: original_file(path, decoder(16)),
    "too large": lambda path: original_file(path, decoder(blocks=(1, 1, 1))),
    "a missing layer": lambda path: original_file(path, decoder(), {"3.conv.0.weight": None}),
    "a huge size": lambda path: original_file(path, decoder(), {"1.weight": torch.ones(4000, 4, 1, 1)}),
    "no safetensors": lambda path: (path.parent.mkdir(), path.write_bytes(b"\x80\x02}q\x00.")),
}


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("fault", HOSTILE)
def test_hostile_files_leave_previews_linear_with_a_notice_or_are_refused(previews, model, fault):
    linear, _ = previews("linear")
    HOSTILE[fault](model / "preview_decoder" / "model.safetensors")
    shown, notices = previews()
    assert not differs(shown, linear)
    assert notices.count("preview_decoder_refused") == 1
    with pytest.raises(ModelRefused, match="model.safetensors"):
        previews("small")
    with pytest.raises(ModelRefused, match="model.safetensors"):
        previews(model / "preview_decoder" / "model.safetensors")


def test_without_previews_nothing_is_read_but_what_is_named(monkeypatch, tmp_path, model):
    stage = Stage(model=ModelRef(id=str(model)), width=64, height=64, sampling=Sampling(steps=1))

    def generate(wanted):
        output = Output(path=f"{tmp_path}/out/", preview_decoder=wanted)
        request = GenerateRequest(prompt="a", cascade=Cascade(stages=(stage,)), output=output)
        Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)

    with pytest.raises(UsageError, match="there is no preview decoder for"):
        generate("small")
    with pytest.raises(MezzotintError, match="absent.safetensors"):
        generate(str(tmp_path / "absent.safetensors"))
    monkeypatch.setattr(preview_decoders, "preview_decoders", None)
    generate("auto")
    generate("linear")
