"""Writing the grid beside the images."""

from PIL import Image

from mezzotint.batch.job.job import JobFile, JobOutput, Prompts
from mezzotint.batch.sheet.sheet import PAGE_NAME, write_grid
from mezzotint.batch_protocol import SHEET_NAME
from mezzotint.options import Options


def test_it_replaces_the_one_before(tmp_path):
    output = JobOutput(folder="out", grid=True)
    job = JobFile(settings=Options(seed=1), prompts=Prompts(list=("a",)), matrix=(("steps", (1, 2)),), output=output)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mezzotint-manifest.jsonl").touch()
    for name in (SHEET_NAME, PAGE_NAME):
        (tmp_path / "out" / name).write_text("before")
    path = write_grid(job, tmp_path)
    assert path == tmp_path / "out" / SHEET_NAME
    with Image.open(path) as sheet:
        assert sheet.format == "PNG"
    assert "steps 2" in (tmp_path / "out" / PAGE_NAME).read_text()
    assert len(list((tmp_path / "out").iterdir())) == 3
