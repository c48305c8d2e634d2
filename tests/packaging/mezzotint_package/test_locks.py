import hashlib
import sys
import tomllib

import pytest

from mezzotint_package import locks
from mezzotint_package.errors import PackagingError
from mezzotint_package.locks import Index, Locked, Resolver, Wheel
from mezzotint_package.targets import TARGETS
from mezzotint_setup.payload import Payload
from mezzotint_setup.wheel_tags import Target

PROJECT = """
[project]
dependencies = ["numpy>=2", "torch>=2.10", "bitsandbytes>=0.5; sys_platform != 'darwin'"]
optional-dependencies = {app = ["PySide6-Essentials>=6.8"]}
"""
# Stands in for uv: answers with the lock beside it, and writes down what it was asked.
UV = """#!{python} -IS
import shutil, sys
words = sys.argv[1:]
open({folder!r} + "/asked.txt", "a").write(" ".join(words) + "\\n" + open(words[-1]).read() + "\\n")
python = words[words.index("--python-version") + 1]
shutil.copy({folder!r} + "/answer-" + python + ".toml", words[words.index("-o") + 1])
"""
URL = "https://index.example/{name}"


def wheel(name, size=10):
    return Wheel(url=URL.format(name=name), sha256=hashlib.sha256(name.encode()).hexdigest(), size=size)


def answer(**packages):
    """Return uv's lock: for each package its wheels."""
    text = 'lock-version = "1.0"\n'
    for name, files in packages.items():
        text += f'[[packages]]\nname = "{name}"\nversion = "{files[0].split("-")[1]}"\nwheels = [\n'
        text += "".join(
            f'{{ url = "{wheel(file).url}", size = 10, hashes = {{ sha256 = "{wheel(file).sha256}" }} }},\n'
            for file in files
        )
        text += "]\n"
    return text


