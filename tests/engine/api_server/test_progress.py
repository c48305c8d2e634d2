"""How far a job is."""

from mezzotint import protocol
from mezzotint.api_server.progress import Progress
from mezzotint.protocol import GeneratedImage, Loading, Saved, Step


def step(number, *, image=0, stage=0, preview=None):
    return Step(image=image, images=2, stage=stage, stages=2, step=number, steps=4, sigma=1.0, preview=preview)


def test_it_grows_with_steps_stages_and_images():
    progress, now = Progress(2, lambda: 5.0), []
    assert progress.snapshot().seconds == 0
    progress.begin()
    image = GeneratedImage(path="a", width=1, height=1, seed=1, index=0, sha256="0")
    saved = Saved(image=image, images=2)
    loading = Loading(model="m", component="c", bytes_done=1, bytes_total=2)
    for event in (loading, step(2), step(4, preview="p"), step(2, stage=1), saved, step(4, image=1, stage=1), saved):
        progress.on_event(event)
        now.append(progress.snapshot())
    assert [one.share for one in now] == [0, 0.125, 0.25, 0.375, 0.5, 1, 1]
    assert [one.image for one in now] == [0, 0, 0, 0, 1, 1, 2]
    assert now[3].preview == "p" and (now[3].step, now[3].steps, now[3].images) == (2, 4, 2)


def test_it_grows_with_tiles_of_images_that_are_enlarged():
    progress, now = Progress(2), []
    for done in (1, 2, 1, 2):
        progress.on_event(protocol.Progress(what="upscaling", done=done, total=2, unit="tiles"))
        now.append(progress.snapshot())
    assert [(one.share, one.image) for one in now] == [(0.25, 0), (0.5, 1), (0.75, 1), (1, 2)]
