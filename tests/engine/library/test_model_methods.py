"""What the librarian is asked about models."""

import json
import subprocess
import sys

import pytest
from model_files import sdxl_file

from mezzotint import paths
from mezzotint.catalog import Catalog
from mezzotint.codec import decode, encode
from mezzotint.errors import ModelRefused
from mezzotint.library.model_methods import model_methods
from mezzotint.library.params import PathParams
from mezzotint.library_protocol import (
    GetRequest,
    KnownModel,
    KnownModelsRequest,
    ModelPlace,
    Offer,
    QuantizeRequest,
    Verified,
)
from mezzotint.protocol import HubSearch, ModelInfo, ModelRef, PartChoice

JOBS = {"get", "quantize", "verify"}


@pytest.fixture
def ask():
    methods = model_methods(Catalog.standard)

    def call(name, params=None):
        return methods[name].run(params, lambda _: None, lambda: False)

    return call


def test_the_names_and_what_each_takes():
    methods = model_methods(Catalog.standard)
    assert {name: method.params for name, method in methods.items()} == {
        "places": None,
        "add_place": PathParams,
        "remove_place": PathParams,
        "forget_model": ModelRef,
        "remember_model": ModelRef,
        "hidden_models": None,
        "known_models": KnownModelsRequest,
        "search_hub": HubSearch,
        "offer": GetRequest,
        "get": GetRequest,
        "quantize": QuantizeRequest,
        "verify": ModelRef,
        "part_files": ModelRef,
        "choose_part": PartChoice,
    }
    assert {name for name, method in methods.items() if method.job} == JOBS


def test_places_change_and_models_with_them(ask, tmp_path):
    sdxl_file(tmp_path / "more" / "one.safetensors")
    before = ask("places")
    after = ask("add_place", PathParams(path=str(tmp_path / "more")))
    assert set(after) - set(before) == {ModelPlace(path=str(tmp_path / "more"), source="folder", own=True)}
    assert ask("verify", ModelRef(id="one")).ok
    assert ask("forget_model", ModelRef(id="one")) is None
    assert "one" not in {model.id for model in Catalog.standard().models()}
    assert [model.id for model in ask("hidden_models")] == ["one"], "and no bundled one that lists leave out"
    assert ask("remember_model", ModelRef(id="one")) is None
    assert ask("hidden_models") == ()
    assert ask("remove_place", PathParams(path=str(tmp_path / "more"))) == before


def test_a_model_is_offered_and_fetched(ask, model_server, tmp_path):
    url = model_server.link("/one.safetensors", sdxl_file(tmp_path / "x").read_bytes())
    offer = ask("offer", GetRequest(source=url))
    assert offer.problem is None and offer.bytes_left == offer.bytes > 0
    assert offer.target == str(paths.models_folder() / "one.safetensors")
    assert not paths.models_folder().exists(), "an offer writes nothing"
    assert ask("get", GetRequest(source=url)).id == "one"
    assert "is downloaded already" in ask("offer", GetRequest(source=url)).problem


@pytest.mark.slow
def test_results_cross_the_boundary(ask, model_server, tmp_path):
    url = model_server.link("/one.safetensors", sdxl_file(tmp_path / "x").read_bytes())
    for kind, value in (
        (tuple[ModelPlace, ...], ask("places")),
        (tuple[KnownModel, ...], ask("known_models", KnownModelsRequest(vram_bytes=8 << 30))),
        (Offer, ask("offer", GetRequest(source=url))),
        (ModelInfo, ask("get", GetRequest(source=url))),
        (Verified, ask("verify", ModelRef(id="one"))),
    ):
        assert decode(kind, json.loads(json.dumps(encode(value)))) == value


@pytest.mark.slow
def test_nothing_heavy_is_loaded():
    """Torch stays out of the librarian, whatever it is asked; and so does what reaches the net."""
    code = """if True:
        import json, sys
        from mezzotint.catalog import Catalog
        from mezzotint.library.model_methods import model_methods
        from mezzotint.library_protocol import GetRequest, KnownModelsRequest, QuantizeRequest
        from mezzotint.protocol import ModelRef

        methods = model_methods(Catalog.standard)
        asked = {"places": None, "verify": ModelRef(id="starter-dit")}
        asked["known_models"] = KnownModelsRequest(vram_bytes=2**33)
        asked["quantize"] = QuantizeRequest(model="starter-dit", scheme="int8")
        asked["offer"] = GetRequest(source="http://127.0.0.1:9/a.safetensors")
        for name, params in asked.items():
            try:
                methods[name].run(params, lambda _: None, lambda: name == "quantize")
            except Exception as error:
                print(type(error).__name__, file=sys.stderr)
        print(json.dumps([name for name in ("torch", "diffusers", "transformers", "httpx2") if name in sys.modules]))
    """
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == ["Cancelled", "DownloadFailed"]
    assert json.loads(done.stdout) == []


def test_a_whole_model_has_no_files_to_choose(ask):
    assert ask("part_files", ModelRef(id="starter-dit")) == ()
    unet = paths.assets_folder() / "starter" / "xl" / "unet" / "diffusion_pytorch_model.safetensors"
    with pytest.raises(ModelRefused, match=r"is no VAE for .*: .* is absent, in the model's VAE it has"):
        ask("choose_part", PartChoice(model="starter-dit", component="vae", file=str(unet)))
