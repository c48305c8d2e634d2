"""Files chosen for components of a checkpoint that lacks them."""

import pytest
from safetensors.torch import load_file, save_file
from tiny_sdxl import write_single_file, write_tiny_sdxl

from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.parts import part_of_kind
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.protocol import ModelRef

VAE, FIRST = "first_stage_model.", "conditioner.embedders.0.transformer."


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    home = tmp_path_factory.mktemp("parts")
    tensors = load_file(write_single_file(write_tiny_sdxl(home / "tiny"), home / "whole.safetensors"))
    parts = {name: home / f"{name}.safetensors" for name in ("vae", "clip", "bare", "textless", "other_vae")}

    def keep(path, wanted, prefix=""):
        save_file({name.removeprefix(prefix): each for name, each in tensors.items() if wanted(name)}, path)

    keep(parts["vae"], lambda name: name.startswith(VAE), VAE)
    keep(parts["other_vae"], lambda name: name.startswith(VAE), VAE)
    keep(parts["clip"], lambda name: name.startswith(FIRST), FIRST)
    keep(parts["bare"], lambda name: not name.startswith(VAE))
    keep(parts["textless"], lambda name: not name.startswith(FIRST))
    return parts


@pytest.fixture
def catalog(files):
    return Catalog(Places(named=(files["bare"].parent,)))


def test_the_files_of_one_call_complete_it(catalog, files):
    found = catalog.find(ModelRef(id=str(files["bare"]), vae=str(files["vae"])))
    assert found.checkpoint.parts == {"vae": files["vae"]} == dict.fromkeys(found.checkpoint.chosen, files["vae"])
    assert next(part for part in catalog.inspect(ModelRef(id=str(files["bare"]), vae=str(files["vae"]))).parts
                if part.name == "vae").file == str(files["vae"])  # fmt: skip
    both = ModelRef(id=str(files["textless"]), vae=str(files["vae"]), text_encoders=(str(files["clip"]),))
    assert set(catalog.find(both).checkpoint.chosen) == {"vae", "text_encoder"}


def test_those_of_the_settings_do_unless_one_is_given(files):
    chosen = {str(files["bare"].resolve()): (files["other_vae"],)}
    catalog = Catalog(Places(named=(files["bare"].parent,), parts=chosen))
    assert catalog.find(ModelRef(id=str(files["bare"]))).checkpoint.parts == {"vae": files["other_vae"]}
    given = catalog.find(ModelRef(id=str(files["bare"]), vae=str(files["vae"])))
    assert given.checkpoint.parts == {"vae": files["vae"]}


def test_fitting_files_are_listed_although_it_lacks_some(catalog, files):
    (found,) = catalog.part_files(ModelRef(id=str(files["bare"])))
    assert found.component == "vae" and set(found.fitting) == {str(files["vae"]), str(files["other_vae"])}


def test_others_are_refused_by_name(catalog, files):
    with pytest.raises(
        ModelRefused, match=r"clip\.safetensors does not fit .*bare.*: it holds no vae, which that lacks"
    ):
        catalog.find(ModelRef(id=str(files["bare"]), vae=str(files["clip"])))
    with pytest.raises(UsageError, match="leave --text-encoder out"):
        part_of_kind("text_encoder", files["clip"], open_checkpoint(files["vae"].with_name("whole.safetensors")))
    assert part_of_kind("text_encoder", files["clip"], open_checkpoint(files["textless"]))[0] == "text_encoder"
