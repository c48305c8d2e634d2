"""Format a memory plan as text tables."""

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.columns import columns
from mezzotint.memory_protocol import Advice, AdviceKind
from mezzotint.protocol import Plan, PlannedComponent, PlannedPhase
from mezzotint.training_protocol import TrainingPlan

_HOSTS = {"ram": "RAM", "disk": "disk"}
_NETWORKS = ("NETWORK", "PRECISION", "SIZE", "RESIDENT", "SLOTS", "ON DEVICE", "OFFLOADED TO", "USED IN")
_PHASES = ("PHASE", "WEIGHTS", "ACTIVATIONS", "PEAK", "TIME", "TIME IF RESIDENT")

_COSTS: dict[AdviceKind, str] = {
    "model": "another model, with other images",
    "weights": "images differ slightly",
    "text": "prompts are understood slightly differently; not measured",
    "cache": "images differ slightly",
    "tokens": "images differ",
    "shrink": "images differ",
    "hires": "composed at the smaller size; details are added by the second pass",
}
_MEASURABLE = ("weights", "cache", "tokens", "shrink")  # whose losses differ from model to model


def report(plan: Plan) -> str:
    """Format the verdict, a table of components, a table of phases, and the remaining reasons."""
    lines = [plan.reasons[0], ""]
    several = len({part.model for part in plan.components}) > 1
    lines += [columns([_NETWORKS, *(_network(part, several=several) for part in plan.components)]), ""]
    total = plan.seconds_loading + plan.seconds
    phases = [
        ("load", "", "", "", _seconds(plan.seconds_loading), ""),
        *map(_phase, plan.phases),
        ("total", "", "", "", _seconds(total), ""),
    ]
    lines += [columns([_PHASES, *phases]), ""]
    lines += [f"- {plain(reason, 400)}" for reason in plan.reasons[1:]]
    if plan.advice:
        lines += ["", "faster:", columns([_advice(one, plan) for one in plan.advice])]
    return "\n".join(lines)


def training_report(plan: TrainingPlan) -> str:
    """Format the verdict, a table of phases, and the reasons."""
    rows = [("PHASE", "PARAMETERS", "GRADIENTS", "OPTIMIZER", "ACTIVATIONS", "PEAK")]
    for each in plan.phases:
        buckets = (each.parameters, each.gradients, each.optimizer, each.activations, each.peak)
        rows.append((each.name, *(size(count) if count else "-" for count in buckets)))  # type: ignore[arg-type]
    reasons = (f"- {plain(reason, 400)}" for reason in plan.reasons)
    return "\n".join([plan.summary, "", columns(rows), "", *reasons])


def _advice(advice: Advice, plan: Plan) -> tuple[str, ...]:
    """Return the options, the time with them, and what they cost."""
    if advice.seconds is None:
        time = "how much depends on the image"
    else:
        time = f"{_seconds(advice.seconds)} instead of {_seconds(plan.seconds)}"
    cost = _COSTS[advice.kind]
    if advice.loss is not None:
        cost += f": by {advice.loss:.1%}, as measured on this model".replace("%", " %")
    elif advice.kind in _MEASURABLE:
        cost += ", how much was not measured on this model"
    return f"  {options_of(advice)}", time, cost


def options_of(advice: Advice) -> str:
    """Return the options on a command line."""
    words = {
        "-m": advice.model,
        "--quant": advice.quantization,
        "--quant-text": advice.text_quantization,
        "--step-cache": "auto" if advice.step_cache is not None else None,
        "--tokens": advice.tokens and advice.tokens[0],
        "--deep-shrink": advice.deep_shrink and f"{advice.deep_shrink[0]:g}",
        "--size": advice.size and "{}x{}".format(*advice.size),
        "--hires": advice.hires and f"{advice.hires:g}",
    }
    return " ".join(f"{option} {plain(value, 200)}" for option, value in words.items() if value)


def _phase(phase: PlannedPhase) -> tuple[str, ...]:
    return (
        phase.name,
        size(phase.weights_bytes),
        size(phase.activation_bytes),
        size(phase.peak_bytes),
        _seconds(phase.seconds),
        _seconds(phase.seconds_resident),
    )


def _network(part: PlannedComponent, *, several: bool) -> tuple[str, ...]:
    blocks = f"{part.resident_blocks} of {part.blocks}" if part.slots else "all"
    return (
        plain(f"{part.model}/{part.name}" if several else part.name),
        "full" if part.quantization == "none" else part.quantization,
        size(part.bytes),
        blocks,
        str(part.slots or "-"),
        size(part.device_bytes),
        _offloaded_to(part),
        ", ".join(part.phases),
    )


def _offloaded_to(part: PlannedComponent) -> str:
    if not part.pinned_bytes:
        return _HOSTS[part.host]
    much = "" if part.pinned_bytes >= part.bytes else f"{size(part.pinned_bytes)} "
    return f"{_HOSTS[part.host]}, {much}page-locked"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
