"""The devices that a run works on."""

import json
import os

import pytest

from mezzotint.batch.run.devices import lease_names, leased
from mezzotint.errors import Busy
from mezzotint.jobs.lease import Held, Lease


def names(devices=None, asked=None, environ=None, has_card=True):
    return lease_names(devices, asked, environ or {}, lambda: has_card)


def test_what_takes_its_device_by_itself_and_one_that_names_the_same_exclude_each_other():
    assert names() == ["auto", "cuda-0"]
    assert names(asked="cuda") == names(asked="cuda:0") == names(["0"]) == names()
    assert names(["1"]) == names(["cuda:1"]) == ["cuda-1"]
    assert names(["0", "1", "1"]) == ["auto", "cuda-0", "cuda-1"]


def test_the_processor_is_what_is_taken_where_there_is_no_card():
    assert names(["cpu", "cpu"]) == names(asked="cpu") == ["cpu"]
    assert names(["cpu"], has_card=False) == ["auto", "cpu"]


def test_cards_are_named_as_the_driver_counts_them():
    shown = {"CUDA_VISIBLE_DEVICES": "2, 0"}
    assert names(["1"], environ=shown) == ["auto", "cuda-0"]
    assert names(["0"], environ=shown) == names(environ=shown) == ["auto", "cuda-2"]
    assert names(["1"], environ={"CUDA_VISIBLE_DEVICES": "GPU-a,GPU-b"}) == ["cuda-GPU-b"]


def test_what_a_scheduler_hands_out_needs_no_lease():
    assert names(["0", "cpu"], environ={"SLURM_JOB_ID": "12"}) == []


def test_whether_there_is_a_card_is_asked_only_where_it_matters():
    assert lease_names(["0"], None, {}, lambda: pytest.fail("this takes seconds")) == ["auto", "cuda-0"]


def test_refused_with_who_has_it(tmp_path):
    with Lease.acquire("cuda-1", tmp_path, what="the window"):
        with (
            pytest.raises(Busy, match=rf"the window \(process {os.getpid()} on .*--wait") as busy,
            leased(["cuda-0", "cuda-1"], waits=False, report=pytest.fail, folder=tmp_path),
        ):
            pytest.fail("it is not ours")
        assert busy.value.exit_code == 8
        with leased(["cuda-0"], waits=False, report=pytest.fail, folder=tmp_path):
            assert isinstance(Lease.acquire("cuda-0", tmp_path), Held)
    with leased(["cuda-0", "cuda-1"], waits=False, report=pytest.fail, folder=tmp_path):
        assert isinstance(Lease.acquire("cuda-1", tmp_path), Held)


def test_it_waits_and_tells_once_and_holds_nothing_meanwhile(tmp_path):
    held, told, looks = Lease.acquire("cuda-1", tmp_path, what="the window"), [], []

    def sleep(_):
        looks.append(1)
        Lease.acquire("cuda-0", tmp_path).release()  # free for others
        if len(looks) == 3:
            held.release()

    with leased(["cuda-0", "cuda-1"], waits=True, report=told.append, folder=tmp_path, sleep=sleep):
        assert (len(looks), len(told)) == (3, 1)
        assert "waiting: the window (process" in told[0]


def test_the_leases_of_another_machine_in_a_shared_home_are_not_in_the_way(tmp_path):
    with Lease.acquire("auto", tmp_path):
        about = json.loads((tmp_path / "auto.lock").read_text())
        (tmp_path / "auto.lock").write_text(json.dumps(about | {"host": "another-machine"}))
        with leased(["auto"], waits=False, report=pytest.fail, folder=tmp_path):
            pass
