"""Which cluster, with how many workers; and what is said where there is none."""

import importlib.util
import os
import signal
import socket
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.ray.cluster import LOCAL, MOST_WORKERS, NoRay, connected, worker_resources_of
from mezzotint.batch.run.workers import WorkerUnusable
from mezzotint.errors import UsageError

nodes = st.lists(
    st.fixed_dictionaries({}, optional={"CPU": st.integers(0, 256), "GPU": st.floats(0, 16), "memory": st.just(1.0)}),
    max_size=8,
)


@given(nodes)
def test_a_worker_for_each_whole_gpu_that_fits_every_node(found):
    worker_resources = worker_resources_of(found, on_processor=False)
    whole = [int(node.get("GPU", 0)) for node in found]
    assert len(worker_resources) == min(sum(whole), MOST_WORKERS)
    for node, gpus in zip(found, whole, strict=True):
        if gpus:
            assert all(one.gpus == 1 and one.cores * gpus <= node.get("CPU", 0) for one in worker_resources)


@given(nodes)
def test_on_processors_each_node_has_one_with_all_of_its_cores(found):
    worker_resources = worker_resources_of(found, on_processor=True)
    assert [one.cores for one in worker_resources] == [node["CPU"] for node in found if node.get("CPU", 0) >= 1]
    assert all(one.gpus == 0 for one in worker_resources)


@pytest.mark.parametrize(
    "address", ["photos", "10.0.0.1", "ray://10.0.0.1:10001", "a b:1", "-x", "10.0.0.1:6379 ", "x\n:1"]
)
def test_what_is_no_address_is_told_before_anything_is_loaded(address, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", None)
    with pytest.raises(UsageError, match="is not the address of a Ray cluster"), connected(address, on_processor=False):
        pass


@pytest.mark.parametrize("address", [LOCAL, "auto", "10.0.0.1:6379", "[fe80::1]:6379", "head.of-cluster:6379"])
def test_without_the_package_it_says_how_to_get_it(address, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NoRay) as caught, connected(address, on_processor=False):
        pass
    assert str(caught.value) == "--ray requires the package ray: pip install 'mezzotint[ray]'"
    assert caught.value.exit_code == 2


class FakeRay:
    """A cluster that may not answer; it remembers how it was asked, and what Ray would have read then."""

    def __init__(self, nodes=(), fails=0):
        self.found, self.fails = nodes, fails
        self.begun, self.read, self.ended = [], [], 0
        self._private = SimpleNamespace(worker=SimpleNamespace(), services=SimpleNamespace())

    def is_initialized(self):
        return False

    def init(self, **options):
        self.begun.append(options)
        self.read.append({name: value for name, value in os.environ.items() if name.startswith("RAY_")})
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if len(self.begun) <= self.fails:
            raise ConnectionError("nobody\nthere")

    def nodes(self):
        return [{"Alive": True, "Resources": node} for node in self.found] + [{"Alive": False, "Resources": {"GPU": 8}}]

    def shutdown(self):
        self.ended += 1


@pytest.fixture
def begin(monkeypatch):
    """Put a fake in Ray's place."""

    def use(fake):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
        monkeypatch.setitem(sys.modules, "ray", fake)
        return fake

    return use


def test_one_of_this_machine_is_quiet_kept_to_itself_and_gone_afterwards(begin):
    fake, before, handler = begin(FakeRay([{"GPU": 2.0, "CPU": 8.0}], fails=2)), dict(os.environ), signal.getsignal(15)
    with connected(LOCAL, on_processor=False) as cluster:
        assert [(one.gpus, one.cores) for one in cluster.worker_resources] == [(1, 4), (1, 4)]
        assert signal.getsignal(15) == handler
    assert dict(os.environ) == before and fake.ended == 1
    assert len(fake.begun) == 3  # where it comes up too slowly, once more
    read, options = fake.read[-1], fake.begun[-1]
    assert (read["RAY_USAGE_STATS_ENABLED"], read["RAY_enable_metrics_collection"]) == ("0", "0")
    assert read["RAY_AUTH_MODE"] == "token" and len(read["RAY_AUTH_TOKEN"]) == 64
    assert read["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert (options["address"], options["include_dashboard"], options["log_to_driver"]) == ("local", False, False)


@pytest.fixture
def listener():
    """Somebody who listens on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield one


def test_one_that_is_there_keeps_its_own_rules(begin, listener):
    fake = begin(FakeRay([{"CPU": 8.0}]))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    fake._private.services.canonicalize_bootstrap_address_or_die = lambda _: address
    with connected("auto", on_processor=True) as cluster:
        assert len(cluster.worker_resources) == 1
    with connected(address, on_processor=True):
        assert fake.begun[1]["address"] == address
    assert fake.begun[0]["address"] == "auto" and "_temp_dir" not in fake.begun[0]
    assert not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"} & (
        fake.read[0].keys() - os.environ.keys()
    )


@pytest.mark.parametrize(
    ("address", "fake", "words"),
    [
        ("127.0.0.1:1", FakeRay(), "no Ray cluster responds at 127.0.0.1:1: "),
        ("auto", FakeRay(fails=9), "no Ray cluster responds at auto: nobody"),
        (LOCAL, FakeRay(fails=9), "Ray does not start on this machine: nobody"),
        (LOCAL, FakeRay([{"CPU": 8.0}]), "the Ray cluster has no GPU: use --device cpu"),
    ],
)
def test_what_cannot_work_is_told_in_one_line(begin, address, fake, words):
    before = dict(os.environ)
    begin(fake)
    with pytest.raises(WorkerUnusable) as caught, connected(address, on_processor=False):
        pytest.fail("there is none")
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert dict(os.environ) == before
