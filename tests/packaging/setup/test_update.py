"""Updates: asked for only where allowed, taken by hash, installed beside."""

import json
import shutil

import pytest
from minisign_made import minisig, public_line
from setup_made import installer, seal, sha256, write_payload

from mezzotint_setup.command import main
from mezzotint_setup.root import Pointer, Root
from mezzotint_setup.update import newer, platform_key

SEED = b"the seed of the project's key..."  # 32 bytes


@pytest.fixture
def release(tmp_path, server, root, payload, capsys, in_process):
    """An installed version, and a newer release on the server."""
    installer(root, payload).install("cpu")
    newer = write_payload(tmp_path / "newer", server.folder, server.url, version="2.0")
    seal(newer, version="2.0", key=public_line(SEED))
    shutil.make_archive(str(server.folder / "payload"), "zip", newer)
    one = {"url": f"{server.url}/payload.zip", "size": (server.folder / "payload.zip").stat().st_size}
    one["sha256"] = sha256(server.folder / "payload.zip")
    index = {"format": 1, "version": "2.0", "payloads": {platform_key(): one}}

    seal(payload, key=public_line(SEED))

    def call(*words, digest=one["sha256"], seed=SEED, **changes):
        one["sha256"] = digest
        content = json.dumps(index | changes).encode()
        (server.folder / "index.json").write_bytes(content)
        if seed:
            (server.folder / "index.json.minisig").write_text(minisig(content, seed))
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


@pytest.mark.parametrize(("seed", "what"), [(None, "is not signed"), (b"x" * 32, "is not what was signed")])
def test_an_index_that_is_not_signed_by_the_project_is_refused(release, server, root, seed, what):
    code, told = release("check-update", "--allow", seed=seed)
    assert (code, told["code"]) == (1, "signature") and what in told["what"] and server.url in told["what"]
    assert release("update", seed=seed)[1]["code"] == "signature"
    assert Root(root).usable() == "1.0-cpu" and not list(Root(root).payloads.glob("*"))
    assert release("check-update")[1]["version"] == "2.0"


def test_a_copy_without_a_key_trusts_no_index(release, payload):
    seal(payload)
    told = release("check-update", "--allow")[1]
    assert told["code"] == "signature" and "has no key" in told["what"]


def test_an_update_brings_the_key_of_the_next_one(release, root, payload, server, tmp_path):
    newer = write_payload(tmp_path / "newer", server.folder, server.url, version="2.0")
    seal(newer, version="2.0", key=public_line(b"y" * 32))
    shutil.make_archive(str(server.folder / "payload"), "zip", newer)
    archive = server.folder / "payload.zip"
    one = {"url": f"{server.url}/payload.zip", "size": archive.stat().st_size, "sha256": sha256(archive)}
    payloads = {platform_key(): one}
    release("check-update", "--allow")
    assert release("update", payloads=payloads)[0] == 0
    assert release("check-update", payloads=payloads)[1]["code"] == "signature"
    assert release("check-update", payloads=payloads, seed=b"y" * 32)[1]["newer"] is False


@pytest.mark.parametrize(
    "address", ["http://example.org/index.json", "file:///etc/passwd", "http://127.0.0.1:x@example.org/index.json"]
)
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
