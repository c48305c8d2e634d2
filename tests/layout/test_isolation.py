"""The guards of tests/plugins/isolation.py."""

import os
import socket
from pathlib import Path

import isolation
import pytest

from mezzotint import paths

pytest_plugins = ["pytester"]

ADDRESS = ("192.0.2.1", 9)  # reserved for documentation, so nothing listens there


@pytest.mark.parametrize(
    "reach",
    [
        "socket.create_connection(('192.0.2.1', 9), timeout=0.1)",
        "socket.socket().connect_ex(('192.0.2.1', 9))",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
        "socket.getaddrinfo('example.org', 443)",
    ],
)
def test_a_test_that_reaches_for_the_network_fails_even_if_it_swallows_the_refusal(pytester, reach):
    pytester.makepyfile(f"""
        import socket

        def test_it():
            try:
                {reach}
            except BaseException:
                pass
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[isolation])
    assert result.parseoutcomes() == {"passed": 1, "errors": 1}
    result.stdout.fnmatch_lines(["*the test reached for the network*"])


def test_this_machine_may_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", b"example.org", "2001:db8::1", "localhost.example.org"])
def test_other_machines_are_not_local(host):
    assert not isolation.is_local(host)


def test_the_person_s_own_folders_are_out_of_reach(_homes):
    for folder in (
        paths.models_folder(),
        paths.config_folder(),
        paths.cache_folder(),
        paths.huggingface_cache(),
        Path.home(),
    ):
        assert folder.is_relative_to(_homes)
        assert not folder.exists()


def test_libraries_are_told_to_stay_offline():
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert "HF_TOKEN" not in os.environ


def test_each_test_has_folders_of_its_own(pytester):
    pytester.makepyfile("""
        import os, pathlib, pytest

        @pytest.mark.parametrize("i", range(2))
        def test_it(i):
            folder = pathlib.Path(os.environ["MEZZOTINT_MODELS"])
            assert not folder.exists()
            folder.mkdir(parents=True)
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[isolation])
    result.assert_outcomes(passed=2)
