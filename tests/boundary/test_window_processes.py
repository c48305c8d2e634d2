"""The window's side of the processes: a fake engine with every fault, and the real one with the starter model."""

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest
from collected_here import collected_here  # noqa: F401

from mezzotint import paths
from mezzotint.jobs.store import JobStore
from mezzotint.protocol import (
    Cascade,
    EngineInfo,
    GenerateRequest,
    GenerateResult,
    ModelRef,
    Output,
    Sampling,
    Saved,
    Stage,
    Step,
)

pytestmark = pytest.mark.requires_package("PySide6")

FAKE = [sys.executable, "-S", str(Path(__file__).parents[1] / "plugins" / "fake_server.py")]
NOISY = """
import os, sys, threading, time
from mezzotint import server

def print_as_libraries_do():
    while True:
        os.write(1, b"native garbage\\n")
        time.sleep(0.05)

threading.Thread(target=print_as_libraries_do, daemon=True).start()
sys.exit(server.main([]))
"""
DIES_WHILE_SAVING = """
import os, sys
from mezzotint import server
from mezzotint.stages import job

def save_image(*words, **options):
    try:
        os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return save(*words, **options)
    os.abort()

save, job.save_image = job.save_image, save_image
sys.exit(server.main([]))
"""
LONG = 120_000  # milliseconds: libraries are loaded from a cold disk


class Window:
    """Everything of the window that works at the queue, and what it told."""

    def __init__(self, qtbot, folder, command, background):
        from mezzotint_app.processes.processes import ServerProcess
        from mezzotint_app.processes.supervisor import Supervisor
        from mezzotint_app.settings import Settings
        from mezzotint_app.stored import Stored
        from mezzotint_app.viewmodel.engine_state import EngineState
        from mezzotint_app.viewmodel.queue.access import QueueAccess
        from mezzotint_app.viewmodel.queue.runner import QueueRunner

        self.qtbot, self.folder = qtbot, folder
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        self.engine = Supervisor(
            "The engine", lambda: ServerProcess(command, decoding=background, environment=environment)
        )
        self.access = QueueAccess(background, JobStore.open)
        self.settings = Stored(folder / "settings.json", Settings(previews=False), background)
        self.runner = QueueRunner(self.access, self.engine, self.settings)
        self.state = EngineState(self.engine, self.runner, self.settings)
        self.ended, self.events = [], []
        self.runner.ended.connect(lambda task, result, failure: self.ended.append((task, result, failure)))
        self.runner.progressed.connect(lambda task, event: self.events.append(event))

    def open(self):
        self.engine.start()
        self.access.open()
        return self

    def until(self, true, timeout=LONG):
        self.qtbot.waitUntil(true, timeout=timeout)

    def until_ready(self):
        self.until(lambda: self.engine.state() == "ready")
        return self

    def add(self, prompt, **changes):
        values = {"prompt": prompt, "seed": 7, "output": Output(path=f"{self.folder}/out/")}
        self.access.change(lambda store: store.add([GenerateRequest(**values | changes)]))

    def made(self, prompt, **changes):
        """What became of it, in the end."""
        before = len(self.ended)
        self.add(prompt, **changes)
        self.until(lambda: len(self.ended) > before and self.runner.task() is None)
        return self.ended[-1]

    def states(self):
        found = []
        self.access.ask(
            lambda store: [task.state for row in store.rows() for task in store.entry(row.id).tasks], found.append
        )
        self.until(lambda: bool(found))
        return found[0]

    def close(self):
        left = []
        self.runner.shut_down(lambda: left.append(True))
        self.until(lambda: bool(left))
        self.access.close()
        self.engine.stop()
        self.until(lambda: self.engine.process_id() == 0)


@pytest.fixture(scope="module")
def background(qapp):
    from mezzotint_app.background import Background

    background = Background()
    yield background
    background.finish()


@pytest.fixture
def window(qtbot, tmp_path, background):
    windows = []

    def window(*words, command=None):
        windows.append(Window(qtbot, tmp_path, [*(command or FAKE), *words], background))
        return windows[-1].open()

    yield window
    for one in windows:
        one.close()


# ---- a fake engine


