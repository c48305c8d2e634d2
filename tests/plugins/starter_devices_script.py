"""What each process of the starters' recipe does in tests: `python starter_devices_script.py OUT`."""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

from mezzotint.training.distributed import Processes
from mezzotint_starter.randomness import step_generator
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

STEPS, MIDDLE, BATCH = 12, 5, 8


class Network(nn.Module):
    """A network with a weight that nothing uses."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 1))
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x).squeeze(1)
        return y


def trained(path: Path, *, stop: int | None = None, parts: int = 1) -> dict[str, Tensor]:
    """Train to the end, or interrupt it after a step; returns the averaged weights."""
    network = Network()
    schedule = TrainingSchedule(phase="test", steps=STEPS, peak_lr=1e-3, parts=parts, save_seconds=0.0)
    trainer = Trainer(network, schedule)

    def loss_at(step: int, shard: slice) -> Tensor:
        inputs = torch.randn(BATCH, 3, generator=step_generator(0, "test", step))[shard]
        return (network(inputs) - inputs.sum(dim=1)).square().mean()

    def after() -> None:
        if trainer.step == stop:
            raise KeyboardInterrupt

    train(trainer, path, loss_at, after)
    return dict(network.state_dict())


def main(out: Path) -> None:
    """Train without and with a pause."""
    torch.set_num_threads(1)
    processes = Processes.of_environment()
    with processes.joined(torch.device("cpu")):
        with processes.after_the_first():
            (out / f"found-{processes.rank}").write_text(str((out / "written").exists()), encoding="utf-8")
            (out / "written").touch()
        trained(out / "whole.safetensors")
        try:
            trained(out / "paused.safetensors", stop=MIDDLE)
        except KeyboardInterrupt:
            processes.wait()
        trained(out / "paused.safetensors")
        processes.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
