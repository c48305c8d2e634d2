"""Models kept in memory after their job while there is room, so that the next job need not load them."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from mezzotint.families.family import LoadedModel, Network

Key: TypeAlias = tuple[object, ...]


class LoadedModels:
    """LRU cache of loaded models."""

    def __init__(self) -> None:
        self._models: dict[Key, LoadedModel] = {}

    def __len__(self) -> int:
        """Number of models."""
        return len(self._models)

    @property
    def models(self) -> list[LoadedModel]:
        """The models, least recently used first."""
        return list(self._models.values())

    def take(self, key: Key, make: Callable[[], LoadedModel]) -> LoadedModel:
        """The model of a key, made with `make` if absent."""
        model = self._models.pop(key, None) or make()
        self._models[key] = model
        return model

    def trim(self, room: int, keep: Iterable[LoadedModel]) -> list[LoadedModel]:
        """Drop models other than `keep` until all weights in RAM take at most `room` bytes; returns those dropped."""
        kept = {id(model) for model in keep}
        gone = []
        for key, model in list(self._models.items()):
            if weights_bytes(self._models.values()) <= room:
                break
            if id(model) not in kept:
                gone.append(self._models.pop(key))
        return gone

    def drop(self, models: Iterable[LoadedModel]) -> list[LoadedModel]:
        """Drop these models; returns those that were in the cache."""
        unwanted = {id(model) for model in models}
        keys = [key for key, model in self._models.items() if id(model) in unwanted]
        return [self._models.pop(key) for key in keys]

    def clear(self) -> None:
        """Drop all models."""
        self._models.clear()


def weights_bytes(models: Iterable[LoadedModel]) -> int:
    """Bytes of all networks in RAM or on their device; networks shared by several models count once."""
    networks = {id(network): network for model in models for network in model.networks.values()}
    return sum(map(_network_bytes, networks.values()))


def share(model: LoadedModel, others: Iterable[LoadedModel]) -> list[str]:
    """Share networks that another model has loaded from the same files in the same form; returns their names."""
    shared = []
    for other in others:
        if other is model or (other.device, other.dtype, other.home) != (model.device, model.dtype, model.home):
            continue
        for name, network in other.networks.items():
            if name not in model.networks and _is_same(model, other, name):
                model.networks[name] = network
                if name in other.on_disk:
                    model.on_disk[name] = other.on_disk[name]
                model.shares = other.shares = True
                shared.append(name)
    return shared


def _is_same(model: LoadedModel, other: LoadedModel, name: str) -> bool:
    mine, theirs = model.sources.components.get(name), other.sources.components[name]
    return (
        mine is not None
        and bool(mine.files)
        and (mine.files, mine.class_name, mine.config) == (theirs.files, theirs.class_name, theirs.config)
        and mine.patch == theirs.patch
        and model.quantization.get(name) == other.quantization.get(name)
        and (name in model.from_disk) == (name in other.from_disk)
        and all(model.stamps.get(path) == other.stamps.get(path) for path in mine.files)
    )


def _network_bytes(network: Network) -> int:
    tensors = {
        tensor.data_ptr(): tensor.nbytes for tensor in (*network.parameters(), *network.buffers()) if not tensor.is_meta
    }
    return sum(tensors.values())
