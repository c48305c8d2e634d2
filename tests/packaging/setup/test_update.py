"""Updates: asked for only where allowed, taken by hash, installed beside."""

import json
import shutil

import pytest
from setup_made import installer, sha256, write_payload

from mezzotint_setup.command import main
from mezzotint_setup.root import Pointer, Root
from mezzotint_setup.update import newer, platform_key


@pytest.fixture
def release(tmp_path, server, root, payload, capsys, in_process):
    """An installed version, and a newer release on the server."""
    installer(root, payload).install("cpu")
    newer = write_payload(tmp_path / "newer", server.folder, server.url, version="2.0")
    shutil.make_archive(str(server.folder / "payload"), "zip", newer)
    one = {"url": f"{server.url}/payload.zip", "size": (server.folder / "payload.zip").stat().st_size}
    one["sha256"] = sha256(server.folder / "payload.zip")
    index = {"format": 1, "version": "2.0", "payloads": {platform_key(): one}}

    def call(*words, digest=one["sha256"], **changes):
        one["sha256"] = digest
        (server.folder / "index.json").write_text(json.dumps(index | changes))
        where = ["--root", str(root), "--payload", str(payload), "--jsonl", "--index", f"{server.url}/index.json"]
        code = main([*words, *where])
        return code, json.loads(capsys.readouterr().out.splitlines()[-1])

    return call


def test_nothing_is_asked_before_it_was_allowed(release, server):
    server.faults.asked.clear()
    code, told = release("check-update")
    assert (code, told["code"]) == (1, "not_allowed")
    assert release("update")[1]["code"] == "not_allowed"
    assert server.faults.asked == []
    assert release("check-update", "--allow")[1]["version"] == "2.0"
    assert release("check-update")[1] | {"download": 0} == {
        "event": "update",
        "version": "2.0",
        "newer": True,
        "download": 0,
    }


def test_an_update_is_installed_with_its_own_payload(release, root, payload):
    release("check-update", "--allow")
    assert release("update") == (0, {"event": "done", "version": "2.0-cpu", "notes": []})
    made = Root(root)
    assert made.pointer() == Pointer(version="2.0-cpu", before="1.0-cpu")
    assert made.facts("2.0-cpu")["payload"] == str(root / "payloads" / "2.0")
    assert release("update")[1]["notes"] == ["this is the newest version"]
    assert release("check-update")[1]["newer"] is False
    assert installer(root, payload).repair() == "2.0-cpu.2"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"format": 2}, "index"),
        ({"version": "../../2"}, "index"),
        ({"payloads": {}}, "index"),
        ({"payloads": {platform_key(): {"url": "x", "size": "y", "sha256": ""}}}, "index"),
    ],
)
def test_an_index_that_is_not_understood(release, changes, code):
    release("check-update", "--allow")
    assert release("update", **changes)[1]["code"] == code


def test_an_archive_with_another_hash_is_refused(release, root):
    release("check-update", "--allow")
    assert release("update", digest="0" * 64)[1]["code"] == "hash"
    assert Root(root).usable() == "1.0-cpu"


@pytest.mark.parametrize("address", ["http://example.org/index.json", "file:///etc/passwd"])
def test_only_https(root, payload, address, capsys, in_process):
    words = ["check-update", "--allow", "--jsonl", "--root", str(root), "--payload", str(payload), "--index", address]
    assert main(words) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "index"


def test_a_payload_without_an_address_says_so(root, payload, capsys, in_process):
    (payload / "payload.json").write_text(json.dumps({"version": "1.0", "files": {}}))
    assert main(["check-update", "--allow", "--jsonl", "--root", str(root), "--payload", str(payload)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["code"] == "no_index" and "names no address" in told["what"] and "--index" in told["next"]


@pytest.mark.parametrize(("version", "than", "is_newer"), [("0.10.0", "0.9.1", True), ("1.0", "1.0", False)])
def test_versions_are_compared_by_numbers(version, than, is_newer):
    assert newer(version, than) == is_newer
