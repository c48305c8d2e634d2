"""Write the grid of a job beside its images: one image, and a page. Both are replaced when the job is run again."""

import io
from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.batch.job.job import JobFile
from mezzotint.batch.sheet.cells import grid_of
from mezzotint.batch.sheet.drawing import draw_sheet
from mezzotint.batch.sheet.page import page_of
from mezzotint.batch.tasks.tasks import output_folder
from mezzotint.batch_protocol import SHEET_NAME

PAGE_NAME = "mezzotint-grid.html"


def write_grid(job: JobFile, base: Path) -> Path:
    """Write both, and return the path of the image. Raises StorageError, and what reading the job raises."""
    grid, folder = grid_of(job, base), output_folder(job, base)
    data = io.BytesIO()
    draw_sheet(grid, folder).save(data, "PNG")
    atomic_write(folder / SHEET_NAME, data.getvalue(), overwrite=True)
    page = page_of(grid).encode("utf-8", "backslashreplace")
    atomic_write(folder / PAGE_NAME, page, overwrite=True)
    return folder / SHEET_NAME
