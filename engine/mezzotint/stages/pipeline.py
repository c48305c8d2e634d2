"""Run all stages of a cascade in order."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from PIL import Image

from mezzotint.acceleration.regional_attention import attending_by_regions
from mezzotint.attention.processor import attending
from mezzotint.attention.session import AttentionSession
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import Cancelled, ImageRefused, OutOfMemory
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.control.residuals import with_features
from mezzotint.families.family import Conditioning, LoadedModel, Network, PromptInputs
from mezzotint.families.flow.references import with_references
from mezzotint.families.preview_decoder.reading import PreviewDecoder
from mezzotint.families.text.conditionings import moved, with_regions
from mezzotint.families.text.cut_texts import cut_notices, noting_cuts
from mezzotint.images.writing import write_preview
from mezzotint.memory.interruption import cancellable
from mezzotint.memory.shortage import is_device_shortage, is_ram_shortage
from mezzotint.perception.preparing import ControlPreparation
from mezzotint.protocol import (
    ControlUsed,
    Decoding,
    Encoding,
    GenerateRequest,
    GuidancePasses,
    IsCancelled,
    ModelUsed,
    OnEvent,
    Preprocess,
    ResolvedStage,
    Step,
)
from mezzotint.quantization.branched import merged_branches
from mezzotint.stages.acceleration import Acceleration
from mezzotint.stages.clock import Clock
from mezzotint.stages.denoise import Denoised, Predict, denoise
from mezzotint.stages.image_spec import ImageSpec, seeded
from mezzotint.stages.images.control_inputs import ControlInputs, prepared, region_masks
from mezzotint.stages.images.decode import to_image, to_latents
from mezzotint.stages.images.denoise_tiles import predict_in_tiles, refine_in_tiles
from mezzotint.stages.images.enlarged import Enlarging
from mezzotint.stages.images.image_prompts import with_image_prompts
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.last_resort import LastResort
from mezzotint.stages.images.overflow import within_range
from mezzotint.stages.images.preview import LinearPreviewer, Previewer, SmallPreviewer, as_text
from mezzotint.stages.images.references import preprocess_references
from mezzotint.stages.images.stage_start import StageStart
from mezzotint.stages.images.start_latents import StartLatents
from mezzotint.stages.models.fingerprints import model_used
from mezzotint.stages.models.loras import JobLoras
from mezzotint.stages.models.placement import Placement
from mezzotint.stages.prompting.edited_prompts import StagePrompts, changing, edited_prompts
from mezzotint.stages.prompts import encoded, prompt_inputs
from mezzotint.stages.schedule import StageSchedule, plan_schedules, resolved_stage
from mezzotint.stages.setup import CascadeSetup, StageSetup
from mezzotint.stages.tile_sizes import seen_size
from mezzotint.stages.transition import ThroughPixels, apply_transition

T = TypeVar("T")


def components_needed(setup: CascadeSetup, *, previews: bool) -> list[list[str]]:
    """The model components that each stage needs."""
    last = len(setup.stages) - 1
    needed = []
    for index, stage in enumerate(setup.stages):
        pixels_after = index == last or setup.transitions[index].space == "pixel"
        pixels_before = setup.transitions[index - 1].space == "pixel" if index else setup.images.init is not None
        inpaints = setup.images.inpaint is not None or stage.sources.takes_mask
        shows = any(control.settings.takes_latents for control in stage.controls)
        with_vae = pixels_after or pixels_before or previews or inpaints or stage.references or shows
        needed.append([n for n in stage.sources.components if n != "vae" or with_vae])
    return needed


def text_encoders(model: LoadedModel) -> list[str]:
    """The names of a model's text encoders."""
    return [name for name in model.networks if name.startswith("text_encoder")]


