"""Update the window's translation catalogues from the texts in the code, and compile them.

python bench/translations.py
"""

import lzma
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from mezzotint_app.language import LANGUAGES, SOURCE, catalogues

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "app" / "mezzotint_app"


def main() -> int:
    """Update and compile each; return 1 if Qt's tools fail."""
    try:
        for language in sorted(LANGUAGES):
            catalogue = catalogues() / f"mezzotint_{language}.ts"
            update(catalogue)
            compile_catalogue(catalogue, catalogue.with_suffix(".qm.xz"))
            print(f"{language}: {len(untranslated(catalogue))} strings not translated yet")
    except subprocess.CalledProcessError as error:
        print(error.stdout)
        return 1
    return 0


def update(catalogue: Path) -> None:
    """Add new texts and drop obsolete ones; existing translations are kept."""
    language = catalogue.stem.partition("_")[2]
    names = [path.relative_to(ROOT).as_posix() for path in sources()]
    options = ["-locations", "none", "-no-obsolete", "-sort-messages", "-target-language", language]
    options += ["-source-language", SOURCE]
    if language == SOURCE:
        options.append("-pluralonly")
    _run("pyside6-lupdate", *options, *names, "-ts", str(catalogue))


def sources() -> list[Path]:
    """Return the modules that contain texts of the window; texts of options are in the engine's protocol modules."""
    return sorted([*APP.rglob("*.py"), *(ROOT / "engine" / "mezzotint").glob("*protocol.py")])


def compile_catalogue(catalogue: Path, compiled: Path) -> None:
    """Compile a catalogue to the file that the window reads."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "catalogue.qm")
        _run("pyside6-lrelease", "-silent", str(catalogue), "-qm", str(plain))
        compiled.write_bytes(lzma.compress(plain.read_bytes(), preset=9))


def untranslated(catalogue: Path) -> list[str]:
    """Return the texts without a translation, or with one that nobody has reviewed."""
    return [
        message.findtext("source", "")
        for message in ElementTree.parse(catalogue).iter("message")
        if message.find("translation[@type='unfinished']") is not None
    ]


def tool(name: str) -> str | None:
    """Return the path of a Qt program that came with PySide6."""
    return shutil.which(name, path=Path(sys.executable).parent)


def _run(name: str, *words: str) -> None:
    found = tool(name)
    if found is None:
        raise SystemExit(f"{name} was not found: install PySide6 with 'make setup'")
    subprocess.run(
        [found, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
