"""A file says how it was trained, so that it can be repeated; it does not say where anything was."""

import json

import pytest
from safetensors.torch import load_file, save_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.header import read_header
from mezzotint.cli import main
from mezzotint.errors import UsageError
from mezzotint.jobs.training.preparing import prepare
from mezzotint.jobs.training.recipe import ENTRY, read_recipe, recipe_text
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import TrainingLevers, TrainingRequest, TrainingSettings


@pytest.fixture
def request_for(pictures, tiny_pixart_folder, tmp_path):
    def make(name="a", **settings):
        usual = {"steps": 2, "epochs": 1, "batch": 2, "resolution": 64, "regularization": 0}
        return TrainingRequest(
            dataset=str(pictures),
            model=ModelRef(id=str(tiny_pixart_folder)),
            name=name,
            output=str(tmp_path),
            trigger="zibble",
            settings=TrainingSettings(**usual | settings),
        )

    return make


def written(path, request):
    """A file with the entry that a training of the request writes."""
    prepared = prepare(request, Catalog.standard(), lambda _: None, lambda: False)
    import torch

    save_file({"a": torch.ones(1)}, path, metadata={ENTRY: recipe_text(prepared, request, TrainingLevers())})
    return path


def test_every_value_is_recorded_and_no_place(request_for, pictures, tmp_path):
    path = written(tmp_path / "a.safetensors", request_for(rank=2, seed=3))
    recipe = read_recipe(path)
    settings = recipe.settings
    assert (settings.rank, settings.alpha, settings.seed, settings.steps) == (2, None, 3, 2)
    assert settings.rate is not None and settings.weighting is not None and settings.dtype == "float32"
    assert (recipe.dataset, recipe.images, recipe.trigger) == ("pictures", 4, "zibble")
    assert recipe.model == "tiny-pixart" and not recipe.is_listed
    assert "/" not in read_header(path).metadata[ENTRY]
    assert recipe.is_of(str(pictures))


def test_a_model_in_a_folder_must_be_given(request_for, tmp_path):
    recipe = read_recipe(written(tmp_path / "a.safetensors", request_for()))
    with pytest.raises(UsageError, match="a model in a file or folder, tiny-pixart: give it by -m"):
        recipe.request("pictures", None, tmp_path / "b")
    request = recipe.request("pictures", "other", tmp_path / "b.safetensors")
    assert (request.model.id, request.name, request.output) == ("other", "b", str(tmp_path))


def test_repeated_it_is_the_same_to_the_bit(request_for, pictures, tiny_pixart_folder, tmp_path, capsys):
    TrainingRun(request_for(kind="lokr", alpha=3.0, flip=True), Catalog.standard(), lambda _: None, lambda: False).run()
    first = tmp_path / "a.safetensors"
    words = ["train", pictures, "--from", first, "-m", tiny_pixart_folder, "-o", tmp_path / "b"]
    assert main(list(map(str, words))) == 0
    assert "another" not in capsys.readouterr().err
    a, b = load_file(first), load_file(tmp_path / "b.safetensors")
    assert a.keys() == b.keys() and all(a[name].equal(b[name]) for name in a)


def test_what_is_given_counts(request_for, pictures, tiny_pixart_folder, tmp_path, capsys):
    first = written(tmp_path / "a.safetensors", request_for(seed=3, rank=2))
    words = ["train", pictures, "--from", first, "-m", tiny_pixart_folder, "-o", tmp_path / "b", "--rank", 4]
    assert main([*map(str, words), "--dry-run", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]
    assert values["rank"] == 4 and values["alpha"] == 4 and values["steps"] == 2


def test_other_images_are_told(request_for, pictures, tiny_pixart_folder, tmp_path, capsys):
    first = written(tmp_path / "a.safetensors", request_for())
    others = tmp_path / "others"
    others.mkdir()
    for each in sorted(pictures.iterdir())[:4]:
        (others / each.name).write_bytes(each.read_bytes())
    words = ["train", others, "--from", first, "-m", tiny_pixart_folder, "-o", tmp_path / "b", "--dry-run"]
    assert main(list(map(str, words))) in (0, 2)
    assert "these are not the images and captions of that training (pictures, 4 images)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "does not say how it was trained"),
        ({ENTRY: '{"version": "9"}'}, "in another way than this version"),
        ({ENTRY: "["}, "a.safetensors"),
    ],
)
def test_files_without_a_recipe(metadata, message, pictures, tmp_path, capsys):
    import torch

    save_file({"a": torch.ones(1)}, tmp_path / "a.safetensors", metadata=metadata)
    words = ["train", pictures, "--from", tmp_path / "a.safetensors", "-o", tmp_path / "b"]
    assert main(list(map(str, words))) != 0
    assert message in capsys.readouterr().err


def test_neither_without_images_nor_with_resume(tmp_path, capsys):
    assert main(["train", "--from", "a.safetensors", "-o", str(tmp_path / "b")]) == 2
    assert "--from has the settings, not the images" in capsys.readouterr().err
    assert main(["train", "--resume", "--from", "a.safetensors", "-o", str(tmp_path / "b")]) == 2
    assert "leave the folder of images, the model and --from out" in capsys.readouterr().err
