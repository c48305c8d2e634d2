"""RAM that a process may have: control groups of both versions, and its own limits."""

import sys

import pytest

from mezzotint.memory.machine.ram_limits import Bound, group_bounds, own_bounds, read_text, resource_limit

GB = 2**30


def reader(files):
    return lambda path: files.get(path)


def test_version_2_with_the_groups_above():
    files = {
        "/proc/self/cgroup": "0::/user.slice/job.scope\n",
        "/sys/fs/cgroup/user.slice/job.scope/memory.max": "max\n",
        "/sys/fs/cgroup/user.slice/memory.max": f"{4 * GB}\n",
        "/sys/fs/cgroup/user.slice/memory.current": f"{3 * GB}\n",
        "/sys/fs/cgroup/user.slice/memory.stat": f"anon 5\ninactive_file {GB}\n",
    }
    assert list(group_bounds(reader(files))) == [Bound(name="its cgroup", limit=4 * GB, used=2 * GB)]


def test_version_2_in_a_container_that_sees_only_its_root():
    files = {
        "/proc/self/cgroup": "0::/docker/0123\n",
        "/sys/fs/cgroup/memory.max": f"{GB}",
        "/sys/fs/cgroup/memory.current": "0",
    }
    assert [bound.limit for bound in group_bounds(reader(files))] == [GB]


def test_version_1():
    files = {
        "/proc/self/cgroup": "12:cpu,cpuacct:/a\n5:memory:/a\n",
        "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{2 * GB}\n",
        "/sys/fs/cgroup/memory/a/memory.usage_in_bytes": f"{GB}\n",
        "/sys/fs/cgroup/memory/a/memory.stat": f"total_inactive_file {GB // 2}\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    assert list(group_bounds(reader(files))) == [Bound(name="its cgroup", limit=2 * GB, used=GB // 2)]


@pytest.mark.parametrize("said", [None, "", "nonsense", "0:", "0::/a", "5:memory:/b\n", "\n\n"])
def test_without_a_limit_there_is_none(said):
    assert list(group_bounds(reader({"/proc/self/cgroup": said, "/sys/fs/cgroup/a/memory.max": "twelve"}))) == []


def test_the_process_s_own_limits():
    files = {"/proc/self/status": "Name:\tpython\nVmSize:\t   2048 kB\nVmData:\t 1024 kB\n"}
    limits = {"RLIMIT_DATA": GB, "RLIMIT_AS": None}
    assert list(own_bounds(reader(files), limits.get)) == [Bound(name="RLIMIT_DATA", limit=GB, used=2**20)]
    assert list(own_bounds(reader({}), {"RLIMIT_AS": GB}.get)) == [Bound(name="RLIMIT_AS", limit=GB, used=0)]


def test_unknown_limits_are_none():
    assert resource_limit("RLIMIT_OF_PATIENCE") is None
    assert resource_limit("RLIMIT_DATA") is None or resource_limit("RLIMIT_DATA") > 0


def test_windows_has_none_of_them(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert resource_limit("RLIMIT_DATA") is None


def test_a_file_that_is_not_there(tmp_path):
    assert read_text(str(tmp_path / "none")) is None
    (tmp_path / "some").write_bytes(b"a\xff")
    assert read_text(str(tmp_path / "some")) == "a\ufffd"
