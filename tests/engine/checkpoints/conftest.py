"""Disks that fail, and files that others cut, while they are read."""

import errno
import io
import os

import pytest


class _FailingFile(io.FileIO):
    def read(self, size=-1):
        raise OSError(errno.EIO, "Input/output error")


class _ShrinkingFile(io.FileIO):
    """Says how large it was when it was opened, and gives one byte less."""

    def read(self, size=-1):
        return super().read(size)[:-1]


@pytest.fixture
def failing_disk(monkeypatch):
    """Every file can be opened, and none can be read."""
    monkeypatch.setattr(os, "fdopen", lambda handle, mode: _FailingFile(handle, mode))


@pytest.fixture
def shrinking_files(monkeypatch):
    """Every file becomes shorter while it is read."""
    monkeypatch.setattr(os, "fdopen", lambda handle, mode: _ShrinkingFile(handle, mode))