class Pipeline:
    """Generates the images of one job with models already in memory."""

    def __init__(
        self,
        *,
        setup: CascadeSetup,
        models: list[LoadedModel],
        clock: Clock,
        on_event: OnEvent,
        cancelled: IsCancelled,
        request: GenerateRequest,
        loras: JobLoras,
        placement: Placement,
        acceleration: Acceleration,
        preparation: ControlPreparation,
        preview_decoders: Sequence[PreviewDecoder | None] = (),
    ) -> None:
        """`preview_decoders`: of each stage that has one."""
        self.acceleration = acceleration
        self._clock, self._loras, self._placement = clock, loras, placement
        self._setup, self._models, self._request = setup, models, request
        self._on_event, self._cancelled = on_event, cancelled
        self._previewers: dict[int, Previewer] = {}
        self._preview_decoders = dict(enumerate(preview_decoders))
        self._enlarging, self._preparation = Enlarging(placement, cancelled), preparation
        self._last_resort = LastResort(setup, models, self._preview_decoders)
        self._used: list[ModelUsed] = []
        self._schedules: list[StageSchedule] = []  # of the current batch
        self._session: AttentionSession | None = None
        self._first_stage: torch.Tensor | None = None  # its final clean latents, if they are to be shown

    @property
    def placement(self) -> Placement:
        """The placement of the networks."""
        return self._placement

    @property
    def vae_tile(self) -> int:
        """Side in pixels of the VAE tiles for decoding; 0: no tiling."""
        return self._models[-1].vae_tile

    @property
    def at_once(self) -> int:
        """The fewest images per forward pass of any stage after a memory shortage; 0: the whole batch in each."""
        return min((model.at_once for model in self._models if model.at_once), default=0)

    @property
    def guidance_passes(self) -> GuidancePasses:
        """Whether any stage ran conditional and unconditional passes one after the other."""
        return "sequential" if any(model.passes == "sequential" for model in self._models) else "batched"

    @property
    def uses_loras(self) -> bool:
        """Whether any stage uses LoRAs."""
        return any(self._loras.used(index) for index in range(len(self._models)))

    @property
    def merged_layers(self) -> int:
        """Number of layers with LoRAs merged into their weights."""
        networks = {id(network): network for network in self.networks()}
        return sum(len(merged_branches(network)) for network in networks.values())

    def lowered_models(self) -> list[LoadedModel]:
        """The models whose precision was lowered during the job, so they no longer match their files."""
        return [model for model in self._models if model.lowered]

    @property
    def stages(self) -> tuple[StageSetup, ...]:
        """The stages of the cascade."""
        return tuple(self._setup.stages)

    def networks(self) -> list[Network]:
        """The networks in memory, of all models."""
        return [network for model in self._models for network in model.networks.values()]

    @contextmanager
    def attending(self, session: AttentionSession) -> Iterator[None]:
        """Context manager: use the session for attention in all networks, which are left once the job is cancelled."""
        with attending(session, self.networks()), cancellable(self.networks(), self._cancelled):
            self._session = session
            for model in self._models:
                model.attention = None if session.used == "sdpa" else session
            try:
                yield
            finally:
                self._session = None
                for model in self._models:
                    model.attention = None

    def conditioning(
        self,
        index: int,
        stage: StageSetup,
        embeddings: tuple[Path, ...],
        inputs: InputImages,
        references: tuple[Image.Image, ...] = (),
    ) -> Conditioning:
        """Conditioning for a stage like the cascade's stage `index`; known prompts come from the cache."""
        model, images = self._models[index], references if stage.references else ()

        def encode(inputs: PromptInputs) -> Conditioning:
            placed = self._placement.phase("encode", model, text_encoders(model))
            with placed as working, noting_cuts(stage.family, model) as readings:
                made = working.retry_stateless(partial(stage.family.encode, model, inputs))
            return replace(made, cut=readings.cut_texts())

        with self._clock.phase("encode"):
            self._raise_if_cancelled()
            self._on_event(Encoding(stage=index, stages=len(self._setup.stages)))
            self._loras.apply(index, model)
            inputs_of_prompts = prompt_inputs(stage, embeddings, images)

            def encode_all(prompts: StagePrompts) -> Conditioning:
                base, *others = (
                    encoded(model, each, self._loras.used(index), encode) for each in prompts.inputs(inputs_of_prompts)
                )
                cut = dict.fromkeys(one for each in (base, *others) for one in each.cut)
                return replace(with_regions(base, others), cut=tuple(cut))

            edited = edited_prompts(self._setup, index, stage)
            self._tell(edited.notices())
            made = changing(edited, encode_all)
            what = "the prompt with the texts of its styles" if self._request.styles else "a prompt"
            self._tell([("prompt_cut", line) for line in cut_notices(made.cut, what)])
            made = with_image_prompts(made, model, stage.controls, inputs, self._prepared, self._placement)
            fitted = preprocess_references(stage.family, stage.found.detected, images)
            latents = [self._to_latents(model, image, None) for image in fitted]
            shared = replace(stage.sampling, variation_seed=None)  # may differ between images made together
            return replace(with_references(made, latents), sampling=shared)

    def _tell(self, notices: Sequence[tuple[str, str]]) -> None:
        for code, message in notices:
            self._placement.notify(code, message)

    def make(self, index: int, images: Sequence[ImageSpec]) -> list[torch.Tensor]:
        """Latents `(1, c, h, w)` of images that are denoised together; each is determined by its own spec.

        `index`: in events, of the first of them. Between stages each image is processed by itself, so the VAE never
        processes more than one.
        """
        generators = [seeded(image.seed) for image in images]
        # Samplers keep state: each batch gets fresh ones.
        self._schedules = plan_schedules(self._setup, self._models[0].device)
        with self._clock.stage(0):
            shown = self._controls(0, images, generators)
            pairs = zip(images, generators, strict=True)
            begin = partial(self._starts.first, self._schedules[0])
            starts = [begin(image.inputs, generator, image.variation) for image, generator in pairs]
            done = self._denoise(index, 0, images, starts, generators, shown)
        shows = self._request.previews and len(self._setup.stages) > 1
        self._first_stage = done.clean.cpu() if shows else None
        for stage in range(1, len(self._setup.stages)):
            with self._clock.stage(stage):
                shown = self._controls(stage, images, generators)
                each = zip(images, starts, done.of_each(), generators, strict=True)
                starts = [self._enter(stage, *one) for one in each]
                done = self._denoise(index, stage, images, starts, generators, shown)
        return list(torch.split(done.latents, 1))

    def _controls(
        self, stage: int, images: Sequence[ImageSpec], generators: Sequence[torch.Generator]
    ) -> ControlInputs:
        """The control images of a stage; latents of them are drawn before anything else, as diffusers does."""
        setup, encode = self._setup.stages[stage], partial(self._to_latents, self._models[stage], is_control=True)
        size, inputs = (setup.width, setup.height), [image.inputs for image in images]
        return ControlInputs.of(setup.controls, inputs, size, self._prepared, encode, generators)

    def kept_controls(self, inputs: InputImages) -> Iterator[tuple[int, Image.Image]]:
        """Numbers, from 1, and control images that are to be saved, as the first stage is given them."""
        setup = self._setup.stages[0]
        for control in setup.controls:
            if control.keep and control.preprocess != "none" and not control.settings.is_image_prompt:
                size = (setup.width, setup.height)
                yield control.index + 1, prepared(control, inputs, size, self._prepared)

    def _prepared(self, image: Image.Image, how: Preprocess, path: str) -> Image.Image:
        """The control image of an image; networks that make it are on the device meanwhile."""
        host = partial(self._placement.hosted, device=self._models[0].device)
        try:
            return self._preparation.prepared(image, how, host, self._cancelled)
        except ImageRefused as error:
            raise ImageRefused(f"{plain(path, 300)}: {error}") from None

    def _enter(
        self, stage: int, image: ImageSpec, before: StageStart, done: Denoised, generator: torch.Generator
    ) -> StageStart:
        """What a later stage starts from, for one image."""
        latents = self._apply_transition(stage, done, generator)
        return self._starts.later(stage, self._schedules[stage], latents, image.inputs, before, done.clean, generator)

    def decode(self, index: int, latents: torch.Tensor) -> Image.Image:
        """Decode latents to an image."""
        self._raise_if_cancelled()
        self._on_event(Decoding(image=index, images=self._request.count))
        with self._clock.phase("decode"):
            return self._to_image(self._models[-1], latents)

    def first_stage(self) -> Image.Image | None:
        """The decoded result of the last image's first stage; None if not requested or memory is short."""
        latents, self._first_stage = self._first_stage, None
        if latents is None or self._cancelled():
            return None
        model = self._models[0]
        try:
            with self._clock.phase("decode"), self._placement.phase("decode", model, ["vae"]):
                return self._in_range(model, partial(to_image, model, latents.to(model.device)))
        except Exception as error:
            if isinstance(error, OutOfMemory) or is_device_shortage(error) or is_ram_shortage(error):
                return None
            raise

    def _to_image(self, model: LoadedModel, latents: torch.Tensor) -> Image.Image:
        with self._placement.phase("decode", model, ["vae"]) as working:
            working.pixels = max(latents.shape[-2:]) * model.sources.vae_factor
            working.last_resort = partial(self._last_resort.take, model)
            return working.retry_stateless(partial(self._in_range, model, partial(self._decoded, model, latents)))

    def _in_range(self, model: LoadedModel, make: Callable[[], T]) -> T:
        """Return what the VAE of a model that is placed makes, without overflow."""
        placement = self._placement
        return within_range(model, make, placement.notify, partial(placement.off_the_device, model, "vae"))

    def _decoded(self, model: LoadedModel, latents: torch.Tensor) -> Image.Image:
        image = self._last_resort.image(model, latents)
        return to_image(model, latents) if image is None else image

    def _to_latents(
        self,
        model: LoadedModel,
        image: Image.Image,
        rng: torch.Generator | None,
        hidden: Image.Image | None = None,
        *,
        is_control: bool = False,
    ) -> torch.Tensor:
        noise = None if rng is None else rng.get_state()
        with self._placement.phase("decode", model, ["vae"]) as working:
            working.pixels = max(image.size)

            def rewind() -> None:
                if rng is not None and noise is not None:
                    rng.set_state(noise)

            def encode() -> torch.Tensor:
                rewind()
                return to_latents(model, image, rng, hidden, is_control=is_control)

            return working.retry(partial(self._in_range, model, encode), rewind)

    def fingerprint_models(self, cache: Path) -> list[ModelUsed]:
        """Hash the files that determine the images; known hashes come from the cache."""
        self._used = [model_used(stage, cache, self._cancelled) for stage in self._setup.stages]
        return self._used

    def resolved(
        self, controls: Sequence[ControlUsed], stages_like: Sequence[StageSetup] | None = None
    ) -> tuple[ResolvedStage, ...]:
        """All values that each stage used; `stages_like` may differ from this cascade's stages in the prompts only.

        `controls`: those of the request.
        """
        stages = zip(stages_like or self._setup.stages, self._schedules, self._used, strict=True)
        resolved = (resolved_stage(stage, schedule, used, controls) for stage, schedule, used in stages)
        return tuple(replace(stage, loras=self._loras.used(index)) for index, stage in enumerate(resolved))

    @property
    def _starts(self) -> StartLatents:
        """Created on demand: storing it would make a reference cycle that keeps device memory alive for a while."""
        return StartLatents(self._setup, self._models, self._to_latents, self._enlarging)

    def _raise_if_cancelled(self) -> None:
        if self._cancelled():
            raise Cancelled("stopped between two phases of an image")

    def _apply_transition(self, stage: int, done: Denoised, generator: torch.Generator) -> torch.Tensor:
        self._raise_if_cancelled()
        before = (self._models[stage - 1], self._schedules[stage - 1])
        after = (self._models[stage], self._setup.stages[stage], self._schedules[stage])
        through_pixels = ThroughPixels(to_image=self._to_image, to_latents=self._to_latents, enlarging=self._enlarging)
        return apply_transition(self._setup.transitions[stage - 1], done, before, after, generator, through_pixels)

    def _denoise(
        self,
        index: int,
        stage: int,
        images: Sequence[ImageSpec],
        starts: Sequence[StageStart],
        generators: list[torch.Generator],
        shown: ControlInputs,
    ) -> Denoised:
        """Run a stage's steps; a network that sees the masked image as input needs no latent mask."""
        schedule, model, family = self._schedules[stage], self._models[stage], self._setup.stages[stage].family
        self._loras.apply(stage, model)
        folder = self._request.output.preview_folder
        estimates = self._request.previews or folder is not None
        if estimates:
            self._prepare_previews(stage)

        def on_step(step: int, clean: torch.Tensor | None) -> None:
            self._placement.step_done(name, model, family.denoiser_component)
            self._clock.step(stage)
            if step == len(schedule.timesteps) - 1:
                self._prefetch_after(stage)
            jpeg = None if clean is None else self._previewers[stage].jpeg(clean)
            if jpeg is not None and folder is not None:
                write_preview(jpeg, Path(folder), image=index, stage=stage, step=step)
            self._on_event(
                Step(
                    image=index,
                    images=self._request.count,
                    stage=stage,
                    stages=len(self._setup.stages),
                    step=step,
                    steps=len(schedule.timesteps),
                    sigma=schedule.sigmas[step],
                    preview=as_text(jpeg) if jpeg is not None and self._request.previews else None,
                )
            )

        if self._session is None:
            raise RuntimeError("denoising outside of `attending`")
        name, start = f"stage {stage + 1}", StageStart.together(starts)
        setup, size = self._setup.stages[stage], (start.latents.shape[-2], start.latents.shape[-1])
        controls = [control.settings for control in setup.controls]
        networks = dict.fromkeys(each.component for each in controls if each.is_asked_each_step)
        phase = self._placement.phase(name, model, [family.denoiser_component, *networks])
        streamed = partial(self._placement.streamed_blocks, model, family.denoiser_component)
        conditioning = moved(family.join([image.conditionings[stage] for image in images]), model.device)
        if start.masked_image is not None:
            conditioning = start.masked_image.add_to(conditioning, model.dtype)
        if setup.controls:
            waiting = torch.device("cpu") if setup.tile else model.device  # until their tile's turn
            conditioning = shown.add_to(conditioning, waiting, model.dtype)
        if start.low_resolution is not None and not setup.tile:
            conditioning = start.low_resolution.add_to(conditioning, model.dtype)
        size = seen_size(size, setup.tile // setup.sources.vae_factor)
        accelerated = self.acceleration.running(model, setup, self._session, size, streamed)
        tokens, masks = self.acceleration.tokens(setup, size), region_masks(images[0].inputs, setup)
        parts = [model.networks[name] for name in (family.denoiser_component, *networks)]
        regional = attending_by_regions(parts, self._session, setup.regions, conditioning.spans, tokens, masks)
        with phase as working, accelerated as speedups, regional:
            working.guided = conditioning.guided
            working.batch_size = len(images)
            if not setup.tile:
                conditioning = working.retry_stateless(partial(with_features, model, conditioning))
            return denoise(
                family,
                model,
                schedule,
                conditioning,
                start.latents,
                generators,
                estimates=estimates,
                on_step=on_step,
                cancelled=self._cancelled,
                retry=working.retry,
                cache_text=self.acceleration.compiler is None,
                latent_mask=start.latent_mask if start.masked_image is None else None,
                on_retry=self.acceleration.forget,
                speedups=speedups,
                predict=self._tiled(setup, start) if setup.tile else None,
            )

    def _tiled(self, setup: StageSetup, start: StageStart) -> Predict:
        """The prediction of a stage that is denoised in tiles."""
        family, tile = setup.family, setup.tile // setup.sources.vae_factor
        if start.low_resolution is None:
            return partial(predict_in_tiles, family, tile=tile, cancelled=self._cancelled)
        return partial(refine_in_tiles, family, smaller=start.low_resolution, tile=tile, cancelled=self._cancelled)

    def _prefetch_after(self, stage: int) -> None:
        """Start loading the next stage's denoiser while the last step runs."""
        if stage + 1 < len(self._setup.stages):
            after = self._setup.stages[stage + 1].family.denoiser_component
            self._placement.prefetch(self._models[stage + 1], after)

    def _prepare_previews(self, stage: int) -> None:
        if stage in self._previewers:
            return
        model, decoder = self._models[stage], self._preview_decoders.get(stage)
        if decoder is not None:
            patch = decoder.patch(latent_layout(model.sources.components["vae"].config)) or 1
            room = self._placement.planned_activations(f"stage {stage + 1}")
            self._previewers[stage] = SmallPreviewer(decoder, model.device, model.dtype, patch=patch, room=room)
        else:
            with self._placement.phase("decode", model, ["vae"]) as working:
                make = partial(LinearPreviewer, model.networks["vae"], self._setup.stages[stage].sources.vae_factor)
                self._previewers[stage] = working.retry_stateless(make)
