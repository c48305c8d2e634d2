import plistlib
from pathlib import Path

from mezzotint_package import icons, macos


def test_the_bundle_has_what_its_properties_name(files, monkeypatch):
    monkeypatch.setattr(icons, "icns", lambda drawing: b"icns")
    inside = macos.bundle(Path(__file__).parents[3], files, "1.2.3")
    contents = "Mezzotint.app/Contents"
    properties = plistlib.loads(inside[f"{contents}/Info.plist"].data)
    assert inside[f"{contents}/MacOS/{properties['CFBundleExecutable']}"].program
    assert f"{contents}/Resources/{properties['CFBundleIconFile']}.icns" in inside
    job = properties["CFBundleDocumentTypes"][0]
    assert f"{contents}/Resources/{job['CFBundleTypeIconFile']}.icns" in inside
    assert job["LSItemContentTypes"] == [properties["UTExportedTypeDeclarations"][0]["UTTypeIdentifier"]]
    assert inside[f"{contents}/Resources/payload/uv"].program
    assert properties["CFBundleShortVersionString"] == "1.2.3"
