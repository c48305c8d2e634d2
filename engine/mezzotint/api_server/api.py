"""The endpoints: from a request that was read and checked to its answer."""

import io
import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from PIL import Image

from mezzotint.api_server import lists
from mezzotint.api_server.control_units import MODULES, VERSION
from mezzotint.api_server.extras import read_enlarging
from mezzotint.api_server.generation import Offers, read_generation
from mezzotint.api_server.jobs import ApiJob, ApiJobs
from mezzotint.api_server.names import model_named, usable
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import INVALID, Refusal, invalid
from mezzotint.api_server.settings import ServerSettings
from mezzotint.api_server.work import Generates, enlarge_images, generate
from mezzotint.api_server.working_folder import WorkingFolder
from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.embedded import embedded_texts
from mezzotint.images.encoding import INFOTEXT_KEYWORD
from mezzotint.images.infotext import parse_infotext
from mezzotint.images.reading import open_header
from mezzotint.memory.machine.memory_now import memory_now
from mezzotint.protocol import IsCancelled, ModelInfo, ModelRef, OnEvent

PREFIX = "/sdapi/v1/"
_CONTROLNET = "/controlnet/"  # an extension's own
_LARGEST_EMBEDDED = 64 << 10  # characters of a text that png-info returns beside the infotext
_MOST_EMBEDDED = 64
_READING = threading.Lock()  # a small image may contain 64 MB of compressed text


