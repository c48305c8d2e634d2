"""Models loaded with weights that stay in their files, and whether those are what is loaded otherwise."""

from collections.abc import Collection, Mapping
from typing import Any

import torch

from mezzotint.families.family import LoadedModel, ModelSources
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency

CPU = torch.device("cpu")


def load_of(
    checkpoint: Any,
    detected: Any,
    *,
    from_disk: Collection[str] = (),
    choices: Mapping[str, Any] | None = None,
    cache: Any = None,
) -> LoadedModel:
    """Return the model with all its networks."""
    sources = family_of(detected.family).sources(checkpoint, detected)
    return load_from(sources, from_disk=from_disk, choices=choices, cache=cache)


def load_from(
    sources: ModelSources,
    *,
    from_disk: Collection[str] = (),
    choices: Mapping[str, Any] | None = None,
    cache: Any = None,
) -> LoadedModel:
    """Return a model with all networks of these sources."""
    model = LoadedModel(
        sources=sources, device=CPU, dtype=torch.float32, from_disk=frozenset(from_disk), quantization=choices or {}
    )
    counted: list[int] = []
    names = [name for name, part in sources.components.items() if part.files]
    load_components(
        model,
        names,
        on_bytes=lambda _, n: counted.append(n),
        cancelled=lambda: False,
        notify=lambda _: None,
        cache=cache,
    )
    assert sum(counted) <= sum(part.bytes for part in sources.components.values())
    return model


def all_states(network: Any) -> dict[str, torch.Tensor]:
    """Return all parameters and buffers, by each of their names."""
    return dict([*network.named_parameters(remove_duplicate=False), *network.named_buffers(remove_duplicate=False)])


def check_same(plain: LoadedModel, streamed: LoadedModel, component: str) -> None:
    """Check that every weight, as it is on the device, is the one that was loaded as a whole."""
    network, sources = streamed.networks[component], streamed.on_disk[component]
    assert sources and all(all_states(network)[name].is_meta for name in sources)
    residency = Residency(open_device(CPU, reading=False))
    residency.add("network", network, blocks_of(network), resident=1000, slots=1, disk=sources)
    wanted = all_states(plain.networks[component])
    with residency.phase(["network"]):
        found = all_states(network)
        assert found.keys() == wanted.keys()
        for name, tensor in wanted.items():
            assert torch.equal(found[name], tensor) and found[name].dtype == tensor.dtype, name
    residency.clear()
    assert all(all_states(network)[name].is_meta for name in sources)
