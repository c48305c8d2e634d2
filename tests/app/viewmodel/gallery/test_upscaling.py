"""Images are enlarged one after the other, and one that fails stops no other."""

import pytest
from fake_service import FakeService

from mezzotint.library_protocol import BackgroundRemoved, BackgroundRequest, UpscaledImage, UpscaleRequest, UpscalerUsed
from mezzotint.protocol import Progress
from mezzotint_app.viewmodel.gallery.upscaling import GalleryUpscaling

USED = UpscalerUsed(path="x", sha256="0", architecture="Compact", scale=2, dtype="float32", width=8, height=8)


def enlarged(path):
    return UpscaledImage(
        path=path, width=8, height=8, sha256="0", upscaler=USED, passes=1, tile=512, device="cpu", memory=None
    )


@pytest.fixture
def made(qapp):
    service = FakeService()
    upscaling, told = GalleryUpscaling(service), {"saved": [], "failed": [], "listed": []}
    for name, signal in told.items():
        getattr(upscaling, name).connect(signal.append)
    return service, upscaling, told


def test_one_at_a_time(made):
    service, upscaling, told = made
    upscaling.start(["/a.png", "/b.png"], "4x", 2.0)
    assert [one.params for one in service.asked] == [UpscaleRequest(path="/a.png", upscaler="4x", scale=2.0)]
    assert upscaling.status() == "Upscaling · 1 waiting"
    service.event(Progress(what="upscaling", done=3, total=12, unit="tiles"))
    assert upscaling.status() == "Upscaling · 25 % · 1 waiting"
    service.answer(enlarged("/a-2x.png"))
    assert upscaling.status() == "Upscaling" and service.last().params.path == "/b.png"
    service.answer(enlarged("/b-2x.png"))
    assert told["saved"] == ["/a-2x.png", "/b-2x.png"] and upscaling.status() == ""


def test_a_failure_is_reported_and_the_next_one_runs(made):
    service, upscaling, told = made
    upscaling.start(["/a.png", "/b.png"], "4x", None)
    service.fail(message="it is no image")
    assert told["failed"] == ["it is no image"] and service.last().params.path == "/b.png"


def test_cancelling_drops_what_waits_in_silence(made):
    service, upscaling, told = made
    upscaling.start(["/a.png", "/b.png"], "4x", None)
    upscaling.cancel()
    service.fail(kind="cancelled")
    assert service.cancelled == [1] and len(service.asked) == 1
    assert told["failed"] == [] and upscaling.status() == ""


def test_backgrounds_wait_their_turn(made):
    service, upscaling, told = made
    upscaling.start(["/a.png"], "4x", None)
    upscaling.remove_backgrounds(["/b.png"])
    service.answer(enlarged("/a-2x.png"))
    assert service.last("remove_background").params == BackgroundRequest(path="/b.png")
    service.event(Progress(what="removing the background", done=0, total=1, unit="images"))
    assert upscaling.status() == "Removing the background"
    removed = BackgroundRemoved(path="/b-cutout.png", width=8, height=8, sha256="", model="", model_sha256="", front=1)
    service.answer(removed)
    assert told["saved"] == ["/a-2x.png", "/b-cutout.png"] and upscaling.status() == ""


def test_upscalers_are_listed(made):
    service, upscaling, told = made
    upscaling.list_upscalers()
    service.answer(("starter-2x", "4x"))
    assert told["listed"] == [["starter-2x", "4x"]]
