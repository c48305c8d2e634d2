"""Layers that are quantized in their files stay there, in every format, also where the file has several as one."""

import gc
import os
import sys
import weakref
from dataclasses import replace

import pytest
import tiny_flux2
import torch
from fake_card.install import fake_card
from model_on_disk import all_states, check_same, load_from
from original_files import in_fp8, write, write_gguf
from packed_layers import KINDS, packed
from planned_machines import GB, MB, card, model, task, usual_model
from skip_rules import skip_module_without

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.families import footprints
from mezzotint.families.family import ModelSources
from mezzotint.families.flow.files import part_of_file
from mezzotint.families.flux2.names import TRANSFORMER as FLUX2
from mezzotint.families.loading import on_disk
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.loading.weight_loader import WeightLoader
from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.device import open_device
from mezzotint.memory.footprints.component import component_footprint
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.residency import Residency
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import quantized_layers
from mezzotint.quantization.layouts.stored import encode_layer

for package in ("comfy_kitchen", "bitsandbytes", "gguf"):
    skip_module_without(package)

FP8 = ("bare", "scaled", "told", "mixed")
EVERY = (*FP8, *KINDS, "convrot", "Q8_0")
TRANSFORMER = "transformer"


@pytest.fixture(autouse=True)
def _small_tensors_too(monkeypatch):
    monkeypatch.setattr(on_disk, "_LEAST", 1)


@pytest.fixture(scope="module")
def tensors():
    """A tiny FLUX.2 transformer with its original names: queries, keys and values are one layer."""
    return tiny_flux2.original_names(tiny_flux2.transformer().state_dict())


@pytest.fixture(scope="module")
def quantized(tensors, tmp_path_factory):
    """Writes it in a format, once; returns the file."""
    written = {}

    def path_of(kind):
        if kind not in written:
            written[kind] = quantize_to(tmp_path_factory.mktemp(kind), tensors, kind)
        return written[kind]

    return path_of


def quantize_to(folder, tensors, kind):
    if kind == "Q8_0":
        write_gguf(folder / "transformer.gguf", tensors, kind)
        return folder / "transformer.gguf"
    return write(folder / "transformer.safetensors", in_format(tensors, kind))


def in_format(tensors, kind):
    if kind == "mixed":
        return tensors | in_fp8({name: each for name, each in tensors.items() if "double_blocks" in name}, "told")[0]
    if kind in FP8:
        return in_fp8(tensors, kind)[0]
    if kind == "convrot":
        return rotated(tensors)
    return packed(tensors, kind)[0]


def rotated(tensors):
    """As ComfyUI's int8 layers with rotated columns."""
    made, format_ = {}, Int8(dynamic=True, group=16)
    for name, tensor in tensors.items():
        layer = name.removesuffix(".weight")
        if layer != name and tensor.ndim == 2 and "blocks" in name:
            made |= encode_layer(layer, format_, tensor.shape, format_.quantize(tensor), torch.float16)
        else:
            made[name] = tensor
    return made


def sources_of(path):
    part = part_of_file(TRANSFORMER, FLUX2, weight_header(path))
    components = {TRANSFORMER: part}
    return ModelSources(
        family="flux2", detected=None, checkpoint=None, components=components, scheduler={}, settings={}
    )


def load(path, *, from_disk=()):
    return load_from(sources_of(path), from_disk=from_disk)


def streamed_weights(model):
    """The sources of the weights of quantized layers, by the layer's name."""
    layers = [name for name, _ in quantized_layers(model.networks[TRANSFORMER])]
    assert len(layers) > 10
    return {name: model.on_disk[TRANSFORMER][f"{name}.quantized_weight"] for name in layers}


@pytest.mark.parametrize("kind", EVERY)
def test_every_weight_is_streamed_as_it_is_in_memory(quantized, kind):
    plain, streamed = load(quantized(kind)), load(quantized(kind), from_disk={TRANSFORMER})
    weights, network = streamed_weights(streamed), streamed.networks[TRANSFORMER]
    formats = {name: layer.format for name, layer in quantized_layers(network)}
    assert formats == {name: layer.format for name, layer in quantized_layers(plain.networks[TRANSFORMER])}
    kept = sum(each.nbytes for each in all_states(network).values() if not each.is_meta)
    assert kept < 0.1 * sum(source.layout.bytes for source in weights.values())
    check_same(plain, streamed, TRANSFORMER)


def test_what_is_read_later_keeps_nothing_of_the_loading(quantized, monkeypatch):
    made, begin = [], WeightLoader.__init__

    def noted(self, *args):
        made.append(weakref.ref(self))
        begin(self, *args)

    monkeypatch.setattr(WeightLoader, "__init__", noted)
    model = load(quantized("told"), from_disk={TRANSFORMER})
    gc.collect()
    assert model.on_disk and [each() for each in made] == [None]


