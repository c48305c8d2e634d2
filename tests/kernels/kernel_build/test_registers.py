"""The table of registers as a file."""

import pytest

from kernel_build.errors import BuildError
from kernel_build.registers import RegisterTable, read_table, write_table

TABLE = RegisterTable(
    compiler="13.0.88",
    registers={("b:two", "sm_75"): 40, ("a:one", "sm_75"): 168, ("a:one", "sm_120"): 255},
    sources={"folder/b.cu": "1f3a", "a.cu": "22"},
)


def test_it_reads_as_it_was_written(tmp_path):
    write_table(TABLE, tmp_path / "registers.txt")
    assert read_table(tmp_path / "registers.txt") == TABLE


def test_people_can_read_it(tmp_path):
    write_table(TABLE, tmp_path / "registers.txt")
    lines = (tmp_path / "registers.txt").read_text("utf-8").splitlines()
    assert lines[0].endswith("Written by: python -m kernel_build gates --write-table")
    assert lines[1:] == [
        "nvcc 13.0.88",
        "kernel   sm_75   sm_80   sm_86   sm_89  sm_90a  sm_100  sm_120 sm_120f",
        "a:one      168       -       -       -       -       -     255       -",
        "b:two       40       -       -       -       -       -       -       -",
        "source a.cu 22",
        "source folder/b.cu 1f3a",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nvcc\n",
        "nvcc 13\nkernel sm_75\nsource a\n",
        "nvcc 13.0.88\nkernel sm_75\na 1 2\n",
        "nvcc 13\nkernel sm_75\na many\n",
    ],
)
def test_a_damaged_table_is_told_with_what_to_do(tmp_path, text):
    (tmp_path / "registers.txt").write_text(text)
    with pytest.raises(BuildError, match=r"no table of registers .*--write-table"):
        read_table(tmp_path / "registers.txt")


def test_no_table_is_told(tmp_path):
    with pytest.raises(BuildError, match="--write-table"):
        read_table(tmp_path / "none.txt")


def test_the_project_s_table_can_be_read():
    assert read_table().compiler.count(".") == 2
