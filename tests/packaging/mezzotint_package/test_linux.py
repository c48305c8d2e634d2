import configparser
import io
import lzma
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import pytest

from mezzotint_package import icons, linux
from mezzotint_package.payload import laid_out

PROJECT = Path(__file__).parents[3]
EPOCH = 1767225600


@pytest.fixture
def tree(files, monkeypatch):
    monkeypatch.setattr(icons, "png", lambda drawing, size: b"\x89PNG")
    return linux.tree(PROJECT, files, "1.2.3", EPOCH)


def test_what_the_desktop_reads_fits_together(tree):
    entry = configparser.ConfigParser(interpolation=None)
    entry.read_string(tree["share/applications/mezzotint.desktop"].data.decode())
    entry = entry["Desktop Entry"]
    assert f"bin/{entry['Exec'].split()[0]}" in tree
    assert f"share/icons/hicolor/256x256/apps/{entry['Icon']}.png" in tree
    kinds = ElementTree.fromstring(tree["share/mime/packages/mezzotint-job.xml"].data)
    [job] = kinds
    assert job.get("type") in entry["MimeType"].split(";")
    names = {"{*}" + name: job.find("{*}" + name) for name in ("icon", "glob")}
    assert f"share/icons/hicolor/scalable/mimetypes/{names['{*}icon'].get('name')}.svg" in tree
    told = ElementTree.fromstring(tree["share/metainfo/org.mezzotint.Mezzotint.metainfo.xml"].data)
    assert told.find("releases/release").attrib == {"version": "1.2.3", "date": "2026-01-01"}
    assert told.find("launchable").text == "mezzotint.desktop"
    assert [one.text for one in told.findall("provides/mediatype")] == [job.get("type")]


def test_a_debian_package_has_its_three_members(tree):
    data = linux.deb(PROJECT, tree, "1.2.3", EPOCH)
    assert data == linux.deb(PROJECT, dict(reversed(tree.items())), "1.2.3", EPOCH)
    assert re.findall(rb"([a-z.-]+) +1767225600  0     0     100644", data) == [
        b"debian-binary",
        b"control.tar.xz",
        b"data.tar.xz",
    ]
    start = data.index(b"control.tar.xz") + 60
    control = lzma.LZMADecompressor().decompress(data[start:])
    with tarfile.open(fileobj=io.BytesIO(control)) as archive:
        fields = archive.extractfile("./control").read().decode()
        sums = archive.extractfile("./md5sums").read().decode().splitlines()
        assert archive.getmember("./prerm").mode == 0o755
    assert "Version: 1.2.3\n" in fields
    assert "@" not in fields.replace("@users", "")
    assert [line.split("  ")[1] for line in sums] == sorted(line.split("  ")[1] for line in sums)


def test_an_appimage_starts_the_launcher_and_shows_its_icon(tree):
    inside = linux.appdir(tree)
    for name, place in (
        ("AppRun", "usr/bin/mezzotint"),
        (".DirIcon", "usr/share/icons/hicolor/256x256/apps/mezzotint.png"),
    ):
        while inside[name].link:
            name = posixpath.normpath(posixpath.join(posixpath.dirname(name), inside[name].link))
        assert name == place
    assert "mezzotint.desktop" in inside


# ---- the launcher


@pytest.fixture
def launched(tree, tmp_path):
    """Lay out the package and return a function that starts one of its programs with stand-ins on the path."""
    root = tmp_path / "usr"
    laid_out(tree, root)
    stand_ins = tmp_path / "stand-ins"
    stand_ins.mkdir()

    def script(path, text):
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    told = 'echo "$@ payload $MEZZOTINT_SETUP_PAYLOAD python $MEZZOTINT_SETUP_PYTHON path $PYTHONPATH"'
    good = script(stand_ins / "good", f'[ "$1" = -I ] || {told}')
    old = script(stand_ins / "old", "exit 1")
    for name in ("dirname", "basename", "readlink", "sed", "sh", "uname"):
        (stand_ins / name).symlink_to(shutil.which(name))

    def start(name, *words, python=good, uv="exit 1"):
        (stand_ins / "python3").unlink(missing_ok=True)
        (stand_ins / "python3").symlink_to(python)
        script(root / "lib/mezzotint/uv", uv)
        # The system's own Python must not be found: the real launcher looks there first.
        path = root / "bin/mezzotint"
        path.write_text(path.read_text().replace("/usr/bin/python3", "/nowhere/python3"))
        environment = {"PATH": str(stand_ins), "HOME": str(tmp_path / "a home")}
        command = [root / "bin" / name, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    return SimpleNamespace(start=start, good=good, old=old)


posix = pytest.mark.skipif(sys.platform != "linux", reason="a launcher for Linux")


@posix
@pytest.mark.parametrize(
    ("name", "words", "passed"),
    [
        ("mezzotint", ["generate", "a red house"], "run generate a red house"),
        ("mezzotint-app", ["a b.png"], "start a b.png"),
        ("mezzotint-app", ["cli", "doctor"], "run doctor"),
        ("mezzotint-app", ["setup", "remove"], "remove"),
        ("mezzotint-setup", ["look"], "look"),
    ],
)
def test_each_name_starts_its_part_of_the_bootstrap(launched, tmp_path, name, words, passed):
    done = launched.start(name, *words)
    payload = tmp_path / "usr/lib/mezzotint"
    python = tmp_path / "stand-ins/python3"
    assert done.stdout == f"-m mezzotint_setup {passed} payload {payload} python {python} path {payload}\n", done.stderr


@posix
def test_a_python_is_got_where_there_is_none(launched, tmp_path):
    got = tmp_path / "got"
    uv = f'''echo "$@ $UV_PYTHON_INSTALL_DIR" >> "{tmp_path}/asked"
        case "$2" in find) [ -e "{got}" ] && echo "{launched.good}";; install) : > "{got}";; esac'''
    done = launched.start("mezzotint-app", python=launched.old, uv=uv)
    assert done.stdout.startswith("-m mezzotint_setup start payload")
    assert "Getting Python 3.12" in done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[1] for line in asked] == ["find", "install", "find"]
    assert all(line.endswith("/a home/.local/share/mezzotint/engine/python") for line in asked)


@posix
def test_without_python_and_network_it_says_what_to_do(launched):
    done = launched.start("mezzotint-app", python=launched.old)
    assert done.returncode == 1
    assert "install Python 3.11 or newer, and start again" in done.stderr
