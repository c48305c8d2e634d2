"""A run that waits for room."""

import errno
from pathlib import Path

import pytest
from batch_programs import task

from mezzotint.batch.run.pause import Pause
from mezzotint.errors import ImageRefused, StorageError
from mezzotint.trouble import meaning, storage_error

FULL = storage_error("write", "a.png", OSError(errno.ENOSPC, "x"))
ONE = task(1, "out")


def pause(answers, now=None, asked=None):
    now = now if now is not None else [0.0]

    def trial(folder, size):
        if asked is not None:
            asked.append((folder, size))
        return answers.pop(0) if answers else None

    return Pause(Path("out"), lambda: now[0], trial)


def test_where_nothing_can_be_written_the_task_is_not_to_blame():
    assert pause(["no permission"]).is_for_room(ONE, StorageError("cannot write"))


def test_where_there_is_room_an_error_is_the_tasks():
    assert not pause([]).is_for_room(ONE, StorageError("cannot read the input"))


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.EINVAL])
def test_a_folder_that_cannot_be_stops_only_its_own(number):
    why = meaning(OSError(number, "x"))
    assert not pause([why]).is_for_room(ONE, StorageError("cannot write"))
    assert pause([why, why]).is_for_room(ONE, StorageError("cannot write"))  # the output folder itself is gone


def test_the_folder_that_had_no_room_is_looked_at_too():
    now, asked = [0.0], []
    one = pause(["no permission", None, "no permission"], now, asked)
    assert one.is_for_room(ONE, StorageError("cannot write"))
    one.begin()
    for is_over in (False, True):
        now[0] += 2.5
        assert one.is_over() is is_over
    both = {Path("out"), Path("out/1")}
    assert {folder for folder, _ in asked[1:3]} == {folder for folder, _ in asked[3:]} == both
    one.end()
    now[0] += 2.5
    assert one.is_over() and asked[5:] == [(Path("out"), asked[0][1])]


def test_room_that_came_back_is_tried_a_few_times():
    one = pause([])
    assert [one.is_for_room(ONE, FULL) for _ in range(5)] == [True, True, True, False, False]


def test_a_disk_that_fails_for_a_moment_costs_no_image():
    one, fault = pause([]), StorageError("cannot write a.png: the disk reports an error")
    assert [one.is_transient(ONE, fault) for _ in range(3)] == [True, True, False]
    assert one.is_transient(task(2, "out"), fault), "each task has its own tries"


@pytest.mark.parametrize(
    "error", [ImageRefused("broken.png is damaged"), storage_error("write", "x", OSError(errno.ENAMETOOLONG, "x"))]
)
def test_what_would_fail_again_is_not_tried_again(error):
    assert not pause([]).is_transient(ONE, error)


def test_it_is_looked_for_now_and_then():
    now, asked = [0.0], []
    one = pause(["full", None], now, asked)
    one.begin()
    assert one.is_on and not one.is_over() and asked == []
    now[0] = 2.5
    assert not one.is_over()
    assert not one.is_over() and len(asked) == 1
    now[0] = 5.0
    assert one.is_over()
    one.end()
    assert not one.is_on


def test_as_much_is_tried_as_images_take(tmp_path):
    asked = []
    one = pause([], asked=asked)
    one.is_for_room(ONE, FULL)
    image = tmp_path / "large.png"
    image.write_bytes(bytes(300_000))
    one.wrote(image)
    one.wrote(tmp_path / "absent.png")
    one.is_for_room(ONE, FULL)
    assert [size for _, size in asked] == [1 << 20, 600_000]
    assert asked[0][0] == Path("out/1")
