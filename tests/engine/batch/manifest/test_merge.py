"""The manifests of all shards as one."""

import shutil

import pytest
from batch_programs import painted, run, task

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.merge import merge
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.manifest.shards import MERGED
from mezzotint.batch.tasks.tasks import Shard

TASKS = 24


def stream(folder):
    for number in range(TASKS):
        yield task(number, folder, {5: "refused", 9: "bug"}.get(number))


def made_in_shards(folder, count, order=1):
    for index in range(count)[::order]:
        shard = Shard(index=index, count=count)
        run(folder, TASKS, shard=shard, stream=[one for one in stream(folder) if shard.has(one.key)])


def tree(folder):
    """All images and the merged manifest, byte for byte."""
    files = [*folder.rglob("*.png"), folder / MERGED]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    folder = tmp_path_factory.mktemp("single")
    run(folder, TASKS, stream=stream(folder))
    merged = merge(read_ledger(folder))
    assert merged.is_whole and (merged.tasks, merged.failures) == (TASKS, 2)
    return tree(folder)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_merged_it_equals_the_single_run_byte_for_byte(single, tmp_path, count, order):
    made_in_shards(tmp_path, count, order)
    merged = merge(read_ledger(tmp_path))
    assert merged.is_whole and merged.duplicates == ()
    assert tree(tmp_path) == single


def test_what_is_missing_is_told(tmp_path):
    made_in_shards(tmp_path, 3)
    (tmp_path / "mezzotint-manifest-1-of-3.jsonl").unlink()
    with Manifest.open(tmp_path, Shard(index=2, count=3)) as manifest:
        manifest.note("run", {"schema_version": 1})
    gone = next(record.output for record in read_ledger(tmp_path).records().values() if record.status == "done")
    (tmp_path / gone).unlink()
    merged = merge(read_ledger(tmp_path))
    assert not merged.is_whole
    assert merged.missing == (
        "shard 1/3: it has no manifest",
        "mezzotint-manifest-2-of-3.jsonl: its last run did not finish",
        f"{gone}: the image is missing",
    )


def test_pixels_that_are_not_those_that_were_made_and_broken_files(tmp_path):
    run(tmp_path, 3)
    painted(99).save(tmp_path / "0/00000.png")
    whole = (tmp_path / "1/00001.png").read_bytes()
    (tmp_path / "1/00001.png").write_bytes(whole[: len(whole) // 2])
    merged = merge(read_ledger(tmp_path))
    assert [finding.partition(":")[0] for finding in merged.conflicts] == ["0/00000.png", "1/00001.png"]
    assert merge(read_ledger(tmp_path), check_pixels=False).is_whole


def test_made_twice_with_the_same_pixels_and_with_others(tmp_path):
    run(tmp_path, 2, shard=Shard(index=0, count=1))
    records = {record.seed: record for record in read_ledger(tmp_path).records().values()}
    shutil.copy(tmp_path / "0/00000.png", tmp_path / "0/00000-1.png")
    with Manifest.open(tmp_path) as manifest:
        for number, pixels in ((0, records[0].pixels_sha256), (1, "0" * 64)):
            values = {"key": records[number].key, "status": "done", "seed": number, "pixels_sha256": pixels}
            manifest.add(Record(**values, output=f"{number}/0000{number}-1.png"))
        manifest.note("ended", {})
    merged = merge(read_ledger(tmp_path))
    assert len(merged.duplicates) == 1 and "same pixels" in merged.duplicates[0]
    assert any("different pixels" in finding for finding in merged.conflicts)


def test_images_of_formats_that_lose_pixels_are_known_by_what_they_say(tmp_path):
    one = task(1, tmp_path)
    changed = one.request.output.path.replace(".png", ".jpg")
    from dataclasses import replace

    one = replace(one, output=one.output.replace(".png", ".jpg"))
    one = replace(one, request=replace(one.request, output=replace(one.request.output, path=changed)))
    run(tmp_path, 1, stream=[one])
    assert merge(read_ledger(tmp_path)).is_whole
    painted(9).save(tmp_path / one.output)
    assert not merge(read_ledger(tmp_path)).is_whole
