"""A training on two devices that is paused and goes on, in tests: `python devices_run_script.py REQUEST MEETING`."""

import json
import os
import sys
from pathlib import Path

import torch

from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import decode
from mezzotint.errors import Cancelled
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.training.distributed import Processes
from mezzotint.training_protocol import TrainingRequest, TrainingStep


def main(path: Path, meeting: str) -> None:
    """Pause after the third step, which only the first process is asked for; then go on."""
    torch.set_num_threads(1)
    request = decode(TrainingRequest, json.loads(path.read_text(encoding="utf-8")))
    processes, steps = Processes.of_environment(), []

    def on_event(event: object) -> None:
        assert processes.is_first
        if isinstance(event, TrainingStep):
            steps.append(event.step)

    try:
        TrainingRun(request, Catalog.standard(), on_event, lambda: len(steps) == 3, processes).run()
        raise AssertionError("not paused")
    except Cancelled:
        os.environ["MEZZOTINT_MEETING"] = meeting
    TrainingRun(request, Catalog.standard(), on_event, lambda: False, processes).run(resume=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