@pytest.mark.parametrize("kind", ["told", "nvfp4", "nf4", "Q8_0"])
def test_of_layers_that_are_one_in_the_file_only_their_rows_are_read(quantized, kind):
    streamed = load(quantized(kind), from_disk={TRANSFORMER})
    weights = streamed_weights(streamed)
    parts = [weights[f"transformer_blocks.0.attn.{name}"] for name in ("to_q", "to_k", "to_v")]
    assert all(source.supports_partial_reads for source in parts)
    assert [(source.spec.end - source.spec.start) for source in parts] == [source.layout.bytes for source in parts]
    assert parts[0].spec.end == parts[1].spec.start and parts[1].spec.end == parts[2].spec.start


def planned(path):
    """The footprint of the network in a file."""
    sources = sources_of(path)
    part = sources.components[TRANSFORMER]
    whole = component_footprint(empty_network(part), name=TRANSFORMER, class_name=part.class_name, tokens=0)
    return footprints._as_stored(sources, whole)


@pytest.mark.parametrize("kind", EVERY)
def test_plans_count_the_bytes_of_blocks(quantized, kind):
    states = all_states(load(quantized(kind)).networks[TRANSFORMER])
    stored = sum(tensor.nbytes for name, tensor in states.items() if "quantized_" in name)
    others = sum(2 * tensor.numel() for name, tensor in states.items() if "quantized_" not in name)
    assert planned(quantized(kind)).bytes("none") == pytest.approx(stored + others, rel=0.02)


@pytest.mark.parametrize("kind", ["told", "nf4", "Q8_0"])
def test_plans_leave_them_in_their_files_where_ram_is_too_small(quantized, kind):
    part = planned(quantized(kind))
    times = 2 * GB // part.bytes("none")  # as large as real ones
    blocks = tuple(replace(block, bytes={"none": times * block.bytes["none"]}) for block in part.blocks)
    large = replace(part, blocks=blocks, outside={"none": times * part.outside["none"]})
    others = [each for each in usual_model().components if each.role != "denoiser"]
    for ram, host in ((16 * GB, "ram"), (600 * MB + large.bytes("none") * 9 // 10, "disk")):
        made = plan(task(model(*others, large)), card(24 * GB, ram), policy="fast")
        assert made.fits and {each.host for each in made.components if each.name == TRANSFORMER} == {host}


@pytest.mark.parametrize("kind", ["scaled", "nvfp4", "Q8_0"])
def test_on_a_card_it_takes_what_its_tensors_take(quantized, kind):
    plain, streamed = load(quantized(kind)), load(quantized(kind), from_disk={TRANSFORMER})
    network, wanted = streamed.networks[TRANSFORMER], all_states(plain.networks[TRANSFORMER])
    with fake_card(64 * MB) as gpu:
        device = open_device(torch.device("cuda:0"), reading=False)
        residency = Residency(device)
        sources = streamed.on_disk[TRANSFORMER]
        residency.add("network", network, blocks_of(network), resident=1000, slots=1, disk=sources)
        with residency.phase(["network"]):
            torch.cuda.synchronize()  # blocks are waited for only when they are computed
            for name, tensor in all_states(network).items():
                assert tensor.device.type == "cuda" and tensor.cpu().equal(wanted[name]), name
            total = sum(tensor.nbytes for tensor in wanted.values())
            assert total <= device.arena.in_use <= total + 512 * len(wanted)
        residency.clear()
        device.close()
        assert gpu.hazards == []


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be cut there")
@pytest.mark.parametrize("kind", ["told", "mxfp8"])
def test_a_file_that_is_cut_meanwhile_is_told(tensors, tmp_path, kind):
    path = quantize_to(tmp_path, tensors, kind)
    streamed = load(path, from_disk={TRANSFORMER})
    os.truncate(path, path.stat().st_size // 2)
    network, residency = streamed.networks[TRANSFORMER], Residency(open_device(torch.device("cpu"), reading=False))
    residency.add("network", network, blocks_of(network), resident=0, slots=2, disk=streamed.on_disk[TRANSFORMER])
    told = pytest.raises(StorageError, match="became shorter|changed while it was in use")
    with told, residency.phase(["network"]):
        pass


@pytest.mark.parametrize(
    ("kind", "ending", "value", "reason"),
    [
        ("told", "linear1.weight_scale", float("nan"), "its weight_scale contains NaN"),
        ("mxfp8", "linear1.weight_scale", 255, "block exponent 255"),
        ("nf4", "linear1.weight.quant_map", 0.5, "code table of .* is not NF4's"),
    ],
)
def test_damaged_scales_and_tables_are_refused_at_once(tensors, tmp_path, kind, ending, value, reason):
    path = quantize_to(tmp_path, tensors, kind)
    spec = next(spec for name, spec in read_header(path).tensors.items() if name.endswith(ending))
    numbers = torch.full((spec.end - spec.start,), 255, dtype=torch.uint8)
    if spec.dtype == "F32":
        numbers = torch.full((numbers.numel() // 4,), value).view(torch.uint8)
    with path.open("r+b") as file:
        file.seek(spec.start)
        file.write(numbers.numpy().tobytes())
    with pytest.raises(ModelRefused, match=reason):
        load(path, from_disk={TRANSFORMER})
