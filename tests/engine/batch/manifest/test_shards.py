"""One job in several parts."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.manifest.shards import MERGED, manifest_name, manifests_in, parsed, shard_of, shard_of_name
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import UsageError


@given(st.integers(1, 50), st.text())
def test_every_task_belongs_to_one_shard(count, text):
    place = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    assert sum(Shard(index=index, count=count).has(place) for index in range(count)) == 1


@given(st.integers(0, 99), st.integers(1, 99))
def test_words_and_names_say_the_same(index, above):
    shard = Shard(index=index, count=index + above)
    assert parsed(f"{shard.index}/{shard.count}") == shard
    assert shard_of_name(manifest_name(shard)) == shard
    assert shard_of(f"{shard.index}/{shard.count}", {"SLURM_ARRAY_TASK_ID": "1"}) == shard


@pytest.mark.parametrize("words", ["", "1", "2/2", "-1/2", "0/0", "1/2/3", "a/b", "0/1000000"])
def test_what_is_no_shard_is_refused(words):
    with pytest.raises(UsageError, match="counted from 0"):
        parsed(words)


def test_slurms_job_array_is_the_default():
    def slurm(**values):
        return shard_of(None, {f"SLURM_ARRAY_TASK_{name}": value for name, value in values.items()})

    assert slurm() is None
    assert slurm(ID="3", COUNT="7", MIN="0") == Shard(index=3, count=7)
    assert slurm(ID="3", COUNT="7", MIN="1", MAX="7") == Shard(index=2, count=7)
    assert slurm(ID="30", COUNT="4", MIN="10", STEP="10") == Shard(index=2, count=4)
    for wrong in (
        {"ID": "x", "COUNT": "2"},
        {"ID": "1"},
        {"ID": "9", "COUNT": "2"},
        {"ID": "5", "COUNT": "3", "MIN": "0", "STEP": "2"},
    ):
        with pytest.raises(UsageError, match="give --shard"):
            slurm(**wrong)


def test_the_manifests_of_a_folder(tmp_path):
    assert manifests_in(tmp_path / "absent") == []
    (tmp_path / MERGED).touch()
    assert [path.name for path in manifests_in(tmp_path)] == [MERGED]
    for name in ("mezzotint-manifest.jsonl", "mezzotint-manifest-1-of-2.jsonl", "mezzotint-manifest.jsonl.bak"):
        (tmp_path / name).touch()
    found = [path.name for path in manifests_in(tmp_path)]
    assert found == ["mezzotint-manifest-1-of-2.jsonl", "mezzotint-manifest.jsonl"]
    assert shard_of_name("mezzotint-manifest.jsonl") is None