def test_a_fake_engine_makes_what_is_asked(window):
    fake = window().until_ready()
    task, result, failure = fake.made("a house", count=2)
    assert failure is None and [image.seed for image in result.images] == [7, 8]
    assert fake.states() == ["done"] and task.request.count == 2
    assert fake.state.device() == "Nobody's"


@pytest.mark.parametrize("prompt", ["garbage 10", "print", "half", "twice", "long 9", "flood 20"])
def test_noise_costs_nothing(window, prompt):
    fake = window().until_ready()
    number = fake.engine.process_id()
    _, result, failure = fake.made(prompt)
    assert failure is None and result is not None
    assert fake.states() == ["done"] and fake.engine.process_id() == number


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("prompt", ["crash-once", "garbage-once"])
def test_a_job_whose_engine_dies_is_finished_after_the_restart(window, tmp_path, prompt):
    fake = window().until_ready()
    fake.add(f"{prompt} {tmp_path}")
    fake.until(lambda: any(result is not None for _, result, _ in fake.ended))
    assert [failure and failure.kind for _, _, failure in fake.ended] == ["gone", None]
    assert fake.states() == ["done"] and fake.engine.reason()


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("prompt", ["crash", "lost"])
def test_a_job_that_kills_it_twice_is_set_aside_and_the_next_is_made(window, prompt):
    fake = window().until_ready()
    fake.add(prompt)
    fake.add("a house")
    fake.until(lambda: len(fake.ended) == 3)
    assert [failure and failure.kind for _, _, failure in fake.ended] == ["gone", "gone", None]
    assert fake.states() == ["set_aside", "done"]
    assert fake.state.offer() is None, "this machine has a processor alone"


@pytest.mark.slow
def test_a_hang_is_ended_from_outside_and_the_queue_goes_on(window, monkeypatch):
    from mezzotint_app.processes import deadlines

    for name in ("PREPARING", "LOADING", "FIRST_STEP", "STEP"):
        monkeypatch.setattr(deadlines, name, 10.0)
    fake = window().until_ready()
    fake.add("hang")
    fake.add("a house")
    fake.until(lambda: len(fake.ended) == 3)
    assert fake.states() == ["set_aside", "done"]
    assert "stopped responding" in fake.engine.reason()


def test_a_job_is_cancelled_and_the_next_is_made(window):
    fake = window().until_ready()
    fake.add("slow")
    fake.add("a house")
    fake.until(lambda: any(isinstance(event, Step) for event in fake.events))
    fake.runner.stop_now()
    fake.until(lambda: len(fake.ended) == 2)
    assert [failure and failure.kind for _, _, failure in fake.ended] == ["cancelled", None]
    assert fake.states() == ["cancelled", "done"]


def test_closing_the_window_puts_back_what_runs(qtbot, tmp_path, background):
    fake = Window(qtbot, tmp_path, FAKE, background).open().until_ready()
    fake.add("slow")
    fake.until(lambda: fake.runner.task() is not None and bool(fake.events))
    fake.close()
    with JobStore.open().store as store:
        (task,) = store.entry(1).tasks
    assert (task.state, task.attempts) == ("waiting", 0)


@pytest.mark.parametrize(
    ("fault", "words"),
    [("version", "version"), ("die", "it dies at start"), ("missing", "No module named 'torch'")],
)
def test_an_engine_that_cannot_work_is_given_up_in_plain_words(window, monkeypatch, fault, words):
    from mezzotint_app.processes import supervisor

    monkeypatch.setattr(supervisor, "BACK_OFF", (0.01,))
    fake = window("--start", fault)
    fake.until(lambda: fake.engine.state() == "given_up")
    fake.add("a house")
    assert fake.states() == ["waiting"]
    assert words in fake.engine.reason()


@pytest.mark.parametrize("fault", ["slow", "garbage"])
def test_an_engine_that_starts_badly_is_there_in_the_end_or_given_up(window, monkeypatch, fault):
    from mezzotint_app.processes import supervisor

    monkeypatch.setattr(supervisor, "BACK_OFF", (0.01,))
    fake = window("--start", fault)
    wanted = "ready" if fault == "slow" else "given_up"
    fake.until(lambda: fake.engine.state() == wanted)


