"""Import a results folder into the project: figures into the results table, fastest instances into swept.cpp."""

from dataclasses import replace
from pathlib import Path

from kernel_build.card.beside import is_wrong
from kernel_build.card.record_file import read_record
from kernel_build.card.row_text import table_row
from kernel_build.card.swept_file import SWEPT, write_swept
from kernel_build.card.verdicts import told_rows
from kernel_build.errors import BuildError
from kernel_build.results import RESULTS, Place, record


def record_results(folder: Path, table: Path = RESULTS, swept: Path = SWEPT) -> int:
    """Record a GPU's rows and its sweep; return the number of rows. Raises BuildError for results of a stub."""
    found = read_record(folder)
    if found.device.is_stub:
        raise BuildError(f"the results in {folder} are of a stub: only those of a card are recorded")
    write_swept(found, swept)
    written = 0
    for row in told_rows(found):
        place = Place(gpu=row["device"], commit=found.commit, date=row["date"], command="make gpu-check")
        made = table_row(row, place)
        if made is not None:
            wrong = is_wrong(row)
            figure = f"{made.figure}, WRONG: {wrong}" if wrong else made.figure
            record(replace(made, figure=figure), table, counts=row["outcome"] == "ok" and wrong is None)
            written += 1
    return written
