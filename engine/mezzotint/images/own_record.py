"""Read our own record from an image, which may be hostile."""

from dataclasses import replace
from pathlib import PureWindowsPath

from mezzotint import codec
from mezzotint.errors import ProtocolError
from mezzotint.images.record import ImageRecord, record_from_json
from mezzotint.images.untrusted import UnreadableError, cleaned, others
from mezzotint.protocol import SCHEMA_VERSION, Cascade, FileUsed, GenerateRequest, ImageMetadata, Output, Sampling
from mezzotint.values.regions import Region

MAX_RECORD = 1 << 20  # characters


def metadata_of_record(written: str) -> ImageMetadata:
    """Convert a record to ImageMetadata, with the request that generates the image again."""
    record = _record(written)
    request = _harmless(record.request)
    stage = request.cascade.stages[0] if request.cascade.stages else None
    sampling = stage.sampling if stage is not None else Sampling()
    true_cfg = record.stages[0].true_cfg_scale if record.stages else None
    hires = next((one for one in request.cascade.transitions if one.scale != 1 and not one.refines), None)
    refiner = _refiner(request.cascade)
    return ImageMetadata(
        program="mezzotint",
        prompt=cleaned(request.prompt),
        negative_prompt=cleaned(request.negative_prompt),
        width=record.image.width,
        height=record.image.height,
        seed=record.image.seed,
        steps=sampling.steps,
        sampler=sampling.sampler,
        schedule=sampling.schedule,
        guidance_scale=sampling.guidance_scale if true_cfg is None else true_cfg,
        distilled_guidance_scale=None if true_cfg is None else sampling.guidance_scale,
        strength=request.strength,
        variation_seed=sampling.variation_seed if sampling.variation_strength else None,
        variation_strength=sampling.variation_strength or None,
        clip_skip=sampling.clip_skip or None,
        hires_scale=None if hires is None else hires.scale,
        hires_space=None if hires is None else hires.space,
        hires_upscaler=None if hires is None else cleaned(PureWindowsPath(hires.upscaler).name),
        refiner=None if refiner is None else cleaned(refiner[0]),
        refiner_at=None if refiner is None else refiner[1],
        model=cleaned(stage.model.id) if stage is not None and stage.model is not None else None,
        model_hash=_model_hash(record),
        request=request,
        other=_other_values(record),
    )


def _refiner(cascade: Cascade) -> tuple[str, float | None] | None:
    """The model that takes over from another one, and where."""
    for before, after, transition in zip(cascade.stages, cascade.stages[1:], cascade.transitions, strict=False):
        if transition.strength is None and after.model is not None:
            return after.model.id, before.until
    return None


def _record(written: str) -> ImageRecord:
    if len(written) > MAX_RECORD:
        raise UnreadableError(f"its record has {len(written)} characters, at most {MAX_RECORD} are allowed")
    try:
        version = _version(codec.parse_json(written))
        if version > SCHEMA_VERSION:
            raise UnreadableError(
                f"it was written by a newer Mezzotint (record version {version}, this one reads up to "
                f"{SCHEMA_VERSION}): update Mezzotint to generate it again"
            )
        return record_from_json(written)
    except (ProtocolError, RecursionError) as error:
        raise UnreadableError(f"its record is damaged ({cleaned(str(error), 200)})") from None


def _version(data: object) -> int:
    version = data.get("schema_version") if isinstance(data, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnreadableError("its record has no version")
    return version


def _harmless(request: GenerateRequest) -> GenerateRequest:
    """Drop the output and count, and refuse paths on other computers, which an image must not decide."""
    remote = remote_path(request)
    if remote is not None:
        raise UnreadableError(
            f"its record names a file on another computer ({cleaned(remote, 80)}), which is not opened"
        )
    return replace(request, output=Output(), count=1)


def remote_path(request: GenerateRequest) -> str | None:
    """The first path of a request that lies on another computer, if any."""
    paths = [one.path for one in request.images] + list(request.embeddings)
    paths += [
        path
        for control in request.controls
        for path in (control.image, control.model, control.encoder or "", control.mask or "")
    ]
    paths += [region.mask for region in request.regions if region.mask is not None]
    paths += [detail.model for detail in request.details if detail.model is not None]
    paths += [
        lora.path for loras in (request.loras, *(s.loras or () for s in request.cascade.stages)) for lora in loras
    ]
    paths += [transition.upscaler for transition in request.cascade.transitions]
    paths += [request.init_upscaler] if request.init_upscaler is not None else []
    paths += [stage.weights for stage in request.cascade.stages if stage.weights is not None]
    models = [stage.model for stage in request.cascade.stages if stage.model is not None]
    paths += [path for model in models for path in (model.id, *model.parts)]
    return next((path for path in paths if path.replace("\\", "/").startswith("//")), None)


def _model_hash(record: ImageRecord) -> str | None:
    files = record.stages[0].model.files if record.stages else ()
    return cleaned(files[0].sha256[:10]) if len(files) == 1 else None


def _other_values(record: ImageRecord) -> dict[str, str]:
    return others(
        {
            **record.versions,
            "version": record.program_version,
            "device": record.device,
            "device_name": record.device_name,
            "dtype": record.dtype,
            "attention": record.attention,
            "threads": str(record.threads),
            "pixels_sha256": record.image.sha256,
            "loras": ", ".join(_loras(record)),
            "upscaled": ", ".join(
                f"{PureWindowsPath(one.path).name} to {one.width}x{one.height}" for one in record.upscaled
            ),
            "background_removed": _file_name(record.background_removed),
            "controls": ", ".join(_controls(record)),
            "regions": "; ".join(Region().to_setting(one) for one in record.request.regions),
            "details": "; ".join(f"{each.label} at {','.join(map(str, each.box))}" for each in record.image.details),
            "stages": str(len(record.stages)) if len(record.stages) > 1 else "",
        }
    )


def _file_name(file: FileUsed | None) -> str:
    return "" if file is None else PureWindowsPath(file.path).name


def _loras(record: ImageRecord) -> dict[str, None]:
    """Names and weights, each once; paths may have the separators of any system."""
    used = (lora for stage in record.stages for lora in stage.loras)
    return dict.fromkeys(f"{PureWindowsPath(lora.file.path).name}:{lora.weight:g}" for lora in used)


def _controls(record: ImageRecord) -> dict[str, None]:
    """Names of ControlNets and their weights, each once."""
    used = (control for stage in record.stages for control in stage.controls)
    files = ((one.file or one.image, one.weight) for one in used)
    return dict.fromkeys(f"{PureWindowsPath(file.path).name}:{weight:g}" for file, weight in files)
