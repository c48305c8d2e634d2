"""A model's quantized copy: of folders, shards, shared parts and single files; whole, or to be resumed."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.checkpoints.write import SafetensorsWriter
from mezzotint.conversion import model as conversion_module
from mezzotint.conversion.model import PARTIAL_SUFFIX, Conversion, convert, layer_errors
from mezzotint.errors import Cancelled, ModelRefused, StorageError, UsageError
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.protocol import ModelRef
from mezzotint.quantization.layers import quantized_layers
from mezzotint.quantization.policy import Choice

TRANSFORMER = "transformer/diffusion_pytorch_model.safetensors"


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def conversion(source, output, scheme="int8", component="transformer", **more):
    sources = more.pop("sources", None) or sources_of(source)
    return Conversion(sources=sources, choices={component: Choice(scheme=scheme)}, output=output, **more)


def networks(path, quantization=None):
    """All networks of a model, in memory."""
    sources = sources_of(path)
    model = LoadedModel(
        sources=sources, device=torch.device("cpu"), dtype=torch.float32, quantization=quantization or {}
    )
    names = [name for name, source in sources.components.items() if source.files]
    load_components(model, names, on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    return model.networks


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, network in wanted.items():
        left, right = found[name].state_dict(), network.state_dict()
        assert left.keys() == right.keys()
        assert all(left[key].equal(tensor) for key, tensor in right.items())


def bytes_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def pixart(tiny_pixart_folder, tmp_path):
    return shutil.copytree(tiny_pixart_folder, tmp_path / "model")


def shard(path, count):
    """Split a component's weights into files with an index, as large models come."""
    tensors = load_file(path)
    stem = path.stem
    places = {}
    for number in range(count):
        name = f"{stem}-{number + 1:05}-of-{count:05}.safetensors"
        part = dict(list(tensors.items())[number::count])
        save_file(part, path.with_name(name))
        places |= dict.fromkeys(part, name)
    path.unlink()
    path.with_name(f"{stem}.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def recast(path, dtype):
    save_file({name: tensor.to(dtype) for name, tensor in load_file(path).items()}, path)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_copy_is_the_model_that_is_quantized_while_it_is_loaded(pixart, tmp_path, dtype, shards):
    recast(pixart / TRANSFORMER, dtype)
    if shards > 1:
        shard(pixart / TRANSFORMER, shards)
    before = bytes_of(pixart)
    report = convert(conversion(pixart, tmp_path / "small"))
    same(networks(tmp_path / "small"), networks(pixart, {"transformer": Choice(scheme="int8")}))
    assert any(True for _ in quantized_layers(networks(tmp_path / "small")["transformer"]))
    assert bytes_of(pixart) == before
    assert len(list((tmp_path / "small" / "transformer").glob("*.safetensors"))) == shards
    parts = {part.name: part for part in report.components}
    assert parts["vae"].layers == () and parts["vae"].bytes_before == parts["vae"].bytes_after
    assert parts["transformer"].bytes_after < parts["transformer"].bytes_before
    assert not list(tmp_path.glob(f"*{PARTIAL_SUFFIX}")) and not list(tmp_path.rglob("*.layers.json"))


def test_shards_of_any_name_are_found_again(pixart, tmp_path):
    folder = pixart / "transformer"
    shard(pixart / TRANSFORMER, 2)
    index = folder / "diffusion_pytorch_model.safetensors.index.json"
    names = sorted(path.name for path in folder.glob("*-of-*"))
    renamed = dict(zip(names, ("a.safetensors", "b.safetensors"), strict=True))
    for old, new in renamed.items():
        (folder / old).rename(folder / new)
    places = json.loads(index.read_text())["weight_map"]
    index.write_text(json.dumps({"weight_map": {name: renamed[place] for name, place in places.items()}}))
    convert(conversion(pixart, tmp_path / "small"))
    same(networks(tmp_path / "small"), networks(pixart, {"transformer": Choice(scheme="int8")}))


def test_parts_of_a_neighbour_are_in_the_copy(tmp_path):
    found = Catalog.standard().find(ModelRef(id="starter-xl"))
    sources = family_of("sdxl").sources(found.checkpoint, found.detected)
    convert(conversion(None, tmp_path / "far" / "away", component="unet", sources=sources))
    settings = json.loads((tmp_path / "far" / "away" / "mezzotint.json").read_text())
    assert "shared" not in settings and settings["quantization"] == {"unet": "int8"}
    assert settings["defaults"]["width"] == 128 and settings["name"] == "away"
    vae = found.checkpoint.components["vae"].files[0]
    assert load_file(tmp_path / "far" / "away" / "vae" / vae.name).keys() == load_file(vae).keys()
    assert open_checkpoint(tmp_path / "far" / "away").components.keys() == found.checkpoint.components.keys()


@pytest.mark.parametrize("name", ["my model (small)", "-.-", "ÄÖÜ", "x" * 100, ".hidden"])
def test_a_copy_of_any_name_can_be_opened(pixart, tmp_path, name):
    convert(conversion(pixart, tmp_path / name))
    assert open_checkpoint(tmp_path / name).components.keys() == open_checkpoint(pixart).components.keys()


def test_one_file_becomes_one_file(tiny_single_file, tmp_path):
    output = tmp_path / "small.safetensors"
    report = convert(conversion(tiny_single_file, output, component="unet"))
    assert [path.name for path in tmp_path.iterdir()] == ["small.safetensors"]
    same(networks(output), networks(tiny_single_file, {"unet": Choice(scheme="int8")}))
    (part,) = report.components
    assert part.name == tiny_single_file.name and part.bytes_after < part.bytes_before


def test_a_file_is_named_as_one(tiny_single_file, tmp_path):
    with pytest.raises(UsageError, match=r"name it .*small\.safetensors"):
        convert(conversion(tiny_single_file, tmp_path / "small", component="unet"))


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_there_already_is_kept(pixart, tiny_single_file, tmp_path, kind):
    output = tmp_path / "mine.safetensors"
    output.write_text("mine")
    folder = kind == "folder"
    source, component = (pixart, "transformer") if folder else (tiny_single_file, "unet")
    with pytest.raises(UsageError, match="exists already"):
        convert(conversion(source, output, component=component))
    assert output.read_text() == "mine"


def test_a_copy_is_not_quantized_again(pixart, tmp_path):
    convert(conversion(pixart, tmp_path / "small"))
    for again in ("int8", "int4"):
        with pytest.raises(ModelRefused, match="is quantized already"):
            convert(conversion(tmp_path / "small", tmp_path / "smaller", scheme=again))
    assert {path.name for path in tmp_path.iterdir()} == {"model", "small"}


def test_a_single_file_is_not_quantized_again(tiny_single_file, tmp_path):
    first = tmp_path / "a.safetensors"
    convert(conversion(tiny_single_file, first, component="text_encoder"))
    with pytest.raises(ModelRefused, match="is quantized already"):
        convert(conversion(first, tmp_path / "b.safetensors", component="unet"))


def test_networks_of_another_kind_are_refused(pixart, tmp_path):
    with pytest.raises(ModelRefused, match="AutoencoderKL cannot be quantized"):
        convert(conversion(pixart, tmp_path / "small", component="vae"))
    assert not (tmp_path / "small").exists()


def test_a_file_of_another_model_is_told(pixart, tmp_path):
    tensors = load_file(pixart / TRANSFORMER)
    name = "transformer_blocks.0.attn1.to_q.weight"
    save_file(tensors | {name: torch.ones(5, 5)}, pixart / TRANSFORMER)
    with pytest.raises(ModelRefused, match=rf"{name} has shape \(5, 5\)"):
        convert(conversion(pixart, tmp_path / "small"))
    assert not (tmp_path / "small").exists()
    with pytest.raises(ModelRefused, match=rf"{name} has shape \(5, 5\)"):
        list(layer_errors(sources_of(pixart), "transformer", Choice(scheme="int8"), cancelled=lambda: False))


def test_a_shard_cut_short_is_told(pixart, tmp_path):
    shard(pixart / TRANSFORMER, 2)
    path = sorted((pixart / "transformer").glob("*-of-*"))[1]
    sources = sources_of(pixart)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ModelRefused, match=f"{path.name}.*incomplete"):
        convert(conversion(pixart, tmp_path / "small", sources=sources))
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 2.0**25])
def test_numbers_that_are_none_are_named_on_every_way(pixart, tmp_path, bad):
    """By their layer, and by the file of several that it is in."""
    name = "transformer_blocks.0.attn1.to_q.weight"
    tensors = load_file(pixart / TRANSFORMER)
    tensors[name].view(-1)[-1] = bad
    save_file(tensors, pixart / TRANSFORMER)
    shard(pixart / TRANSFORMER, 3)
    index = json.loads(next((pixart / "transformer").glob("*.index.json")).read_text())
    told = rf"{index['weight_map'][name]}: {name}: a weight contains NaN"
    choice = {"transformer": Choice(scheme="int8")}
    for way in (
        lambda: convert(conversion(pixart, tmp_path / "small")),
        lambda: list(layer_errors(sources_of(pixart), "transformer", choice["transformer"], cancelled=lambda: False)),
        lambda: networks(pixart, choice),
    ):
        with pytest.raises(ModelRefused, match=told):
            way()


