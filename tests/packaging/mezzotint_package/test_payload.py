import json
import os
import sys

import pytest

from mezzotint_package.errors import PackagingError
from mezzotint_package.payload import Parts, laid_out, payload
from mezzotint_setup.payload import Payload


@pytest.fixture
def parts(tmp_path):
    wheel = tmp_path / "mezzotint-1.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    bootstrap = tmp_path / "mezzotint_setup"
    bootstrap.mkdir()
    (bootstrap / "__init__.py").write_text('"""Setup."""\n')
    return Parts(
        version="1.0",
        python="3.12",
        uv=b"uv",
        uv_name="uv",
        wheels=[wheel],
        locks={"cpu": "packages = []\n"},
        bootstrap=bootstrap,
    )


def test_the_bootstrap_accepts_what_was_put_together(parts, tmp_path):
    folder = tmp_path / "laid out"
    laid_out(payload(parts), folder)
    read = Payload.read(folder)
    read.verify()
    assert read.version == "1.0"
    assert read.backends == ("cpu",)
    assert [wheel.filename for wheel in read.own_wheels("cpu")] == ["mezzotint-1.0-py3-none-any.whl"]
    assert set(json.loads((folder / "payload.json").read_text())["files"]) == {
        str(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file()
    } - {"payload.json"}
    assert sys.platform == "win32" or os.access(folder / "uv", os.X_OK)


def test_without_a_bootstrap_nothing_is_built(parts):
    (parts.bootstrap / "__init__.py").unlink()
    with pytest.raises(PackagingError, match="there is no bootstrap in"):
        payload(parts)
