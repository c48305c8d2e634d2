"""Lay out the weights of a job's networks as their kernels want them."""

from collections.abc import Iterable

from mezzotint.families.family import LoadedModel
from mezzotint.memory.channels_last import keep_channels_last
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint.normalization.session import has_norms


def lay_out(models: Iterable[LoadedModel], group_norm: GroupNormBackend, device: str, dtype: str) -> None:
    """Keep weights in channels_last where GroupNorm's kernels keep images so; for models that are not placed yet."""
    found = [(model, name, network) for model in models for name, network in model.networks.items()]
    if not has_norms(network for _, _, network in found) or not group_norm.works(device, dtype):
        return
    from mezzotint.normalization.networks import is_normalized

    for model, name, network in found:
        if is_normalized(network):
            sources = keep_channels_last(network, model.on_disk.get(name, {}))
            model.on_disk |= {name: sources} if sources else {}
