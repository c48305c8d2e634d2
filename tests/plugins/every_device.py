"""Full jobs on the CPU and on the simulated GPU, with checks that every GPU job must pass.

A module requests it with `pytestmark = pytest.mark.usefixtures("every_device")`; so do engines that outlive a test.
Jobs that name no device then run on the GPU, as it is the best device. `make test` runs each case on one of the two,
which its name decides, and `make test-slow` on the other.
"""

import gc
import zlib
from collections import defaultdict
from collections.abc import Iterator
from functools import wraps
from weakref import WeakSet

import pytest
from fake_card.install import fake_card

from mezzotint.engine import Engine
from mezzotint.families import footprints
from mezzotint.memory.footprints.traced_cache import TracedCache
from mezzotint.protocol import Step

ROOM = 2 * 2**30
MARGIN = 1.1  # factor by which a phase may exceed its plan
# Steps that wait for the GPU, and why.
DRAWN = "the noise of each step is drawn in RAM, so that a seed is one image on every device"
PREVIEW = "images/preview.py"  # the preview is displayed immediately and made in RAM
INTERRUPTIBLE = "memory/interruption.py"  # two blocks are left waiting, so that a job can be cancelled
CAPTURE = "acceleration/captured_steps.py"  # a capture starts by waiting for all queued work
LOOKED_UP = "diffusers looks levels of noise up in RAM, by a timestep that lies on the card"
COPIED = "diffusers copies levels of noise to the card"
MASKED = "transformers/transformer_qwenimage.py"  # diffusers copies the prompt's length to the GPU if there is a mask
MAY_WAIT = {
    "euler_a": DRAWN,
    "dpmpp_2m_sde": DRAWN,
    "lcm": DRAWN,
    "ddim": LOOKED_UP,
    "pndm": LOOKED_UP,
    "unipc": COPIED,
}


class WaitsOfSteps:
    """Records what the computing thread waited for between the end of one step and the end of the next."""

    def __init__(self, card, on_event=None):
        self._card, self._on_event, self._counts = card, on_event, []
        self.between = []

    def __call__(self, event):
        if isinstance(event, Step):
            now = {
                key: times
                for key, times in self._card.waits.items()
                if " in " not in key[1] and INTERRUPTIBLE not in key[1]
            }
            if self._counts and event.step > 1:
                before = self._counts[-1]
                self.between += [key for key, times in now.items() if times > before.get(key, 0)]
            self._counts.append(now)
        if self._on_event is not None:
            self._on_event(event)


@pytest.hookimpl(tryfirst=True)  # before deselection
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each case as slow on one of its devices."""
    cases = defaultdict(list)
    for item in items:
        callspec = getattr(item, "callspec", None)
        device = callspec.params.get("every_device") if callspec is not None else None
        if device is not None:
            cases[item.nodeid.replace(device, "")].append(item)
    for name, devices in cases.items():
        if len(devices) > 1:
            devices.sort(key=lambda item: item.nodeid)
            devices[zlib.crc32(name.encode()) % len(devices)].add_marker("slow")


@pytest.fixture(scope="module")
def traced_once(request, tmp_path_factory) -> Iterator[None]:
    """Trace each graph once in a run of the tests, in whichever process comes first; tracing has tests of its own."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if hasattr(request.config, "workerinput") else folder
    trace, kept = footprints._traced, TracedCache(folder / "footprints")

    def traced(sources, name, on_progress):
        key = footprints.graph_of(sources, name)
        known = kept.get(key)
        if known is None:
            known = trace(sources, name, on_progress)
            kept.put(key, known)
        return known

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(footprints, "_traced", traced)
        yield


@pytest.fixture(scope="module", params=["cpu", "cuda:0"])
def every_device(request, traced_once):
    """The device that jobs run on; `parametrize("every_device", ["cpu"], indirect=True)` selects one."""
    if request.param == "cpu":
        yield request.param
        return
    with fake_card(ROOM) as card, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "generate", checked(Engine.generate, card))
        patch.setattr(Engine, "__del__", Engine.close, raising=False)  # the next job may be prefetching already
        yield request.param
        assert card.hazards == []


def checked(generate, card):
    """Wrap `generate` to check every GPU job: no step waits for the GPU, no phase exceeds its planned memory."""

    engines = WeakSet()

    @wraps(generate)
    def watched(self, request, on_event, cancelled):
        if self not in engines and card.devices[0].allocated:
            gc.collect()  # memory held by dropped engines is not in this engine's plan
        engines.add(self)
        waits = WaitsOfSteps(card, on_event)
        result = generate(self, request, waits, cancelled)
        assert result.device == "cuda:0"
        if not {stage.sampler for stage in result.stages} & set(MAY_WAIT):
            assert [
                place for _, place in waits.between if not place.startswith((PREVIEW, CAPTURE, MASKED, INTERRUPTIBLE))
            ] == []
        if request.attention == "reference":
            return result  # materializes all scores; only a reference for comparison
        for phase in result.memory.phases:
            assert phase.measured_bytes <= MARGIN * phase.predicted_bytes, phase
        return result

    return watched