class Models(Protocol):
    """The part of a Catalog that is needed."""

    def models(self) -> tuple[ModelInfo, ...]:
        """All models."""

    def loras(self) -> Mapping[str, Path]:
        """LoRA files by name."""

    def controlnets(self) -> Mapping[str, Path]:
        """ControlNet files by name."""

    def upscalers(self) -> tuple[str, ...]:
        """Names of upscalers."""

    def default(self) -> ModelRef:
        """The model of a fresh install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """A request whose sender may ask; its body is read."""

    query: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
    gone: Callable[[], bool] = lambda: False  # whether the client has closed the connection


Endpoint = Callable[[ApiRequest], object]

# Endpoints that clients may look for, and why they are not here.
_NOT_HERE = {
    "interrogate": "there is no model that describes images",
    "skip": "an image of a job cannot be skipped; POST /sdapi/v1/interrupt ends the job",
}
_EMPTY_LISTS = ("sd-vae", "hypernetworks", "face-restorers", "realesrgan-models", "script-info")


class Api:
    """All endpoints over one engine."""

    def __init__(
        self,
        catalog: Models,
        engine: Generates,
        folder: WorkingFolder,
        jobs: ApiJobs,
        *,
        model: str | None = None,
        cancel_if_gone: bool = False,
        flags: Mapping[str, object] | None = None,
    ) -> None:
        """Raises Refusal if there is no model of that name."""
        self._catalog, self._engine, self._folder, self._jobs = catalog, engine, folder, jobs
        self._cancel_if_gone, self._flags = cancel_if_gone, {"api": True, **(flags or {})}
        checkpoint = catalog.default().id if model is None else model_named(model, self._models(), "model")
        self._settings = ServerSettings(checkpoint)
        self._endpoints = self._table()

    def endpoint(self, method: str, path: str) -> Endpoint:
        """The endpoint of a method and path; raises Refusal (404, 405)."""
        name = path.removeprefix(PREFIX).rstrip("/") if path.startswith((PREFIX, _CONTROLNET)) else ""
        if name in _NOT_HERE:
            raise Refusal(404, "not_supported", f"{name} is not supported: {_NOT_HERE[name]}")
        methods = self._endpoints.get(name)
        if methods is None:
            raise Refusal(404, "not_found", f"there is nothing at {path[:100]!a}; the API is below {PREFIX}")
        if method not in methods:
            allowed = ", ".join(methods)
            raise Refusal(405, "method", f"{method[:20]!a} is not for {PREFIX}{name}: {allowed}", {"Allow": allowed})
        return methods[method]

    def _table(self) -> dict[str, dict[str, Endpoint]]:
        read: dict[str, Endpoint] = {
            "progress": self._progress,
            "samplers": lambda _: lists.samplers(),
            "schedulers": lambda _: lists.schedulers(),
            "sd-models": lambda _: lists.sd_models(self._models()),
            "loras": lambda _: lists.loras(self._catalog.loras()),
            "upscalers": lambda _: lists.upscalers(self._catalog.upscalers()),
            "latent-upscale-modes": lambda _: lists.latent_upscale_modes(),
            "prompt-styles": lambda _: lists.prompt_styles(),
            "memory": lambda _: lists.memory(memory_now()),
            "cmd-flags": lambda _: self._flags,
            "embeddings": lambda _: {"loaded": {}, "skipped": {}},
            "scripts": lambda _: {"txt2img": [], "img2img": []},
            **{name: lambda _: [] for name in _EMPTY_LISTS},
            f"{_CONTROLNET}version": lambda _: {"version": VERSION},
            f"{_CONTROLNET}model_list": lambda _: {"model_list": list(self._catalog.controlnets())},
            f"{_CONTROLNET}module_list": lambda _: {"module_list": list(MODULES), "module_detail": {}},
        }
        write: dict[str, Endpoint] = {
            "txt2img": lambda request: self._generate(request, "txt2img"),
            "img2img": lambda request: self._generate(request, "img2img"),
            "extra-single-image": lambda request: self._enlarge(request, several=False),
            "extra-batch-images": lambda request: self._enlarge(request, several=True),
            "interrupt": self._interrupt,
            "png-info": _png_info,
            "unload-checkpoint": self._unload,
            "refresh-checkpoints": lambda _: None,  # folders are read with every request
            "refresh-loras": lambda _: None,
        }
        options: dict[str, Endpoint] = {"GET": lambda _: self._settings.shown(), "POST": self._change_options}
        return {
            **{name: {"GET": endpoint} for name, endpoint in read.items()},
            **{name: {"POST": endpoint} for name, endpoint in write.items()},
            "options": options,
        }

    def _models(self) -> tuple[ModelInfo, ...]:
        return usable(self._catalog.models())

    def _generate(self, request: ApiRequest, name: str) -> object:
        checkpoint, clip_skip, previews = self._settings.now()
        offers = Offers(
            models=self._models, loras=self._catalog.loras, controlnets=self._catalog.controlnets,
            upscalers=self._catalog.upscalers, checkpoint=checkpoint, clip_skip=clip_skip, previews=previews,
        )  # fmt: skip
        asked = read_generation(request.data, offers, has_init=name == "img2img")
        job = ApiJob(
            name, asked.images, lambda tell, stop: generate(asked, self._engine, self._folder, tell, stop)
        )  # fmt: skip
        self._jobs.submit(job)
        return job.answer(request.gone, cancel_if_gone=self._cancel_if_gone)

    def _enlarge(self, request: ApiRequest, *, several: bool) -> object:
        asked = read_enlarging(request.data, self._catalog.upscalers(), several=several)

        def work(tell: OnEvent, stop: IsCancelled) -> dict[str, object]:
            images = enlarge_images(asked, self._engine, self._folder, tell, stop)
            return {"html_info": "", "images": images} if several else {"html_info": "", "image": images[0]}

        job = ApiJob("extras", len(asked.images), work)
        self._jobs.submit(job)
        return job.answer(request.gone, cancel_if_gone=self._cancel_if_gone)

    def _unload(self, request: ApiRequest) -> object:
        def close(*_: object) -> dict[str, object]:
            self._engine.close()
            return {}

        job = ApiJob("unload-checkpoint", 1, close)
        self._jobs.submit(job)
        return job.answer(request.gone, cancel_if_gone=False)

    def _interrupt(self, _: ApiRequest) -> object:
        self._jobs.interrupt()
        return {}

    def _change_options(self, request: ApiRequest) -> None:
        self._settings.change(request.data, self._models)

    def _progress(self, request: ApiRequest) -> object:
        job, waiting = self._jobs.running, self._jobs.waiting
        now = None if job is None else job.progress.snapshot()
        wants_image = request.query.get("skip_current_image", "").lower() not in ("true", "1", "yes", "on")
        share, seconds = (0.0, 0.0) if now is None else (now.share, now.seconds)
        state = {
            "skipped": False,
            "interrupted": job is not None and job.cancelled,
            "stopping_generation": job is not None and job.cancelled,
            "job": "" if job is None else job.name,
            "job_count": 0 if now is None else now.images,
            "job_timestamp": "0",
            "job_no": 0 if now is None else now.image,
            "sampling_step": 0 if now is None else now.step,
            "sampling_steps": 0 if now is None else now.steps,
        }
        return {
            "progress": share,
            "eta_relative": seconds / share - seconds if share else 0.0,
            "state": state,
            "current_image": now.preview if now is not None and wants_image else None,
            "textinfo": f"{waiting} waiting" if waiting else None,
        }


def _png_info(request: ApiRequest) -> object:
    text = request.data.get("image")
    if not isinstance(text, str):
        raise invalid("image", "an image in base64 is needed")
    try:
        with _READING, open_header(io.BytesIO(image_bytes(text, "image"))) as image:
            texts = embedded_texts(image)
    except (*DECODER_ERRORS, Image.DecompressionBombError) as error:
        raise Refusal(INVALID, "image_refused", f"image: it cannot be read ({type(error).__name__})") from None
    infotext = texts.chunks.get(INFOTEXT_KEYWORD) or texts.comment or ""
    info = parse_infotext(infotext)
    short = (item for item in texts.chunks.items() if len(item[1]) <= _LARGEST_EMBEDDED)
    items = dict(itertools.islice(short, _MOST_EMBEDDED))
    prompts = {} if info is None else {"Prompt": info.prompt, "Negative prompt": info.negative_prompt}
    return {"info": infotext, "items": items, "parameters": {} if info is None else prompts | info.settings}
