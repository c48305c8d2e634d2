"""The engine: takes requests, generates images."""

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from mezzotint import machine, paths
from mezzotint.attention.selection import AttentionBackends
from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.control_protocol import ControlImageMade, ControlImageRequest
from mezzotint.libraries import offline_environment
from mezzotint.library_protocol import BackgroundRemoved, BackgroundRequest, UpscaledImage, UpscaleRequest
from mezzotint.memory.machine.probe import machine_facts
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint.perception.preparing import ControlPreparation
from mezzotint.protocol import (
    SCHEMA_VERSION,
    DecodeRequest,
    EngineInfo,
    FileUsed,
    GeneratedImage,
    GenerateManyRequest,
    GenerateManyResult,
    GenerateRequest,
    GenerateResult,
    IsCancelled,
    OnEvent,
    Plan,
    PlanRequest,
)
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.stages.details.job import job_of
from mezzotint.stages.error_translation import translate_errors
from mezzotint.stages.images.decode_latents_file import decode_latents_file
from mezzotint.stages.job import EngineResources
from mezzotint.stages.many import Many
from mezzotint.stages.planning import planned

if TYPE_CHECKING:
    from mezzotint.stages.job_plan import Facts
    from mezzotint.stages.models.model_cache import ModelCache


def _ignore(_: object) -> None:
    """Ignore an event."""


def _never() -> bool:
    """Never cancelled."""
    return False


class Engine:
    """Holds the loaded models and runs one job at a time."""

    def __init__(
        self,
        catalog: Catalog | None = None,
        attention: AttentionBackends | None = None,
        products: ProductBackends | None = None,
        facts: "Facts | None" = None,
        group_norm: GroupNormBackend | None = None,
    ) -> None:
        """By default uses the models that `mezzotint models list` shows. Takes this process's libraries offline."""
        offline_environment()
        self._catalog = catalog or Catalog.standard()
        self._attention, self._products = attention or AttentionBackends(), products or ProductBackends()
        self._group_norm = group_norm or GroupNormBackend()
        self._preparation = ControlPreparation(self._catalog.network_for)
        self._model_cache: ModelCache | None = None
        self._facts = facts or machine_facts
        self._reported_devices: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def info(self) -> EngineInfo:
        """Versions, devices and threads of the engine."""
        import torch

        return EngineInfo(
            schema_version=SCHEMA_VERSION,
            version=machine.versions()["mezzotint"],
            versions=machine.versions(),
            devices=machine.devices(),
            threads=torch.get_num_threads(),
        )

    def close(self) -> None:
        """Unload everything, and return its memory to the system."""
        if self._model_cache is not None:
            self._model_cache.close()
            self._model_cache = None
            machine.release_memory()

    def generate(
        self, request: GenerateRequest, on_event: OnEvent = _ignore, cancelled: IsCancelled = _never
    ) -> GenerateResult:
        """Generate the images of a request, saving each as soon as it is finished.

        Everything that can be refused is refused before weights are read. Raises MezzotintError; Cancelled before
        the next block of a network once `cancelled()` is true. Images saved before that stay.
        """
        with translate_errors():
            return job_of(self._with_files(request), self._resources(), on_event, cancelled).run()

    def generate_many(
        self, request: GenerateManyRequest, on_event: OnEvent = _ignore, cancelled: IsCancelled = _never
    ) -> GenerateManyResult:
        """Generate the images of several requests, compatible ones batched; each is saved as soon as it is finished.

        A failed request is an outcome and does not affect the others. Raises only what ends all: Cancelled within one
        block, OutOfMemory if models do not fit, DeviceLost; UsageError for too many requests. Saved images stay.
        """
        with translate_errors():
            named = replace(request, requests=tuple(map(self._with_files, request.requests)))
            return Many(named, self._resources(), on_event, cancelled).run()

    def _resources(self) -> EngineResources:
        return EngineResources(
            find=self._catalog.find,
            find_upscaler=self._upscaler,
            find_detectors=self._catalog.detectors,
            preparation=self._preparation,
            default_model=self._catalog.default(),
            model_cache=self._loaded_models(),
            attention=self._attention,
            products=self._products,
            group_norm=self._group_norm,
            facts=self._facts,
            reported_devices=self._reported_devices,
        )

    def _with_files(self, request: GenerateRequest) -> GenerateRequest:
        """The request with the files of control networks that it names."""
        controls = (replace(control, model=self._catalog.control(control.model)) for control in request.controls)
        return replace(request, controls=tuple(controls)) if request.controls else request

    def _upscaler(self, name: str) -> FileUsed:
        return fingerprint(self._catalog.upscaler(name), paths.cache_folder() / "fingerprints.json")

    def plan(self, request: PlanRequest) -> Plan:
        """Plan how models would use this machine's memory, or another's; loads nothing. Raises MezzotintError."""
        return planned(request, lambda: self._catalog)

    def _loaded_models(self) -> "ModelCache":
        from mezzotint.stages.models.model_cache import ModelCache

        if self._model_cache is None:
            self._model_cache = ModelCache()
        return self._model_cache

    def decode(
        self, request: DecodeRequest, on_event: OnEvent = _ignore, cancelled: IsCancelled = _never
    ) -> GeneratedImage:
        """Decode and save an image whose latents a job left behind. Raises MezzotintError."""
        with translate_errors():
            return decode_latents_file(
                request,
                find=self._catalog.find,
                default_model=self._catalog.default(),
                model_cache=self._loaded_models(),
                attention=self._attention,
                on_event=on_event,
                cancelled=cancelled,
            )

    def upscale(
        self, request: UpscaleRequest, on_event: OnEvent = _ignore, cancelled: IsCancelled = _never
    ) -> UpscaledImage:
        """Enlarge an image file and save it. Raises MezzotintError; Cancelled between two tiles."""
        with translate_errors():
            from mezzotint.upscaling.files import UpscaleJob

            self.close()  # what other jobs left on the device
            file = self._catalog.upscaler(request.upscaler)
            return UpscaleJob(request, file, self._facts, on_event, cancelled).run()

    def prepare_control(
        self, request: ControlImageRequest, on_event: OnEvent = _ignore, cancelled: IsCancelled = _never
    ) -> ControlImageMade:
        """Make a control image of an image file and save it. Raises MezzotintError."""
        with translate_errors():
            from mezzotint.perception.control_file import make_control_image

            self.close()  # what other jobs left on the device
            return make_control_image(request, self._preparation, self._facts, on_event, cancelled)

    def remove_background(
        self, request: BackgroundRequest, on_event: OnEvent = _ignore, cancelled: IsCancelled = _never
    ) -> BackgroundRemoved:
        """Make an image file's background transparent and save the copy. Raises MezzotintError."""
        with translate_errors():
            from mezzotint.perception.background.removing import remove_background

            file = self._catalog.background(request.model)
            return remove_background(request, file, machine_facts("cpu").free_ram_bytes, on_event, cancelled)
