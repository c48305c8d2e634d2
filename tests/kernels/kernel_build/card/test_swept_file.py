"""What a sweep found becomes the table by which kernels are chosen; what a card did not say stands nowhere in it."""

from dataclasses import replace

import pytest

from kernel_build.card.forced import Instance
from kernel_build.card.machine import STUB, Device
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import Record
from kernel_build.card.swept_file import SWEPT, swept_text, write_swept
from kernel_build.card.workers.sweep import chosen_name, instance_name

CARD = Device(name="Paper Card", capability=(8, 7), torch="2.11", cuda="13.0", multiprocessors=100)
LARGE = Instance(
    number=0,
    kind="forward",
    head_dim=64,
    dtype="bfloat16",
    masked=False,
    weight_bits=0,
    x_bits=0,
    tile_m=128,
    tile_n=64,
    threads=128,
)
SMALL = replace(LARGE, number=1, tile_m=64)
TEXT = replace(LARGE, number=2, kind="short keys", tile_m=64, tile_n=80)


@pytest.fixture
def record(tmp_path):
    return Record(path=tmp_path / "results.json", commit="abc", device=CARD)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "swept.cpp"


def swept(record, instance, milliseconds, shape="SDXL, 64x64", error=0.001, outcome="ok", **changes):
    sizes = {"batch": 2, "heads": 10, "nq": 4096, "nk": 4096, "head_dim": 64} | changes
    name = instance if isinstance(instance, str) else instance_name(instance)
    measured = {"shape": shape, "implementation": name, "milliseconds": milliseconds, "error": error} | sizes
    record.add("sweep-attention", Row(item=f"{shape}: {name}", outcome=outcome, measured=measured))


def entries(path):
    return [line.strip() for line in path.read_text("utf-8").splitlines() if "Kind::" in line]


def test_the_fastest_right_instance_of_each_class(record, path):
    swept(record, chosen_name("flash", False), 0.5)
    swept(record, LARGE, 1.5)
    swept(record, SMALL, 1.0)
    swept(record, replace(SMALL, threads=64), 0.1, error=0.5)
    swept(record, replace(SMALL, tile_n=32), None, outcome="failed")
    swept(record, replace(SMALL, masked=True), 3.0)
    swept(record, replace(LARGE, kind="int8"), 0.4)
    swept(record, replace(LARGE, kind="int8-all"), 0.3)
    swept(record, SMALL, 2.0, "to words", nk=77)
    swept(record, TEXT, 1.0, "to words", nk=77)
    assert write_swept(record, path) == 5
    assert entries(path) == [
        "{86, Kind::forward, 64, false, 512, 4096, 64, 64, 128},  // Paper Card, abc",
        "{86, Kind::forward, 64, true, 512, 4096, 64, 64, 128},  // Paper Card, abc",
        "{86, Kind::int8, 64, false, 512, 4096, 128, 64, 128},  // Paper Card, abc",
        "{86, Kind::int8_all, 64, false, 512, 4096, 128, 64, 128},  // Paper Card, abc",
        "{86, Kind::short_keys, 64, false, 512, 64, 64, 80, 128},  // Paper Card, abc",
    ]
    assert "no card has been swept yet" not in path.read_text("utf-8")


def test_of_a_class_with_several_problems_the_one_that_loses_least(record, path):
    for shape, large, small in (("a", 1.0, 1.1), ("b", 2.0, 1.0)):
        swept(record, LARGE, large, shape)
        swept(record, SMALL, small, shape)
    swept(record, replace(TEXT, tile_n=128), 0.1, "a")  # which cannot do the other
    write_swept(record, path)
    assert [line.split(", ")[6] for line in entries(path)] == ["64"]


def test_a_card_s_entries_take_the_place_of_its_architecture_s_alone(record, path):
    swept(record, LARGE, 1.0)
    write_swept(record, path)
    record.device = replace(CARD, name="Another", capability=(9, 0))
    write_swept(record, path)
    record.rows.clear()
    swept(record, SMALL, 1.0)
    write_swept(record, path)
    assert [line.split(", ")[6:8] + line.split("// ")[1:] for line in entries(path)] == [
        ["128", "64", "Paper Card, abc"],
        ["64", "64", "Another, abc"],
    ]


@pytest.mark.parametrize(
    "device",
    [
        Device(name=STUB, capability=None, torch="2.11", cuda=None),
        replace(CARD, multiprocessors=None),
        replace(CARD, capability=(11, 0)),
    ],
    ids=["a stub", "of an older version", "an architecture that there is no machine code for"],
)
def test_what_says_nothing_about_a_card_is_not_written(record, path, device):
    record.device = device
    swept(record, SMALL, 1.0)
    assert write_swept(record, path) == 0
    assert not path.exists()


def test_an_empty_table_says_so():
    assert "no card has been swept yet" in swept_text([])


def test_the_table_that_is_there_is_as_it_would_be_written():
    text = SWEPT.read_text("utf-8")
    assert swept_text([f"    {line}" for line in entries(SWEPT)]) == text
