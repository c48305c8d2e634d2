"""How an engine process ended, and how to explain that to the user."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication, QLocale

translate = QCoreApplication.translate

DEVICE_LOST = 86  # the exit code of errors.DeviceLost

ExitKind = Literal["ended", "crashed", "not_started", "broken", "hung", "stopped"]
Cause = Literal["memory", "device", "native", "file", "library", "instruction", "killed", "unknown"]

# System codes: signal numbers, and Windows exit codes as unsigned integers.
_SIGNALS: Mapping[int, Cause] = {4: "instruction", 6: "native", 7: "file", 8: "native", 9: "memory", 11: "native"}
_SIGNALS_OF_MACOS: Mapping[int, Cause] = {**_SIGNALS, 7: "native", 10: "file"}
_ASKED_TO_END = (1, 2, 15)  # hang-up, interrupt, terminate
_WINDOWS: Mapping[int, Cause] = {
    0xC0000005: "native",  # access violation
    0xC0000006: "file",  # a page of a mapped file could not be read
    0xC0000017: "memory",
    0xC000001D: "instruction",
    0xC000009A: "memory",  # no system resources
    0xC00000FD: "native",  # stack overflow
    0xC000012D: "memory",  # commitment limit
    0xC0000135: "library",  # a DLL was not found
    0xC0000139: "library",
    0xC0000142: "library",
    0xC0000374: "native",  # heap corruption
    0xC0000409: "native",  # abort
    0x40010004: "killed",
    0xC000013A: "killed",  # Ctrl-C
}
_IN_THE_LOG: Mapping[str, Cause] = {  # matched against the last log lines if the exit code is inconclusive
    "memoryerror": "memory",
    "std::bad_alloc": "memory",
    "cannot allocate memory": "memory",
    "modulenotfounderror": "library",
    "importerror": "library",
    "no module named": "library",
    "cannot open shared object file": "library",
    "dll load failed": "library",
    "illegal instruction": "instruction",
    "cuda error": "device",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExit:
    """How a process ended."""

    kind: ExitKind
    code: int = 0  # exit code; for a crash on Linux and macOS, the signal number
    detail: str = ""  # the message from Qt, or the reason for killing the process


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShortage:
    """Bytes of memory that were needed or in use, and that were free."""

    needed: int
    free: int


def exit_cause(ending: ProcessExit, log: Sequence[str] = (), platform: str = sys.platform) -> Cause:
    """Why the process ended, determined from its exit code and its last log lines."""
    if ending.kind == "ended" and ending.code == DEVICE_LOST:
        return "device"
    found = _by_code(ending, platform)
    return found if found != "unknown" else _by_log(log)


def _by_code(ending: ProcessExit, platform: str) -> Cause:
    if platform == "win32":
        return _WINDOWS.get(ending.code & 0xFFFFFFFF, "unknown")
    number = ending.code if ending.kind == "crashed" else ending.code - 128  # shells report a signal as 128 + number
    if number in _ASKED_TO_END:
        return "killed"
    table = _SIGNALS_OF_MACOS if platform == "darwin" else _SIGNALS
    return table.get(number, "unknown")


def _by_log(log: Sequence[str]) -> Cause:
    for line in reversed(log[-40:]):
        low = line.lower()
        for words, found in _IN_THE_LOG.items():
            if words in low:
                return found
    return "unknown"


def plain_reason(
    ending: ProcessExit,
    name: str,
    *,
    log: Sequence[str] = (),
    memory: MemoryShortage | None = None,
    platform: str = sys.platform,
) -> str:
    """What happened, in plain words; `name` is the process's display name."""
    match ending.kind:
        case "not_started":
            return translate("ProcessExit", "{name} could not be started: {detail}. Reinstall Mezzotint.").format(
                name=name, detail=(ending.detail or _unknown()).rstrip(".")
            )
        case "broken":
            return translate("ProcessExit", "{name} sent an invalid response and was terminated: {detail}").format(
                name=name, detail=_sentence(ending.detail)
            )
        case "hung":
            return translate("ProcessExit", "{name} stopped responding and was terminated: {detail}").format(
                name=name, detail=_sentence(ending.detail)
            )
        case "stopped":
            return translate("ProcessExit", "{name} was stopped.").format(name=name)
    return _of_cause(exit_cause(ending, log, platform), ending, log, memory).replace("{name}", name)


def _of_cause(found: Cause, ending: ProcessExit, log: Sequence[str], memory: MemoryShortage | None) -> str:
    match found:
        case "memory":
            return _out_of_memory(memory)
        case "device":
            return translate("ProcessExit", "{name} lost the GPU: the graphics driver failed.")
        case "file":
            return translate(
                "ProcessExit",
                "{name} could not read an open file. Check whether a model was moved or a drive was disconnected.",
            )
        case "library":
            words = translate(
                "ProcessExit", "{name} is missing a part of its installation: {line}. Reinstall Mezzotint."
            )
            return words.replace("{line}", _last_line(log).rstrip("."))
        case "instruction":
            return translate("ProcessExit", "{name} used an instruction that this processor does not support.")
        case "killed":
            return translate("ProcessExit", "{name} was terminated by another program.")
        case "native":
            return translate("ProcessExit", "{name} crashed ({code}).").replace("{code}", _code(ending))
    if ending.kind == "crashed":
        return translate("ProcessExit", "{name} crashed ({code}).").replace("{code}", _code(ending))
    message = translate("ProcessExit", "{name} exited with code {code}.").replace("{code}", str(ending.code))
    return f"{message} {_sentence(_last_line(log))}" if _last_line(log) else message


def _out_of_memory(memory: MemoryShortage | None) -> str:
    if memory is None:
        return translate(
            "ProcessExit", "{name} was terminated by the system, most likely because it ran out of memory."
        )
    return (
        translate("ProcessExit", "{name} ran out of memory: {needed} GB needed, {free} GB free.")
        .replace("{needed}", gigabytes(memory.needed))
        .replace("{free}", gigabytes(memory.free))
    )


def gigabytes(size: int) -> str:
    """Format a byte count as a number of GB with one decimal place."""
    return QLocale().toString(size / 2**30, "f", 1)


def _code(ending: ProcessExit) -> str:
    """The code in the form in which it can be searched for online."""
    whole = ending.code & 0xFFFFFFFF
    if whole >= 0x80000000:
        return f"0x{whole:08X}"
    return translate("ProcessExit", "signal {number}").replace("{number}", str(ending.code))


def _last_line(log: Sequence[str]) -> str:
    return next((line.strip()[:200] for line in reversed(log) if line.strip()), "")


def _sentence(text: str) -> str:
    """End a message from elsewhere with a full stop, so that other sentences can follow."""
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def _unknown() -> str:
    return translate("ProcessExit", "the system gave no reason")
