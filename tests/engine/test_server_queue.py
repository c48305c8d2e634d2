"""The engine process drains the queue: it tells every task, is steered meanwhile, and puts back what it leaves."""

import pytest
from server_client import Client

from mezzotint.codec import decode, decode_drain_event, encode
from mezzotint.jobs.store import JobStore
from mezzotint.protocol import GenerateRequest, Loading, Notice, Output, Saved, Step
from mezzotint.queue_protocol import DrainRequest, DrainResult, DrainSettings, TaskBegun, TaskEnded


@pytest.fixture
def client():
    client = Client()
    yield client
    client.engine.let_go.set()
    client.end()


@pytest.fixture
def store():
    with JobStore.open().store as store:
        yield store


def add(store, *prompts, **changes):
    return store.add([GenerateRequest(prompt=one, seed=7, output=Output(path="/out/"), **changes) for one in prompts])


def drain(client, call=1, **settings):
    client.call(call, "drain", encode(DrainRequest(owner="me", settings=DrainSettings(**settings))))


def heard(before):
    return [decode_drain_event(one["params"]["event"]) for one in before if one.get("method") == "event"]


def result_of(message):
    return decode(DrainResult, message["result"])


def states(store, entry=1):
    return [task.state for task in store.entry(entry).tasks]


def test_each_task_is_told_and_what_becomes_of_it(client, store):
    add(store, "a barn", "refused", count=2)
    drain(client, previews=True)
    message, before = client.answer(1)
    assert result_of(message) == DrainResult(stopped="empty", done=1, failed=1)
    events = heard(before)
    kinds = [TaskBegun, Loading, Step, Notice, Saved, Step, Notice, Saved, TaskEnded, TaskBegun, Loading, TaskEnded]
    assert [type(event) for event in events] == kinds
    begun, ended, refused = events[0], events[8], events[-1]
    assert (begun.task.entry, begun.task.request.prompt, begun.task.state) == (1, "a barn", "running")
    assert (ended.task, ended.state, ended.failure) == (1, "done", None) and len(ended.result.images) == 2
    assert (refused.state, refused.result, refused.failure.kind) == ("failed", None, "model_refused")
    assert states(store) == ["done", "failed"] and store.row(1).images == 2
    assert client.engine.requests[0].previews


def test_what_is_paused_or_empty_is_told_at_once(client, store):
    drain(client)
    assert result_of(client.answer(1)[0]).stopped == "empty"
    add(store, "a barn")
    store.pause()
    drain(client, 2)
    assert result_of(client.answer(2)[0]).stopped == "paused"


def test_a_drain_that_is_cancelled_puts_back_what_runs(client, store):
    add(store, "slow", "a barn")
    drain(client)
    client.engine.running.wait()
    client.call(2, "cancel", {"job": 1})
    message, _ = client.answer(1)
    assert result_of(message) == DrainResult(stopped="cancelled", done=0, failed=0)
    assert states(store) == ["waiting", "waiting"] and not store.paused()


def test_a_task_that_is_cancelled_in_the_queue_stops_and_the_next_is_made(client, store):
    add(store, "slow", "a barn")
    drain(client)
    client.engine.running.wait()
    store.cancel_task(1)
    assert result_of(client.answer(1)[0]).done == 1
    assert states(store) == ["cancelled", "done"]


def test_other_settings_are_those_of_the_next_task(client, store):
    add(store, "slow", "a barn")
    drain(client, device="cuda")
    client.engine.running.wait()
    client.call(2, "drain_settings", {"device": "cpu"})
    before = client.answer(2)[1]
    store.cancel_task(1)
    client.answer(1)
    assert before and [one.device for one in client.engine.requests] == ["cuda", "cpu"]
    client.call(3, "drain_settings", {"device": "cpu"})  # nobody is concerned
    assert "result" in client.answer(3)[0]


@pytest.mark.parametrize("how", ["dies", "asks it to end"])
def test_what_runs_when_the_starter_goes(store, how):
    client = Client()
    add(store, "slow", "a barn")
    drain(client)
    client.engine.running.wait()
    if how == "asks it to end":
        client.call(2, "shutdown")
    client.end()
    assert client.finished
    assert states(store) == (["interrupted", "waiting"] if how == "dies" else ["waiting", "waiting"])
    assert store.paused() == (how == "dies")
    assert store.entry(1).tasks[0].attempts == 0


def test_what_a_drain_before_could_not_tell_is_put_back_first(client, store):
    add(store, "a barn")
    store.claim("me")
    drain(client)
    assert result_of(client.answer(1)[0]).done == 1


def test_after_a_lost_device_the_process_ends_and_the_task_is_told(store):
    codes = []
    client = Client(exit_process=codes.append)
    add(store, "lost")
    drain(client)
    message, before = client.answer(1)
    assert message["error"]["data"]["kind"] == "device_lost"
    assert heard(before)[-1].failure.kind == "device_lost" and states(store) == ["waiting"]
    client.end()
    assert codes == [86]


def test_an_engine_that_cannot_be_made_costs_no_task_anything(client, store, monkeypatch):
    def broken(_):
        raise ImportError("torch")

    monkeypatch.setattr(client.server, "_make_engine", broken)
    add(store, "a barn")
    drain(client)
    assert client.answer(1)[0]["error"]["data"]["kind"] == "bug"
    assert states(store) == ["waiting"]
