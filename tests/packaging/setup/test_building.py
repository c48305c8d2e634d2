"""Which Python environments are made from."""

import pytest

from mezzotint_setup.building import console_python


@pytest.mark.parametrize(("name", "asked"), [("pythonw.exe", "python.exe"), ("python3.12", "python3.12")])
def test_a_python_without_a_console_is_not_asked(name, asked):
    assert console_python(f"/programs/{name}").as_posix() == f"/programs/{asked}"
