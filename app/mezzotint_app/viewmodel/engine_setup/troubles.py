"""What each failure of the bootstrap is, and the next step."""

from PySide6.QtCore import QCoreApplication, QLocale

from mezzotint_app.viewmodel.engine_setup.facts import Trouble

translate = QCoreApplication.translate
_ENGLISH = (QLocale.Language.English, QLocale.Language.C)


def trouble_text(trouble: Trouble) -> str:
    """What happened, and what to do."""
    what = (trouble.what[:1].upper() + trouble.what[1:]).rstrip(".")
    own = "" if QLocale().language() in _ENGLISH else _what(trouble.code)
    return f"{f'{own} ({trouble.what})' if own else what}. {_next_step(trouble)}".strip()


def _what(code: str) -> str:
    """What happened, for languages that the bootstrap does not speak; its own words have the values."""
    refused = translate("EngineSetup", "The server does not give a package out")
    other = translate("EngineSetup", "A package is not what was released")
    texts = {
        "no_room": translate("EngineSetup", "There is not enough room on the disk"),
        "read_only": translate("EngineSetup", "The folder cannot be written to"),
        "disk": translate("EngineSetup", "The disk reports an error"),
        "path_long": translate("EngineSetup", "The path of the folder is too long for Windows"),
        "busy": translate("EngineSetup", "Another installation is at work"),
        "payload": translate("EngineSetup", "What the installer brought is damaged"),
        "no_lock": translate("EngineSetup", "This release has no such build"),
        "no_wheel": translate("EngineSetup", "This build has no packages for this system"),
        "no_network": translate("EngineSetup", "A package could not be downloaded"),
        "certificate": translate("EngineSetup", "The certificate of the server is not trusted here"),
        "not_found": refused,
        "refused": refused,
        "hash": other,
        "missing_wheels": translate("EngineSetup", "The folder lacks packages"),
        "build": translate("EngineSetup", "The engine could not be installed"),
        "proof": translate("EngineSetup", "The new version does not work here, so nothing was switched"),
        "no_before": translate("EngineSetup", "There is no earlier version"),
        "not_allowed": translate("EngineSetup", "Looking for updates is off"),
        "no_index": translate("EngineSetup", "This copy of Mezzotint names no address for updates"),
        "index": translate("EngineSetup", "The answer about updates is not understood"),
        "signature": other,
    }
    return texts.get(code, "")


def _next_step(trouble: Trouble) -> str:
    retry = translate("EngineSetup", "Try again: what was downloaded is kept.")
    offline = translate(
        "EngineSetup",
        "Check the connection and try again: what was downloaded is kept. Or take the packages from a folder that "
        "another computer has filled.",
    )
    folder = translate("EngineSetup", "Choose another folder above, which you may write to.")
    again = translate("EngineSetup", "Download Mezzotint's installer again and run it.")
    cpu = translate("EngineSetup", "Try again, or choose the CPU build above, which works everywhere.")
    steps = {
        "no_room": translate("EngineSetup", "Free some space, or choose a folder on another disk above."),
        "read_only": folder,
        "disk": folder,
        "path_long": translate("EngineSetup", "Choose a folder with a shorter path above."),
        "busy": translate("EngineSetup", "Wait until the other installation has ended, then try again."),
        "payload": again,
        "no_lock": cpu,
        "no_wheel": translate("EngineSetup", "Choose another build above, or use the installer made for this system."),
        "no_network": offline,
        "certificate": translate(
            "EngineSetup",
            "A proxy or virus scanner seems to come between: add its certificate to the system's, or take the "
            "packages from a folder.",
        ),
        "not_found": offline,
        "refused": offline,
        "hash": translate("EngineSetup", "The file was not what was released, and was dropped. Try again."),
        "missing_wheels": translate("EngineSetup", "Choose a folder that has every package of this build."),
        "build": cpu,
        "proof": cpu,
        "no_before": translate("EngineSetup", "Stay with this version."),
        "not_allowed": translate("EngineSetup", "Allow looking for updates first."),
        "no_index": translate("EngineSetup", "Get newer versions from where this one came from."),
        "index": again,
        "signature": again,
        "ended": retry,
        "not_started": again,
    }
    return steps.get(trouble.code, trouble.next)
