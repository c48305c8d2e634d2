"""Take screenshots of the real window with bundled models, without a display: by default those of the manual.

python bench/screenshots.py [--only NAME]... [--output DIR] [--scale 2] [--longer] [--size 1024x680] [--folder DIR]
                            [--language de]
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

# The simulated screen.
SCREEN = {
    "name": "screen",
    "x": 0,
    "y": 0,
    "width": 1920,
    "height": 1200,
    "logicalDpi": 96,
    "logicalBaseDpi": 96,
    "dpr": 1,
}
THEMES = ("light", "dark")
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def main() -> int:
    """Take the screenshots; return 1 if a wait timed out."""
    options = _parser().parse_args()
    if options.scale != 1:
        os.environ["QT_SCALE_FACTOR"] = f"{options.scale:g}"
    with tempfile.TemporaryDirectory(prefix="mezzotint-screenshots-") as temporary:
        screen = Path(temporary) / "screen.json"
        screen.write_text(json.dumps({"screens": [SCREEN]}), "utf-8")
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={screen}"
        try:
            return take(options, Path(options.folder or temporary).resolve())
        except TimeoutError as trouble:
            print(trouble)
            return 1


def take(options: argparse.Namespace, folder: Path) -> int:
    """Take the requested screenshots, with images and settings in `folder`."""
    sys.path.insert(0, str(HERE))  # also where Python leaves the script's folder out of sys.path
    from PySide6.QtCore import QLocale

    from mezzotint_app.main import make_application
    from window_scenes import SCENES, take  # Qt reads the environment when it is imported

    unknown = [name for name in options.only if name not in SCENES]
    if unknown:
        print(f"no such image: {', '.join(unknown)}; there are {', '.join(SCENES)}")
        return 1
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    application = make_application(options.language)
    if options.longer:
        import longer_words

        longer_words.install(application)
    every = options.only or (SCENES if options.all else ())
    themes = dict.fromkeys(every, THEMES) or {name: (scene.kept,) for name, scene in SCENES.items() if scene.kept}
    width, height = (int(number) for number in options.size.split("x"))
    for path in take(themes, folder, options.output, (width, height), application):
        print(f"{path} {path.stat().st_size / 1024:.0f} KiB", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only this one, in both themes (may be repeated)"
    )
    parser.add_argument("--all", action="store_true", help="every one, in both themes, not only those of the manual")
    parser.add_argument("--output", type=Path, default=ROOT / "assets" / "screenshots", help="where they are written")
    parser.add_argument("--scale", type=float, default=1, help="scale of the display")
    parser.add_argument("--size", default="1280x840", help="size of the window")
    parser.add_argument("--longer", action="store_true", help="every string is 40 %% longer, with accents")
    parser.add_argument("--language", default="en", help="language of the window, such as de")
    parser.add_argument("--folder", help="keep images and settings here, and use them again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
