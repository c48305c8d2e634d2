"""The queue over the real engine: images that a dead process has made are known again by what they say."""

import json
import signal
import subprocess
import sys

import pytest

from mezzotint.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.jobs.drain import DrainControl, drain
from mezzotint.jobs.store import JobStore, Lease
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ModelRef,
    Output,
    Sampling,
    Saved,
    Stage,
    Transition,
)


class Gone(BaseException):
    """The end of a process, with nobody left to tell the queue."""


def cascade(name, base, refiner):
    first = Stage(model=ModelRef(id=str(base)), width=64, height=64, sampling=Sampling(steps=3, guidance_scale=4.0))
    if name == "plain":
        return Cascade(stages=(Stage(model=ModelRef(id=str(base)), width=64, height=64, sampling=Sampling(steps=2)),))
    if name == "hires":
        return Cascade(stages=(first, Stage()), transitions=(Transition(scale=1.5, strength=0.5),))
    second = Stage(model=ModelRef(id=str(refiner)), sampling=Sampling(steps=3))
    return Cascade(
        stages=(Stage(model=first.model, width=64, height=64, until=0.6, sampling=first.sampling), second),
        transitions=(Transition(),),
    )


@pytest.fixture(scope="module")
def engine(every_device):
    return Engine(Catalog.standard([]))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ["plain", "hires", "refiner"])
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_an_image_that_nobody_told_of_is_found(
    engine, every_device, tiny_sdxl_folder, tiny_refiner_folder, tmp_path, name, suffix
):
    output = Output(path=f"{tmp_path}/out/[date]/[model] [prompt] [seed]{suffix}")
    stages = cascade(name, tiny_sdxl_folder, tiny_refiner_folder)
    words = {"prompt": "a barn: red, old", "negative_prompt": "rain"}
    request = GenerateRequest(**words, seed=5, count=2, device=every_device, cascade=stages, output=output)
    made = []

    def dies(event):
        if isinstance(event, Saved):
            made.append(event.image)
            if len(made) == 2:
                raise Gone

    with JobStore.open(tmp_path / "queue.sqlite").store as store, Lease.acquire(every_device, tmp_path) as lease:
        store.add([request])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "saved", lambda *_: None)
            patch.setattr(store, "requeue", lambda *_, **__: None)
            with pytest.raises(Gone):
                control = DrainControl(on_event=dies, cancelled=lambda: False)
                drain(store, lease.owner, engine, control, on_ended=lambda ended: pytest.fail(str(ended.error)))
        assert store.row(1).state == "running"
        assert len(store.recover(lambda _: False).done) == 1
        found = store.entry(1).tasks[0].images
    assert [(one.path, one.seed, one.sha256) for one in found] == [(one.path, one.seed, one.sha256) for one in made]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_and_gone_on_with(tiny_sdxl_folder, tmp_path):
    """By the commands alone: after SIGKILL the queue asks, and the same images come that would have come."""

    def queue(*words):
        command = [sys.executable, "-m", "mezzotint", "queue", *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def done(process, code=0):
        out, errors = process.communicate(timeout=240)
        assert process.returncode == code, errors
        return out, errors

    words = ["a barn", "-m", str(tiny_sdxl_folder), "--size", "64x64", "--device", "cpu", "--seed", "7"]
    done(queue("add", *words, "--count", "3", "--steps", "60", "-o", f"{tmp_path}/out/[seed].png"))
    victim = queue("run", "--jsonl")
    for line in victim.stdout:
        if json.loads(line).get("event", {}).get("type") == "Saved":
            break
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    _, errors = done(queue("run", "--until-empty"))
    assert "1 tasks were interrupted by a crash" in errors
    done(queue("run", "--until-empty", "--resume"))
    assert sorted(path.name for path in tmp_path.glob("out/*.png")) == ["7.png", "8.png", "9.png"]
    (entry,) = json.loads(done(queue("list", "--all", "--json"))[0])["entries"]
    assert (entry["state"], entry["images"]) == ("done", 3)
