"""The record beside a model."""

import json

from mezzotint.library.downloads.record import SourceRecord, read_record, record_path, write_record

RECORD = SourceRecord(source="o/n", revision="abc", licence="mit", sums={"a": "0" * 64})


def test_of_a_folder_and_of_a_file(tmp_path):
    file = tmp_path / "one.safetensors"
    for model in (tmp_path, file):
        write_record(record_path(model), RECORD)
        assert read_record(model) == RECORD
    assert record_path(tmp_path).name == "mezzotint-source.json"
    assert record_path(file).name == "one.safetensors.mezzotint-source.json"


def test_none_where_there_is_none_or_no_sense_in_it(tmp_path):
    assert read_record(tmp_path) is None
    for told in ("x", "[]", json.dumps({"source": 1}), json.dumps({"sums": {}})):
        record_path(tmp_path).write_text(told)
        assert read_record(tmp_path) is None
