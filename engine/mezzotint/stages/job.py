"""One request from its words to its pictures."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import machine, paths
from mezzotint.attention.selection import AttentionBackends, torch_attention
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import Cancelled, ImageRefused, StorageError
from mezzotint.families.clip_prompt import has_weights
from mezzotint.families.family import LoadedModel
from mezzotint.families.lora.prompt_tags import has_lora_tags
from mezzotint.images.naming import check_output
from mezzotint.images.reading import read_image
from mezzotint.protocol import (
    SCHEMA_VERSION,
    Attention,
    DeviceInfo,
    Dtype,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    IsCancelled,
    Loading,
    MemoryReport,
    ModelRef,
    ModelUsed,
    Notice,
    OnEvent,
    Saved,
)
from mezzotint.quantization.product_selection import ProductBackends
from mezzotint.stages.clock import Clock
from mezzotint.stages.loras import JobLoras
from mezzotint.stages.placement import Placement
from mezzotint.stages.precision import Schemes, settle_schemes
from mezzotint.stages.recovery import Recovery
from mezzotint.stages.saving import Circumstances, Saver, files_sha256, save_picture
from mezzotint.stages.setup import CascadeSetup, Find, all_words, set_up
from mezzotint.stages.undecoded import Undecoded, write_latents

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from mezzotint.attention.session import AttentionSession
    from mezzotint.stages.cascade import Painter

ModelsFor = Callable[[CascadeSetup, DeviceInfo, Dtype, Schemes], list[LoadedModel]]


class Job:
    """One request on its way."""

    def __init__(
        self,
        *,
        request: GenerateRequest,
        find: Find,
        default_model: ModelRef,
        models_for: ModelsFor,
        attention: AttentionBackends,
        products: ProductBackends,
        on_event: OnEvent,
        cancelled: IsCancelled,
    ) -> None:
        self._request, self._find, self._default_model = request, find, default_model
        self._models_for, self._on_event, self._cancelled = models_for, on_event, cancelled
        self._attention, self._products = attention, products
        self._embeddings = tuple(Path(path) for path in request.embeddings)
        self._clock = Clock()
        self._notices: list[str] = []

    def run(self) -> GenerateResult:
        """Everything that can be refused first, then the work."""
        import torch

        request = self._request
        setup = set_up(request, self._find, self._default_model, _picture_size)
        check_output(request.output, request.count)
        init = self._read_init(setup)
        loras = JobLoras(request, setup, self._cancelled)
        device = machine.choose_device(request.device, machine.devices())
        dtype = machine.choose_dtype(request.dtype, device)
        session = self._attention.session(request.attention, device.id, dtype, self._notice)
        schemes = settle_schemes(request.quantization, request.text_quantization, setup, device)
        at = self._circumstances(setup, device, dtype, session.used, schemes)
        self._warn(setup)
        memory = machine.PeakMemory(torch.device(device.id))
        with torch.inference_mode(), torch_attention(session):
            with self._clock.phase("load"):
                painter = self._load(setup, device, dtype, schemes, loras)
            saver = Saver(request=request, setup=setup)
            products = self._products.session(device.id, dtype, painter.networks(), self._notice)
            with painter.attending(session), products.multiplying():
                painter.encode(self._embeddings)
                images = tuple(self._paint(painter, saver, at, session, init, index) for index in range(request.count))
        return GenerateResult(
            schema_version=SCHEMA_VERSION,
            images=images,
            seed=saver.first_seed,
            stages=painter.resolved(),
            transitions=setup.transitions,
            images_used=at.images_used,
            strength=setup.strength,
            device=at.device,
            device_name=at.device_name,
            dtype=at.dtype,
            attention=session.used,
            threads=at.threads,
            versions=at.versions,
            timings=self._clock.timings(len(setup.stages)),
            memory=MemoryReport(peak_ram_bytes=memory.ram_bytes(), peak_vram_bytes=memory.vram_bytes()),
            notices=tuple(self._notices),
            attention_asked=session.asked,
            attention_fallbacks=session.fallbacks,
            products=products.used,
            product_fallbacks=products.fallbacks,
            quantization=schemes.denoiser,
            text_quantization=schemes.text,
        )

    def _circumstances(
        self, setup: CascadeSetup, device: DeviceInfo, dtype: Dtype, attention: Attention, schemes: Schemes
    ) -> Circumstances:
        import torch

        inputs = (*([setup.init] if setup.init else []), *self._embeddings)
        return Circumstances(
            device=device.id,
            device_name=device.name,
            dtype=dtype,
            attention=attention,
            quantization=schemes.denoiser,
            text_quantization=schemes.text,
            threads=torch.get_num_threads(),
            versions=machine.versions(),
            images_used=tuple(fingerprint(path, None, cancelled=self._cancelled) for path in inputs),
        )

    def _read_init(self, setup: CascadeSetup) -> "Image.Image | None":
        if setup.init is None:
            return None
        used, wanted = fingerprint(setup.init, None, cancelled=self._cancelled), self._request.images[0].sha256
        if wanted is not None and wanted != used.sha256:
            raise ImageRefused(
                f"{setup.init}: the picture has changed since it was used (sha256 {used.sha256[:12]}, "
                f"was {wanted[:12]}); give it again with --init"
            )
        return read_image(setup.init)

    def _warn(self, setup: CascadeSetup) -> None:
        if any(has_lora_tags(words) for words in all_words(self._request)):
            self._notice("lora_tags_ignored", "<lora:...> in a prompt loads nothing: give the file with --lora")
        for stage in setup.stages:
            if stage.negative_prompt.strip() and stage.guidance_scale <= 1:
                self._notice(
                    "negative_ignored", f"guidance is {stage.guidance_scale:g}: the negative prompt has no part"
                )
            if not stage.family.honours_weights and has_weights(stage.prompt):
                message = f"{stage.found.info.id} reads plain words: weights such as (word:1.2) are taken as text"
                self._notice("weights_ignored", message)
                return

    def _load(
        self, setup: CascadeSetup, device: DeviceInfo, dtype: Dtype, schemes: Schemes, loras: JobLoras
    ) -> "Painter":
        import torch

        from mezzotint.families.loading import load_components
        from mezzotint.families.quantized_cache import QuantizedCache
        from mezzotint.stages.cascade import Painter, components_needed, plan_walks

        plan_walks(setup, torch.device(device.id))  # what leaves a stage without a step is told before weights are read
        models = self._models_for(setup, device, dtype, schemes)
        previews = self._request.previews or self._request.output.preview_folder is not None
        needed = components_needed(setup, previews=previews)
        progress = _LoadProgress(self._on_event, _bytes_to_load(models, needed))
        cache = QuantizedCache(
            folder=paths.cache_folder() / "quantized", on_trouble=partial(self._notice, "quantized_not_kept")
        )
        for stage, model, names in zip(setup.stages, models, needed, strict=True):
            on_bytes = progress.of(stage.found.info.id)
            load_components(model, names, on_bytes=on_bytes, cancelled=self._cancelled, cache=cache)
        loras.fit_to(models, self._notice, self._cancelled)
        placement = Placement(models, recovery=Recovery(strict=self._request.strict, tell=self._notice))
        painter = Painter(
            setup=setup,
            models=models,
            clock=self._clock,
            on_event=self._on_event,
            cancelled=self._cancelled,
            request=self._request,
            loras=loras,
            placement=placement,
        )
        used = painter.fingerprint_models(paths.cache_folder() / "fingerprints.json")
        self._compare_models(used)
        return painter

    def _compare_models(self, used: list[ModelUsed]) -> None:
        """A request read from a picture knows its model's files; with others it is another picture."""
        for stage, model in zip(self._request.cascade.stages, used, strict=True):
            wanted = stage.model.sha256 if stage.model is not None else None
            if wanted is not None and wanted != files_sha256(model):
                self._notice("model_changed", f"{model.id} is not the same files as before: the picture will differ")

    def _notice(self, code: str, message: str) -> None:
        self._notices.append(message)
        self._on_event(Notice(code=code, message=message))

    def _paint(
        self,
        painter: "Painter",
        saver: Saver,
        at: Circumstances,
        session: "AttentionSession",
        init: "Image.Image | None",
        index: int,
    ) -> GeneratedImage:
        if self._cancelled():
            raise Cancelled(f"stopped after {index} of {self._request.count} pictures")
        begun_with = session.used
        latents = painter.make(index, saver.first_seed + index, init)
        undecoded = saver.begin(index, painter.resolved(), replace(at, attention=begun_with))
        with self._kept(latents, undecoded):
            picture = painter.decode(index, latents)
            with self._clock.phase("save"):
                image = save_picture(picture, undecoded, overwrite=self._request.output.overwrite)
        self._on_event(Saved(image=image, images=self._request.count))
        return image

    @contextmanager
    def _kept(self, latents: "torch.Tensor", undecoded: Undecoded) -> Iterator[None]:
        """Latents are on disk while they are decoded: what ends that, or the process, loses no picture."""
        try:
            with self._clock.phase("save"):
                path = write_latents(paths.undecoded_folder(), latents, undecoded)
        except StorageError as error:
            self._notice("latents_not_kept", f"should decoding fail, the picture is lost: {error}")
            yield
            return
        try:
            yield
        except Cancelled:
            path.unlink(missing_ok=True)
            raise
        except Exception:
            self._notice("latents_kept", f"nothing is lost: `mezzotint decode {shlex.quote(str(path))}` finishes it")
            raise
        path.unlink(missing_ok=True)


class _LoadProgress:
    """Counts the bytes of all components of a job."""

    def __init__(self, on_event: OnEvent, total: int) -> None:
        self._on_event, self._done, self._total = on_event, 0, total

    def of(self, model: str) -> Callable[[str, int], None]:
        """What a model's loading reports to."""

        def report(component: str, count: int) -> None:
            self._done = min(self._done + count, self._total)
            self._on_event(Loading(model=model, component=component, bytes_done=self._done, bytes_total=self._total))

        return report


def _bytes_to_load(models: list[LoadedModel], needed: list[list[str]]) -> int:
    wanted = {
        (id(model), name): model.sources.components[name].bytes
        for model, names in zip(models, needed, strict=True)
        for name in names
        if name not in model.networks
    }
    return sum(wanted.values())


def _picture_size(path: Path) -> tuple[int, int]:
    return read_image(path).size  # upright: the orientation in its EXIF may swap the sides
