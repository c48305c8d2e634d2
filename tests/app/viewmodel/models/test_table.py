"""The models as a table that Qt finds sound."""

from dataclasses import replace

import pytest
from fake_engine import model_info
from fake_service import FakeService
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QAbstractItemModelTester

from mezzotint.protocol import Plan
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.viewmodel.models.table import (
    FAMILY,
    ID_ROLE,
    NAME,
    NEED,
    PRECISION,
    SIZE,
    SORT_ROLE,
    SOURCE,
    ModelsTable,
    need_text,
)

MODELS = (
    model_info(id="a", family="sdxl", variant="base", bytes=7 << 30, source="comfyui", scheme="int8"),
    model_info(id="b", family="", variant="", bytes=0, problem="cut", source="somewhere new"),
)


def plan(**changes):
    values = {
        "fits": True,
        "memory": "auto",
        "vram_bytes": 8 << 30,
        "ram_bytes": 16 << 30,
        "peak_vram_bytes": 4 << 30,
        "peak_ram_bytes": 6 << 30,
        "pinned_bytes": 0,
        "components": (),
        "phases": (),
        "guidance": "batched",
        "vae_tile": 0,
        "quantization": "none",
        "text_quantization": "none",
        "seconds": 10.0,
        "seconds_resident": 10.0,
        "smallest_vram_bytes": 3 << 30,
        "smallest_ram_bytes": 1 << 30,
        "reasons": ("it fits",),
    }
    return Plan(**values | changes)


@pytest.fixture(autouse=True)
def _plain_numbers():
    QLocale.setDefault(QLocale.c())


@pytest.fixture
def engine():
    return FakeService()


@pytest.fixture
def library(qapp, service, engine):
    return ModelLibrary(service, engine)


@pytest.fixture
def table(library, service):
    made = ModelsTable(library)
    QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    library.refresh()
    service.answer(MODELS, "models")
    return made


def texts(table, row):
    return [table.index(row, column).data() for column in range(table.columnCount())]


def test_rows_follow_the_library(table, library, service):
    assert table.rowCount() == 2
    assert texts(table, 0)[:NEED] == ["a", "sdxl base", "int8", "7.0 GB"]
    library.refresh()
    service.answer(MODELS[1:], "models")
    assert table.rowCount() == 1
    assert table.row_of("b") == 0
    assert table.row_of("a") is None


def test_a_model_that_cannot_be_used_says_so_and_is_not_planned(table, engine):
    assert texts(table, 1) == ["b", "cannot be used", "", "", "", "somewhere new"]
    assert engine.methods() == []


def test_a_file_of_a_known_family_that_is_refused_is_told_apart_too(table, library, service):
    library.refresh()
    service.answer((replace(MODELS[0], problem="it is cut off"),), "models")
    assert texts(table, 0)[1] == "cannot be used"


def test_the_need_comes_when_the_engine_has_planned(qtbot, table, engine):
    assert table.index(0, NEED).data() == "…"
    with qtbot.waitSignal(table.dataChanged) as changed:
        engine.answer(plan(), "plan")
    assert changed.args[0] == table.index(0, NEED)
    assert table.index(0, NEED).data() == "4.0 GB"


@pytest.mark.parametrize(
    ("need", "text"),
    [
        (plan(), "4.0 GB"),
        (plan(peak_vram_bytes=0), "6.0 GB"),
        (plan(seconds=20.0), "4.0 GB, streamed"),
        (plan(fits=False), "does not fit: needs at least 3.0 GB"),
        (Failure(kind="x", message="y"), "unknown"),
    ],
)
def test_a_plan_in_a_few_words(need, text):
    assert need_text(need) == text


def test_sizes_are_sorted_as_numbers_and_words_without_case(table):
    assert table.index(0, SIZE).data(SORT_ROLE) == 7 << 30
    assert table.index(0, SOURCE).data(SORT_ROLE) == "comfyui"
    assert table.index(0, NAME).data(ID_ROLE) == "a"


def test_every_column_has_a_name_and_is_read_aloud_with_it(table):
    names = [table.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.DisplayRole) for column in range(6)]
    assert all(names)
    spoken = table.index(0, PRECISION).data(Qt.ItemDataRole.AccessibleTextRole)
    assert names[PRECISION] in spoken
    assert "int8" in spoken
    assert names[FAMILY] == "Family"