@pytest.fixture
def resolver(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    uv = tmp_path / "uv"
    uv.write_text(UV.format(python=sys.executable, folder=str(tmp_path)))
    uv.chmod(0o755)
    return Resolver(uv=uv, project=tmp_path, index=Index(pythons=("3.11", "3.12")))


posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for uv is a script")


@posix
def test_one_lock_serves_every_python_and_takes_the_best_wheels(resolver, tmp_path):
    for minor in (11, 12):
        files = [f"numpy-2.0-cp3{minor}-cp3{minor}-{one}.whl" for one in ("manylinux_2_17_x86_64", "win_amd64")]
        qt = ["pyside6-6.9-cp310-abi3-manylinux_2_34_x86_64.whl", "pyside6-6.9-py3-none-any.whl"]
        (tmp_path / f"answer-3.{minor}.toml").write_text(answer(numpy=files, pyside6=qt))
    found = resolver.lock(TARGETS["linux"], "window")
    assert [(one.name, [each.name for each in one.wheels]) for one in found] == [
        ("numpy", [f"numpy-2.0-cp3{minor}-cp3{minor}-manylinux_2_17_x86_64.whl" for minor in (11, 12)]),
        ("pyside6", ["pyside6-6.9-cp310-abi3-manylinux_2_34_x86_64.whl"]),
    ]
    asked = (tmp_path / "asked.txt").read_text()
    assert "torch" not in asked
    assert "--python-platform x86_64-manylinux_2_34 --python-version 3.12" in asked


@posix
def test_a_build_without_cuda_has_nothing_of_cuda(resolver, tmp_path):
    for python in ("3.11", "3.12"):
        (tmp_path / f"answer-{python}.toml").write_text(answer(nvidia_cublas=["nvidia_cublas-1-py3-none-any.whl"]))
    with pytest.raises(PackagingError, match="has no torch for cpu on linux: what it has needs nvidia-cublas"):
        resolver.lock(TARGETS["linux"], "cpu")
    assert resolver.lock(TARGETS["linux"], "cu130")[0].name == "nvidia-cublas"


@posix
def test_a_package_without_a_wheel_for_the_system_is_named(resolver, tmp_path):
    (tmp_path / "answer-3.11.toml").write_text(answer(numpy=["numpy-2.0-cp311-cp311-win_amd64.whl"]))
    with pytest.raises(PackagingError, match=r"numpy 2\.0 has no wheel that fits"):
        resolver.lock(TARGETS["macos"], "mps")


def test_the_window_needs_no_engine(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    assert locks.requirements(tmp_path, "window") == ["numpy>=2", "PySide6-Essentials>=6.8"]
    assert len(locks.requirements(tmp_path, "cpu")) == 4


def test_versions_that_differ_between_pythons_are_an_error():
    one = Locked(name="a", version="1", wheels=(wheel("a-1-py3-none-any.whl"),))
    other = Locked(name="a", version="2", wheels=(wheel("a-2-py3-none-any.whl"),))
    with pytest.raises(PackagingError, match="a is 1 for one Python and 2 for another"):
        locks.merged([[one], [other]])


def test_the_bootstrap_reads_what_was_written(tmp_path):
    packages = [
        Locked(name="a", version="1", wheels=(wheel("a-1-cp311-cp311-win_amd64.whl", 5),)),
        Locked(name="b", version="2+cpu", wheels=(wheel("b-2%2Bcpu-py3-none-any.whl", 7),)),
    ]
    text = locks.written(packages, ("3.11",))
    assert locks.read(text) == packages
    assert tomllib.loads(text)["requires-python"] == ">=3.11"
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "pylock.cpu.toml").write_text(text)
    payload = Payload(folder=tmp_path, version="1", files={}, mirrors=())
    lock = payload.lock("cpu", Target(python=(3, 11), platform="win_amd64"))
    assert lock.download == 12
    assert [one.filename for one in lock.wheels] == ["a-1-cp311-cp311-win_amd64.whl", "b-2+cpu-py3-none-any.whl"]


def test_a_launcher_gets_the_python_that_every_package_has_a_wheel_for():
    names = {"a": ["a-1-cp311-cp311-win_amd64.whl", "a-1-cp313-cp313-win_amd64.whl"], "b": ["b-1-py3-none-any.whl"]}
    locked = [Locked(name=name, version="1", wheels=tuple(map(wheel, files))) for name, files in names.items()]
    assert locks.python_for(TARGETS["windows"], [locked, locked[1:]]) == "3.13"
    with pytest.raises(PackagingError, match=r"no Python from 3\.11 to 3\.14"):
        locks.python_for(TARGETS["linux"], [locked])


def test_addresses_of_this_machine_are_found():
    here = Wheel(url="file:///opt/a-1-py3-none-any.whl", sha256="", size=1)
    assert locks.local([Locked(name="a", version="1", wheels=(here, wheel("a-1-py3-none-any.whl")))]) == [here.url]


def test_an_index_without_sizes_is_asked_for_each(tmp_path):
    file = tmp_path / "a.whl"
    file.write_bytes(b"12345")
    assert locks.size_of(file.as_uri()) == 5
    with pytest.raises(PackagingError, match="does not say how large the file is"):
        locks.size_of("http://127.0.0.1:1/a.whl")


def test_each_backend_has_its_folder_of_pytorchs_index():
    found = locks.index_of(TARGETS["linux"], "rocm", "http://localhost:1/whl/")
    assert found.arguments[:2] == ("--index", "http://localhost:1/whl/rocm7.2")
    assert locks.index_of(TARGETS["macos"], "mps", "http://localhost:1/") == Index()


def test_without_pytorchs_index_the_places_of_pip_are_used(tmp_path, monkeypatch):
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://a.example/simple\nextra-index-url = file:///x https://b.example/simple\n"
        "find-links = /wheels\n"
    )
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    found = " ".join(locks.configured_index())
    assert "--default-index https://a.example/simple" in found
    assert "--index https://b.example/simple" in found
    assert "--find-links /wheels" in found
    assert "file:///x" not in found
