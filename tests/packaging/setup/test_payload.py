"""Payloads and locks: read, or refused as damaged."""

import json

import pytest
from setup_made import seal, write_wheel

from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.payload import Payload, requirements
from mezzotint_setup.wheel_tags import Target

TARGET = Target(python=(3, 12), platform="linux_x86_64", system=(2, 36))


def write_lock(payload, *wheels, backend="cpu"):
    text = f'[[packages]]\nname = "torch"\nversion = "2"\nwheels = [{", ".join(wheels)}]\n'
    (payload / "locks" / f"pylock.{backend}.toml").write_text(text)


def wheel(url, size=100):
    return f'{{ url = "{url}", size = {size}, hashes = {{ sha256 = "{"0" * 64}" }} }}'


def test_a_lock_gives_the_wheel_that_fits(payload):
    names = ["cp313-cp313-manylinux_2_28_x86_64", "cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-win_amd64"]
    write_lock(payload, *(wheel(f"https://host/a/torch-2%2Bcpu-{name}.whl") for name in names))
    lock = Payload.read(payload).lock("cpu", TARGET)
    assert [one.filename for one in lock.wheels] == ["torch-2+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"]
    assert (lock.download, lock.installed) == (100, 320)
    assert requirements(lock.wheels) == f"torch==2 --hash=sha256:{'0' * 64}\n"


def test_a_system_without_a_wheel_is_told(payload):
    write_lock(payload, wheel("https://host/torch-2-cp313-cp313-win_amd64.whl"))
    with pytest.raises(SetupFailed, match="no build of torch for Python 3.12 on linux_x86_64") as failure:
        Payload.read(payload).lock("cpu", TARGET)
    assert failure.value.code == "no_wheel"


def test_a_build_without_a_lock_names_the_others(payload):
    with pytest.raises(SetupFailed, match="window, cpu, cu130"):
        Payload.read(payload).lock("xpu")


@pytest.mark.parametrize(
    "url", ["https://host/..%2F..%2Ftorch-2-py3-none-any.whl", "https://host/a/.b-2-py3-none-any.whl"]
)
def test_names_that_lead_elsewhere_are_refused(payload, url):
    write_lock(payload, wheel(url))
    with pytest.raises(SetupFailed, match="no file name"):
        Payload.read(payload).lock("cpu")


@pytest.mark.parametrize("text", ["[", "packages = 3", '[[packages]]\nname = "a"'])
def test_damaged_locks(payload, text):
    (payload / "locks" / "pylock.cpu.toml").write_text(text)
    with pytest.raises(SetupFailed) as failure:
        Payload.read(payload).lock("cpu")
    assert failure.value.code in ("payload", "no_wheel")


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"version": "1", "files": 3}'])
def test_damaged_payloads(payload, text):
    (payload / "payload.json").unlink() if text is None else (payload / "payload.json").write_text(text)
    with pytest.raises(SetupFailed, match="run it again") as failure:
        Payload.read(payload)
    assert failure.value.code == "payload"


def test_a_file_that_is_gone_is_told(payload):
    (payload / "uv").unlink()
    with pytest.raises(SetupFailed, match="uv cannot be read"):
        Payload.read(payload).verify()


def test_kernels_are_for_cuda_only(payload):
    write_wheel(payload / "wheels", "mezzotint_kernels", "1", {})
    seal(payload, index=["https://mirror"])
    read = Payload.read(payload)
    assert read.mirrors == ("https://mirror",)
    assert [one.name for one in read.own_wheels("cu130")] == ["mezzotint", "mezzotint_kernels"]
    assert [one.name for one in read.own_wheels("cpu")] == ["mezzotint"]
    assert json.loads((payload / "payload.json").read_text())["version"] == "1.0"
