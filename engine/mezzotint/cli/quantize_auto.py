"""`mezzotint quantize --scheme auto`: choose a scheme for each layer, and print what was chosen."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size, size_at_least
from mezzotint.cli.columns import columns
from mezzotint.cli.context import Context
from mezzotint.errors import UsageError
from mezzotint.memory.machine.cards import known_card

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from torch import Tensor

    from mezzotint.catalog.catalog import FoundModel
    from mezzotint.jobs.calibration.auto import AutoChoice
    from mezzotint.protocol import OnEvent
    from mezzotint.quantization.policy import Choice

AUTO = "auto"


def check_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options that need others."""
    if arguments.scheme == AUTO and arguments.target_vram is None:
        raise UsageError("--scheme auto needs --target-vram: the card that is to hold the model, such as 8GB")
    if arguments.scheme != AUTO:
        given = {
            "--target-vram": arguments.target_vram is not None,
            "--dry-run": arguments.dry_run,
            "--allow-unquantized": arguments.allow_unquantized,
        }
        for name in (name for name, is_given in given.items() if is_given):
            raise UsageError(f"{name} belongs to --scheme auto, and the scheme is {arguments.scheme}")
    if arguments.output is None and not arguments.dry_run:
        raise UsageError("-o is missing: name the file or folder to write")


def choose(
    arguments: argparse.Namespace,
    context: Context,
    found: "FoundModel",
    settings: "tuple[Choice, Collection[str]]",
    on_event: "OnEvent",
) -> "AutoChoice":
    """Choose a format for each layer; `settings`: of all schemes, and which may be used. Raises MezzotintError."""
    from mezzotint.jobs.calibration.auto import AutoQuantization
    from mezzotint.memory.machine.probe import ordinary_machine
    from mezzotint.stages.planning import this_ram

    vram, name = arguments.target_vram
    choice, schemes = settings
    auto = AutoQuantization(
        found=found,
        choice=choice,
        schemes=schemes,
        card=ordinary_machine(vram, this_ram(), None if name is None else known_card(name)),
        device=arguments.device,
    )
    if arguments.output is not None and arguments.output.exists():
        raise UsageError(f"{plain(arguments.output, 300)} exists already; name another place, or remove it first")
    with context.make_engine(context.make_catalog(arguments.models_folder)) as engine:
        chosen = auto.choose(engine, on_event, context.interrupt.stop_requested)
    _check_needed(arguments, chosen)
    return chosen


def calibrated(
    arguments: argparse.Namespace,
    context: Context,
    found: "FoundModel",
    choices: "Mapping[str, Choice]",
    on_event: "OnEvent",
) -> "Mapping[str, Mapping[str, Tensor]]":
    """The magnitudes of inputs by component and layer, if the denoiser's scheme uses them. Raises MezzotintError."""
    from mezzotint.conversion.auto.layers import CALIBRATED
    from mezzotint.families.known import family_of
    from mezzotint.jobs.calibration.inputs import input_magnitudes

    component = family_of(found.detected.family).denoiser_component
    if component not in choices or choices[component].scheme not in CALIBRATED or arguments.output.exists():
        return {}
    with context.make_engine(context.make_catalog(arguments.models_folder)) as engine:
        stop = context.interrupt.stop_requested
        return {component: input_magnitudes(found, choices[component], engine, arguments.device, on_event, stop)}


def _check_needed(arguments: argparse.Namespace, choice: "AutoChoice") -> None:
    """Raise UsageError if nothing has to be quantized, and a copy in 16 bits was not asked for."""
    if not choice.formats and not arguments.allow_unquantized and not arguments.dry_run:
        raise UsageError(
            f"{_verdict(choice)}; nothing was written: --allow-unquantized writes the copy as it is, and a smaller "
            "--target-vram a quantized one"
        )


def report(choice: "AutoChoice") -> str:
    """What each layer got, and the summary."""
    if not choice.formats:
        return summary(choice)
    header = ("LAYER", "SCHEME", "BYTES", "SHARE", "ERROR", "OF OUTPUT")
    rows = []
    for layer in choice.mix.layers:
        chosen, whole = choice.mix.chosen[layer.name], layer.candidates[0].bytes
        shares = f"{chosen.bytes / whole:.0%}", f"{chosen.error:.2%}", f"{layer.change(chosen):.3%}"
        rows.append((plain(layer.name, 200), chosen.scheme, size(chosen.bytes), *shares))
    return f"{columns([header, *rows])}\n\n{summary(choice)}"


def summary(choice: "AutoChoice") -> str:
    """How many layers got which scheme, and what is expected."""
    if not choice.formats:
        return _verdict(choice)
    mix, counts = choice.mix, scheme_counts(choice)
    whole = sum(layer.candidates[0].bytes for layer in mix.layers)
    schemes = ", ".join(f"{count} {scheme}" for scheme, count in counts.items())
    return "\n".join(
        (
            _verdict(choice),
            f"layers: {schemes}; {size(mix.bytes)} instead of {size(whole)}",
            f"expected error of the output: {mix.error:.2%}",
            f"expected time of the layers' products: {mix.seconds:.2f} times that in 16 bits "
            f"({choice.target.machine.expected_of})",
        )
    )


def scheme_counts(choice: "AutoChoice") -> dict[str, int]:
    """Number of layers by scheme, 16 bits included."""
    counts: dict[str, int] = {}
    for each in choice.mix.chosen.values():
        counts[each.scheme] = counts.get(each.scheme, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def numbers(choice: "AutoChoice") -> dict[str, object]:
    """The choice for programs."""
    return {**choice.record(), "schemes": scheme_counts(choice)}


def _verdict(choice: "AutoChoice") -> str:
    target = choice.target
    card, peak = size_at_least(target.machine.vram_bytes), size(choice.plan.peak_vram_bytes)
    at = f"{target.model.width}x{target.model.height}"
    whole = all(not part.slots for part in choice.plan.components if part.name == choice.component)
    where = "the whole denoiser on the card" if whole else "some of the denoiser streamed, which is faster"
    how = f"as planned: a peak of {peak} with {where}, at {at}"
    if not choice.formats:
        return f"{plain(target.model.id, 100)} fits {card} in 16 bits ({how})"
    return f"{plain(target.model.id, 100)} fits {card} ({how})"
