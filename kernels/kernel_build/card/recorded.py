"""From a folder of results to the project's table: what was measured on a card, each with where it comes from."""

from dataclasses import replace
from pathlib import Path

from kernel_build.card.beside import is_wrong
from kernel_build.card.record_file import read_record
from kernel_build.card.row_text import table_row
from kernel_build.card.verdicts import told_rows
from kernel_build.errors import BuildError
from kernel_build.results import RESULTS, Place, record


def record_results(folder: Path, table: Path = RESULTS) -> int:
    """Write the rows of a card into the table; gives how many. BuildError for those of a stub."""
    found = read_record(folder)
    if found.device.is_stub:
        raise BuildError(f"the results in {folder} are of a stub: only those of a card are recorded")
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
