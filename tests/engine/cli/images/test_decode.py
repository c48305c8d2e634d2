"""`mezzotint decode`: what is left to finish, and how it is asked."""

import pytest
from fake_engine import FakeEngine

from mezzotint import paths
from mezzotint.errors import ImageRefused
from mezzotint.protocol import GeneratedImage, Saved


class Decoder(FakeEngine):
    """Files called `bad` are refused."""

    def decode(self, request, on_event, cancelled):
        self.requests.append(request)
        if "bad" in request.path:
            raise ImageRefused("it holds no latents")
        image = GeneratedImage(path="out.png", width=8, height=8, seed=1, index=0, sha256="0")
        on_event(Saved(image=image, images=1))
        return image


@pytest.fixture
def waiting():
    folder = paths.undecoded_folder()
    folder.mkdir(parents=True)
    names = [folder / f"{name}.latents.safetensors" for name in ("a", "b")]
    for path in names:
        path.touch()
    return names


def test_nothing_waits(command):
    done = command("decode")
    assert done.code == 0 and done.out == "" and "nothing is waiting" in done.err
    assert command("decode", "--json").json == {"undecoded": []}


def test_what_waits_is_listed(command, waiting):
    done = command("decode")
    assert done.out.splitlines() == [str(path) for path in waiting] and "--all" in done.err
    assert command("decode", "--json").json == {"undecoded": [str(path) for path in waiting]}


def test_all(command, waiting):
    done = command("decode", "--all", engine=Decoder())
    assert done.code == 0 and done.out.splitlines() == ["out.png", "out.png"]
    assert [request.path for request in done.engine.requests] == [str(path) for path in waiting]


def test_images_that_are_there_are_not_made_again(command, waiting, monkeypatch):
    monkeypatch.setattr("mezzotint.stages.images.pending_decode.is_saved", lambda path: path == waiting[0])
    assert command("decode").out.splitlines() == [str(waiting[1])]
    assert waiting[0].exists(), "listing removes nothing"
    done = command("decode", "--all", engine=Decoder())
    assert [request.path for request in done.engine.requests] == [str(waiting[1])]
    assert "the image of a.latents.safetensors is there" in done.err
    assert not waiting[0].exists()


def test_options_arrive(command):
    words = ("decode", "x.safetensors", "-o", "y.png", "--overwrite", "--vae-tile", "512", "--device", "cpu", "--json")
    done = command(*words, engine=Decoder())
    request = done.request
    assert (request.output.path, request.output.overwrite, request.vae_tile, request.device) == (
        "y.png",
        True,
        512,
        "cpu",
    )
    assert done.json["images"][0]["path"] == "out.png"


@pytest.mark.parametrize(("files", "code", "made"), [(["bad"], 7, 0), (["bad", "a"], 3, 1), (["a", "bad", "b"], 3, 2)])
def test_one_that_fails_does_not_hold_up_the_others(command, files, code, made):
    done = command("decode", *files, engine=Decoder())
    assert done.code == code and done.out.count("out.png") == made and "no latents" in done.err
