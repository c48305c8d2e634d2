"""Text encoders and VAEs given for one image: its pixels, its metadata, and its replay."""

import json
from pathlib import Path

import numpy as np
import pytest
import tiny_z_image
from original_files import write, write_split
from PIL import Image
from tiny_flow import qwen_tokenizer

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.families import tokenizers
from mezzotint.images.metadata import read_metadata
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage, Transition
from mezzotint.stages.job_plan import stage_identity
from mezzotint.stages.setup import set_up

VAE, WORDS = "vae/ae.safetensors", "text_encoders/qwen_3_4b.safetensors"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)
    return tiny_z_image.split_files(tiny_z_image.write_tiny_z_image(tmp_path / "folder-turbo"))


@pytest.fixture
def halved(files):
    """The same files with other weights in the VAE and the text encoder."""
    return files | {name: {key: each * 0.5 for key, each in files[name].items()} for name in (VAE, WORDS)}


@pytest.fixture
def model(tmp_path, files):
    return write_split(tmp_path / "models", files)


@pytest.fixture
def parts(tmp_path, halved):
    """A VAE and a text encoder in no searched folder."""
    return [write(tmp_path / "apart" / name.rpartition("/")[2], halved[name]) for name in (VAE, WORDS)]


@pytest.fixture
def generate(tmp_path, capsys):
    """Generate an image; return its path and its pixels."""

    def call(*words):
        said = ("--steps", "1", "--seed", "7", "--size", "64x64", "--dtype", "float32", "--json", "-o", f"{tmp_path}/")
        assert main(["generate", *map(str, words), *said]) == 0
        path = json.loads(capsys.readouterr().out)["images"][0]["path"]
        return path, np.asarray(Image.open(path))

    return call


def test_the_image_is_that_of_a_model_with_these_parts(tmp_path, generate, model, halved, parts):
    vae, words = parts
    _, own = generate("a red house", "-m", write_split(tmp_path / "own", halved))
    _, automatic = generate("a red house", "-m", model)
    path, pixels = generate("a red house", "-m", model, "--vae", vae, "--text-encoder", words)
    np.testing.assert_array_equal(pixels, own)
    assert (pixels != automatic).any()
    stage = read_metadata(Path(path)).request.cascade.stages[0]
    assert (stage.model.vae, stage.model.text_encoders) == (vae.name, (words.name,))
    np.testing.assert_array_equal(generate("--from", path)[1], pixels)
    np.testing.assert_array_equal(generate("--from", path, "-m", model)[1], automatic)


def test_stages_with_other_parts_are_other_models(model, parts):
    refs = (ModelRef(id=str(model)), ModelRef(id=str(model), vae=str(parts[0])), None)
    cascade = Cascade(
        stages=tuple(Stage(model=ref, width=64, height=64) for ref in refs), transitions=(Transition(strength=0.5),) * 2
    )
    catalog = Catalog.standard()
    setup = set_up(GenerateRequest(prompt="x", cascade=cascade), catalog.find, catalog.default(), lambda _: (64, 64))
    plain, changed, again = map(stage_identity, setup.stages)
    assert changed == again == f"{plain} with apart/ae.safetensors"
    assert setup.stages[2].sources.components["vae"].files == (parts[0],)


@pytest.mark.parametrize(
    ("option", "index", "message"),
    [
        ("--vae", 1, "is for this model's text_encoder, not for its vae"),
        ("--text-encoder", 0, "is for this model's vae, not for its text_encoder"),
    ],
)
def test_a_file_of_another_kind_is_refused(capsys, model, parts, option, index, message):
    assert main(["generate", "x", "-m", str(model), option, str(parts[index])]) == 2
    assert message in capsys.readouterr().err
