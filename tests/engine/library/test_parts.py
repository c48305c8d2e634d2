"""Text encoder and VAE files chosen for a model, and remembered."""

import json

import numpy as np
import pytest
import tiny_z_image
from flow_parity import ours
from original_files import write, write_split
from tiny_flow import qwen_tokenizer

from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.places import config_file
from mezzotint.cli import main
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families import tokenizers
from mezzotint.library.parts import choose_part, choose_parts
from mezzotint.protocol import ModelRef, PartChoice, PartFiles


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)
    return tiny_z_image.split_files(tiny_z_image.write_tiny_z_image(tmp_path / "folder-turbo"))


@pytest.fixture
def model(tmp_path, files):
    return write_split(tmp_path / "models", files)


def _name(files, folder):
    return next(name for name in files if name.startswith(folder))


@pytest.fixture
def vae(tmp_path, files):
    """A VAE in no searched folder, with other weights."""
    return write(tmp_path / "apart" / "other.safetensors", {k: v * 0.5 for k, v in files[_name(files, "vae/")].items()})


def _parts(model):
    return {part.name: part for part in Catalog.standard().inspect(ModelRef(id=str(model))).parts}


def test_the_image_is_that_of_a_model_with_this_vae(tmp_path, files, model, vae):
    automatic = ours(model, tmp_path, steps=1)
    choose_parts(Catalog.standard(), str(model), str(vae), ())
    chosen = ours(model, tmp_path, steps=1)
    own = write_split(
        tmp_path / "own",
        {**files, _name(files, "vae/"): {key: each * 0.5 for key, each in files[_name(files, "vae/")].items()}},
    )
    np.testing.assert_array_equal(chosen, ours(own, tmp_path, steps=1))
    assert (chosen != automatic).any()


def test_automatic_again_and_the_rest_stays(tmp_path, files, model, vae):
    encoder = write(tmp_path / "apart" / "words.safetensors", files[_name(files, "text_encoders/")])
    choose_parts(Catalog.standard(), str(model), str(vae), (str(encoder),))
    choose_parts(Catalog.standard(), str(model), "auto", ())
    parts = _parts(model)
    assert (parts["text_encoder"].file, parts["text_encoder"].chosen) == (str(encoder), True)
    assert parts["vae"].file.endswith(_name(files, "vae/")) and not parts["vae"].chosen


def test_files_that_do_not_fit_are_refused_and_not_stored(tmp_path, files, model, vae):
    with pytest.raises(ModelRefused, match=r"does not fit .*, which takes a text encoder of Qwen3, as in"):
        choose_parts(Catalog.standard(), str(model), str(model), ())
    with pytest.raises(UsageError, match="is for this model's vae, not for its text_encoder"):
        choose_parts(Catalog.standard(), str(model), None, (str(vae),))
    assert not config_file().exists()


def test_a_chosen_file_that_is_gone_is_named_and_can_be_reset(model, vae):
    choose_parts(Catalog.standard(), str(model), str(vae), ())
    vae.unlink()
    assert "other.safetensors" in (Catalog.standard().at(model).problem or "")
    choose_parts(Catalog.standard(), str(model), "auto", ())
    assert Catalog.standard().at(model).problem is None


def test_models_set_shows_the_files(model, vae, capsys):
    assert main(["models", "set", str(model), "--vae", str(vae), "--json"]) == 0
    shown = {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}
    assert shown["vae"]["file"] == str(vae) and shown["vae"]["chosen"]
    assert main(["models", "inspect", str(model)]) == 0
    assert "(chosen)" in capsys.readouterr().out


def _files_of(model):
    return {part.component: part for part in Catalog.standard().part_files(ModelRef(id=str(model)))}


def _choice(model, component, file):
    return PartChoice(model=str(model), component=component, file=None if file is None else str(file))


def test_the_files_that_fit_each_component_are_listed(tmp_path, files, model, vae):
    more = write(tmp_path / "models" / "vae" / "more.safetensors", files[_name(files, "vae/")])
    write(tmp_path / "models" / "vae" / "broken.safetensors", {"nothing": files[_name(files, "vae/")].popitem()[1]})
    assert _files_of(model) == {
        "text_encoder": PartFiles(
            component="text_encoder",
            file=str(tmp_path / "models" / _name(files, "text_encoders/")),
            chosen=False,
            fitting=(str(tmp_path / "models" / _name(files, "text_encoders/")),),
        ),
        "vae": PartFiles(
            component="vae",
            file=str(tmp_path / "models" / "vae" / "ae.safetensors"),
            chosen=False,
            fitting=(str(tmp_path / "models" / "vae" / "ae.safetensors"), str(more)),
        ),
    }


def test_one_component_is_chosen_and_automatic_again(tmp_path, files, model, vae):
    encoder = write(tmp_path / "apart" / "words.safetensors", files[_name(files, "text_encoders/")])
    choose_part(Catalog.standard(), _choice(model, "vae", vae))
    choose_part(Catalog.standard(), _choice(model, "text_encoder", encoder))
    assert (_files_of(model)["vae"].file, _files_of(model)["vae"].chosen) == (str(vae), True)
    choose_part(Catalog.standard(), _choice(model, "vae", None))
    assert not _files_of(model)["vae"].chosen and _files_of(model)["text_encoder"].file == str(encoder)
    with pytest.raises(UsageError, match="is for this model's vae, not for its text_encoder"):
        choose_part(Catalog.standard(), _choice(model, "text_encoder", vae))


def test_the_components_of_a_model_that_lacks_one_are_listed(tmp_path, files, model):
    (tmp_path / "models" / "vae" / "ae.safetensors").unlink()
    assert (_files_of(model)["vae"].file, _files_of(model)["vae"].fitting) == ("", ())
