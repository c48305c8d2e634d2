"""Weights from files into networks: built empty, filled tensor by tensor, so that only one is ever in memory twice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch

from mezzotint.checkpoints.weight_file import read_weights, weight_specs
from mezzotint.errors import ModelRefused
from mezzotint.families.family import ComponentSource, LoadedModel, Network, Tokenizer
from mezzotint.families.filling import Filling
from mezzotint.families.routing import route
from mezzotint.families.stored_layers import StoredLayers

_LARGEST_NUMBER = 10_000_000  # in a configuration: above every real size, below what exhausts memory
_MOST_LAYERS = 4096  # of what is built one by one, or squared
_COUNTS = {"num_layers", "num_hidden_layers", "layers_per_block", "transformer_layers_per_block", "sample_size"}


def load_components(
    model: LoadedModel,
    names: Iterable[str],
    *,
    on_bytes: Callable[[str, int], None],
    cancelled: Callable[[], bool],
) -> None:
    """Bring the named networks and tokenizers in, unless they are there; `on_bytes(component, n)` as bytes arrive.

    Raises ModelRefused when a file lacks a tensor or holds one of another shape, Cancelled between tensors.
    """
    missing = [n for n in names if n not in model.networks and n not in model.tokenizers]
    sources = [model.sources.components[name] for name in missing]
    for source in sources:
        if not source.files:
            model.tokenizers[source.name] = _tokenizer(source)
    for files in dict.fromkeys(source.files for source in sources if source.files):
        group = [source for source in sources if source.files == files]
        for source, network in zip(group, _load_group(model, group, files, on_bytes, cancelled), strict=True):
            model.networks[source.name] = network


def _load_group(
    model: LoadedModel,
    group: Sequence[ComponentSource],
    files: tuple[Path, ...],
    on_bytes: Callable[[str, int], None],
    cancelled: Callable[[], bool],
) -> list[Network]:
    fillings = {source.name: _filling(model, source) for source in group}
    wanted = route(model.sources, list(fillings), {name: filling.shapes for name, filling in fillings.items()})
    stored = StoredLayers(files)
    names = {*wanted, *stored.names}
    sizes = {name: spec.bytes for path in files for name, spec in weight_specs(path).items()}
    for name, tensor in read_weights(files, on_bytes=_uncounted, cancelled=cancelled, names=names):
        whole = stored.take(name, tensor)
        if whole is not None:
            for placed in wanted.get(whole.weight_name, ()):
                fillings[placed.component].put_quantized(placed, whole, files[0])
                on_bytes(placed.component, whole.bytes)
        elif name in wanted and name not in stored.names:
            for placed in wanted[name]:
                fillings[placed.component].put(placed, tensor, files[0])
            on_bytes(wanted[name][0].component, sizes[name])
    return [fillings[source.name].finish() for source in group]


def _filling(model: LoadedModel, source: ComponentSource) -> Filling:
    dtype = component_dtype(source, model.dtype)
    return Filling(source, empty_network(source), dtype, model.device, model.quantization.get(source.name))


def _uncounted(_: int) -> None:
    """Bytes are counted once they are in their network."""


def component_dtype(source: ComponentSource, dtype: torch.dtype) -> torch.dtype:
    """The format that a component can bear: some overflow in float16."""
    if dtype == torch.float16 and (
        source.config.get("force_upcast", source.class_name == "AutoencoderKL") or source.class_name == "T5EncoderModel"
    ):
        return torch.float32
    return dtype


def empty_network(source: ComponentSource) -> Network:
    """A network without weights, of a component's configuration; ModelRefused when that describes none."""
    import accelerate

    _check_numbers(source.config, source.name)
    try:
        with accelerate.init_empty_weights(include_buffers=False):
            return _construct(source)
    except MemoryError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0][:200]
        raise ModelRefused(f"the configuration of {source.name} describes no network: {reason}") from error


def _construct(source: ComponentSource) -> Network:
    import diffusers
    import transformers

    config = {
        key: value
        for key, value in source.config.items()
        if not key.startswith("_name") and key != "quantization_config"
    }
    if source.library == "diffusers":
        network_class = getattr(diffusers, source.class_name)
        return network_class.from_config(config)
    network_class = getattr(transformers, source.class_name)
    config.pop("torch_dtype", None)
    config.pop("dtype", None)
    return network_class(network_class.config_class(**config))


def _check_numbers(value: object, where: str) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_numbers(item, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_numbers(item, where)
    elif isinstance(value, int) and value > _most(where):
        raise ModelRefused(
            f"{where} is {str(value)[:20]}: more than any network's; the model's configuration is damaged"
        )


def _most(where: str) -> int:
    return _MOST_LAYERS if where.rpartition(".")[2] in _COUNTS else _LARGEST_NUMBER


def _tokenizer(source: ComponentSource) -> Tokenizer:
    import transformers

    from mezzotint.families.tokenizers import clip_tokenizer

    if source.folder is None:
        return clip_tokenizer(pad_token=str(source.config["pad_token"]))
    try:
        tokenizer_class = getattr(transformers, source.class_name)
        return tokenizer_class.from_pretrained(str(source.folder), local_files_only=True)
    except MemoryError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0][:200]
        raise ModelRefused(f"{source.folder}: the tokenizer cannot be read: {reason}") from error
