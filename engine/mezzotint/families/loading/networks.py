"""Loads weights into networks that are built empty, tensor by tensor, so that only one is ever in memory twice."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import is_delta_file, read_weights, weight_specs
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.families.family import ComponentSource, LoadedModel, Network, Tokenizer
from mezzotint.families.loading.empty_weights import empty_weights
from mezzotint.families.loading.float16_vae import can_scale, scale_activations
from mezzotint.families.loading.on_disk import OnDisk
from mezzotint.families.loading.one_process import tell_transformers
from mezzotint.families.loading.original_names import Placement
from mezzotint.families.loading.quantized_cache import QuantizedCache, discard_entry, take_entry
from mezzotint.families.loading.routing import route
from mezzotint.families.loading.stored_layers import StoredLayers
from mezzotint.families.loading.unused_tensors import unused_tensors
from mezzotint.families.loading.weight_loader import WeightLoader
from mezzotint.memory.shortage import is_shortage
from mezzotint.parsed import Notify, Parsed

_LARGEST_NUMBER = 10_000_000  # in a configuration: above any real size, below what exhausts memory
_LARGEST_TOKENIZER = 64 * 2**20  # bytes of a file
_MOST_TOKENIZERS = 8  # cached for other models of the same family
_MOST_LAYERS = 4096  # for settings that multiply modules or are squared
_COUNTS = {"num_layers", "num_hidden_layers", "layers_per_block", "transformer_layers_per_block", "sample_size"}
_OVERFLOWING = {"AutoencoderDC", "Gemma2Model", "T5EncoderModel"}  # in float16

_tokenizers: dict[str, Tokenizer] = {}  # most recently used, by hash of their contents


def load_components(
    model: LoadedModel,
    names: Iterable[str],
    *,
    on_bytes: Callable[[str, int], None],
    cancelled: Callable[[], bool],
    notify: Notify,
    cache: QuantizedCache | None = None,
) -> None:
    """Load the named networks and tokenizers unless present; `on_bytes(component, n)` is called as bytes arrive.

    `notify` is told which tensors of the files no network takes.
    Networks that are quantized on load are saved in the cache, if there is one, and read from it the next time.

    Raises ModelRefused if a file lacks a tensor or has one of another shape, Cancelled between tensors.
    """
    missing = [n for n in names if n not in model.networks and n not in model.tokenizers]
    sources = [model.sources.components[name] for name in missing]
    for source in sources:
        if not source.files:
            model.tokenizers[source.name] = _tokenizer(source)
    for files in dict.fromkeys(source.files for source in sources if source.files):
        group = [source for source in sources if source.files == files]
        loaded = _Group(model, group, files).load(on_bytes, cancelled, cache).take(notify)
        for source, filling in zip(group, loaded, strict=True):
            model.networks[source.name] = filling.network
            if filling.on_disk:
                model.on_disk[source.name] = filling.on_disk


class _Group:
    """Networks whose weights are in the same files."""

    def __init__(self, model: LoadedModel, group: Sequence[ComponentSource], files: tuple[Path, ...]) -> None:
        self._model, self._sources, self._files = model, {source.name: source for source in group}, files
        self._fillings = {source.name: self._empty(source) for source in group}
        shapes = {name: filling.shapes for name, filling in self._fillings.items()}
        self._wanted = dict(route(model.sources, list(self._fillings), shapes))
        specs = {path: weight_specs(path) for path in files}
        self._sizes = {name: spec.bytes for each in specs.values() for name, spec in each.items()}
        self._homes = {name: path for path, each in specs.items() for name in each}
        self._stored = StoredLayers(files)
        taken = {name for name in self._stored.names if self._stored.weight_of(name) in self._wanted}
        self._unused = unused_tensors(self._sizes, {*self._wanted, *taken}, model.sources, group)
        self._sizes = self._stored.bytes_by_weight(self._sizes) | self._sizes  # those that are tensors count as such

    def load(
        self, on_bytes: Callable[[str, int], None], cancelled: Callable[[], bool], cache: QuantizedCache | None
    ) -> Parsed[list[WeightLoader]]:
        """Fill all networks; returns them in the order given, and the tensors that none of them takes."""
        built = any(map(is_delta_file, self._files))  # its tensors are computed, and small: they are kept in memory
        for name in () if built else self._fillings.keys() & self._model.from_disk:
            self._leave_on_disk(name, cache, on_bytes, cancelled)
        places = {} if cache is None else dict(self._places(cache))
        kept = {name for name, place in places.items() if self._take_kept(name, place, on_bytes, cancelled)}
        self._read(on_bytes, cancelled)
        for name, filling in self._fillings.items():
            network = filling.finish()
            if _is_to_scale(self._sources[name], self._model.dtype):
                filling.on_disk = dict(scale_activations(network, filling.on_disk))
        for name in places.keys() - kept:
            filling = self._fillings[name]
            if cache is not None and filling.entry is not None:
                cache.keep(filling.entry, places[name], filling.tensors_of, cancelled)
        return Parsed(list(self._fillings.values()), source=self._place(), unused=self._unused)

    def _place(self) -> str:
        """Where the weights are: the file, or the folder of several."""
        return plain(self._files[0] if len(self._files) == 1 else self._files[0].parent, 300)

    def _leave_on_disk(
        self,
        name: str,
        cache: QuantizedCache | None,
        on_bytes: Callable[[str, int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        """Leave a network's weights in their files, as far as they are stored there in the required form."""
        filling, disk = self._fillings[name], OnDisk(self._files)
        sizes = self._bytes_by_parameter(name)
        left = disk.place(filling, self._wanted) | disk.place_stored(filling, self._wanted)
        if cache is not None:
            left |= disk.place_entry(filling, self._wanted, replace(cache, least_bytes=0), cancelled)
        on_bytes(name, sum(sizes.get(parameter, 0) for parameter in left))
        self._forget(name, left)

    def _forget(self, name: str, taken: Collection[str]) -> None:
        """Drop parameters of a network that no longer need to be read."""
        left = {
            tensor: tuple(placed for placed in placements if placed.component != name or placed.name not in taken)
            for tensor, placements in self._wanted.items()
        }
        self._wanted = {tensor: placements for tensor, placements in left.items() if placements}

    def _empty(self, source: ComponentSource) -> WeightLoader:
        dtype, choice = component_dtype(source, self._model.dtype), self._model.quantization.get(source.name)
        return WeightLoader(source, empty_network(source), dtype, self._model.device, choice, self._model.home)

    def _places(self, cache: QuantizedCache) -> Iterator[tuple[str, Path]]:
        """Cache path of each network, whether it exists or not; skips those quantized in their files."""
        for name, filling in self._fillings.items():
            if filling.entry is not None and not self._stored.names and not filling.on_disk:
                place = cache.place_of(filling.entry)
                if place is not None:
                    yield name, place

    def _take_kept(
        self, name: str, place: Path, on_bytes: Callable[[str, int], None], cancelled: Callable[[], bool]
    ) -> bool:
        """Load a network's quantized layers from the cache; False if it has none, or damaged ones."""
        filling, sizes = self._fillings[name], self._bytes_by_parameter(name)
        taken: set[str] = set()
        try:
            for whole in take_entry(filling.entry, place, cancelled):
                filling.put_quantized(Placement(component=name, name=whole.weight_name, form="whole"), whole, place)
                taken.add(whole.weight_name)
                on_bytes(name, sizes.get(whole.weight_name, 0))
        except (ModelRefused, StorageError):
            discard_entry(place)
            self._fillings[name] = self._empty(self._sources[name])
            return False
        self._forget(name, taken)
        return bool(taken)

    def _bytes_by_parameter(self, component: str) -> dict[str, int]:
        """Bytes in the files for each of a network's parameters, with every tensor counted once."""
        first = ((tensor, placements[0]) for tensor, placements in self._wanted.items())
        return {placed.name: self._sizes[tensor] for tensor, placed in first if placed.component == component}

    def _read(self, on_bytes: Callable[[str, int], None], cancelled: Callable[[], bool]) -> None:
        stored = self._stored
        wanted = {name for name in stored.names if stored.weight_of(name) in self._wanted}
        names = {*(name for name in self._wanted if name not in stored.names), *wanted}
        files, packed = self._files, stored.names
        for name, tensor in read_weights(files, on_bytes=_uncounted, cancelled=cancelled, names=names, packed=packed):
            whole = stored.take(name, tensor)
            if whole is not None:
                placements = self._wanted.get(whole.weight_name, ())
                for placed in placements:
                    self._fillings[placed.component].put_quantized(placed, whole, self._homes[name])
                if placements:
                    on_bytes(placements[0].component, whole.bytes)
            elif name in self._wanted and name not in stored.names:
                for placed in self._wanted[name]:
                    self._fillings[placed.component].put(placed, tensor, self._homes[name])
                on_bytes(self._wanted[name][0].component, self._sizes[name])


