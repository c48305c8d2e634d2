"""What became of every task, as a table."""

import csv
import io

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.manifest.report import COLUMNS, csv_of, table_of

ODD = 'a "b", c\nd.png'


def filled(folder):
    with Manifest.open(folder) as manifest:
        manifest.add(Record(key="1", status="done", output="b.png", input="b.jpg", engine={"device": "cuda"}))
        manifest.add(Record(key="2", status="failed", output=ODD, input=ODD, kind="oom", error="too large"))
        manifest.add(Record(key="3", status="skipped", output="", input="pipe", kind="not_a_file", error="a pipe"))
    return read_ledger(folder)


def test_csv_is_read_back_whatever_names_hold(tmp_path):
    lines = list(csv_of(filled(tmp_path)))
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["status"] for row in rows] == ["failed", "skipped", "done"]
    assert (rows[0]["output"], rows[0]["error"], rows[2]["device"]) == (ODD, "too large", "cuda")


def test_only_what_failed(tmp_path):
    assert len(list(csv_of(filled(tmp_path), only_failed=True))) == 2


def test_a_line_for_each_stays_a_line(tmp_path):
    lines = list(table_of(filled(tmp_path)))
    assert len(lines) == 3 and not any("\n" in line for line in lines)
    assert lines[0].endswith("oom: too large")
    assert lines[2] == "done       b.jpg -> b.png"
