"""An input folder that is watched."""

import itertools
import threading

import pytest
from batch_programs import painted

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.run.watch import signatures, watched
from mezzotint.batch.tasks.tasks import BatchTask, Shard


class Watched:
    """A folder, and looks at it that change it before they look."""

    def __init__(self, folder, *changes, shard=None):
        self.folder = folder
        (folder / "in").mkdir()
        self.job = JobFile(
            prompts=Prompts(list=("at night",)), input=InputFolder(folder="in"), output=JobOutput(folder="out")
        )
        self.changes, self.stopped, self.shard = list(changes), threading.Event(), shard

    def look(self):
        if not self.changes:
            self.stopped.set()
        else:
            self.changes.pop(0)(self.folder / "in")
        return signatures(self.job.input, self.folder, self.folder / "out")

    def items(self):
        found = watched(self.job, base=self.folder, shard=self.shard, stopped=self.stopped, look=self.look, pause=0.0)
        return [item.input if isinstance(item, BatchTask) else item for item in found]


def writes(name, seed):
    return lambda folder: painted(seed).save(folder / name)


def nothing(_):
    return None


def test_new_images_are_taken_as_they_come_each_once(tmp_path):
    one = Watched(tmp_path, writes("a.png", 1), nothing, writes("b.png", 2), nothing, nothing)
    assert one.items() == ["a.png", "b.png"]


def test_a_file_that_grows_is_taken_when_it_has_stopped(tmp_path):
    painted(1).save(tmp_path / "whole.png")
    data = (tmp_path / "whole.png").read_bytes()
    parts = [lambda folder, n=n: (folder / "a.png").write_bytes(data[:n]) for n in (50, 100, len(data))]
    one = Watched(tmp_path, *parts, nothing, nothing)
    assert one.items() == ["a.png"]


def test_an_image_that_changes_is_taken_again(tmp_path):
    one = Watched(tmp_path, writes("a.png", 1), nothing, writes("a.png", 2_000_000), nothing, nothing)
    assert one.items() == ["a.png", "a.png"]


def test_a_shard_takes_its_own(tmp_path):
    names = [f"{number}.png" for number in range(8)]
    changes = [writes(name, number) for number, name in enumerate(names)]
    found = []
    for index in range(2):
        folder = tmp_path / str(index)
        folder.mkdir()
        one = Watched(folder, *changes, nothing, nothing, shard=Shard(index=index, count=2))
        found.append(one.items())
    assert sorted(itertools.chain(*found)) == names
    assert all(found)


@pytest.mark.parametrize("kind", ["broken", "link"])
def test_what_cannot_be_used_is_told_once(tmp_path, kind):
    def make(folder):
        if kind == "broken":
            (folder / "a.png").write_bytes(b"no image at all")
        else:
            (folder / "a.png").symlink_to("a.png")

    one = Watched(tmp_path, make, nothing, writes("b.png", 2), nothing, nothing)
    items = one.items()
    assert [item for item in items if isinstance(item, str)] == ["b.png"]
    assert len(items) == 2
