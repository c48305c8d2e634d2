"""`mezzotint remove-background`: how it is asked."""

from fake_engine import FakeEngine

from mezzotint.library_protocol import BackgroundRemoved
from mezzotint.protocol import Output


class Removing(FakeEngine):
    def remove_background(self, request, on_event, cancelled):
        self.requests.append(request)
        return BackgroundRemoved(
            path=f"{request.path}-cutout", width=8, height=8, sha256="0", model="net", model_sha256="0", front=0.5
        )


def test_options_arrive(command):
    done = command("remove-background", "a.png", "--model", "isnet", "-o", "x.png", "--overwrite", engine=Removing())
    assert (done.request.path, done.request.model) == ("a.png", "isnet")
    assert done.request.output == Output(path="x.png", overwrite=True)
    assert (done.code, done.out) == (0, "a.png-cutout\n")


def test_networks_are_listed(command):
    assert command("remove-background", "--list").out.splitlines() == ["BiRefNet_lite-ONNX"]
    assert "which image" in command("remove-background", engine=Removing()).err
