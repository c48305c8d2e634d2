import hashlib
import json
import subprocess

import pytest
from minisign_made import public_line

from mezzotint_package import release
from mezzotint_package.archives import Member
from mezzotint_package.errors import PackagingError
from mezzotint_package.release import Options, Release
from mezzotint_package.targets import TARGETS


def test_sums_are_of_every_finished_file(tmp_path):
    (tmp_path / "b.deb").write_bytes(b"b")
    (tmp_path / "a.exe").write_bytes(b"a")
    (tmp_path / "c.zip.part").write_bytes(b"c")
    release.write_sums(tmp_path)
    release.write_sums(tmp_path)
    assert (tmp_path / "SHA256SUMS").read_text() == "".join(
        f"{hashlib.sha256(name[:1].encode()).hexdigest()}  {name}\n" for name in ("a.exe", "b.deb")
    )


def test_the_time_is_the_given_one_or_that_of_the_last_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "5")
    assert release.epoch(tmp_path) == 5
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert release.epoch(tmp_path) == 1767225600
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    dated = ["commit", "-q", "--allow-empty", "-m", "a"]
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1700000000 +0000")
    subprocess.run([*git, *dated], check=True)
    assert release.epoch(tmp_path) == 1700000000


def test_given_locks_are_used_and_an_incomplete_folder_is_refused(tmp_path):
    folder = tmp_path / "locks" / "linux"
    folder.mkdir(parents=True)
    made = Release(Options(project=tmp_path, output=tmp_path, work=tmp_path, locks=tmp_path / "locks"), print)
    (folder / "pylock.cpu.toml").write_text("cpu")
    with pytest.raises(PackagingError, match=r"has no pylock\.window\.toml; make locks with KIND=locks"):
        made.locks(TARGETS["linux"])
    (folder / "pylock.window.toml").write_text("window")
    assert made.locks(TARGETS["linux"]) == {"cpu": "cpu", "window": "window"}


def test_updates_are_told_of_every_payload(tmp_path, monkeypatch):
    made = Release(Options(project=tmp_path, output=tmp_path, work=tmp_path, url="https://x/v1/"), print)
    monkeypatch.setattr(Release, "version", "1.0")
    monkeypatch.setattr(Release, "locks", lambda self, target: {})
    monkeypatch.setattr(Release, "_parts", lambda self, target, texts: target)
    monkeypatch.setattr(release, "payload", lambda target: {"uv": Member(data=target.key.encode(), program=True)})
    for system in ("linux", "windows"):
        made.build_payload(TARGETS[system])
    index = json.loads((tmp_path / "mezzotint-releases.json").read_text())
    assert (index["format"], index["version"]) == (1, "1.0")
    assert set(index["payloads"]) == {"linux_x86_64", "win32_amd64"}
    archive = tmp_path / "mezzotint-payload-1.0-win32_amd64.zip"
    assert index["payloads"]["win32_amd64"] == {
        "url": f"https://x/v1/{archive.name}",
        "size": archive.stat().st_size,
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }


@pytest.mark.parametrize("key", [None, "", "untrusted comment: x\nRWQ\n"])
def test_nothing_is_built_that_looks_for_updates_and_cannot_check_them(tmp_path, key):
    if key is not None:
        (tmp_path / "key.pub").write_text(key)
    given = Options(
        project=tmp_path, output=tmp_path, work=tmp_path, updates="https://x/", public_key=tmp_path / "key.pub"
    )  # fmt: skip
    with pytest.raises(PackagingError, match="has no public key for updates"):
        Release(given, print)._key()


def test_the_payload_has_the_key_that_updates_are_signed_by(tmp_path):
    line = public_line(b"s" * 32)
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "updates.pub").write_text(f"untrusted comment: minisign public key\n{line}\n")
    made = Release(Options(project=tmp_path, output=tmp_path, work=tmp_path, updates="https://x/"), print)
    assert made._key() == line


def test_a_system_gets_the_kernels_that_fit(tmp_path):
    names = [f"mezzotint_kernels-1-cp311-abi3-{one}.whl" for one in ("manylinux_2_28_x86_64", "win_amd64")]
    fitting = {system: [name for name in names if TARGETS[system].fits(tmp_path / name)] for system in TARGETS}
    assert fitting == {"linux": names[:1], "windows": names[1:], "macos": []}
