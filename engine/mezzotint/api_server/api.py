"""The endpoints: from a request that was read and checked to its answer."""

import io
import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from mezzotint.api_server import lists
from mezzotint.api_server.control_units import VERSION
from mezzotint.api_server.descriptions import openapi, page
from mezzotint.api_server.detection import read_detection
from mezzotint.api_server.extras import read_enlarging
from mezzotint.api_server.fields import Fields
from mezzotint.api_server.generation import Offers, read_generation
from mezzotint.api_server.jobs import IGNORED, ApiJob, ApiJobs
from mezzotint.api_server.names import model_named, usable
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import INVALID, Refusal, invalid
from mezzotint.api_server.settings import ServerSettings
from mezzotint.api_server.work import Generates, Said, control_images, enlarge_images, generate
from mezzotint.api_server.working_folder import WorkingFolder
from mezzotint.catalog.looking import PREPARING, Purpose
from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.embedded import embedded_texts
from mezzotint.images.encoding import INFOTEXT_KEYWORD
from mezzotint.images.infotext import parse_infotext
from mezzotint.images.reading import open_header
from mezzotint.images.untrusted import mapping
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

    def looking(self, purpose: Purpose) -> Mapping[str, Path]:
        """Networks that look at images, by name."""

    def default(self) -> ModelRef:
        """The model of a fresh install."""


class ApiRequest:
    """A request whose sender may ask; its body is read. What no endpoint takes of `fields` is named in the answer."""

    def __init__(self, data: Mapping[str, object] | None = None, query: Mapping[str, str] | None = None) -> None:
        self.data, self.query = data or {}, query or {}
        self.fields = Fields(self.data)


@dataclass(frozen=True, slots=True)
class Page:
    """An answer that is read by people."""

    html: str


Endpoint = Callable[[ApiRequest], object]  # returns what is answered as JSON, a job that will answer, or a page

