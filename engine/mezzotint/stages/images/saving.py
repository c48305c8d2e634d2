"""Save images, each with a record from which it can be generated again."""

import hashlib
import random
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from PIL import Image

from mezzotint import __version__
from mezzotint.catalog.place import at_home
from mezzotint.families.lora.prompt_tags import without_lora_tags
from mezzotint.images.naming import NameFields, image_path
from mezzotint.images.record import ImageRecord
from mezzotint.images.writing import pixels_sha256, require_folder, write_image
from mezzotint.protocol import (
    SCHEMA_VERSION,
    Attention,
    ControlRef,
    ControlUsed,
    Dtype,
    FileUsed,
    GeneratedImage,
    GenerateRequest,
    LoraRef,
    ModelUsed,
    Output,
    Quantization,
    ResolvedStage,
    Stage,
)
from mezzotint.sampling_protocol import sampling_of
from mezzotint.stages.images.pending_decode import PendingDecode
from mezzotint.stages.images.upscalers import recorded_name, recorded_transition
from mezzotint.stages.setup import CascadeSetup, StageSetup
from mezzotint.values.regions import RegionRef

SEEDS_DRAWN_BELOW = 2**32  # the range that other programs can read


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """The record fields that all images of a job share."""

    device: str
    device_name: str
    dtype: Dtype
    attention: Attention
    quantization: Quantization
    text_quantization: Quantization
    threads: int
    versions: dict[str, str]
    images_used: tuple[FileUsed, ...]
    controls: tuple[ControlUsed, ...] = ()  # in the order of the request
    regions: tuple[RegionRef, ...] = ()


class Saver:
    """Names the images of one job and builds their records."""

    def __init__(self, *, request: GenerateRequest, setup: CascadeSetup, size: tuple[int, int]) -> None:
        """`size`: of the images, which may differ from every stage's."""
        self._request, self._setup, self._size = request, setup, size
        self.first_seed = random.randrange(SEEDS_DRAWN_BELOW) if request.seed is None else request.seed

    def begin(self, index: int, stages: tuple[ResolvedStage, ...], job_record: JobRecord) -> PendingDecode:
        """The path and record of an image whose latents are ready; records the attention backend that it started with.

        Restarted with that backend, it falls back at the same points and gives the same image.
        """
        request, last = self._request, stages[-1]
        seed = self.first_seed + index
        width, height = self._size
        wanted = image_path(
            request.output,
            NameFields(
                seed=seed,
                prompt=request.prompt,
                model=stages[0].model.id,
                width=width,
                height=height,
                steps=last.steps,
                sampler=last.sampler,
                index=index,
                count=request.count,
                now=datetime.now(),
            ),
        )
        image = GeneratedImage(path=wanted.name, width=width, height=height, seed=seed, index=index, sha256="")
        return PendingDecode(path=wanted, record=self._record(image, stages, job_record))

    def _record(self, image: GeneratedImage, stages: tuple[ResolvedStage, ...], job_record: JobRecord) -> ImageRecord:
        return ImageRecord(
            schema_version=SCHEMA_VERSION,
            program_version=__version__,
            request=resolved_request(self._request, self._setup, stages, image.seed, job_record),
            image=image,
            stages=stages,
            transitions=self._setup.transitions,
            images_used=job_record.images_used,
            device=job_record.device,
            device_name=job_record.device_name,
            dtype=job_record.dtype,
            attention=job_record.attention,
            threads=job_record.threads,
            versions=job_record.versions,
        )


def with_memory(undecoded: PendingDecode, vae_tile: int, recoveries: tuple[str, ...]) -> PendingDecode:
    """Add the memory measures taken, which may have changed pixels."""
    record = undecoded.record
    request = replace(record.request, vae_tile=vae_tile)
    return replace(undecoded, record=replace(record, request=request, recoveries=recoveries))


def save_image(pixels: Image.Image, undecoded: PendingDecode, output: Output) -> GeneratedImage:
    """Write an image with its record; raises StorageError if writing fails, or if the disk of its folder is gone."""
    require_folder(output.required_folder)
    sha256 = pixels_sha256(pixels)
    image = replace(undecoded.record.image, width=pixels.width, height=pixels.height, sha256=sha256)
    record = replace(undecoded.record, image=image)
    path = write_image(pixels, undecoded.path, record, overwrite=output.overwrite, kept=output.metadata)
    return replace(image, path=str(path))


