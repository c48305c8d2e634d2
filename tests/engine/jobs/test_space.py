"""Whether a disk is full."""

import errno
from collections import namedtuple

import pytest

from mezzotint.errors import StorageError
from mezzotint.jobs import space
from mezzotint.protocol import GenerateRequest, Output
from mezzotint.trouble import storage_error

Usage = namedtuple("Usage", "total used free")


def request(path, count=1):
    return GenerateRequest(prompt="x", count=count, output=Output(path=path))


@pytest.fixture
def free(monkeypatch):
    asked = []

    def call(size):
        def usage(folder):
            asked.append(folder)
            if isinstance(size, Exception):
                raise size
            return Usage(0, 0, size)

        monkeypatch.setattr(space.shutil, "disk_usage", usage)
        return asked

    return call


@pytest.mark.parametrize(("code", "is_full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False)])
def test_an_error_says_it(free, tmp_path, code, is_full):
    free(1 << 40)
    try:
        try:
            raise OSError(code, "x")
        except OSError as cause:
            raise storage_error("write", tmp_path, cause) from cause
    except StorageError as error:
        assert space.is_for_want_of_space(error, request(f"{tmp_path}/")) == is_full


@pytest.mark.parametrize(("size", "is_full"), [(1 << 20, True), (1 << 30, False), (OSError("not told"), False)])
def test_the_disk_says_it(free, tmp_path, size, is_full):
    asked = free(size)
    assert space.is_for_want_of_space(StorageError("x"), request(f"{tmp_path}/gone/[date]/[seed].png")) == is_full
    assert asked == [tmp_path]


def test_many_images_need_more(free, tmp_path):
    free(100 << 20)
    assert not space.is_full(request(f"{tmp_path}/"))
    assert space.is_full(request(f"{tmp_path}/", count=100))
