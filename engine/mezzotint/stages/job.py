"""Run one request, from prompt to images."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import machine, paths
from mezzotint.attention.selection import AttentionBackends, torch_attention
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import Cancelled, StorageError
from mezzotint.gpu import gpu
from mezzotint.images.naming import check_output
from mezzotint.images.transparency import flattening_notice
from mezzotint.images.writing import write_png
from mezzotint.libraries import import_networks
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint.perception.preparing import ControlPreparation
from mezzotint.protocol import (
    PLANNING,
    Attention,
    DeviceInfo,
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
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.stages.clock import Clock
from mezzotint.stages.controls import controls_used
from mezzotint.stages.image_spec import ImageSpec, Variation
from mezzotint.stages.images.input_images import InputImages, image_size, read_inputs
from mezzotint.stages.images.pending_decode import PendingDecode, write_latents
from mezzotint.stages.images.references import read_references
from mezzotint.stages.images.request_images import Size, crop_notice
from mezzotint.stages.images.saving import JobRecord, Saver, files_sha256, save_image, with_memory
from mezzotint.stages.images.upscalers import FindUpscaler
from mezzotint.stages.models.loras import JobLoras
from mezzotint.stages.models.precision import Schemes, resolve_schemes
from mezzotint.stages.models.recovery import Recovery
from mezzotint.stages.notices.setup_notices import setup_notices
from mezzotint.stages.result import JobImages, LoadedJob, ResolvedJob, result_of
from mezzotint.stages.setup import CascadeSetup, Find, set_up
from mezzotint.stages.speedups import is_sped_up
from mezzotint.stages.tile_sizes import tile_choices

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from mezzotint.acceleration.captured_steps import CapturedSteps
    from mezzotint.acceleration.compiled_blocks import CompiledBlocks
    from mezzotint.attention.session import AttentionSession
    from mezzotint.stages.job_plan import Facts
    from mezzotint.stages.models.model_cache import ModelCache
    from mezzotint.stages.pipeline import Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineResources:
    """The resources that an engine generates images with."""

    find: Find
    find_upscaler: FindUpscaler
    find_detectors: "Callable[[str | None], Sequence[Path]]"  # by name; None: all
    preparation: ControlPreparation
    default_model: ModelRef
    model_cache: "ModelCache"
    attention: AttentionBackends
    products: ProductBackends
    group_norm: GroupNormBackend
    facts: "Facts"
    reported_devices: set[str]  # devices whose missing features were reported: once per engine


class Job:
    """One request in progress."""

    def __init__(
        self, request: GenerateRequest, resources: EngineResources, on_event: OnEvent, cancelled: IsCancelled
    ) -> None:
        self._request, self._resources = request, resources
        self._model_cache, self._on_event, self._cancelled = resources.model_cache, on_event, cancelled
        self._embeddings = tuple(Path(path) for path in request.embeddings)
        self._clock = Clock()
        self._notices: list[str] = []

    def run(self) -> GenerateResult:
        """Check everything that can be refused first, then generate."""
        request = self._request
        resources = self._resources
        setup = set_up(request, resources.find, resources.default_model, self._image_size, resources.find_upscaler)
        check_output(request.output, request.count)
        inputs = self._read_images(setup, request)
        references = read_references(setup.images.references, self._not_used)
        loras = JobLoras(request, setup, self._cancelled)
        job = self._resolve(setup)
        setup = job.setup
        session = self._session(job)
        record = self._job_record(job, session.used, inputs, request)
        self._warn(setup)
        with self._loaded(job, loras, session) as work:
            saver = Saver(request=request, setup=setup, size=inputs.size(setup.stages[-1]))
            conditionings = [
                work.pipeline.conditioning(index, stage, self._embeddings, inputs, references)
                for index, stage in enumerate(setup.stages)
            ]
            varied = Variation.of(setup.stages[0].sampling)
            spec = ImageSpec(seed=saver.first_seed, variation=varied, conditionings=conditionings, inputs=inputs)
            images = tuple(self._make_image(work, saver, record, spec, index) for index in self._indices())
        return result_of(
            work,
            self._memory_report(work),
            JobImages(
                setup=setup,
                record=record,
                inputs=inputs,
                seed=saver.first_seed,
                images=images,
                timings=self._clock.timings(len(setup.stages)),
                notices=tuple(self._notices),
            ),
        )

    def _indices(self) -> Sequence[int]:
        """Which of the request's images to make."""
        return range(self._request.count)

    def _image_size(self, path: Path) -> Size:
        return image_size(path)

    def _session(self, job: ResolvedJob) -> "AttentionSession":
        return self._resources.attention.session(self._request.attention, job.device.id, job.dtype, self._notice)

    @contextmanager
    def _loaded(self, job: ResolvedJob, loras: JobLoras, session: "AttentionSession") -> Iterator[LoadedJob]:
        """Context manager: inside, all models are loaded and placed."""
        import torch

        from mezzotint.attention.linear.kernels import LinearAttentionCalls

        memory = machine.PeakMemory(torch.device(job.device.id))
        with torch.inference_mode(), torch_attention(session):
            with self._clock.phase("load"):
                pipeline = self._load(job, loras)
            products = self._resources.products.session(job.device.id, job.dtype, pipeline.networks(), self._notice)
            norms = self._resources.group_norm.session(job.device.id, job.dtype, pipeline.networks(), self._notice)
            linear = LinearAttentionCalls(self._notice)
            if pipeline.acceleration.captures is not None:
                kinds = (products.integers, products.nf4, products.block_scaled)
                counts = (*((each, "calls") for each in (session, norms, linear, *kinds)), (products, "schemes"))
                pipeline.acceleration.captures.counts = (*counts, *((each, "fused_calls") for each in kinds))
            try:
                with pipeline.attending(session), products.multiplying(), norms.normalizing(), linear.counting():
                    yield LoadedJob(
                        job=job,
                        pipeline=pipeline,
                        session=session,
                        products=products,
                        norms=norms,
                        linear=linear,
                        memory=memory,
                    )
            finally:
                self._model_cache.drop(pipeline.lowered_models())

    def _resolve(self, setup: CascadeSetup, together: int = 1) -> ResolvedJob:
        """Resolve device, dtype, precision and memory; refuses a stage left without steps before reading weights."""
        import_networks()
        import torch

        from mezzotint.stages.job_plan import plan_job
        from mezzotint.stages.schedule import plan_schedules

        request = self._request
        device = machine.choose_device(request.device, machine.devices())
        self._report_missing_features(device)
        fast = request.fast and machine.accumulates_in_float16(request.dtype, device)
        if request.fast and not fast:
            self._notice(
                "not_fast", f"--fast has no effect on {device.id} ({device.name}): it works on NVIDIA cards only"
            )
        dtype = machine.choose_dtype("float16" if fast else request.dtype, device)
        steps = [len(schedule.timesteps) for schedule in plan_schedules(setup, torch.device("cpu"))]
        setups = tile_choices(request, setup)
        job_plan = plan_job(
            request,
            setups,
            steps,
            device,
            dtype,
            facts=self._resources.facts,
            on_trace=self._on_trace,
            together=together,
            guests=self._guest_bytes(),
        )
        setup = setups[0] if job_plan is None else setups[job_plan.choice]
        if job_plan is None:
            schemes = resolve_schemes(request.quantization, request.text_quantization)
        else:
            schemes = Schemes(denoiser=job_plan.plan.quantization, text=job_plan.plan.text_quantization)
            for note in job_plan.clipped:
                self._notice("limit_clipped", note)
            if job_plan.is_tight:
                self._on_event(Notice(code="memory_plan", message=f"memory: {job_plan.plan.reasons[0]}"))
        return ResolvedJob(setup=setup, device=device, dtype=dtype, fast=fast, schemes=schemes, job_plan=job_plan)

    def _guest_bytes(self) -> int:
        """Bytes for networks of no model that run where images are decoded; raises UnknownModel if one is missing."""
        ways = dict.fromkeys(control.preprocess for control in self._request.controls)
        return max((self._resources.preparation.needed_bytes(how) for how in ways), default=0)

    def _report_missing_features(self, device: DeviceInfo) -> None:
        """Report which features of NVIDIA cards this device lacks and works without."""
        found = gpu(device.id)
        if found is not None and found.missing_features and device.id not in self._resources.reported_devices:
            self._resources.reported_devices.add(device.id)
            missing = ", ".join(found.missing_features)
            self._notice("plain_device", f"{device.name} ({device.id}) runs without {missing}, which need CUDA")

    def _on_trace(self, component: str, part: float) -> None:
        """Report progress of tracing an architecture seen for the first time, which takes seconds."""
        self._on_event(Loading(model=PLANNING, component=component, bytes_done=int(part * 100), bytes_total=100))

    def _memory_report(self, work: LoadedJob, *, learns: bool = True) -> MemoryReport:
        phases, job_plan = work.pipeline.placement.measured, work.job.job_plan
        vram = work.memory.vram_bytes()
        if job_plan is not None:
            if learns:
                job_plan.learn(phases, paths.cache_folder(), self._comparable_steps(work))
            if job_plan.machine.simulated:
                vram = max((phase.measured_bytes for phase in phases), default=0)
        return MemoryReport(peak_ram_bytes=work.memory.ram_bytes(), peak_vram_bytes=vram, phases=phases)

    def _comparable_steps(self, work: LoadedJob) -> Mapping[int, Sequence[float]]:
        """Seconds per step, or nothing if the run deviated from what plans assume."""
        pipeline = work.pipeline
        odd = self._request.compile or work.job.fast or pipeline.placement.recoveries or pipeline.uses_loras
        odd = odd or any(is_sped_up(stage.sampling) or stage.controls or stage.regions for stage in pipeline.stages)
        return {} if odd or self._request.attention != "auto" else self._clock.steps

    def _job_record(
        self, job: ResolvedJob, attention: Attention, inputs: InputImages, request: GenerateRequest
    ) -> JobRecord:
        import torch

        embeddings = (fingerprint(path, None, cancelled=self._cancelled) for path in self._embeddings)
        return JobRecord(
            device=job.device.id,
            device_name=job.device.name,
            dtype=job.dtype,
            attention=attention,
            quantization=job.schemes.denoiser,
            text_quantization=job.schemes.text,
            threads=torch.get_num_threads(),
            versions=machine.versions(),
            images_used=(*inputs.used, *embeddings),
            controls=controls_used(
                request.controls,
                inputs.controls_used,
                inputs.control_masks_used,
                self._resources.preparation.networks,
                self._cancelled,
            ),
            regions=inputs.regions,
        )

    def _read_images(self, setup: CascadeSetup, request: GenerateRequest) -> InputImages:
        sizes = [(stage.width, stage.height) for stage in setup.stages]
        inputs = read_inputs(
            request.images,
            setup.images,
            sizes,
            self._cancelled,
            request.controls,
            request.regions,
            enlarges=request.init_upscaler is not None,
        )
        for message in dict.fromkeys(inputs.not_used):
            self._not_used(message)
        init, first = setup.images.init, setup.stages[0]
        if init is not None and setup.images.inpaint is None:
            cropped = crop_notice(self._image_size(init), (first.width, first.height))
            if cropped is not None:
                self._notice("init_cropped", cropped)
        for code, message in (inputs.canvas.remarks if inputs.canvas is not None else {}).items():
            self._notice(code, message)
        return inputs

    def _not_used(self, message: str) -> None:
        self._notice("input_not_used", message)

    def _warn(self, setup: CascadeSetup) -> None:
        for code, message in setup_notices(self._request, setup, [path.stem for path in self._embeddings]):
            self._notice(code, message)

    def _load(self, job: ResolvedJob, loras: JobLoras) -> "Pipeline":
        from mezzotint.stages.acceleration import Acceleration
        from mezzotint.stages.images.preview_decoders import preview_decoders
        from mezzotint.stages.models.layout import lay_out
        from mezzotint.stages.models.loading import load_models
        from mezzotint.stages.models.model_cache import ModelRequest
        from mezzotint.stages.pipeline import Pipeline, components_needed

        wanted = ModelRequest(
            setup=job.setup, device=job.device, dtype=job.dtype, schemes=job.schemes, job_plan=job.job_plan
        )
        output = self._request.output
        previews = self._request.previews or output.preview_folder is not None
        is_named = output.preview_decoder not in ("auto", "linear")  # and read even if it is not used, to tell mistakes
        decoders = preview_decoders(output.preview_decoder, job.setup, self._notice) if previews or is_named else ()
        models = self._model_cache.models_for(wanted)
        needed = components_needed(job.setup, previews=previews)
        load_models(job.setup, models, needed, on_event=self._on_event, cancelled=self._cancelled, notify=self._notice)
        lay_out(models, self._resources.group_norm, job.device.id, job.dtype)
        loras.fit_to(models, self._notice, self._cancelled, self._model_cache.sources)
        for model in models:
            model.vae_tile = model.vae_tile if self._request.vae_tile is None else self._request.vae_tile
        recovery = Recovery(strict=self._request.strict, notify=self._notice)
        pipeline = Pipeline(
            setup=job.setup,
            models=models,
            clock=self._clock,
            on_event=self._on_event,
            cancelled=self._cancelled,
            request=self._request,
            loras=loras,
            placement=self._model_cache.placement(models, job.job_plan, recovery),
            preparation=self._resources.preparation,
            acceleration=Acceleration(compiler=self._compiler(job), captures=self._captures(job), fast=job.fast),
            preview_decoders=decoders,
        )
        used = pipeline.fingerprint_models(paths.cache_folder() / "fingerprints.json")
        self._compare_models(used)
        return pipeline

    def _compiler(self, job: ResolvedJob) -> "CompiledBlocks | None":
        if not self._request.compile:
            return None
        if job.job_plan is not None and job.job_plan.machine.simulated:
            self._notice("not_compiled", "blocks are not compiled: on a simulated card every operation is counted")
            return None
        from mezzotint.acceleration.compiled_blocks import CompiledBlocks

        return CompiledBlocks(self._notice)

    def _captures(self, job: ResolvedJob) -> "CapturedSteps | None":
        if self._request.cuda_graphs != "on":  # no card has been shown yet to give identical images
            return None
        found = gpu(job.device.id)
        simulated = job.job_plan is not None and job.job_plan.machine.simulated
        if found is None or not found.is_nvidia or simulated:
            self._notice(
                "not_captured", f"steps are not captured: {job.device.id} is not an NVIDIA card with CUDA graphs"
            )
            return None
        from mezzotint.acceleration.captured_steps import CapturedSteps

        return CapturedSteps(self._notice)

    def _compare_models(self, used: list[ModelUsed]) -> None:
        """Warn if a model's files differ from those that the request, if read from an image, records."""
        for stage, model in zip(self._request.cascade.stages, used, strict=True):
            wanted = stage.model.sha256 if stage.model is not None else None
            if wanted is not None and wanted != files_sha256(model):
                self._notice("model_changed", f"{model.id} has other files than before: the image will differ")

    def _notice(self, code: str, message: str) -> None:
        self._notices.append(message)
        self._on_event(Notice(code=code, message=message))

    def _make_image(
        self, work: LoadedJob, saver: Saver, record: JobRecord, first: ImageSpec, index: int
    ) -> GeneratedImage:
        if self._cancelled():
            raise Cancelled(f"stopped after {index} of {self._request.count} images")
        pipeline, begun_with = work.pipeline, work.session.used
        (latents,) = pipeline.make(index, [replace(first, seed=first.seed + index)])
        undecoded = saver.begin(index, pipeline.resolved(record.controls), replace(record, attention=begun_with))
        with self._kept(latents, undecoded):
            image = self._finish(work, undecoded, first.inputs, latents, self._request, index)
        from mezzotint.stages.images.first_stage import shown_first_stage

        shown = shown_first_stage(pipeline, first.inputs, index, self._request.count)
        if shown is not None:
            self._on_event(shown)
        return image

    def _finish(
        self,
        work: LoadedJob,
        undecoded: PendingDecode,
        inputs: InputImages,
        latents: "torch.Tensor",
        request: GenerateRequest,
        index: int = 0,
    ) -> GeneratedImage:
        """Decode latents and save the image to disk."""
        pipeline = work.pipeline
        pixels = inputs.composite(pipeline.decode(index, latents))
        done = with_memory(undecoded, pipeline.vae_tile, pipeline.placement.recoveries)
        image = self._deliver(work, pixels, done, request)
        if index == 0:
            self._keep_controls(pipeline, inputs, Path(image.path), request)
        return image

    def _keep_controls(self, pipeline: "Pipeline", inputs: InputImages, beside: Path, request: GenerateRequest) -> None:
        """Save the control images that are to be kept beside an image, which matters more than they do."""
        try:
            for number, control in pipeline.kept_controls(inputs):
                path = beside.with_name(f"{beside.stem}-control-{number}.png")
                write_png(control, path, overwrite=request.output.overwrite)
        except StorageError as error:
            self._notice("control_not_kept", f"a control image is not kept: {error}")

    def _deliver(
        self,
        work: LoadedJob,  # noqa: ARG002  for jobs whose image is not finished yet
        pixels: "Image.Image",
        decoded: PendingDecode,
        request: GenerateRequest,
    ) -> GeneratedImage:
        with self._clock.phase("save"):
            image = save_image(pixels, decoded, request.output)
        flattening = flattening_notice(pixels, Path(image.path))
        if flattening is not None:
            self._notice("not_kept", flattening)
        self._on_event(Saved(image=image, images=request.count))
        return image

    def _kept(self, latents: "torch.Tensor", undecoded: PendingDecode) -> AbstractContextManager[None]:
        """Context manager: latents stay on disk while decoding, so no image is lost if decoding or the process dies."""
        return self._until_saved(self._keep(latents, undecoded))

    def _keep(self, latents: "torch.Tensor", undecoded: PendingDecode) -> Path | None:
        """Write the latents to disk; returns None, with a notice, if that fails."""
        try:
            with self._clock.phase("save"):
                return write_latents(paths.undecoded_folder(), latents, undecoded)
        except StorageError as error:
            self._notice("latents_not_kept", f"if decoding fails, the image is lost: {error}")
            return None

    @contextmanager
    def _until_saved(self, path: Path | None) -> Iterator[None]:
        """Delete the latents file once the image is saved or the job is cancelled."""
        if path is None:
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