def resolved_request(
    request: GenerateRequest, setup: CascadeSetup, resolved: tuple[ResolvedStage, ...], seed: int, job_record: JobRecord
) -> GenerateRequest:
    """A request that generates one image of the job again, with no value left to defaults that may change."""
    stages = tuple(
        _resolved_stage(stage, found, done)
        for stage, found, done in zip(request.cascade.stages, setup.stages, resolved, strict=True)
    )
    images = tuple(
        replace(image, path=str(Path(image.path).resolve()), sha256=used.sha256)
        for image, used in zip(request.images, job_record.images_used, strict=False)  # embeddings follow
    )
    upscaler = setup.init_upscaler
    return replace(
        request,
        prompt=without_lora_tags(request.prompt),
        negative_prompt=without_lora_tags(request.negative_prompt),
        cascade=replace(
            request.cascade,
            stages=stages,
            transitions=tuple(map(recorded_transition, request.cascade.transitions, setup.transitions)),
        ),
        init_upscaler=None if upscaler is None else recorded_name(request.init_upscaler or "", upscaler),
        init_upscaler_sha256=None if upscaler is None else upscaler.sha256,
        images=images,
        strength=setup.strength,
        inpaint=setup.images.inpaint,
        seed=seed,
        count=1,
        dtype=job_record.dtype,
        attention=_resolved_attention(request.attention, job_record.attention),
        quantization=job_record.quantization,
        text_quantization=job_record.text_quantization,
        memory="auto",
        vram_limit_bytes=None,
        ram_limit_bytes=None,
        vae_tile=request.vae_tile or 0,
        strict=False,
        previews=False,
        embeddings=tuple(str(Path(path).resolve()) for path in request.embeddings),
        loras=_resolved_loras(request.loras, resolved),
        controls=_resolved_controls(request.controls, job_record.controls),
        regions=job_record.regions,
        output=Output(),
    )


def _resolved_attention(asked: Attention, used: Attention) -> Attention:
    """Keep `auto` where it became flash: another machine may have no kernels for that."""
    return "auto" if asked == "auto" and used == "flash" else used


def files_sha256(model: ModelUsed) -> str:
    """One hash over all weight files of a model, in order."""
    return hashlib.sha256("\n".join(file.sha256 for file in model.files).encode("ascii")).hexdigest()


def _resolved_loras(loras: tuple[LoraRef, ...], resolved: tuple[ResolvedStage, ...]) -> tuple[LoraRef, ...]:
    """Absolute paths and file hashes; every LoRA was used by some stage, or the job would have been refused."""
    hashes = {used.file.path: used.file.sha256 for stage in resolved for used in stage.loras}
    return tuple(
        replace(lora, path=str(Path(lora.path).resolve()), sha256=hashes[str(Path(lora.path))]) for lora in loras
    )


def _resolved_controls(controls: tuple[ControlRef, ...], used: tuple[ControlUsed, ...]) -> tuple[ControlRef, ...]:
    """Absolute paths and file hashes."""
    return tuple(
        replace(
            control,
            image=str(Path(control.image).resolve()),
            model=str(Path(control.model).resolve()) if control.model else "",
            sha256=None if files.file is None else files.file.sha256,
            image_sha256=files.image.sha256,
            mask=None if control.mask is None else str(Path(control.mask).resolve()),
            mask_sha256=None if files.mask is None else files.mask.sha256,
            encoder_sha256=None if files.encoder is None else files.encoder.sha256,
            encoder=None if files.encoder is None else str(Path(files.encoder.path).resolve()),
        )
        for control, files in zip(controls, used, strict=True)
    )


def _resolved_stage(stage: Stage, setup: StageSetup, done: ResolvedStage) -> Stage:
    return replace(
        stage,
        model=replace(
            setup.asked.with_parts(lambda path: str(at_home(Path(path)).resolve())),
            id=done.model.id,
            sha256=files_sha256(done.model),
        ),
        width=setup.width,
        height=setup.height,
        sampling=sampling_of(setup.sampling),
        prompt=setup.prompt,
        negative_prompt=setup.negative_prompt,
        weights=None if setup.weights is None else str(setup.weights.resolve()),
        loras=None if stage.loras is None else _resolved_loras(stage.loras, (done,)),
    )
