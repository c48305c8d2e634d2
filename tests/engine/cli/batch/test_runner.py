"""A batch from its words to its exit code."""

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys

import pytest
from batch_programs import StandIn

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.run import devices
from mezzotint.batch.run.owner import Owner
from mezzotint.cli.interrupt import Interrupt
from mezzotint.jobs.lease import Held, Lease

# An engine whose images called "slow" tell that they are begun, and take until their folder has a file `go`.
PROGRAM = """
import sys, time
from pathlib import Path
from batch_programs import StandIn
from mezzotint.cli.context import Context
from mezzotint.cli.entry import run

class Slow(StandIn):
    def _slow(self):
        print("running", flush=True)
        while not Path("go").exists():
            time.sleep(0.01)

sys.exit(run(sys.argv[1:], Context(make_catalog=lambda _: None, make_engine=lambda _: Slow())))
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def batch(command, here):
    """Runs `mezzotint batch` with an engine that paints at once."""
    return lambda *words, **options: command("batch", *words, **{"engine": StandIn(), **options})


def prompts(*words):
    return [part for word in words for part in ("--prompt", word)]


def test_images_are_made_and_their_paths_told(batch, here):
    done = batch(*prompts("a house", "a {red|blue} boat"), "-o", "out", "--seeds", "1,2")
    assert done.code == 0
    paths = done.out.splitlines()
    assert len(paths) == 6 and all(os.path.isfile(path) for path in paths)  # noqa: PTH113
    assert "6 made" in done.err
    again = batch(*prompts("a house", "a {red|blue} boat"), "-o", "out", "--seeds", "1,2")
    assert (again.code, again.out, again.engine.requests) == (0, "", [])
    assert "6 done before" in again.err


def test_lines_of_json_tell_everything(batch):
    done = batch(*prompts("a house", "refused"), "-o", "out", "--jsonl")
    assert done.code == 3
    lines = [json.loads(line) for line in done.out.splitlines()]
    tasks = {line["settled"]["status"]: line["settled"] for line in lines if line["kind"] == "settled"}
    assert set(tasks) == {"done", "failed"}
    assert tasks["failed"]["kind"] == "image_refused"
    assert any(line["kind"] == "progress" for line in lines)
    ended = lines[-1]["ended"]
    assert (ended["stopped"], ended["failures"], ended["progress"]["done"]) == ("finished", 1, 1)


def test_one_object_at_the_end(batch):
    done = batch(*prompts("a house"), "-o", "out", "--json")
    assert done.json["progress"]["done"] == 1 and done.json["failures"] == 0


def test_three_while_there_are_failures_and_none_when_they_are_mended(batch):
    words = [*prompts("a house", "refused"), "-o", "out"]
    first = batch(*words)
    assert first.code == 3 and "failed: out/" not in first.err and "broken.png is cut off" in first.err
    assert batch(*words).code == 3

    class Mended(StandIn):
        _refused = None

    assert batch(*words, "--retry-failed", engine=Mended()).code == 0
    assert batch(*words).code == 0


def test_another_run_on_the_folder_is_refused_with_who_it_is(batch, here):
    with Owner.take(here / "out", None):
        done = batch(*prompts("a house"), "-o", "out")
    assert done.code == 8
    assert f"process {os.getpid()} on " in done.err


def test_a_shard_makes_its_part_and_slurm_says_which(batch, here, monkeypatch):
    words = [*prompts(*(f"house {number}" for number in range(12))), "-o", "out"]
    made = len(batch(*words, "--shard", "0/2").out.splitlines())
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "1")
    monkeypatch.setenv("SLURM_ARRAY_TASK_COUNT", "2")
    second = batch(*words)
    assert "shard 1/2" in second.err
    assert made + len(second.out.splitlines()) == 12
    assert batch("merge", "out").code == 0


def test_a_torn_manifest_is_told(batch, here):
    words = [*prompts("a house"), "-o", "out"]
    batch(*words)
    with open(here / "out" / "mezzotint-manifest.jsonl", "ab") as file:
        file.write(b'{"key": "half')
    assert "13 bytes were damaged by a crash" in batch(*words).err


def test_a_full_disk_ends_with_seven(batch, here, monkeypatch):
    monkeypatch.setattr("mezzotint.batch.run.pause.why_no_room", lambda *_, **__: "no room")

    def full(handle, data):
        raise OSError(28, "full")

    opened = Manifest.open
    monkeypatch.setattr(Manifest, "open", lambda folder, shard: opened(folder, shard, write=full))
    assert batch(*prompts("a house"), "-o", "out").code == 7


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-o", "out"], "nothing to generate"),
        (["--prompt", "a", "-o", "out", "--watch"], "--watch requires an input folder"),
        (["--prompt", "a", "-o", "out", "--recursive"], "--recursive requires an input folder"),
        (["--prompt", "a", "-o", "out", "--shard", "3/2"], "is not a shard"),
        (["--prompt", "a", "-o", "out", "--devices", "gpu"], "is not a device"),
        (["--prompt", "a", "-o", "out", "--seed", "1", "--seeds", "1,2"], "leave one out"),
        (["--prompt", "a", "-o", "out", "-m", "nobody"], "nobody"),
        (["--prompt", "a"], "-o/--output"),
        (["--prompt", "a", "-o", "out", "--previews"], "--jsonl-previews requires --jsonl"),
        (["--prompt", "a", "-o", "out", "--jsonl-previews", "--json"], "--jsonl-previews requires --jsonl"),
        (["in", "--prompt", "a", "-o", "out", "--save-job", "j.toml", "--watch"], "--watch is about running a job"),
        (["--prompt", "a", "-o", "out", "--save-job", "j.toml", "--shard", "0/2"], "--shard is about running a job"),
    ],
)
def test_words_that_cannot_be(batch, here, words, complaint):
    done = batch(*words)
    assert done.code == 2
    assert complaint in done.err
    assert not list(here.glob("*.toml"))


@pytest.mark.parametrize(("words", "sizes"), [([], {4}), (["auto"], {4}), (["3"], {3}), (["1"], set())])
def test_images_are_made_together(batch, words, sizes):
    said = [part for word in words for part in ("--batch-size", word)]
    done = batch(*prompts(*"abcdefghijklmnopqrstuvwxyz"), "-o", "out", *said)
    assert (done.code, len(done.out.splitlines())) == (0, 26)
    assert max(done.engine.groups, default=0) == max(sizes, default=0)


def test_the_job_says_how_many_and_the_command_may_say_otherwise(command, here):
    (here / "job.toml").write_text(
        "version = 1\nprompts.list = ['a {b|c|d|e|f|g|h|i|j|k|l|m}']\noutput.batch-size = 2\n"
    )
    for words, most in (([], 2), (["--batch-size", "3"], 3)):
        done = command("run", "job.toml", "-o", f"out{most}", *words, engine=StandIn())
        assert (done.code, max(done.engine.groups)) == (0, most)


def test_a_device_that_another_has_is_not_taken_from_it(batch):
    with Lease.acquire("auto", what="the window"):
        done = batch(*prompts("a house"), "-o", "out")
        assert (done.code, done.engine.requests) == (8, [])
        assert f"the window (process {os.getpid()} on " in done.err and "--wait" in done.err
    assert batch(*prompts("a house"), "-o", "out").code == 0


def test_it_waits_for_the_device_when_asked(batch, monkeypatch):
    held = Lease.acquire("auto", what="the window")
    monkeypatch.setattr(
        "mezzotint.cli.batch.runner.leased", functools.partial(devices.leased, sleep=lambda _: held.release())
    )
    done = batch(*prompts("a house"), "-o", "out", "--wait")
    assert done.code == 0
    assert "waiting: the window (process" in done.err


def test_while_it_runs_nobody_else_has_the_device(batch):
    class Engine(StandIn):
        def write(self, request):
            self.held = Lease.acquire("auto")
            return super().write(request)

    engine = Engine()
    assert batch(*prompts("a house"), "-o", "out", engine=engine).code == 0
    assert isinstance(engine.held, Held) and engine.held.what == "a batch"


def test_what_a_crash_has_left_half_written_is_swept_out(batch, here, monkeypatch):
    monkeypatch.setattr("mezzotint.cli.batch.runner._in_background", lambda _, work: work())
    old = here / "out" / "0" / ".mezzotint-0123456789abcdef.part"
    old.parent.mkdir(parents=True)
    old.touch()
    os.utime(old, (0, 0))
    assert batch(*prompts("a house"), "-o", "out").code == 0
    assert not old.exists()


def test_asked_to_stop_it_says_how_to_go_on(batch, here):
    interrupt = Interrupt(tell=lambda _: None, end=lambda code: pytest.fail("it was to be asked first"))

    class Engine(StandIn):
        def write(self, request):
            interrupt.handle(signal.SIGTERM, None)
            return super().write(request)

    words = [*prompts(*"abcdefgh"), "-o", "out", "--batch-size", "1"]
    done = batch(*words, engine=Engine(), interrupt=interrupt)
    assert done.code == 128 + signal.SIGTERM
    assert "run the same command to resume" in done.err
    assert batch(*words).code == 0
    assert len(list(here.glob("out/*.png"))) == 8


@contextlib.contextmanager
def running(folder, *words):
    """A run in a process of its own, with an image under way; or one that has ended, if there is none such."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "batch", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        for line in process.stdout:
            if line == "running\n":
                break
        else:
            process.wait()
        yield process


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that a test can send")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_asked_once_the_image_is_finished(here, name):
    with running(here, *prompts("slow", "never"), "-o", "out", "--batch-size", "1") as process:
        process.send_signal(getattr(signal, name))
        assert process.stderr.readline() == "\n" and "stopping after this image" in process.stderr.readline()
        (here / "go").touch()
        errors = process.stderr.read()
        assert process.wait() == 128 + getattr(signal, name), errors
    assert "Traceback" not in errors
    assert len(list(here.glob("out/*.png"))) == 1
    (record,) = read_ledger(here / "out").records().values()
    assert (record.status, record.attempts) == ("done", 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that a test can send")
def test_asked_twice_it_stops_now_and_the_task_is_not_blamed(here, batch):
    words = [*prompts("slow"), "-o", "out", "--batch-size", "1"]
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        with running(here, *words) as process:
            process.send_signal(signal.SIGINT)
            assert process.stderr.readline() == "\n" and "stopping after this image" in process.stderr.readline()
            process.send_signal(getattr(signal, name))
            assert process.wait() == 128 + getattr(signal, name)
    assert list(here.glob("out/*.png")) == []
    done = batch(*words)
    assert (done.code, len(done.out.splitlines())) == (0, 1)


@pytest.mark.slow_after(1)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(("together", "kills"), [("1", {2}), ("4", {2, 3})])
def test_killed_over_and_over_at_the_same_image_it_is_set_aside(here, batch, together, kills):
    """When it was made with others once, nobody knew which of them it was."""
    words = [*prompts("slow", "a house"), "-o", "out", "--batch-size", together]

    def killed():
        with running(here, *words) as process:
            process.kill()
            return process.wait() == -signal.SIGKILL

    assert next(number for number in range(9) if not killed()) in kills
    done = batch(*words)
    assert (done.code, done.engine.requests) == (3, [])
    (record,) = [one for one in read_ledger(here / "out").records().values() if one.status != "done"]
    assert record.status == "set_aside" and "2 processes ended while generating it" in record.error
    assert len(list(here.glob("out/*.png"))) == 1
