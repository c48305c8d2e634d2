"""An installation that is killed at any moment: the old or the new version starts, and the next attempt succeeds."""

import random
import subprocess
import time

import pytest
from setup_made import command, environment, installer, write_payload

from mezzotint_setup.programs import clean_environment
from mezzotint_setup.root import Root


@pytest.fixture
def versions(tmp_path, server, payload):
    return [payload, write_payload(tmp_path / "newer", server.folder, server.url, version="2.0")]


@pytest.mark.parametrize("kills", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_any_moment(kills, root, versions):
    installer(root, versions[0]).install("cpu")
    installed, chance = Root(root), random.Random(kills)
    began = time.monotonic()
    subprocess.run(command(["install", "--backend", "cpu"], root, versions[1]), env=environment(), check=True)
    lasts = time.monotonic() - began
    switched = 0
    for number in range(kills):
        before = installed.usable()
        words = command(["install", "--backend", "cpu"], root, versions[number % 2])
        with subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL) as process:
            time.sleep(chance.random() * lasts)
            process.kill()
        now = installed.usable()
        assert now is not None
        switched += now != before
        window = [installed.interpreter(now), "-m", "mezzotint_app"]
        said = subprocess.run(window, env=clean_environment(), capture_output=True, text=True, check=True).stdout
        assert said.split() == [now.partition("-")[0]]
    name = installer(root, versions[1]).install("cpu")
    pointer = installed.pointer()
    assert {path.name for path in installed.versions.iterdir()} == {name, pointer.before}
    assert switched < kills


def test_two_first_starts_at_once_make_one_version(root, payload):
    processes = [
        subprocess.Popen(command(["start"], root, payload), env=environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate()[0].split() for process in processes] == [["1.0", "1"]] * 2
    assert [path.name for path in Root(root).versions.iterdir()] == ["1.0-window"]
