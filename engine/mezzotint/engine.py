"""The one door: a request goes in, pictures come out."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import machine, paths
from mezzotint.attention.backends import attention_scope, choose_attention
from mezzotint.catalog.catalog import Catalog, FoundModel
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import Cancelled, ImageRefused, MezzotintError, OutOfMemory
from mezzotint.families.family import LoadedModel, ModelSources
from mezzotint.images.naming import check_output
from mezzotint.images.reading import read_image
from mezzotint.protocol import (
    SCHEMA_VERSION,
    Attention,
    DeviceInfo,
    Dtype,
    EngineInfo,
    FileUsed,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    IsCancelled,
    Loading,
    MemoryReport,
    ModelRef,
    Notice,
    OnEvent,
    Saved,
)
from mezzotint.stages.setup import CascadeSetup, set_up

if TYPE_CHECKING:
    from PIL import Image

    from mezzotint.stages.cascade import Painter
    from mezzotint.stages.saving import Saver

_Key = tuple[str, str, str, tuple[tuple[int, int], ...]]  # path, device, dtype, size and time of each file


class Engine:
    """Holds what is loaded, and makes pictures one job at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._loaded: dict[_Key, LoadedModel] = {}

    def info(self) -> EngineInfo:
        """What the engine is and runs on."""
        import torch

        return EngineInfo(
            schema_version=SCHEMA_VERSION,
            version=machine.versions()["mezzotint"],
            versions=machine.versions(),
            devices=machine.devices(),
            threads=torch.get_num_threads(),
        )

    def close(self) -> None:
        """Let go of everything that is loaded."""
        self._loaded.clear()

    def generate(self, request: GenerateRequest, on_event: OnEvent, cancelled: IsCancelled) -> GenerateResult:
        """Make the pictures of a request, and save each as soon as it is made.

        Everything that can be refused is refused before weights are read. Raises a MezzotintError; Cancelled within
        one step of `cancelled()` turning true. Pictures saved before then stay.
        """
        with _memory_errors():
            return _Job(self, request, on_event, cancelled).run()

    def find(self, ref: ModelRef) -> FoundModel:
        """The model of that name or path."""
        return self._catalog.find(ref)

    def default_model(self) -> ModelRef:
        """The model that is used when none is named."""
        return self._catalog.default()

    def models_for(self, setup: CascadeSetup, device: DeviceInfo, dtype: str) -> list[LoadedModel]:
        """One holder of networks for each stage, the same for equal models; models of earlier jobs are let go."""
        import torch

        kept: dict[_Key, LoadedModel] = {}
        models = []
        for stage in setup.stages:
            key = (stage.found.info.path, device.id, dtype, _stamps(stage.sources))
            if key not in kept:
                kept[key] = self._loaded.get(key) or LoadedModel(
                    sources=stage.sources, device=torch.device(device.id), dtype=getattr(torch, dtype)
                )
            models.append(kept[key])
        self._loaded = kept
        return models


