"""Which files hold the weights, and what an index may name."""

import pytest
from model_files import small, write_json

from mezzotint.checkpoints.folder_weights import index_name, weight_files
from mezzotint.errors import ModelRefused

STEM = "diffusion_pytorch_model"


@pytest.fixture
def unet(tmp_path):
    (tmp_path / "unet").mkdir()
    return tmp_path.resolve() / "unet"


def put(unet, *names):
    for name in names:
        (unet / name).write_bytes(small())


def files(unet, library="diffusers"):
    return [path.name for path in weight_files(unet.parent, unet, library)]


def test_one_file_goes_before_shards_and_variants(unet):
    put(unet, f"{STEM}.fp16.safetensors", "a.safetensors")
    assert files(unet) == [f"{STEM}.fp16.safetensors"]
    write_json(unet / f"{STEM}.safetensors.index.json", {"weight_map": {"w": "a.safetensors"}})
    assert files(unet) == ["a.safetensors"]
    put(unet, f"{STEM}.safetensors")
    assert files(unet) == [f"{STEM}.safetensors"]


def test_text_encoders_have_their_own_name(unet):
    put(unet, "model.safetensors")
    assert files(unet, "transformers") == ["model.safetensors"]
    with pytest.raises(ModelRefused, match=r"no weights \(diffusion_pytorch_model.safetensors\)"):
        files(unet)


@pytest.mark.parametrize("index", [f"{STEM}.safetensors.index.fp16.json", f"{STEM}.fp16.safetensors.index.json"])
def test_a_variant_may_be_sharded(unet, index):
    put(unet, "a.safetensors")
    write_json(unet / index, {"weight_map": {"w": "a.safetensors"}})
    assert files(unet) == ["a.safetensors"]


def index(unet, weight_map):
    write_json(unet / f"{STEM}.safetensors.index.json", {"metadata": {}, "weight_map": weight_map})


def test_shards_come_in_the_order_of_the_index_and_once(unet):
    put(unet, "2.safetensors", "1.safetensors")
    index(unet, {"a": "2.safetensors", "b": "1.safetensors", "c": "2.safetensors"})
    assert files(unet) == ["2.safetensors", "1.safetensors"]


def test_missing_shards_are_counted(unet):
    put(unet, "1.safetensors")
    index(unet, {"a": "1.safetensors", "b": "2.safetensors", "c": "3.safetensors"})
    with pytest.raises(ModelRefused, match=r"2 of 3 files are missing, the first is 2.safetensors"):
        files(unet)


@pytest.mark.parametrize(
    "name",
    [
        "../vae/x.safetensors",
        "/etc/x.safetensors",
        "C:\\x.safetensors",
        "..\\x.safetensors",
        "sub/x.safetensors",
        "x.bin",
        "x.safetensors\n",
        "",
        "..",
        "x.safetensors:stream",
        None,
        5,
        ["x.safetensors"],
    ],
)
def test_an_index_names_only_safetensors_files_beside_it(unet, name):
    put(unet.parent, "x.safetensors")
    index(unet, {"a": name})
    with pytest.raises(ModelRefused, match="is not the name of a safetensors file beside it"):
        files(unet)


@pytest.mark.parametrize("weight_map", [None, [], {}, "x.safetensors"])
def test_an_index_without_a_map_is_refused(unet, weight_map):
    index(unet, weight_map)
    with pytest.raises(ModelRefused, match="no weight_map"):
        files(unet)


def test_shards_are_bounded_in_number(unet):
    index(unet, {str(n): f"{n}.safetensors" for n in range(1001)})
    with pytest.raises(ModelRefused, match="1001 files; at most 1000"):
        files(unet)


@pytest.mark.parametrize("name", ["model.bin", "pytorch_model.bin", "weights.ckpt", "x.PT"])
def test_pickles_alone_are_refused_with_advice(unet, name):
    (unet / name).write_bytes(b"")
    with pytest.raises(ModelRefused, match=f"only pickled weights .{name}.*get the safetensors version"):
        files(unet)


@pytest.mark.parametrize("library", ["diffusers", "transformers"])
def test_an_index_is_found_under_its_name(unet, library):
    put(unet, "a.safetensors", "b.safetensors")
    write_json(unet / index_name(library), {"weight_map": {"v": "a.safetensors", "w": "b.safetensors"}})
    assert files(unet, library) == ["a.safetensors", "b.safetensors"]