def test_errors_of_layers_are_told_without_a_copy(pixart, tmp_path):
    told = list(layer_errors(sources_of(pixart), "transformer", Choice(scheme="int8"), cancelled=lambda: False))
    report = convert(conversion(pixart, tmp_path / "small"))
    assert tuple(told) == next(part.layers for part in report.components if part.name == "transformer")


# ---- stopped, and resumed


@pytest.fixture
def converted(monkeypatch):
    """The files that were converted, as they are."""
    names = []
    call = conversion_module.convert_file

    def convert_file(source, *rest, **more):
        names.append(source.name)
        return call(source, *rest, **more)

    monkeypatch.setattr(conversion_module, "convert_file", convert_file)
    return names


def stop_after(count, error):
    """Something that goes wrong once so many tensors have been read."""
    seen = []

    def on_bytes(*_):
        seen.append(1)
        if len(seen) > count and error is not None:
            raise error

    return on_bytes, lambda: error is None and len(seen) > count


@pytest.mark.parametrize("error", [None, OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_was_done_is_not_done_again(pixart, tmp_path, converted, error):
    shard(pixart / TRANSFORMER, 3)
    before = bytes_of(pixart)
    encoder = len(load_file(pixart / "text_encoder" / "model.safetensors"))
    first = len(load_file(next((pixart / "transformer").glob("*-00001-of-*"))))
    on_bytes, cancelled = stop_after(encoder + first + 2, error)
    wanted = {type(None): Cancelled, OSError: StorageError, KeyboardInterrupt: KeyboardInterrupt}[type(error)]
    with pytest.raises(wanted):
        convert(conversion(pixart, tmp_path / "small", on_bytes=on_bytes, cancelled=cancelled))
    assert not (tmp_path / "small").exists() and not list(tmp_path.rglob("*.part"))
    assert len(converted) == 3  # the second shard was begun
    converted.clear()
    counted = []
    report = convert(conversion(pixart, tmp_path / "small", on_bytes=lambda _, count: counted.append(count)))
    assert len(converted) == 3  # it, the third, and the autoencoder
    assert sum(counted) == sum(part.bytes_before for part in report.components)
    whole = convert(conversion(pixart, tmp_path / "other"))
    assert report.components == whole.components
    assert {
        **bytes_of(tmp_path / "small"),
    }.keys() == bytes_of(tmp_path / "other").keys()
    same(networks(tmp_path / "small"), networks(tmp_path / "other"))
    assert bytes_of(pixart) == before


def test_what_an_earlier_try_left_of_another_copy_is_not_taken(pixart, tmp_path, converted):
    encoder = len(load_file(pixart / "text_encoder" / "model.safetensors"))
    for change in ("scheme", "file"):
        on_bytes, cancelled = stop_after(encoder, None)
        with pytest.raises(Cancelled):
            convert(conversion(pixart, tmp_path / change, on_bytes=on_bytes, cancelled=cancelled))
        converted.clear()
        if change == "file":
            recast(pixart / "text_encoder" / "model.safetensors", torch.float16)
        convert(conversion(pixart, tmp_path / change, scheme="int8-weight" if change == "scheme" else "int8"))
        assert len(converted) == 3


def test_a_disk_that_fills_while_a_tensor_is_written(pixart, tmp_path, monkeypatch):
    def add(self, name, tensor):
        with conversion_module.writing(tmp_path / "small"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(SafetensorsWriter, "add", add)
    with pytest.raises(StorageError, match="No space left on device"):
        convert(conversion(pixart, tmp_path / "small"))
    assert not (tmp_path / "small").exists() and not list(tmp_path.rglob("*.part"))
