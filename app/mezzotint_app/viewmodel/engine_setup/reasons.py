"""Why a build is advised, and what keeps a better one from working, in the window's language."""

from PySide6.QtCore import QCoreApplication

from mezzotint_app.viewmodel.engine_setup.facts import Facts
from mezzotint_app.viewmodel.engine_setup.texts import build_text

translate = QCoreApplication.translate


def why_text(facts: Facts) -> str:
    """Why the build is advised; in the bootstrap's words if it has other reasons than this version knows."""
    reason = facts.reason
    text = _reasons().get(reason.code, "") if reason is not None else ""
    if reason is None or not text:
        return facts.why[:1].upper() + facts.why[1:] + "."
    if reason.lacks:
        text += " " + translate("EngineSetup", "This release has no build of this kind for this system: {build}.")
    return text.format(**_values(facts), build=build_text(reason.lacks or ""))


def advice_text(facts: Facts) -> str:
    """What would allow a faster build; empty if nothing would."""
    advice = facts.advice
    if advice is None:
        return ""
    texts = {
        "driver_missing": translate(
            "EngineSetup",
            "{card} has no NVIDIA driver that can compute: install the newest one (on Linux that of your "
            "distribution), then look again.",
        ),
        "driver_old": translate(
            "EngineSetup",
            "Driver {driver} is older than 580, which the fastest build needs: install the newest one (on Linux that "
            "of your distribution), then look again. Until then, this works: {build}.",
        ),
    }
    if facts.reason is None or advice.code not in texts:
        return f"{advice.what[:1].upper()}{advice.what[1:]}: {advice.next}."
    return texts[advice.code].format(**_values(facts), build=build_text(facts.backend))


def _reasons() -> dict[str, str]:
    return {
        "none": translate("EngineSetup", "No graphics card that can compute was found."),
        "apple": translate("EngineSetup", "Apple's GPU is used through Metal."),
        "arc": translate("EngineSetup", "{card} is one of Intel's Arc cards."),
        "driver_missing": translate("EngineSetup", "{card} has no NVIDIA driver that can compute."),
        "card_old": translate("EngineSetup", "{card} (compute capability {capability}) is older than CUDA 13."),
        "nvidia": translate("EngineSetup", "{card} with driver {driver}."),
        "driver_old": translate("EngineSetup", "{card}: driver {driver} is older than 580."),
        "amd_elsewhere": translate("EngineSetup", "{card}: PyTorch has builds for AMD's cards on Linux only."),
        "rocm": translate("EngineSetup", "{card} ({target}) is supported by ROCm."),
        "no_kfd": translate("EngineSetup", "{card}: the kernel's compute driver (amdgpu, /dev/kfd) is not loaded."),
        "amd_other": translate("EngineSetup", "{card} ({target}) is not among the cards that PyTorch's ROCm supports."),
    }


def _values(facts: Facts) -> dict[str, str]:
    name = facts.reason.card if facts.reason is not None else None
    card = next((one for one in facts.gpus if one.name == name), None)
    return {
        "card": name or "",
        "driver": facts.driver or "",
        "capability": ".".join(map(str, (card.capability if card is not None else None) or ())),
        "target": (card.target if card is not None else None) or "",
    }
