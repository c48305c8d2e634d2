"""The HTTP API over an engine that draws instead of generating, with and without a port."""

import base64
import contextlib
import http.client
import io
import json
import threading
from pathlib import Path

from fake_engine import FakeCatalog, model_info, result_of
from own_images import write_own
from PIL import Image

from mezzotint.api_server.access import Access
from mezzotint.api_server.api import Api, ApiRequest
from mezzotint.api_server.jobs import ApiJob, ApiJobs
from mezzotint.api_server.limits import Limits
from mezzotint.api_server.web.application import application
from mezzotint.api_server.web.http_server import ApiHttpServer
from mezzotint.api_server.working_folder import WorkingFolder
from mezzotint.errors import Cancelled, DeviceLost, ModelRefused
from mezzotint.protocol import GeneratedImage, Progress, Saved, Step

TOKEN = "a token of many characters"
PATIENCE = 60  # seconds, of waits that end at once


class ListingCatalog(FakeCatalog):
    """A catalog with two models, one that is refused, and a LoRA."""

    def __init__(self):
        models = [
            model_info(),
            model_info(id="xl", path="/models/sdxl_base.safetensors"),
            model_info(id="broken", problem="damaged"),
        ]
        super().__init__(models)

    def loras(self):
        return {"Style": Path("/loras/Style.safetensors")}

    def controlnets(self):
        return {"canny-xl": Path("/controlnet/canny-xl.safetensors")}

    def upscalers(self):
        return ("starter-2x", "4x-Sharp")

    def looking(self, purpose):
        return {"a network": Path("/networks")} if purpose == "depth" else {}


class DrawingEngine:
    """Prompts select a fault: slow (until cancelled or let go), refused, bug, lost."""

    def __init__(self):
        self.requests, self.files, self.closed = [], [], 0
        self.running, self.let_go = threading.Event(), threading.Event()

    def close(self):
        self.closed += 1

    def generate(self, request, on_event, cancelled):
        self.requests.append(request)
        paths = {one.role: one.path for one in request.images}
        paths |= {f"control-{index}": control.image for index, control in enumerate(request.controls)}
        self.files.append({name: Image.open(path).copy() for name, path in paths.items()})
        self.running.set()
        images = []
        for index in range(request.count):
            step = Step(image=index, images=request.count, stage=0, stages=1, step=1, steps=2, sigma=1, preview="cHJl")
            on_event(step)
            if index == request.count - 1:
                self.fault(request.prompt, cancelled)
            images.append(self.draw(request, index))
            on_event(Saved(image=images[-1], images=request.count))
        return result_of(request, images)

    def upscale(self, request, on_event, cancelled):
        self.requests.append(request)
        self.fault("", cancelled)
        with Image.open(request.path) as image:
            size = tuple(round(side * request.scale) for side in image.size)
            image.resize(size, Image.Resampling.NEAREST).save(request.output.path)
        on_event(Progress(what="upscaling", done=1, total=1, unit="tiles"))

    def prepare_control(self, request, on_event, cancelled):
        self.requests.append(request)
        with Image.open(request.path) as image:
            image.convert("L").convert("RGB").save(request.output)

    def fault(self, prompt, cancelled):
        if prompt == "refused":
            raise ModelRefused("the file is no model")
        if prompt == "bug":
            raise ValueError("nobody thought of this")
        if prompt == "lost":
            raise DeviceLost("an illegal memory access was encountered")
        while prompt == "slow" and not self.let_go.wait(0.01):
            if cancelled():
                raise Cancelled("stopped")

    def draw(self, request, index):
        seed = 7 + index
        path = write_own(Path(request.output.path) / f"{seed}-{len(self.requests)}.png", seed=seed)
        return GeneratedImage(path=str(path), width=48, height=32, seed=seed, index=index, sha256="0")


class Answer:
    """The status, headers and JSON of an answer."""

    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def info(self):
        return json.loads(self.json["info"])


class Served:
    """A server on a port of this machine, for as long as the context lasts."""

    def __init__(self, output, access=None, limits=None, **options):
        self.engine = DrawingEngine()
        self.folder = WorkingFolder(output)
        self.jobs = ApiJobs((limits or Limits()).waiting_jobs)
        self.api = Api(ListingCatalog(), self.engine, self.folder, self.jobs, **options)
        self._limits, self._access, self._http = limits, access or Access(token=TOKEN), None

    @property
    def http(self):
        """The server, started when it is first needed."""
        if self._http is None:
            app = application(self.api, self._access, self._limits)
            self._http = ApiHttpServer(("127.0.0.1", 0), app, self._limits)
            self._http.start()
        return self._http

    @property
    def port(self):
        return self.http.address[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.engine.let_go.set()
        if self._http is not None:
            self._http.begin_to_stop()
        assert self.jobs.close(PATIENCE)
        if self._http is not None:
            self._http.stop(PATIENCE)
        self.folder.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def call(self, method, path, data=None, *, token=TOKEN, body=None, **headers):
        """Answer to one request on a connection of its own."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        if data is not None:
            body, sent = json.dumps(data).encode(), {"Content-Type": "application/json"} | sent
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path if path.startswith("/") else f"/sdapi/v1/{path}", body, sent)
            return Answer(connection.getresponse())


def call(api, method, path, data=None, **query):
    """What an endpoint of `Api` answers, without a port."""
    found = api.endpoints[path if path.startswith("/") else f"/sdapi/v1/{path}"][method](ApiRequest(data, query))
    return found.answer.result(PATIENCE) if isinstance(found, ApiJob) else found


def in_base64(image, kind="PNG"):
    """An image as requests contain it."""
    file = io.BytesIO()
    image.save(file, kind)
    return base64.b64encode(file.getvalue()).decode()
