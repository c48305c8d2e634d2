"""`mezzotint batch --ray`, with the real engine on the processor, by the command alone."""

import json
import signal
import subprocess
import sys

import psutil
import pytest
from PIL import Image
from ray_programs import working_below

pytestmark = [pytest.mark.requires_package("ray"), pytest.mark.timeout(600)]


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos of mine"
    folder.mkdir()
    for number in range(2):
        Image.radial_gradient("L").convert("RGB").resize((64, 64 + 16 * number)).save(folder / f"{number}.png")
    return folder


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_stopped_it_lets_go_of_ray_and_the_files_are_those_of_a_plain_run(photos, tmp_path):
    seeds = ",".join(map(str, range(20)))  # so many that they are not all made before the signal comes
    words = [sys.executable, "-m", "mezzotint", "batch", photos, "--prompt", "a barn", "--seeds", seeds, "--jsonl"]
    words += ["--strength", "0.2", "--steps", "5", "--device", "cpu", "--format", "webp", "--batch-size", "1"]
    with subprocess.Popen([*words, "-o", tmp_path / "rays", "--ray"], stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            if json.loads(line)["kind"] == "settled":
                break
        below = working_below(run.pid)
        run.send_signal(signal.SIGINT)
        told = [json.loads(line) for line in run.stdout]
    assert run.returncode == 130
    assert [one["ended"]["stopped"] for one in told if one["kind"] == "ended"] == ["interrupted"]
    assert psutil.wait_procs(below, timeout=120)[1] == []  # whatever Ray has started here
    made = contents(tmp_path / "rays")
    assert 1 <= len(made) < 40
    subprocess.run([*words, "-o", tmp_path / "plain"], check=True, stdout=subprocess.PIPE)
    plain = contents(tmp_path / "plain")
    assert len(plain) == 40 and made.items() <= plain.items()


def test_two_who_say_who_works_are_told_so(tmp_path):
    words = [sys.executable, "-m", "mezzotint", "batch", "--prompt", "a", "-o", tmp_path / "out"]
    for more, said in [
        (["--ray", "--devices", "cpu"], "--ray and --devices are mutually exclusive"),
        (["--ray", "photos"], "'photos' is not the address of a Ray cluster"),
    ]:
        done = subprocess.run([*words, *more], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.webp")}
