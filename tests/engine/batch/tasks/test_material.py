"""What tasks are made from, wherever folders and images lie, and whatever these hold."""

import struct
import subprocess
import sys
import zlib

import pytest
from PIL import Image

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.tasks.tasks import BatchTask, tasks_of
from mezzotint.errors import StorageError, UsageError

# The memory that tasks of a folder take beyond what a harmless image took, in kB.
MEMORY = """
import re, sys
from pathlib import Path
from mezzotint.batch.job.job import InputFolder, JobFile, Prompts
from mezzotint.batch.tasks.tasks import tasks_of

def peak(folder):
    job = JobFile(prompts=Prompts(list=("a",)), input=InputFolder(folder=folder, work=sys.argv[1]))
    print(*(getattr(one, "kind", "task") for one in tasks_of(job, base=Path())), file=sys.stderr)
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])

before = peak("good")
print(peak("bombs") - before)
"""


def job(folder="in", output="out", **said):
    return JobFile(
        prompts=Prompts(list=("a",)), input=InputFolder(folder=folder, **said), output=JobOutput(folder=output)
    )


@pytest.fixture
def base(tmp_path):
    """A folder with one image in its folder `in`."""
    (tmp_path / "in").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "in" / "a.png")
    return tmp_path


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def pixel_bomb(path, depth, colour):
    """400 million pixels that are 48 kB, or 1.2 GB."""
    head = struct.pack(">IIBBBBB", 20_000, 20_000, depth, colour, 0, 0, 0)
    rows = zlib.compress(bytes(2501) * 20_000, 9)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def text_bomb(path, kind, before):
    """Twenty thousand texts of a megabyte each, were they unpacked."""
    Image.new("RGB", (8, 8)).save(path)
    data = path.read_bytes()
    text = chunk(kind, before + zlib.compress(bytes(1 << 20), 9)) * 20_000
    path.write_bytes(data[:33] + text + data[33:])


@pytest.mark.slow_after(1)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a program's own peak")
@pytest.mark.parametrize("work", ["change", "again"])
def test_of_bombs_nothing_is_unpacked(tmp_path, work):
    for name in ("good", "bombs"):
        (tmp_path / name).mkdir()
    Image.new("RGB", (64, 64)).save(tmp_path / "good" / "a.png")
    pixel_bomb(tmp_path / "bombs" / "a.png", 1, 0)
    pixel_bomb(tmp_path / "bombs" / "b.png", 8, 2)
    text_bomb(tmp_path / "bombs" / "c.png", b"zTXt", b"k\0\0")
    text_bomb(tmp_path / "bombs" / "d.png", b"iTXt", b"k\0\1\0\0\0")
    done = subprocess.run([sys.executable, "-c", MEMORY, work], cwd=tmp_path, capture_output=True, check=True)
    kinds = done.stderr.decode().splitlines()
    assert kinds[0] == ("task" if work == "change" else "usage")
    assert kinds[1].split() == ["image_refused", "image_refused", kinds[0], kinds[0]]  # texts are left out
    assert int(done.stdout) < 200 << 10  # a bit for each pixel are 400 MB in memory, all the texts 40 GB


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_folders_that_are_links_in_a_circle(base):
    (base / "loop").symlink_to("loop")
    with pytest.raises(StorageError, match="input folder"):
        list(tasks_of(job("loop"), base=base))
    with pytest.raises(UsageError, match="mask"):
        list(tasks_of(job(masks="loop"), base=base))
    (task,) = tasks_of(job(output="loop"), base=base)  # told when something is written there
    assert isinstance(task, BatchTask)


def test_folders_whose_names_no_disk_takes(base):
    long = "x" * 300
    with pytest.raises(StorageError, match="input folder"):
        list(tasks_of(job(long), base=base))
    with pytest.raises(UsageError, match="mask"):
        list(tasks_of(job(masks=long), base=base))
    assert len(list(tasks_of(job(output=long), base=base))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes up the homes of others")
@pytest.mark.parametrize(
    "said", [{"folder": "~nobody-is-called/in"}, {"output": "~nobody-is-called"}, {"masks": "~nobody-is-called/m"}]
)
def test_folders_in_the_home_of_nobody(base, said):
    with pytest.raises(UsageError, match="write the full path"):
        list(tasks_of(job(**said), base=base))
