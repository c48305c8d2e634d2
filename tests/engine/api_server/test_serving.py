"""A server from its start to its end."""

import http.client
import json
import threading

import pytest
from api_made import PATIENCE, TOKEN, DrawingEngine, ListingCatalog

from mezzotint.api_server.access import Access
from mezzotint.api_server.serving import ServeSettings, check_host, serve
from mezzotint.errors import DeviceLost, UsageError


def settings(tmp_path, **changes):
    return ServeSettings(**{"output": tmp_path / "out", "access": Access(token=TOKEN), "port": 0} | changes)


def post(url, prompt):
    address = url.removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", "/sdapi/v1/txt2img", json.dumps({"prompt": prompt}), headers)
    return connection.getresponse()


def test_it_ends_when_asked_and_the_running_job_has_its_answer(tmp_path):
    engine, stop, answers = DrawingEngine(), threading.Event(), []

    def on_ready(url):
        thread = threading.Thread(target=lambda: answers.append(post(url, "slow").status))
        thread.start()
        assert engine.running.wait(PATIENCE)
        stop.set()
        answers.append(thread)

    assert serve(settings(tmp_path), ListingCatalog(), lambda: engine, stop.is_set, on_ready)
    answers.pop(0).join(PATIENCE)
    assert answers == [200]
    assert engine.closed == 1 and list((tmp_path / "out").iterdir()) == []


def test_it_ends_with_the_device(tmp_path):
    answers = []
    with pytest.raises(DeviceLost):
        serve(
            settings(tmp_path),
            ListingCatalog(),
            DrawingEngine,
            lambda: False,
            lambda url: answers.append(post(url, "lost").status),
        )
    assert answers == [503]


def test_what_cannot_be_served(tmp_path):
    def never(_):
        raise AssertionError

    for wrong in ({"model": "no-such"}, {"port": 70_000}, {"host": "192.0.2.1"}):
        with pytest.raises(UsageError):
            serve(settings(tmp_path, **wrong), ListingCatalog(), DrawingEngine, lambda: True, never)
    assert list((tmp_path / "out").iterdir()) == []


def test_other_machines_need_a_token():
    check_host("127.0.0.1", None)
    check_host("0.0.0.0", TOKEN)
    with pytest.raises(UsageError, match="--no-token"):
        check_host("0.0.0.0", None)
