"""What a network takes, told and then counted."""

import pytest
import torch

from mezzotint.catalog import Catalog
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.network_bytes import network_bytes
from mezzotint.families.loading.networks import load_components
from mezzotint.protocol import SCHEMES, ModelRef
from mezzotint.quantization.layers import quantized_layers
from mezzotint.quantization.policy import Choice


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("scheme", [None, *SCHEMES])
def test_it_is_what_a_loaded_network_has(scheme):
    found = Catalog.standard().find(ModelRef(id="starter-dit"))
    sources = family_of("pixart").sources(found.checkpoint, found.detected)
    choice = None if scheme is None else Choice(scheme=scheme)
    model = LoadedModel(
        sources=sources,
        device=torch.device("cpu"),
        dtype=torch.float16,
        quantization={} if choice is None else {"transformer": choice},
    )
    load_components(model, ["transformer"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    network = model.networks["transformer"]
    held = sum(parameter.nbytes for parameter in network.parameters())
    for _, layer in quantized_layers(network):
        held += sum(buffer.nbytes for buffer in layer.buffers())
    assert network_bytes(sources.components["transformer"], choice) == held
