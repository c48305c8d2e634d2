"""macOS: the bundle, in a zip file."""

import plistlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mezzotint_package import icons
from mezzotint_package.archives import Member

_IMAGES = ("public.png", "public.jpeg", "org.webmproject.webp")


def bundle(project: Path, payload: Mapping[str, Member], version: str) -> dict[str, Member]:
    """Return the files of Mezzotint.app."""
    contents = {
        "Info.plist": Member(data=plistlib.dumps(_properties(version), sort_keys=True)),
        "PkgInfo": Member(data=b"APPL????"),
        "MacOS/Mezzotint": Member(data=(project / "packaging/linux/mezzotint").read_bytes(), program=True),
        "Resources/mezzotint.icns": Member(data=icons.icns(icons.program_drawing(project))),
        "Resources/job.icns": Member(data=icons.icns(icons.job_drawing(project))),
    }
    contents |= {f"Resources/payload/{name}": member for name, member in payload.items()}
    return {f"Mezzotint.app/Contents/{name}": member for name, member in contents.items()}


def _properties(version: str) -> dict[str, Any]:
    job = "org.mezzotint.job"
    return {
        "CFBundleDisplayName": "Mezzotint",
        "CFBundleExecutable": "Mezzotint",
        "CFBundleIconFile": "mezzotint",
        "CFBundleIdentifier": "org.mezzotint.Mezzotint",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleName": "Mezzotint",
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "LSApplicationCategoryType": "public.app-category.graphics-design",
        "LSArchitecturePriority": ["arm64"],
        "LSMinimumSystemVersion": "14.0",
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": [
            {"CFBundleTypeName": "Mezzotint job", "CFBundleTypeRole": "Editor", "CFBundleTypeIconFile": "job"}
            | {"LSItemContentTypes": [job], "LSHandlerRank": "Owner"},
            {"CFBundleTypeName": "Image", "CFBundleTypeRole": "Viewer", "LSHandlerRank": "Alternate"}
            | {"LSItemContentTypes": list(_IMAGES)},
        ],
        "UTExportedTypeDeclarations": [
            {"UTTypeIdentifier": job, "UTTypeDescription": "Mezzotint job", "UTTypeIconFile": "job"}
            | {"UTTypeConformsTo": ["public.text"]}
            | {"UTTypeTagSpecification": {"public.filename-extension": ["mezzotint.toml"]}}
        ],
    }