class _Job:
    """One request on its way through the engine."""

    def __init__(self, engine: Engine, request: GenerateRequest, on_event: OnEvent, cancelled: IsCancelled) -> None:
        self._engine = engine
        self._request = request
        self._cancelled = cancelled
        self._on_event = on_event
        self._notices: list[str] = []
        self._started = time.perf_counter()

    def run(self) -> GenerateResult:
        import torch

        request = self._request
        setup = set_up(request, self._engine.find, self._engine.default_model(), _picture_size)
        check_output(request.output, request.count)
        init, images_used = self._read_inputs(setup)
        attention = choose_attention(request.attention)
        device = machine.choose_device(request.device, machine.devices())
        dtype = machine.choose_dtype(request.dtype, device)
        self._warn(setup)
        memory = machine.PeakMemory(torch.device(device.id))
        with torch.inference_mode(), attention_scope(attention):
            painter = self._load(setup, device, dtype)
            loaded = time.perf_counter()
            painter.encode(self._embeddings())
            saver = self._saver(setup, painter, device, dtype, attention, images_used)
            images = tuple(self._paint(painter, saver, init, index) for index in range(request.count))
        return GenerateResult(
            schema_version=SCHEMA_VERSION,
            images=images,
            seed=saver.first_seed,
            stages=painter.resolved(),
            transitions=setup.transitions,
            images_used=images_used,
            strength=setup.strength,
            device=device.id,
            device_name=device.name,
            dtype=dtype,
            attention=attention,
            threads=torch.get_num_threads(),
            versions=machine.versions(),
            timings=painter.clock.timings(
                load=loaded - self._started, total=time.perf_counter() - self._started, stages=len(setup.stages)
            ),
            memory=MemoryReport(peak_ram_bytes=memory.ram_bytes(), peak_vram_bytes=memory.vram_bytes()),
            notices=tuple(self._notices),
        )

    def _read_inputs(self, setup: CascadeSetup) -> "tuple[Image.Image | None, tuple[FileUsed, ...]]":
        used = [fingerprint(path, None) for path in (*([setup.init] if setup.init else []), *self._embeddings())]
        if setup.init is None:
            return None, tuple(used)
        wanted = self._request.images[0].sha256
        if wanted is not None and wanted != used[0].sha256:
            raise ImageRefused(
                f"{setup.init}: the picture has changed since it was used (sha256 {used[0].sha256[:12]}, "
                f"was {wanted[:12]}); give it again with --init"
            )
        return read_image(setup.init), tuple(used)

    def _embeddings(self) -> tuple[Path, ...]:
        return tuple(Path(path) for path in self._request.embeddings)

    def _warn(self, setup: CascadeSetup) -> None:
        from mezzotint.families.clip_prompt import has_weights

        for stage in setup.stages:
            if not stage.family.honours_weights and has_weights(stage.prompt):
                self._notice(
                    "weights_ignored",
                    f"{stage.found.info.id} reads plain words: weights such as (word:1.2) are taken as text",
                )
                return

    def _notice(self, code: str, message: str) -> None:
        self._notices.append(message)
        self._on_event(Notice(code=code, message=message))

    def _load(self, setup: CascadeSetup, device: DeviceInfo, dtype: str) -> "Painter":
        import torch

        from mezzotint.families.loading import load_components
        from mezzotint.stages.cascade import Painter, components_needed, plan_walks

        plan_walks(setup, torch.device(device.id))  # what leaves a stage without a step is told before weights are read
        models = self._engine.models_for(setup, device, dtype)
        needed = components_needed(setup, previews=self._wants_previews())
        missing = [
            [name for name in names if name not in model.networks and name not in model.tokenizers]
            for model, names in zip(models, needed, strict=True)
        ]
        progress = _LoadProgress(self._on_event, _bytes_of(models, missing))
        for stage, model, names in zip(setup.stages, models, needed, strict=True):
            load_components(model, names, on_bytes=progress.of(stage.found.info.id), cancelled=self._cancelled)
        return Painter(
            setup=setup, models=models, on_event=self._on_event, cancelled=self._cancelled, request=self._request
        )

    def _wants_previews(self) -> bool:
        return self._request.previews or self._request.output.preview_folder is not None

    def _saver(
        self,
        setup: CascadeSetup,
        painter: "Painter",
        device: DeviceInfo,
        dtype: Dtype,
        attention: Attention,
        images_used: tuple[FileUsed, ...],
    ) -> "Saver":
        import torch

        from mezzotint.stages.saving import Circumstances, Saver

        circumstances = Circumstances(
            device=device.id,
            device_name=device.name,
            dtype=dtype,
            attention=attention,
            threads=torch.get_num_threads(),
            versions=machine.versions(),
            images_used=images_used,
        )
        painter.fingerprint_models(paths.cache_folder() / "fingerprints.json")
        return Saver(request=self._request, setup=setup, circumstances=circumstances)

    def _paint(self, painter: "Painter", saver: "Saver", init: "Image.Image | None", index: int) -> GeneratedImage:
        if self._cancelled():
            raise Cancelled(f"stopped after {index} of {self._request.count} pictures")
        picture = painter.paint(index, saver.first_seed + index, init)
        with painter.clock.save():
            image = saver.save(picture, index, painter.resolved())
        self._on_event(Saved(image=image, images=self._request.count))
        return image


class _LoadProgress:
    """Counts the bytes of all components of a job."""

    def __init__(self, on_event: OnEvent, total: int) -> None:
        self._on_event, self._done, self._total = on_event, 0, total

    def of(self, model: str) -> Callable[[str, int], None]:
        def report(component: str, count: int) -> None:
            self._done = min(self._done + count, self._total)
            self._on_event(Loading(model=model, component=component, bytes_done=self._done, bytes_total=self._total))

        return report


def _stamps(sources: ModelSources) -> tuple[tuple[int, int], ...]:
    """What changes when a file is replaced: its weights must not be taken for the old ones."""
    stats = (path.stat() for source in sources.components.values() for path in source.files)
    return tuple((stat.st_size, stat.st_mtime_ns) for stat in stats)


def _bytes_of(models: list[LoadedModel], missing: list[list[str]]) -> int:
    wanted = {
        (id(model), name): model.sources.components[name].bytes
        for model, names in zip(models, missing, strict=True)
        for name in names
    }
    return sum(wanted.values())


def _picture_size(path: Path) -> tuple[int, int]:
    return read_image(path).size  # upright: the orientation in its EXIF may swap the sides


@contextmanager
def _memory_errors() -> Iterator[None]:
    """What torch and Python raise when memory ends, as our own error."""
    try:
        yield
    except MezzotintError:
        raise
    except MemoryError as error:
        raise OutOfMemory("the machine ran out of memory (RAM); use a smaller size or close other programs") from error
    except RuntimeError as error:
        import torch

        if isinstance(error, torch.OutOfMemoryError):
            raise OutOfMemory(f"the GPU ran out of memory: {_first_line(error)}; use a smaller size") from error
        if "DefaultCPUAllocator" in str(error):
            raise OutOfMemory(
                f"the machine ran out of memory (RAM): {_first_line(error)}; use a smaller size"
            ) from error
        raise


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
