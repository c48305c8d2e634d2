"""The epochs of a run as rows: the newest first, the model without the LoRA at the top."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from mezzotint.training_protocol import TrainingRunInfo
from mezzotint_app.viewmodel.train.losses import best_epoch
from mezzotint_app.viewmodel.train.texts import epoch_title

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRow:
    """An epoch, or the model without the LoRA, which has no path."""

    title: str
    path: str
    samples: tuple[str, ...]
    prompts: tuple[str, ...]  # of the samples
    is_best: bool = False


def rows_of(info: TrainingRunInfo) -> tuple[EpochRow, ...]:
    """The rows from top to bottom."""
    best, prompts = best_epoch(info.epochs), info.request.prompts
    rows = []
    if info.base_samples:
        title = translate("Epochs", "Before training")
        rows.append(EpochRow(title=title, path="", samples=info.base_samples, prompts=_of(prompts, info.base_samples)))
    if info.paused_lora is not None:
        title = translate("Epochs", "As paused, step {step}").format(step=info.step)
        rows.append(EpochRow(title=title, path=info.paused_lora, samples=(), prompts=()))
    rows += [
        EpochRow(
            title=epoch_title(epoch),
            path=epoch.path,
            samples=epoch.samples,
            prompts=_of(prompts, epoch.samples),
            is_best=epoch.epoch == best and len(info.epochs) > 1,
        )
        for epoch in reversed(info.epochs)
    ]
    return tuple(rows)


def _of(prompts: tuple[str, ...], samples: tuple[str, ...]) -> tuple[str, ...]:
    """A prompt for each sample, also of runs whose records do not agree."""
    return (*prompts, *("" for _ in samples))[: len(samples)]
