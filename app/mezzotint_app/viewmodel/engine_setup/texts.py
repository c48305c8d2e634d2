"""Texts about the engine's builds and the bootstrap's work."""

from PySide6.QtCore import QCoreApplication

from mezzotint_app.amounts import bytes_of, bytes_text, left_text
from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.viewmodel.engine_setup.facts import Facts, Gpu, Needs, Trouble

translate = QCoreApplication.translate


def build_text(backend: str) -> str:
    """The name of a build."""
    names = {
        "cpu": translate("EngineSetup", "CPU (works everywhere, slower)"),
        "cu126": translate("EngineSetup", "NVIDIA, CUDA 12.6 (older cards and drivers)"),
        "cu130": translate("EngineSetup", "NVIDIA, CUDA 13"),
        "rocm": translate("EngineSetup", "AMD, ROCm"),
        "xpu": translate("EngineSetup", "Intel Arc"),
        "mps": translate("EngineSetup", "Apple, Metal"),
    }
    return names.get(backend, backend)


def needs_text(needs: Needs) -> str:
    """What a build downloads and takes."""
    words = translate("EngineSetup", "{download} to download, {disk} on disk")
    return words.format(download=bytes_text(needs.missing), disk=bytes_text(needs.disk))


def cards_text(facts: Facts) -> str:
    """The graphics cards, a line each."""
    return "\n".join(_card(one) for one in facts.gpus) or translate("EngineSetup", "none that can compute was found")


def _card(card: Gpu) -> str:
    parts = [card.name]
    if card.memory_bytes:
        parts.append(bytes_text(card.memory_bytes))
    if card.capability is not None:
        capability = ".".join(map(str, card.capability))
        parts.append(translate("EngineSetup", "compute capability {number}").format(number=capability))
    if card.target:
        parts.append(card.target)
    return ", ".join(parts)


def work_text(phase: str, progress: tuple[int, int] | None, seconds_left: float | None) -> str:
    """What is being done: a phase, and for packages the bytes and the time left."""
    reads = {
        "download": translate("EngineSetup", "Downloading: {amount}"),
        "check": translate("EngineSetup", "Comparing packages with their hashes: {amount}"),
    }
    if phase in reads and progress is not None:
        words = reads[phase].format(amount=bytes_of(*progress))
        left = left_text(seconds_left)
        return f"{words}, {left}" if left else words
    names = {
        "download": translate("EngineSetup", "Preparing the download"),
        "build": translate("EngineSetup", "Installing beside the version in use"),
        "prove": translate("EngineSetup", "Trying it: libraries, one image, the graphics card"),
        "switch": translate("EngineSetup", "Switching to it"),
    }
    return names.get(phase, translate("EngineSetup", "Starting"))


def ended_trouble(ending: ProcessExit) -> Trouble:
    """The failure of a process that ended without telling why."""
    what = translate("EngineSetup", "The installer's program ended unexpectedly ({detail})")
    code = "not_started" if ending.kind == "not_started" else "ended"
    return Trouble(code=code, what=what.format(detail=ending.detail or ending.code))