def _uncounted(_: int) -> None:
    """Ignore bytes here: they are counted once they are in their network."""


def component_dtype(source: ComponentSource, dtype: torch.dtype) -> torch.dtype:
    """Dtype that a component can use: some overflow in float16, unless their activations are scaled down."""
    overflows = source.class_name in _OVERFLOWING or _must_upcast(source)
    return torch.float32 if dtype == torch.float16 and overflows and not _is_to_scale(source, dtype) else dtype


def _must_upcast(source: ComponentSource) -> bool:
    """Whether an autoencoder is said to overflow in float16, or nothing is said of it."""
    return bool(source.config.get("force_upcast", source.class_name == "AutoencoderKL"))


def _is_to_scale(source: ComponentSource, dtype: torch.dtype) -> bool:
    return dtype == torch.float16 and _must_upcast(source) and can_scale(source.class_name, source.config)


def empty_network(source: ComponentSource) -> Network:
    """Build a network without weights from a component's configuration; raises ModelRefused if that is invalid."""
    tell_transformers()
    _check_numbers(source.config, source.name)
    try:
        with empty_weights():
            return _construct(source)
    except Exception as error:
        if is_shortage(error):
            raise
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
    if source.class_name in ("ImagePrompt", "ReduxPrompt"):
        from mezzotint.families.control.image_prompt import ImagePrompt
        from mezzotint.families.control.redux_prompt import ReduxPrompt

        return ImagePrompt(config) if source.class_name == "ImagePrompt" else ReduxPrompt(config)
    if source.library == "mezzotint":
        from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel

        return PixArtVariantTransformer2DModel.from_config(config)
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
    """The tokenizer of a source, cached because loading it takes half a second."""
    try:
        key = _contents(source)
    except OSError as error:
        place = source.folder if source.pieces is None else source.pieces.path
        raise ModelRefused(f"{place}: the tokenizer cannot be read: {error}") from error
    tokenizer = _tokenizers.pop(key, None) or _read_tokenizer(source)
    _tokenizers[key] = tokenizer
    while len(_tokenizers) > _MOST_TOKENIZERS:
        del _tokenizers[next(iter(_tokenizers))]
    return tokenizer


