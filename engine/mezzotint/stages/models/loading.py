"""Load the models of a job, with progress in bytes."""

from collections.abc import Callable, Sequence
from functools import partial

from mezzotint import paths
from mezzotint.families.family import LoadedModel
from mezzotint.families.loading.networks import load_components
from mezzotint.families.loading.quantized_cache import QuantizedCache
from mezzotint.protocol import IsCancelled, Loading, OnEvent
from mezzotint.stages.models.loaded_models import share
from mezzotint.stages.setup import CascadeSetup

Notify = Callable[[str, str], None]


def load_models(
    setup: CascadeSetup,
    models: Sequence[LoadedModel],
    needed: Sequence[Sequence[str]],
    *,
    on_event: OnEvent,
    cancelled: IsCancelled,
    notify: Notify,
) -> None:
    """Load the needed components of each stage's model that are not in memory yet."""
    progress = _Progress(on_event, _bytes_to_load(models, needed))
    cache = QuantizedCache(folder=paths.cache_folder() / "quantized", on_trouble=partial(notify, "quantized_not_kept"))
    for stage, model, names in zip(setup.stages, models, needed, strict=True):
        share(model, models)
        on_bytes = progress.of(stage.found.info.id)
        unused = partial(notify, "tensors_unused")
        load_components(model, names, on_bytes=on_bytes, cancelled=cancelled, notify=unused, cache=cache)


class _Progress:
    """Counts bytes loaded over all components of a job."""

    def __init__(self, on_event: OnEvent, total: int) -> None:
        self._on_event, self._done, self._total = on_event, 0, total

    def of(self, model: str) -> Callable[[str, int], None]:
        """The progress callback for loading one model."""

        def report(component: str, count: int) -> None:
            self._done = min(self._done + count, self._total)
            self._on_event(Loading(model=model, component=component, bytes_done=self._done, bytes_total=self._total))

        return report


def _bytes_to_load(models: Sequence[LoadedModel], needed: Sequence[Sequence[str]]) -> int:
    wanted = {
        (model.sources.components[name].files, name): model.sources.components[name].bytes
        for model, names in zip(models, needed, strict=True)
        for name in names
        if name not in model.networks
    }
    return sum(wanted.values())
