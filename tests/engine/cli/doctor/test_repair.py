"""`mezzotint doctor --repair`."""

import json

import pytest

from mezzotint.cli.doctor.repair import has_bootstrap, repair
from mezzotint.errors import UsageError


def test_the_bootstrap_repairs_what_it_installed(tmp_path):
    payload = tmp_path / "payload"
    (payload / "mezzotint_setup").mkdir(parents=True)
    facts = {"python": "/usr/bin/python3", "payload": str(payload), "root": "/root of it", "backend": "cpu"}
    (tmp_path / ".proven").write_text(json.dumps(facts))
    ran = []

    def run(words, environment):
        ran.append((words, environment["PYTHONPATH"]))
        return 3

    assert has_bootstrap(tmp_path)
    assert repair(tmp_path, run) == 3
    words = ("/usr/bin/python3", "-m", "mezzotint_setup", "repair", "--root", "/root of it", "--payload", str(payload))
    assert ran == [(words, str(payload))]


def test_without_its_payload_the_installer_is_asked_for(tmp_path):
    (tmp_path / ".proven").write_text(json.dumps({"python": "p", "payload": "/nowhere", "root": "r"}))
    with pytest.raises(UsageError, match="run Mezzotint's installer again"):
        repair(tmp_path)


@pytest.mark.parametrize("written", [None, "{", "[]"])
def test_what_came_in_another_way_is_told_how_to_be_repaired(tmp_path, written):
    if written is not None:
        (tmp_path / ".proven").write_text(written)
    with pytest.raises(UsageError, match="nothing was repaired.*pipx reinstall mezzotint"):
        repair(tmp_path)
