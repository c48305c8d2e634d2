"""An engine and a catalog without networks; the prompt selects a fault."""

import dataclasses
import os
import threading

from mezzotint.errors import Cancelled, DeviceLost, ModelRefused, UnknownModel
from mezzotint.protocol import (
    DeviceInfo,
    EngineInfo,
    GeneratedImage,
    GenerateResult,
    Loading,
    MemoryReport,
    ModelInfo,
    ModelRef,
    Notice,
    Saved,
    Step,
    Timings,
)

VERSIONS = {"mezzotint": "0"}
DEVICE = DeviceInfo(id="cpu", name="Slow and steady", memory_bytes=1 << 30)


@dataclasses.dataclass
class FoundFake:
    info: ModelInfo


class FakeCatalog:
    def __init__(self, models=()):
        self._models = tuple(models)

    def models(self):
        return self._models

    def loras(self):
        return {}

    def default(self):
        return ModelRef(id="starter/dit")

    def notices(self):
        return ("a folder is gone",) if self._models else ()

    def find(self, ref):
        for model in self._models:
            if model.id == ref.id:
                return FoundFake(info=model)
        raise UnknownModel(f"No model is called {ref.id!r}")

    def inspect(self, ref):
        return self.find(ref).info

    def upscalers(self):
        return ("starter-2x", "4x-Sharp")

    def backgrounds(self):
        return ("BiRefNet_lite-ONNX",)

    def looking(self, purpose):
        return {"Depth-Small": "/models/Depth-Small"} if purpose == "depth" else {}


def model_info(**changes) -> ModelInfo:
    values = {
        "id": "starter/dit",
        "path": "/models/dit",
        "layout": "folder",
        "family": "pixart",
        "variant": "sigma",
        "bytes": 1234567,
        "source": "bundled",
        "defaults": None,
        "problem": None,
    }
    return ModelInfo(**values | changes)


def result_of(request, images, **changes) -> GenerateResult:
    values = {
        "schema_version": 1,
        "images": tuple(images),
        "seed": 7,
        "stages": (),
        "transitions": (),
        "images_used": (),
        "strength": None,
        "device": "cpu",
        "device_name": "Slow and steady",
        "dtype": "float32",
        "attention": "sdpa",
        "threads": 1,
        "versions": VERSIONS,
        "timings": Timings(load=0, encode=0, denoise=(), decode=0, save=0, total=3.21),
        "memory": MemoryReport(peak_ram_bytes=1, peak_vram_bytes=None),
        "notices": (request.prompt,),
    }
    return GenerateResult(**values | changes)


class FakeEngine:
    """Prompts: slow (until cancelled), deaf (until let go), refused, bug, exit, print, lost, memory; others succeed."""

    def __init__(self, catalog=None):
        self.catalog = catalog
        self.closed = False
        self.requests = []
        self.running = threading.Event()
        self.let_go = threading.Event()

    def info(self):
        return EngineInfo(schema_version=1, version="0", versions=VERSIONS, devices=(DEVICE,), threads=1)

    def close(self):
        self.closed = True

    def generate(self, request, on_event, cancelled):
        self.requests.append(request)
        self.running.set()
        on_event(Loading(model="starter/dit", component="vae", bytes_done=1, bytes_total=2))
        fault = getattr(self, f"_{request.prompt}", None)
        if fault is not None:
            fault(cancelled)
        images = []
        for index in range(request.count):
            on_event(Step(image=index, images=request.count, stage=0, stages=1, step=1, steps=1, sigma=1, preview=None))
            on_event(Notice(code="fake", message="made by nobody"))
            image = GeneratedImage(path=f"{index}.png", width=128, height=96, seed=7 + index, index=index, sha256="0")
            on_event(Saved(image=image, images=request.count))
            images.append(image)
            if request.prompt == "half" and index == 0:
                raise ModelRefused("the second half is missing")
        return result_of(request, images)

    def plan(self, request):
        return f"a plan for {' and '.join(request.models)}"

    def decode(self, request, on_event, cancelled):
        self.requests.append(request)
        name = request.path.replace(".latents.safetensors", ".png")
        image = GeneratedImage(path=name, width=128, height=96, seed=7, index=0, sha256="0")
        on_event(Saved(image=image, images=1))
        return image

    def _slow(self, cancelled):
        while not cancelled():
            self.let_go.wait(0.01)
        raise Cancelled("stopped")

    def _deaf(self, cancelled):
        self.let_go.wait()

    def _refused(self, cancelled):
        raise ModelRefused("the file is no model")

    def _bug(self, cancelled):
        raise ValueError("nobody thought of this")

    def _exit(self, cancelled):
        raise SystemExit(3)

    def _lost(self, cancelled):
        raise DeviceLost("an illegal memory access was encountered")

    def _memory(self, cancelled):
        raise MemoryError

    def _print(self, cancelled):
        print('{"jsonrpc": "2.0", "id": 1, "result": "a lie"}', flush=True)  # noqa: T201  as a careless library would
        os.write(1, b"native garbage")
