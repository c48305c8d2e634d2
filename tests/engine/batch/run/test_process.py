"""The engine's process, seen from the run."""

import os
import sys
from pathlib import Path

import pytest
from batch_programs import serving, task

from mezzotint.batch.run.process import EngineProcess, ProcessEnded
from mezzotint.errors import ImageRefused, MezzotintError
from mezzotint.protocol import Saved


@pytest.fixture
def process():
    """Starts one with these words; all are ended in the end."""
    started = []

    def start(*words):
        started.append(EngineProcess(words, dict(os.environ)))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_images_events_and_errors_come_over(process, tmp_path):
    one = process(*serving(tmp_path / "held"))
    one.initialize()
    events = []
    result = one.generate(task(1, tmp_path).request, events.append)
    assert Path(result.images[0].path).is_file()
    assert isinstance(events[-1], Saved)
    with pytest.raises(ImageRefused, match="cut off"):
        one.generate(task(2, tmp_path, "refused").request, events.append)
    with pytest.raises(MezzotintError) as bug:
        one.generate(task(3, tmp_path, "bug").request, events.append)
    assert bug.value.kind == "bug"
    assert not one.has_ended()


def test_a_process_that_dies_is_told_with_its_code(process, tmp_path):
    one = process(*serving(tmp_path / "held"))
    one.initialize()
    with pytest.raises(ProcessEnded, match="code 9"):
        one.generate(task(1, tmp_path, "poison").request, lambda _: None)
    assert one.has_ended()
    with pytest.raises(ProcessEnded):
        one.generate(task(2, tmp_path).request, lambda _: None)


@pytest.mark.parametrize(
    "program",
    [
        "print('not json', flush=True); input()",
        "print('[1]', flush=True); input()",
        "print('{\"id\": 1', end='', flush=True)",
        "import sys; sys.stderr.write('out of luck\\n')",
        'print(\'{"method": "event", "params": {"event": {"type": "Nothing"}}}\', flush=True); input()',
    ],
)
def test_one_that_speaks_no_sense_has_ended(process, program):
    one = process(sys.executable, "-c", program)
    with pytest.raises(ProcessEnded):
        one.initialize()
    assert one.has_ended()


def test_its_last_words_are_told(process):
    one = process(sys.executable, "-c", "import sys; sys.exit('the card is gone')")
    with pytest.raises(ProcessEnded, match="the card is gone"):
        one.initialize()


def test_a_command_that_is_not_there():
    with pytest.raises(MezzotintError, match="cannot be started"):
        EngineProcess(["/nowhere/python"], {})
