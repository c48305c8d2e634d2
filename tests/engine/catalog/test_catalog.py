"""The catalog: what is listed, what is found by which name, and how it is told when nothing is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from model_files import HOSTILE_HEADERS, change_json, pickle_that_runs, pixart_folder, sdxl_file, sdxl_folder, small

from mezzotint.catalog import Catalog
from mezzotint.catalog import catalog as module
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.errors import MezzotintError, ModelRefused, UnknownModel
from mezzotint.library.places import add_place
from mezzotint.protocol import ModelDefaults, ModelInfo, ModelRef


@pytest.fixture
def models(tmp_path) -> Path:
    """A folder of models, good and bad."""
    folder = tmp_path / "mine"
    sdxl_file(folder / "juggernaut_xl.safetensors")
    sdxl_file(folder / "style" / "paper.safetensors")
    sdxl_folder(folder / "base")
    (folder / "old.ckpt").write_bytes(pickle_that_runs(tmp_path / "marker"))
    (folder / "torn.safetensors").write_bytes(small()[:-1])
    return folder


def ids(catalog: Catalog) -> list[str]:
    return [info.id for info in catalog.models()]


def test_loras_and_other_files_in_the_usual_folders_are_not_listed_as_models(catalog_of, models):
    for name in ("loras", "Lora", "embeddings", "VAE", "ControlNet", "clip"):
        sdxl_file(models / name / f"other-{name}.safetensors")
    catalog = catalog_of(models)
    assert not [one for one in ids(catalog) if one.startswith("other")]
    assert catalog.at(models / "VAE" / "other-VAE.safetensors").problem is None


def test_models_are_listed_with_what_they_are(catalog_of, bundled, models):
    listed = {info.id: info for info in catalog_of(models).models()}
    assert list(listed) == ["starter-dit", "base", "juggernaut_xl", "old.ckpt", "paper", "torn"]
    assert listed["starter-dit"] == ModelInfo(
        id="starter-dit",
        path=str(bundled / "dit"),
        layout="folder",
        family="pixart",
        variant="sigma",
        bytes=3 * len(small()),
        source="bundled",
        defaults=ModelDefaults(
            width=128, height=128, steps=12, guidance_scale=3.5, sampler="dpmpp_2m", schedule="default"
        ),
        problem=None,
        prediction_type="epsilon",
        prediction_reason="its scheduler's configuration",
    )
    assert (listed["base"].layout, listed["base"].family, listed["base"].source) == ("folder", "sdxl", "folder")
    file = listed["juggernaut_xl"]
    assert (file.layout, file.family, file.variant, file.problem) == ("file", "sdxl", "base", None)
    assert file.bytes == (models / "juggernaut_xl.safetensors").stat().st_size


def test_what_cannot_be_used_is_listed_with_the_reason(catalog_of, models, tmp_path):
    refused = {info.id: info for info in catalog_of(models).models() if info.problem}
    assert list(refused) == ["old.ckpt", "torn"]
    assert "a pickle, which can run code" in refused["old.ckpt"].problem
    assert "incomplete: " in refused["torn"].problem
    assert refused["torn"].bytes == len(small()) - 1
    assert refused["torn"].family == "" and refused["torn"].defaults is None
    assert not (tmp_path / "marker").exists()


def test_no_bad_file_spoils_the_list(catalog_of, tmp_path):
    folder = tmp_path / "bad"
    folder.mkdir()
    for number, (data, _) in enumerate(HOSTILE_HEADERS.values()):
        (folder / f"{number:03}.safetensors").write_bytes(data)
    change_json(sdxl_folder(folder / "model") / "model_index.json", unet=["os", "system"])
    sdxl_file(folder / "z.safetensors")
    listed = catalog_of(folder).models()
    assert len(listed) == len(HOSTILE_HEADERS) + 3
    assert [info.id for info in listed if info.problem is None] == ["starter-dit", "z"]


def test_a_file_that_goes_away_while_it_is_listed_is_told(catalog_of, models, monkeypatch):
    original = module.open_checkpoint

    def vanishing(path):
        if path.is_file():
            path.unlink()
        return original(path)

    monkeypatch.setattr(module, "open_checkpoint", vanishing)
    listed = {info.id: info for info in catalog_of(models).models()}
    assert listed["juggernaut_xl"].problem.endswith("does not exist")
    assert listed["juggernaut_xl"].bytes == 0


def test_the_same_model_is_listed_once(catalog_of, models):
    assert ids(catalog_of(models, models, models / "style")) == ids(catalog_of(models))


def test_a_model_is_found_by_its_id(catalog_of, models):
    found = catalog_of(models).find(ModelRef(id="juggernaut_xl"))
    assert isinstance(found.checkpoint, FileCheckpoint)
    assert found.info.id == "juggernaut_xl"
    assert found.detected.family == found.info.family == "sdxl"


@pytest.mark.parametrize("name", ["juggernaut_xl.safetensors", "JUGGERNAUT_XL", "Juggernaut_XL"])
def test_or_by_its_file_name_or_in_other_letters(catalog_of, models, name):
    assert catalog_of(models).find(ModelRef(id=name)).info.id == "juggernaut_xl"


def test_a_pickle_does_not_take_the_name_of_the_file_beside_it(catalog_of, models):
    (models / "paper.ckpt").touch()
    catalog = catalog_of(models)
    assert {"paper", "paper.ckpt"} <= set(ids(catalog))
    for name in ("paper", "PAPER"):
        assert catalog.find(ModelRef(id=name)).info.path.endswith("paper.safetensors")


def test_or_by_its_path(catalog_of, models, monkeypatch):
    path = models / "style" / "paper.safetensors"
    info = catalog_of().find(ModelRef(id=str(path))).info
    assert (info.id, info.path, info.source) == (str(path), str(path), "path")
    monkeypatch.chdir(models)
    assert catalog_of().find(ModelRef(id=str(Path("style", "paper.safetensors")))).info.path == str(path)
    assert isinstance(catalog_of().find(ModelRef(id="base")).checkpoint, FolderCheckpoint)


def test_or_by_a_path_from_home(catalog_of, monkeypatch, models):
    monkeypatch.setenv("HOME", str(models))
    monkeypatch.setenv("USERPROFILE", str(models))
    assert catalog_of().find(ModelRef(id="~/base")).info.path == str(models / "base")


def test_an_id_goes_before_a_path(catalog_of, models, monkeypatch, tmp_path):
    here = tmp_path / "here"
    sdxl_folder(here / "starter-dit")
    monkeypatch.chdir(here)
    assert catalog_of().find(ModelRef(id="starter-dit")).info.source == "bundled"
    assert catalog_of().find(ModelRef(id="./starter-dit")).info.source == "path"


def test_the_default_is_the_bundled_model(catalog_of):
    catalog = catalog_of()
    assert catalog.find(catalog.default()).info.id == "starter-dit"


def test_nobody_takes_the_name_of_the_bundled_model(catalog_of, tmp_path):
    pixart_folder(tmp_path / "mine" / "starter-dit", {"name": "starter-dit"})
    pixart_folder(tmp_path / "mine" / "other", {"name": "starter-dit"})
    catalog = catalog_of(tmp_path / "mine")
    assert ids(catalog) == ["starter-dit", "other", "mine/starter-dit"]
    assert catalog.find(catalog.default()).info.source == "bundled"


def test_a_name_that_two_models_bear_is_told_with_both(catalog_of, tmp_path):
    for folder in "ab":
        sdxl_file(tmp_path / folder / "paper.safetensors")
    catalog = catalog_of(tmp_path / "a", tmp_path / "b")
    assert ids(catalog) == ["starter-dit", "a/paper", "b/paper"]
    with pytest.raises(
        UnknownModel, match="'paper' matches several models: a/paper, b/paper; use one of these ids, or a path"
    ):
        catalog.find(ModelRef(id="paper"))
    assert catalog.find(ModelRef(id="b/paper")).info.path == str(tmp_path / "b" / "paper.safetensors")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("juggernot_xl", r"No model is called 'juggernot_xl'\. Nearest: juggernaut_xl"),
        ("startr-dit", r"Nearest: starter-dit"),
        ("qqqqqqqqq", r"No model is called 'qqqqqqqqq'\. `mezzotint models list` shows all"),
        ("/none/juggernaut_xl.safetensors", r"no file or folder '/none/juggernaut_xl.safetensors'\. Nearest: jugg"),
        ("./none", "no file or folder './none'"),
        ("", "No model is called ''"),
        ("a\0b", r"'a\\x00b'"),
        ("x" * 5000, "No model is called 'xxxxx"),
        ("~nobody-of-that-name/x", "no file or folder '~nobody"),
    ],
)
def test_an_unknown_model_is_told_with_the_nearest(catalog_of, models, wanted, message):
    with pytest.raises(UnknownModel, match=message) as caught:
        catalog_of(models).find(ModelRef(id=wanted))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["old.ckpt", "old", "torn"])
def test_a_model_that_is_refused_says_why_when_it_is_asked_for(catalog_of, models, name):
    with pytest.raises(ModelRefused):
        catalog_of(models).find(ModelRef(id=name))


def test_a_pickle_by_its_path_is_refused_with_advice(catalog_of, models):
    with pytest.raises(ModelRefused, match="convert it to safetensors"):
        catalog_of().find(ModelRef(id=str(models / "old.ckpt")))


def test_only_the_one_asked_for_is_opened(catalog_of, models, monkeypatch):
    opened = []
    original = module.open_checkpoint
    monkeypatch.setattr(module, "open_checkpoint", lambda path: opened.append(path) or original(path))
    catalog_of(models).find(ModelRef(id="paper"))
    assert opened == [models / "style" / "paper.safetensors"]


def test_a_broken_bundled_model_is_told_and_not_hidden(catalog_of, bundled):
    (bundled / "dit" / "mezzotint.json").write_text("{")
    assert [info.problem is None for info in catalog_of().models()] == [False]
    with pytest.raises(MezzotintError):
        catalog_of().find(catalog_of().default())


def test_the_list_is_the_same_each_time(catalog_of, models):
    assert catalog_of(models).models() == catalog_of(models).models()


def test_looking_changes_nothing(catalog_of, models):
    before = {path: path.stat().st_mtime_ns for path in sorted(models.rglob("*"))}
    catalog_of(models).models()
    assert {path: path.stat().st_mtime_ns for path in sorted(models.rglob("*"))} == before


def test_the_standard_catalog_looks_in_the_usual_places(models, tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_MODELS", str(models))
    assert {"base", "juggernaut_xl", "paper"} <= set(ids(Catalog.standard()))
    assert Catalog.standard().notices() == ()
    missing = tmp_path / "none"
    assert str(missing) in Catalog.standard([missing]).notices()[0]


def test_listing_loads_no_torch(models):
    code = "import sys; from mezzotint.catalog import Catalog; assert Catalog.standard().models(); print(*sys.modules)"
    environment = {**os.environ, "MEZZOTINT_MODEL_PATH": str(models)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert {"torch", "diffusers", "transformers", "numpy", "safetensors", "yaml"}.isdisjoint(run.stdout.split())


def test_what_lies_beside_the_bundled_models_is_no_model(catalog_of, bundled):
    (bundled / "judge").mkdir()
    (bundled / "judge" / "model.safetensors").write_bytes(small())
    assert [model.id for model in catalog_of().models()] == ["starter-dit"]


def test_what_lies_at_a_path(catalog_of, models, tmp_path):
    catalog = catalog_of(models)
    assert catalog.at(models / "base") == catalog.find(ModelRef(id="base")).info
    assert catalog.at(models / "style" / ".." / "base").id == "base"
    assert "incomplete" in catalog.at(models / "torn.safetensors").problem
    apart = sdxl_file(tmp_path / "apart" / "one.safetensors")
    assert (catalog.at(apart).id, catalog.at(apart).source, catalog.at(apart).problem) == (str(apart), "path", None)


def test_where_a_model_is_be_it_damaged_or_not(catalog_of, models, tmp_path):
    catalog = catalog_of(models)
    assert catalog.where(ModelRef(id="torn")) == ("torn", models / "torn.safetensors")
    path = models / "torn.safetensors"
    assert catalog.where(ModelRef(id=str(path))) == (str(path), path)
    with pytest.raises(UnknownModel, match="Nearest: torn"):
        catalog.where(ModelRef(id="tornn"))


@pytest.mark.parametrize("by", ["id", "path"])
def test_hidden_models_are_left_out_of_lists_alone(models, by):
    name = "base" if by == "id" else str(models / "base")
    catalog = Catalog(Places(named=(models,), hidden=frozenset({name})))
    assert "base" not in ids(catalog)
    assert {info.id for info in catalog.models(hidden=True) if info.hidden} == {"base"}
    assert [info.id for info in catalog.removed()] == ["base"]
    assert catalog.find(ModelRef(id="base")).info.id == "base"


def test_a_folder_that_is_added_later_is_known_at_once(monkeypatch, tmp_path, tiny_sdxl_folder):
    """As when the window adds one while the engine runs."""
    monkeypatch.setenv("MEZZOTINT_CONFIG", str(tmp_path))
    catalog = Catalog.standard()
    with pytest.raises(UnknownModel):
        catalog.find(ModelRef(id=tiny_sdxl_folder.name))
    add_place(str(tiny_sdxl_folder))
    assert catalog.find(ModelRef(id=tiny_sdxl_folder.name)).info.path == str(tiny_sdxl_folder)
    assert tiny_sdxl_folder.name in [model.id for model in catalog.models()]
    (tmp_path / "config.toml").write_text("[models", "utf-8")  # somebody is writing in it
    assert catalog.find(ModelRef(id=tiny_sdxl_folder.name)).info.path == str(tiny_sdxl_folder)
    (tmp_path / "config.toml").unlink()
    with pytest.raises(UnknownModel):
        catalog.find(ModelRef(id=tiny_sdxl_folder.name))
