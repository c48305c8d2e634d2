"""`mezzotint run`: a job file worked through."""

from batch_programs import StandIn

JOB = """
version = 1
[prompts]
list = ["a {red|blue} house"]
[matrix]
seed = [1, 2]
[output]
folder = "made"
"""


def test_a_job_file_makes_its_images_beside_it(command, tmp_path):
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    done = command("run", str(path), engine=StandIn())
    assert done.code == 0
    assert len(list((tmp_path / "made").glob("*.png"))) == 4
    assert command("run", str(path), engine=StandIn()).out == ""


def test_another_output_folder_is_from_where_one_is(command, tmp_path, monkeypatch):
    (tmp_path / "job.toml").write_text(JOB)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    done = command("run", "../job.toml", "-o", "other", engine=StandIn())
    assert done.code == 0
    assert len(list((tmp_path / "here" / "other").glob("*.png"))) == 4


def test_a_job_that_cannot_be_is_told_with_its_line(command, tmp_path):
    (tmp_path / "job.toml").write_text(JOB + "colour = 1\n")
    done = command("run", str(tmp_path / "job.toml"))
    assert done.code == 2 and "line 9" in done.err