@pytest.mark.slow
def test_an_engine_that_hangs_at_its_start_is_started_again(window, monkeypatch):
    from mezzotint_app.processes import watchdog

    monkeypatch.setattr(watchdog, "HANDSHAKE", 2.0)
    fake = window("--start", "hang")
    fake.until(lambda: fake.engine.state() == "restarting")
    assert "starting" in fake.engine.reason()


def test_an_engine_that_is_not_there_is_told(window, monkeypatch):
    from mezzotint_app.processes import supervisor

    monkeypatch.setattr(supervisor, "BACK_OFF", (0.01,))
    fake = window(command=["/nowhere/python"])
    fake.until(lambda: fake.engine.state() == "given_up")
    assert "could not be started" in fake.engine.reason()


# ---- the real engine


def asked(**changes):
    stage = Stage(
        model=ModelRef(id="starter-dit"), width=64, height=64, sampling=Sampling(steps=changes.pop("steps", 2))
    )
    return {"cascade": Cascade(stages=(stage,)), "device": "cpu"} | changes


@pytest.mark.slow
def test_the_real_engine_and_the_window_understand_each_other_whatever_libraries_print(window):
    real = window(command=[sys.executable, "-P", "-c", NOISY]).until_ready()
    assert isinstance(real.engine.info(), EngineInfo)
    _, result, failure = real.made("a red house by the sea", **asked())
    assert failure is None and isinstance(result, GenerateResult)
    assert Path(result.images[0].path).is_file() and result.seed == 7
    assert [event.step for event in real.events if isinstance(event, Step)] == [1, 2]
    assert real.state.device() and not real.state.works()
    cancelled_within_a_step(real)
    killed_in_the_middle(real)
    assert "native garbage" in real.engine.last_log()


def cancelled_within_a_step(real):
    real.events.clear()
    before = len(real.ended)
    real.add("a tree", **asked(steps=900))
    real.until(lambda: any(isinstance(event, Step) for event in real.events))
    told = len([event for event in real.events if isinstance(event, Step)])
    real.runner.stop_now()
    real.until(lambda: len(real.ended) > before)
    assert real.ended[-1][2].kind == "cancelled"
    after = len([event for event in real.events if isinstance(event, Step)])
    assert after < 900 and after - told < 100  # what was on its way when it was stopped, and a step


def killed_in_the_middle(real):
    """From outside, as the system does it when memory ends; the job is finished by the next engine."""
    real.events.clear()
    before = len(real.ended)
    real.add("a boat", **asked(steps=40))
    real.until(lambda: any(isinstance(event, Step) for event in real.events))
    first = real.engine.process_id()
    with contextlib.suppress(ProcessLookupError):
        os.kill(first, signal.SIGABRT if sys.platform != "win32" else signal.SIGTERM)
    real.until(lambda: len(real.ended) >= before + 2)
    assert [failure and failure.kind for _, _, failure in real.ended[before:]] == ["gone", None]
    assert real.engine.process_id() != first
    assert real.states() == ["done", "cancelled", "done"]


@pytest.mark.slow
def test_an_image_that_was_made_when_the_real_engine_died_is_only_decoded(window, tmp_path):
    code = DIES_WHILE_SAVING.format(marker=str(tmp_path / "died"))
    real = window(command=[sys.executable, "-P", "-c", code]).until_ready()
    real.add("a tree", **asked(count=2))
    real.until(lambda: len(real.ended) == 1)
    assert len(undecoded()) == 1
    real.events.clear()
    real.until(lambda: len(real.ended) == 3)
    assert [failure and failure.kind for _, _, failure in real.ended] == ["gone", None, None]
    assert real.states() == ["done"] and undecoded() == []
    assert sum(isinstance(event, Step) for event in real.events) == 2, "the steps of the second image alone"
    assert [event.image.seed for event in real.events if isinstance(event, Saved)] == [7, 8]
    assert all(Path(event.image.path).is_file() for event in real.events if isinstance(event, Saved))


def undecoded():
    folder = paths.undecoded_folder()
    return list(folder.iterdir()) if folder.is_dir() else []
