"""`mezzotint control`: how it is asked."""

from fake_engine import FakeEngine

from mezzotint.control_protocol import ControlImageMade, ControlImageRequest


class Preparing(FakeEngine):
    def prepare_control(self, request, on_event, cancelled):
        self.requests.append(request)
        return ControlImageMade(
            path=f"{request.path}-made", width=8, height=8, sha256="0", preprocess=request.preprocess, networks=()
        )


def test_options_arrive(command):
    words = ("a.png", "--preprocess", "depth", "-o", "x.png", "--overwrite", "--device", "cpu")
    done = command("control", *words, engine=Preparing())
    assert done.request == ControlImageRequest(
        path="a.png", preprocess="depth", output="x.png", overwrite=True, device="cpu"
    )
    assert (done.code, done.out) == (0, "a.png-made\n")


def test_networks_are_listed(command):
    assert command("control", "--list").out.splitlines() == ["Depth-Small (depth)"]


def test_what_is_missing_is_said(command):
    assert "add --preprocess with one of canny, lines" in command("control", "a.png", engine=Preparing()).err
    assert "which image" in command("control", "--preprocess", "canny", engine=Preparing()).err
