"""What each process of a training on several devices does in tests: `python devices_script.py MODEL OUT`.

The first writes what it finds to the folder OUT.
"""

import json
import sys
from functools import partial
from pathlib import Path

import torch
from tiny_training import TinyTraining

from mezzotint.training.distributed import Processes, local
from mezzotint.training.trainer import Trainer

CASES = {
    "none": {"shard": "none", "accumulate": 2, "ema": 0.9},
    "8bit": {"shard": "optimizer", "optimizer": "adamw-8bit"},
    "optimizer": {"shard": "optimizer", "ema": 0.9},
    "gradients": {"shard": "gradients", "accumulate": 2, "ema": 0.9},
    "parameters": {"shard": "parameters", "ema": 0.9},
}
# That of most presets. Adam divides by the size of the gradients: where they are smallest, rounding shows in the
# factors, more at higher rates. The largest gap to one process was 1.3e-6 at 1e-2, 5e-7 at 2e-3 and 2e-8 at 1e-4.
RATE = 1e-4
STEPS, MIDDLE = 4, 2


def batch_at(tiny: TinyTraining, number: int) -> list:
    """Batches of five, four and one image, of two shapes."""
    images = tiny.batch(number, (5, 4, 1)[number % 3])
    narrow = [type(each)(latents=each.latents[:, :, :16], conditioning=each.conditioning) for each in images[3:]]
    return [*images[:3], *narrow]


def trained(tiny: TinyTraining, trainer: Trainer, steps: int) -> list[float]:
    """Losses of some steps."""
    return [trainer.train_step(lambda number: batch_at(tiny, number)) for _ in range(steps)]


def size(tensors: object) -> int:
    """Bytes of tensors on this device."""
    return sum(local(each).nbytes for each in tensors)  # type: ignore[attr-defined]


def counted(tiny: TinyTraining, trainer: Trainer) -> dict[str, int]:
    """Bytes of the optimizer's state, the factors and the network on this device."""
    optimizer = getattr(trainer._optimizer, "optim", trainer._optimizer)
    states = [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
    return {
        "state": size(states),
        "factors": size(trainer.adapter.parameters()),
        "network": size(tiny.network.parameters()),
    }


def gradient_bytes(tiny: TinyTraining, trainer: Trainer) -> int:
    """Bytes of gradients when the optimizer steps."""
    found = []
    trainer._optimizer.register_step_pre_hook(
        lambda *_: found.append(size(each.grad for each in trainer.adapter.parameters()))
    )
    trained(tiny, trainer, 1)
    return found[0]


def main(folder: Path, out: Path) -> None:
    """Train in each way, with and without a pause."""
    torch.set_num_threads(1)
    processes, report = Processes.of_environment(), {}
    with processes.joined(torch.device("cpu")):
        tiny = TinyTraining(folder)
        for name, rates in CASES.items():
            state, middle, again = (out / f"{name}-{each}.safetensors" for each in ("state", "middle", "again"))
            trainer = tiny.trainer(processes=processes, peak=RATE, **rates)
            losses = trained(tiny, trainer, MIDDLE)
            trainer.save(middle, {})
            validation = trainer.validation_loss(partial(list, tiny.images[:2]))
            losses += trained(tiny, trainer, STEPS - MIDDLE)
            trainer.save(state, {})
            processes.wait()
            if rates["shard"] == "parameters":
                tiny = TinyTraining(folder)  # this network is split already
            resumed = tiny.trainer(processes=processes, peak=RATE, **rates)
            resumed.restore(middle)
            trained(tiny, resumed, STEPS - MIDDLE)
            resumed.save(again, {})
            sizes = counted(tiny, resumed) | {"gradients": gradient_bytes(tiny, resumed)}
            report[name] = {"losses": losses, "validation": validation, "sizes": sizes}
            with resumed.averaged():
                report[name]["whole"] = [list(each.shape) for each in resumed.adapter.parameters()]
        report["first"] = processes.given([processes.rank, processes.decided(True, False)])
        if processes.is_first:
            (out / "report.json").write_text(json.dumps(report), encoding="utf-8")
        processes.wait()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
