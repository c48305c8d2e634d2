"""What the columns of a table mean."""

import pytest

from mezzotint.batch.job.job import JobFile, JobOutput, Prompts
from mezzotint.batch.tasks.columns import read_columns
from mezzotint.batch.tasks.prompts import Row, rows_of
from mezzotint.batch.tasks.skipped import Skipped
from mezzotint.batch.tasks.tasks import tasks_of


def columns(*names, used=()):
    told = []
    return read_columns(names, frozenset(used), "t.csv").take(told.append), told


def test_usual_names_and_other_letters():
    read, told = columns(
        "Positive Prompt", "Negative_Prompt", "CFG Scale", "STEPS", "seed", "Width", "height", "artist"
    )
    assert read.prompt == "Positive Prompt"
    cells = {"Negative_Prompt": "fog", "CFG Scale": "4.5", "STEPS": "9", "seed": "", "Width": "64", "height": "128"}
    assert read.values(cells) == {"negative": "fog", "guidance": 4.5, "steps": 9, "size": (64, 128)}
    assert told[0] == "t.csv: not used: artist"
    assert "t.csv: guidance for the column CFG Scale is assumed, from its name" in told
    assert not any("seed" in line or "Width" in line for line in told)


def test_a_settings_own_name_comes_first_and_fields_are_left_alone():
    read, told = columns("cfg", "guidance", "Style", "width", used=["Style"])
    assert list(read.settings) == ["guidance"]
    assert told == ["t.csv: not used: cfg, width"]


def test_values_that_are_wrong_name_their_column():
    read, _ = columns("Steps", "width", "height")
    with pytest.raises(ValueError, match="Steps: "):
        read.values({"Steps": "many"})
    with pytest.raises(ValueError, match="width and height: "):
        read.values({"width": "64", "height": "tall"})


def test_what_a_table_says_in_vain_is_told_once(tmp_path):
    (tmp_path / "t.csv").write_text("Prompt,place,mood,CFG\nfox {place},sea,calm,3\nowl,hill,,4\n")
    *rows, told = rows_of(Prompts(table="t.csv"), tmp_path)
    assert [row.text for row in rows if isinstance(row, Row)] == ["fox {place}", "owl"]
    assert [row.settings for row in rows] == [{"guidance": 3.0}, {"guidance": 4.0}]
    assert isinstance(told, Skipped) and (told.input, told.kind) == ("t.csv", "unused_columns")
    assert told.reason.startswith("columns that nothing uses: mood; prompt for the column Prompt is assumed")


def test_folders_and_columns_that_no_prompt_uses(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "hue.txt").write_text("red\nblue\n")
    (tmp_path / "t.csv").write_text("prompt,nick\na fox,f\n")

    def told(**prompts):
        job = JobFile(prompts=Prompts(table="t.csv", **prompts), output=JobOutput(name="[nick]"))
        return [(one.input, one.kind) for one in tasks_of(job, base=tmp_path) if isinstance(one, Skipped)]

    assert told() == []
    assert told(wildcards="w") == [("w", "unused_wildcards")]
    assert told(wildcards="w", template="{prompt} __hue__") == []
