"""Decode latents left undecoded by a job that ended too soon."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import machine, paths
from mezzotint.attention.selection import AttentionBackends, torch_attention
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ImageRefused
from mezzotint.images.naming import NameFields, check_output, image_path
from mezzotint.images.own_record import remote_path
from mezzotint.protocol import (
    Cascade,
    DecodeRequest,
    Decoding,
    GeneratedImage,
    GenerateRequest,
    IsCancelled,
    ModelRef,
    Notice,
    OnEvent,
    Saved,
)
from mezzotint.stages.images.input_images import InputImages, read_inputs
from mezzotint.stages.images.pending_decode import PendingDecode, read_latents
from mezzotint.stages.images.request_images import request_images
from mezzotint.stages.images.saving import files_sha256, save_image
from mezzotint.stages.models.fingerprints import model_used
from mezzotint.stages.models.precision import Schemes
from mezzotint.stages.setup import CascadeSetup, Find, set_up

if TYPE_CHECKING:
    from mezzotint.stages.models.model_cache import ModelCache

_PLAIN = Schemes(denoiser="none", text="none")


def decode_latents_file(
    request: DecodeRequest,
    *,
    find: Find,
    default_model: ModelRef,
    model_cache: "ModelCache",
    attention: AttentionBackends,
    on_event: OnEvent,
    cancelled: IsCancelled,
) -> GeneratedImage:
    """Decode one file and save its image at the recorded path, or where the request says; removes the file if ours.

    Raises ImageRefused if the file holds no such latents, UnknownModel if its model is gone.
    """
    import torch

    from mezzotint.memory.interruption import cancellable
    from mezzotint.stages.images.decode import to_image
    from mezzotint.stages.images.overflow import within_range
    from mezzotint.stages.models.loading import load_models
    from mezzotint.stages.models.model_cache import ModelRequest

    path = Path(request.path)
    latents, undecoded = read_latents(path)
    notify = partial(_notify, on_event)
    inputs = _input_images(undecoded, notify, cancelled)
    setup = set_up(_last_stage(undecoded.record.request), find, default_model, _no_image)
    stage = setup.stages[0]
    channels = stage.sources.latent_channels
    if latents.shape[1] != channels:
        raise ImageRefused(f"{path} has latents of {latents.shape[1]} channels; {stage.found.info.id} has {channels}")
    undecoded = replace(undecoded, path=_target(request, undecoded))
    device = machine.choose_device(request.device, machine.devices())
    dtype = machine.choose_dtype(undecoded.record.request.dtype if request.dtype == "auto" else request.dtype, device)
    model = model_cache.models_for(ModelRequest(setup=setup, device=device, dtype=dtype, schemes=_PLAIN))[0]
    _compare(undecoded, setup, on_event, cancelled)
    load_models(setup, [model], [["vae"]], on_event=on_event, cancelled=cancelled, notify=notify)
    model.vae_tile = undecoded.record.request.vae_tile or 0 if request.vae_tile is None else request.vae_tile
    session = attention.session("sdpa", device.id, dtype, notify)
    on_event(Decoding(image=0, images=1))
    interruptible = cancellable(model.networks.values(), cancelled)
    with torch.inference_mode(), torch_attention(session), interruptible:
        pixels = within_range(model, partial(to_image, model, latents.to(model.device)), notify)
    undecoded = _without_details(undecoded, notify)
    image = save_image(inputs.composite(pixels), undecoded, request.output)
    on_event(Saved(image=image, images=1))
    if _is_ours(path):
        with suppress(OSError):
            path.unlink()
    return image


def _without_details(undecoded: PendingDecode, notify: Callable[[str, str], None]) -> PendingDecode:
    record = undecoded.record
    if not record.request.details:
        return undecoded
    notify("no_details", "the image is decoded without its detail pass")
    return replace(undecoded, record=replace(record, request=replace(record.request, details=())))


def _notify(on_event: OnEvent, code: str, message: str) -> None:
    on_event(Notice(code=code, message=message))


def _is_ours(path: Path) -> bool:
    """Whether the file lies in the folder for undecoded latents; elsewhere it is the user's, so it is not removed."""
    return path.resolve().parent == paths.undecoded_folder().resolve()


def _last_stage(request: GenerateRequest) -> GenerateRequest:
    """The request reduced to the last stage: decoding needs its model, and no input images or files."""
    stages = request.cascade.stages[-1:]
    if not stages or stages[0].model is None:
        raise ImageRefused("the file names no model: it was not written by Mezzotint")
    last = replace(stages[0], weights=None, loras=None)
    cascade = Cascade(stages=(last,))
    return replace(
        request,
        cascade=cascade,
        images=(),
        init_upscaler=None,
        strength=None,
        inpaint=None,
        embeddings=(),
        loras=(),
        controls=(),
        regions=(),
        details=(),
    )


def _input_images(undecoded: PendingDecode, notify: Callable[[str, str], None], cancelled: IsCancelled) -> InputImages:
    """The images that the decoded one is composited with, or whose transparency it has; none for others."""
    request = undecoded.record.request
    images = request_images(request)
    enlarges = request.init_upscaler is not None
    if images.inpaint is None and not enlarges:
        return InputImages()
    sizes = [(stage.width, stage.height) for stage in undecoded.record.stages]
    composited = [image for image in request.images if image.role != "reference"]
    try:
        _check_paths(request)
        inputs = read_inputs(composited, images, sizes, cancelled, enlarges=enlarges)
    except ImageRefused as error:
        if images.inpaint is not None:
            raise
        notify("not_kept", f"if the image that is enlarged is transparent, this one is not: {error}")
        return InputImages()
    for message in inputs.not_used:
        notify("input_not_used", message)
    return inputs


def _check_paths(request: GenerateRequest) -> None:
    remote = remote_path(request)
    if remote is not None:
        raise ImageRefused(f"the record names a file on another computer ({plain(remote, 80)}), which is not opened")


def _no_image(path: Path) -> tuple[int, int]:
    raise ImageRefused(f"{path} is not needed for decoding")


def _target(request: DecodeRequest, undecoded: PendingDecode) -> Path:
    if request.output.path is None and _is_ours(Path(request.path)):
        return undecoded.path
    check_output(request.output, 1)
    record = undecoded.record
    last = record.stages[-1]
    fields = NameFields(
        seed=record.image.seed,
        prompt=record.request.prompt,
        model=record.stages[0].model.id,
        width=record.image.width,
        height=record.image.height,
        steps=last.steps,
        sampler=last.sampler,
        index=record.image.index,
        count=1,
        now=datetime.now(),
    )
    return image_path(request.output, fields)


def _compare(undecoded: PendingDecode, setup: CascadeSetup, on_event: OnEvent, cancelled: IsCancelled) -> None:
    """Warn if the model's files differ from those that made the latents."""
    used = model_used(setup.stages[0], paths.cache_folder() / "fingerprints.json", cancelled)
    if files_sha256(used) != files_sha256(undecoded.record.stages[-1].model):
        message = f"{used.id} has other files than before: the image will differ"
        on_event(Notice(code="model_changed", message=message))
