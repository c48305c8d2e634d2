"""`python -m mezzotint_package KIND`: builds an installer into dist/."""

import argparse
import sys
from pathlib import Path

from mezzotint_package.errors import PackagingError
from mezzotint_package.release import KINDS, Options, Release
from mezzotint_package.targets import TARGETS

_PROJECT = Path(__file__).parents[2]


def main() -> int:
    """Build what was asked for."""
    parser = argparse.ArgumentParser(prog="make package", description="Build an installer into dist/.")
    parser.add_argument("kind", choices=(*KINDS, "locks", "payload"))
    parser.add_argument("--output", type=Path, default=_PROJECT / "dist", help="folder of the installers")
    parser.add_argument("--work", type=Path, default=_PROJECT / "build/package", help="folder of downloads")
    parser.add_argument(
        "--kernels", type=Path, nargs="+", default=[], help="wheels of the kernels; those that fit go in"
    )
    parser.add_argument("--runtime", type=Path, help="the program that an AppImage begins with")
    parser.add_argument("--torch-index", help="folder of PyTorch's indexes; 'configured': what pip is set up with")
    parser.add_argument("--locks", type=Path, help="folder of locks that KIND=locks has made")
    parser.add_argument(
        "--systems", nargs="+", choices=TARGETS, default=list(TARGETS), help="what to make locks or payloads for"
    )
    parser.add_argument("--updates", default="", help="URL of the folder of the newest release, to look for updates")
    parser.add_argument("--public-key", type=Path, help="that updates are signed by, if not packaging/updates.pub")
    parser.add_argument("--url", default="", help="URL of the folder that KIND=payload is downloaded from")
    parser.add_argument("--release", action="store_true", help="every backend, and URLs that work everywhere")
    chosen = vars(parser.parse_args())
    kind, systems = chosen.pop("kind"), chosen.pop("systems")
    release = Release(Options(project=_PROJECT, **chosen), lambda text: print(text, file=sys.stderr, flush=True))
    try:
        if kind == "locks":
            paths = [release.write_locks(systems)]
        elif kind == "payload":
            paths = [release.build_payload(TARGETS[system]) for system in systems]
        else:
            paths = [release.build(kind)]
    except PackagingError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f"{error.filename or 'a file'}: {error.strerror or error}")
    print(*paths, sep="\n")
    return 0


def _failed(why: str) -> int:
    print(f"make package: {why}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