# Endpoints that clients may look for, and why they are not here.
_NOT_HERE = {
    "interrogate": "there is no model that describes images",
    "skip": "an image of a job cannot be skipped; POST /sdapi/v1/interrupt ends the job",
}
_EMPTY_LISTS = ("sd-vae", "sd-modules", "hypernetworks", "face-restorers", "realesrgan-models", "script-info")
# Folders are read with every request, and the model with every job.
_NOTHING_TO_DO = (
    *("refresh-checkpoints", "refresh-loras", "refresh-vae", "refresh-embeddings", "refresh-controlnets"),
    "reload-checkpoint",
)


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
        self.cancel_if_gone, self._flags = cancel_if_gone, {"api": True, **(flags or {})}
        checkpoint = catalog.default().id if model is None else model_named(model, self._models(), "model")
        self._settings = ServerSettings(checkpoint)
        self.endpoints = self._table()

    def _table(self) -> dict[str, dict[str, Endpoint]]:
        """The endpoints by path and method."""
        read = {f"{PREFIX}{name}": endpoint for name, endpoint in self._read().items()}
        read |= {f"{_CONTROLNET}{name}": endpoint for name, endpoint in self._read_control().items()}
        read |= {"/docs": lambda _: Page(page(self.endpoints)), "/openapi.json": lambda _: openapi(self.endpoints)}
        write = {f"{PREFIX}{name}": endpoint for name, endpoint in self._write().items()}
        write[f"{_CONTROLNET}detect"] = self._detect
        table: dict[str, dict[str, Endpoint]] = {path: {"GET": endpoint} for path, endpoint in read.items()}
        for path, endpoint in write.items():
            table.setdefault(path, {})["POST"] = self._naming_ignored(endpoint)
        absent = {f"{PREFIX}{name}": _absent(name, why) for name, why in _NOT_HERE.items()}
        return table | {path: {"GET": endpoint, "POST": endpoint} for path, endpoint in absent.items()}

    def _read(self) -> dict[str, Endpoint]:
        return {
            "progress": self._progress,
            "options": lambda _: self._settings.shown(),
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
        }

    def _read_control(self) -> dict[str, Endpoint]:
        return {
            "version": lambda _: {"version": VERSION},
            "model_list": lambda _: {"model_list": list(self._catalog.controlnets())},
            "module_list": lambda _: {"module_list": self._modules(), "module_detail": {}},
            "control_types": lambda _: {
                "control_types": lists.control_types(self._modules(), self._catalog.controlnets())
            },
        }

    def _write(self) -> dict[str, Endpoint]:
        return {
            "txt2img": lambda request: self._generate(request, "txt2img"),
            "img2img": lambda request: self._generate(request, "img2img"),
            "extra-single-image": lambda request: self._enlarge(request, several=False),
            "extra-batch-images": lambda request: self._enlarge(request, several=True),
            "interrupt": self._interrupt,
            "options": self._change_options,
            "png-info": _png_info,
            "unload-checkpoint": self._unload,
            **{name: lambda _: {} for name in _NOTHING_TO_DO},
        }

    def _naming_ignored(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint, whose answer or job names what it has not taken of the request."""

        def answered(request: ApiRequest) -> object:
            found = endpoint(request)
            ignored = request.fields.left()
            if isinstance(found, ApiJob):
                found.ignored = tuple(ignored)
                self._jobs.submit(found)
                return found
            return mapping(found) | {IGNORED: ignored}

        return answered

    def _modules(self) -> list[str]:
        """The preprocessors whose networks are there."""
        needed = {purpose for purposes in PREPARING.values() for purpose, _ in purposes}
        there = {purpose for purpose in needed if self._catalog.looking(purpose)}
        return lists.control_modules(lambda how: all(purpose in there for purpose, _ in PREPARING.get(how, ())))

    def _models(self) -> tuple[ModelInfo, ...]:
        return usable(self._catalog.models())

    def _generate(self, request: ApiRequest, name: str) -> ApiJob:
        checkpoint, clip_skip, previews = self._settings.now()
        notices: list[str] = []
        offers = Offers(
            models=self._models, loras=self._catalog.loras, controlnets=self._catalog.controlnets,
            upscalers=self._catalog.upscalers, checkpoint=checkpoint, clip_skip=clip_skip, previews=previews,
        )  # fmt: skip
        read = read_generation(request.fields, offers, has_init=name == "img2img")
        asked = read.take(notices.append)
        said = Said(notices=tuple(notices), ignored=read.unused)
        return ApiJob(
            name, asked.images, lambda tell, stop: generate(asked, said, self._engine, self._folder, tell, stop)
        )  # fmt: skip

    def _enlarge(self, request: ApiRequest, *, several: bool) -> ApiJob:
        asked = read_enlarging(request.fields, self._catalog.upscalers(), several=several)

        def work(tell: OnEvent, stop: IsCancelled) -> dict[str, object]:
            images = enlarge_images(asked, self._engine, self._folder, tell, stop)
            return {"html_info": "", "images": images} if several else {"html_info": "", "image": images[0]}

        return ApiJob("extras", len(asked.images), work)

    def _detect(self, request: ApiRequest) -> ApiJob:
        asked = read_detection(request.fields)

        def work(tell: OnEvent, stop: IsCancelled) -> dict[str, object]:
            return {"images": control_images(asked, self._engine, self._folder, tell, stop), "info": "Success"}

        return ApiJob("detect", len(asked.images), work)

    def _unload(self, _: ApiRequest) -> ApiJob:
        def close(*_: object) -> dict[str, object]:
            self._engine.close()
            return {}

        return ApiJob("unload-checkpoint", 1, close)

    def _interrupt(self, _: ApiRequest) -> object:
        self._jobs.interrupt()
        return {}

    def _change_options(self, request: ApiRequest) -> None:
        self._settings.change(request.fields, self._models)

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


def _absent(name: str, why: str) -> Endpoint:
    def refuse(_: ApiRequest) -> object:
        raise Refusal(404, "not_supported", f"{name} is not supported: {why}")

    return refuse


def _png_info(request: ApiRequest) -> object:
    text = request.fields.take("image")
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