def _contents(source: ComponentSource) -> str:
    """Hash of a tokenizer's class and files, wherever these are; huge files are not read."""
    state = hashlib.sha256(repr((source.class_name, source.config.get("pad_token"))).encode())
    if source.pieces is not None:
        state.update(repr((source.pieces, source.pieces.stamp)).encode())
    for path in sorted(source.folder.iterdir()) if source.folder is not None else ():
        if not path.is_file():
            continue
        found = path.stat()
        state.update(repr((path.name, found.st_size)).encode())
        if found.st_size > _LARGEST_TOKENIZER:
            state.update(repr((str(path), found.st_mtime_ns)).encode())
            continue
        with path.open("rb") as file:
            state.update(hashlib.file_digest(file, "sha256").digest())
    return state.hexdigest()


def _read_tokenizer(source: ComponentSource) -> Tokenizer:
    import transformers

    from mezzotint.families import tokenizers
    from mezzotint.families.tokenizers.gemma import gemma_tokenizer

    if source.pieces is not None:
        return gemma_tokenizer(source.pieces, int(str(source.config["vocab_size"])))
    if source.folder is None and source.class_name.startswith("Qwen2"):
        return tokenizers.qwen_tokenizer()
    if source.folder is None and source.class_name.startswith("T5"):
        return tokenizers.t5_tokenizer()
    if source.folder is None:
        return tokenizers.clip_tokenizer(pad_token=str(source.config["pad_token"]))
    try:
        tokenizer_class = getattr(transformers, source.class_name)
        return tokenizer_class.from_pretrained(str(source.folder), local_files_only=True)
    except Exception as error:
        if is_shortage(error):
            raise
        reason = str(error).partition("\n")[0][:200]
        raise ModelRefused(f"{source.folder}: the tokenizer cannot be read: {reason}") from error
