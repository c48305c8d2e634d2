"""A transformer in Nunchaku's layout becomes the network of the same layers, in memory and on disk."""

import pytest
import tiny_flux1
import tiny_qwen_image
import tiny_z_image
import torch
from model_on_disk import all_states, check_same, load_from
from nunchaku_files import FLUX, Z_IMAGE, nunchaku_transformer
from original_files import write

from mezzotint.checkpoints.header import read_header
from mezzotint.families import footprints
from mezzotint.families.family import ModelSources
from mezzotint.families.flow.files import part_of_file
from mezzotint.families.flux1 import names as flux1
from mezzotint.families.loading import on_disk
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.loading.precision import parts_of
from mezzotint.families.qwen_image import names as qwen_image
from mezzotint.families.z_image import names as z_image
from mezzotint.memory.footprints.component import component_footprint
from mezzotint.quantization.layers import quantized_layers
from mezzotint.quantization.layouts.stored import decode_layer, find_stored_layers

TRANSFORMER = "transformer"
NETWORKS = {  # how to make one, its names in Nunchaku's files, and the numbers of its layers of each kind
    "flux": (lambda: tiny_flux1.transformer(**FLUX, guidance_embeds=True), flux1.NUNCHAKU, 17, 3),
    "qwen-image": (
        lambda: tiny_qwen_image.transformer(num_attention_heads=4, num_layers=1),
        qwen_image.TRANSFORMER,
        12,
        2,
    ),
    "z-image": (lambda: tiny_z_image.transformer(**Z_IMAGE), z_image.NUNCHAKU, 7, 0),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """By family: the tensors in our own layout, and the file."""
    made = {}

    def files_of(family):
        if family not in made:
            torch.manual_seed(2)
            tensors, same = nunchaku_transformer(NETWORKS[family][0]().state_dict(), family)
            made[family] = same, write(tmp_path_factory.mktemp(family) / "svdq-int4.safetensors", tensors)
        return made[family]

    return files_of


def sources_of(path, family="flux"):
    components = {TRANSFORMER: part_of_file(TRANSFORMER, NETWORKS[family][1], read_header(path))}
    return ModelSources(family=family, detected=None, checkpoint=None, components=components, scheduler={}, settings={})


@pytest.mark.parametrize("family", NETWORKS)
def test_every_number_is_that_of_the_same_layers_in_our_own_layout(written, family):
    (same, path), (*_, products, modulations) = written(family), NETWORKS[family]
    model = load_from(sources_of(path, family))
    network, layers = model.networks[TRANSFORMER], dict(quantized_layers(model.networks[TRANSFORMER]))
    own = find_stored_layers(read_header_of(same), {}, same.__getitem__)
    assert own.keys() <= layers.keys() and (len(own), len(layers)) == (products, products + modulations)
    for name, each in own.items():
        assert layers[name].format == each.format, name
        for part, tensor in decode_layer(each, same).items():
            assert layers[name].get_buffer(f"quantized_{part}").equal(tensor), (name, part)
    plain = {name: each for name, each in same.items() if not name.startswith(tuple(own)) or name.endswith(".bias")}
    for name, wanted in plain.items():
        layer = layers.get(name.removesuffix(".weight"))
        found = network.state_dict().get(name) if layer is None else layer.weight.dequantized(torch.float32)
        torch.testing.assert_close(found, wanted.float(), atol=1e-6, rtol=1e-6, msg=name)


def read_header_of(tensors):
    from mezzotint.checkpoints.header import TensorSpec

    kinds = {torch.uint8: "U8", torch.float16: "F16", torch.float32: "F32"}
    return {
        name: TensorSpec(dtype=kinds[each.dtype], shape=tuple(each.shape), start=0, end=each.nbytes)
        for name, each in tensors.items()
    }


def test_weights_are_streamed_from_their_file(written, monkeypatch):
    monkeypatch.setattr(on_disk, "_LEAST", 1)
    _, path = written("flux")
    plain, streamed = load_from(sources_of(path)), load_from(sources_of(path), from_disk={TRANSFORMER})
    check_same(plain, streamed, TRANSFORMER)
    weights = [f"{name}.quantized_weight" for name, _ in quantized_layers(plain.networks[TRANSFORMER])]
    assert len(weights) == 20 and set(weights) < set(streamed.on_disk[TRANSFORMER])


def test_plans_and_lists_count_what_is_in_memory_and_in_the_file(written):
    _, path = written("flux")
    sources = sources_of(path)
    part = sources.components[TRANSFORMER]
    states = all_states(load_from(sources).networks[TRANSFORMER])
    stored = sum(tensor.nbytes for name, tensor in states.items() if "quantized_" in name)
    others = sum(2 * tensor.numel() for name, tensor in states.items() if "quantized_" not in name)
    whole = component_footprint(empty_network(part), name=TRANSFORMER, class_name=part.class_name, tokens=0)
    planned = footprints._as_stored(sources, whole)
    # Queries, keys and values have what they share three times: much here, 0.4 % of a real one.
    assert planned.bytes("none") == pytest.approx(stored + others, rel=0.03)
    (listed,) = parts_of(sources)
    assert listed.layers["svdquant"] == 8 + 3 and listed.layers["q4_1"] == 3
    assert listed.bytes == part.bytes == sum(spec.end - spec.start for spec in read_header(path).tensors.values())
