"""`mezzotint queue`: what a person and a program do to the list of images."""

import json

import pytest
from fake_engine import model_info
from queue_timings import record_timing

from mezzotint.jobs.store import JobStore, Lease, PhaseSeconds, queue_path, run_key
from mezzotint.protocol import GenerateRequest, ImageMetadata, ModelRef


@pytest.fixture
def queue(command):
    """`mezzotint queue ...`."""
    return lambda *words, **options: command("queue", *words, **options)


@pytest.fixture
def store():
    """The queue that the commands use, in this process."""
    with JobStore.open().store as opened:
        yield opened


def requests(store, entry=1):
    return [task.request for task in store.entry(entry).tasks]


def test_adding_keeps_what_generate_would_have_been_asked(queue, store, tmp_path):
    done = queue(
        "add",
        "a barn",
        "-m",
        "base",
        "--size",
        "64x96",
        "--steps",
        "20",
        "--seed",
        "7",
        "--count",
        "2",
        "-o",
        f"{tmp_path}/x.png",
    )
    assert (done.code, done.out) == (0, "1\n")
    assert done.err == "2 images added; `mezzotint queue run` makes them\n"
    (request,) = requests(store)
    stage = request.cascade.stages[0]
    assert (request.prompt, request.seed, request.count, request.output.path) == ("a barn", 7, 2, f"{tmp_path}/x.png")
    assert (stage.model, stage.width, stage.height, stage.sampling.steps) == (ModelRef(id="base"), 64, 96, 20)
    assert done.engine.requests == []


def test_a_matrix_is_one_entry(queue, store):
    done = queue("add", "a {red|blue} house", "--seeds", "1, 2,3", "--json")
    assert done.json == {"entry": 1, "tasks": 6}
    assert [(one.prompt, one.seed) for one in requests(store)] == [
        (f"a {colour} house", seed) for colour in ("red", "blue") for seed in (1, 2, 3)
    ]
    assert store.row(1).title == "a {red|blue} house"
    queue("add", "a {red|blue} house", "--no-matrix", "--title", "braces")
    assert [one.prompt for one in requests(store, 2)] == ["a {red|blue} house"]
    assert store.row(2).title == "braces"


def test_adding_to_the_front(queue, store):
    queue("add", "first")
    queue("add", "second", "--front")
    assert [row.title for row in store.rows()] == ["second", "first"]


def test_adding_what_an_image_says(queue, store):
    request = GenerateRequest(prompt="as then", seed=3)
    values = dict.fromkeys(ImageMetadata.__dataclass_fields__)
    metadata = ImageMetadata(**values | {"program": "mezzotint", "request": request, "other": {}})
    assert queue("add", "--from", "x.png", "--seed", "4", metadata=metadata).code == 0
    assert [(one.prompt, one.seed) for one in requests(store)] == [("as then", 4)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no prompt given"),
        (["x", "--seeds", "1,x"], "--seeds"),
        (["x", "--seeds", "1", "--seed", "2"], "--seed and --seeds"),
        (["{a|b}" * 20], "more than a billion|at most 10000"),
    ],
)
def test_what_cannot_be_added(queue, words, told):
    done = queue("add", *words)
    assert done.code == 2
    assert any(one in done.err for one in told.split("|"))


def test_the_list(queue, store, tmp_path):
    assert queue("list").err == "queue empty\n"
    for prompt in ("waits", "fails", "over", "cancelled"):
        queue("add", prompt, "-m", "base", "--seed", "1", "-o", f"{tmp_path}/[seed].png")
    store.move([2], before=1)
    store.fail(store.claim("me").id, "out_of_memory", "the GPU\nran out")
    store.cancel([4])
    done = queue("list")
    assert done.out.splitlines() == [
        "ID  STATE    IMAGES  MODEL  WHAT",
        "2   failed   0 of 1  base   fails: the GPU\\nran out",
        "1   waiting  0 of 1  base   waits",
        "3   waiting  0 of 1  base   over",
    ]
    assert done.err == "2 images to make\n"
    assert len(queue("list", "--all").out.splitlines()) == 5
    record_timing(
        store, run_key(requests(store)[0]), PhaseSeconds(load=0, encode=0, step=30, decode=0, save=0, steps=20)
    )
    store.pause()
    assert queue("list").err == (
        "2 images to make, about 20 min; the queue is paused: `mezzotint queue resume` resumes it\n"
    )
    listed = queue("list", "--json").json
    assert (listed["paused"], listed["seconds_left"]) == (True, 1200)
    assert [entry["state"] for entry in listed["entries"]] == ["failed", "waiting", "waiting"]


def test_the_list_does_not_believe_a_program_that_has_ended(queue, store):
    queue("add", "x", "-m", "base")
    queue("add", "y", "-m", "base")
    with Lease.acquire("auto", what="alive") as lease:
        store.claim(lease.owner)
        store.claim("cpu/dead")
        done = queue("list")
        assert [line.split()[:2] for line in done.out.splitlines()[1:]] == [["1", "running"], ["2", "interrupted"]]
        assert "entries 2 were interrupted: `mezzotint queue resume`" in done.err
        assert [entry["state"] for entry in queue("list", "--json").json["entries"]] == ["running", "interrupted"]
        assert queue("resume").err == "the queue is resumed, including 1 interrupted tasks\n"
        assert [row.state for row in store.rows()] == ["running", "waiting"]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (40, "40 s"), (119, "2 min"), (700, "12 min"), (12_000, "3 h 20 min")]
)
def test_durations(seconds, words):
    from mezzotint.cli.queue.queue import duration

    assert duration(seconds) == words


def test_pause_and_resume(queue, store):
    queue("add", "x")
    assert queue("pause").code == 0
    assert store.paused()
    assert "is resumed" in queue("resume").err
    assert not store.paused()
    store.claim("dead")
    store.recover(lambda _: False)
    assert queue("resume").err == "the queue is resumed, including 1 interrupted tasks\n"
    assert not store.paused()
    assert store.row(1).state == "waiting"


def test_pause_after_what_is_being_made(queue, store):
    queue("add", "x")
    assert queue("pause", "--after-this").err == "the queue pauses after the current task\n"
    assert store.stops_after_current() and not store.paused()
    queue("resume")
    assert not store.stops_after_current()


def test_retry_of_one_and_of_all(queue, store):
    for _ in range(3):
        queue("add", "x")
        store.fail(store.claim("me").id, "failed", "x")
    assert queue("retry", "2").err == "retrying: 2\n"
    assert [row.state for row in store.rows()] == ["failed", "waiting", "failed"]
    assert queue("retry").err == "retrying: 1, 3\n"
    assert queue("retry").err == "nothing to retry\n"


def test_cancel_remove_and_clear(queue, store):
    for _ in range(4):
        queue("add", "x")
    queue("cancel", "1", "2")
    assert [row.state for row in store.rows()] == ["cancelled", "cancelled", "waiting", "waiting"]
    assert queue("clear").err == "2 entries were removed\n"
    store.claim("me")
    assert "being stopped: 3" in queue("remove", "3", "4").err
    assert [row.id for row in store.rows()] == [3]
    assert store.is_cancel_requested(3)


@pytest.mark.parametrize("name", ["retry", "cancel", "remove"])
def test_an_entry_that_is_not_there(queue, store, name):
    queue("add", "x")
    done = queue(name, "1", "9")
    assert done.code == 2
    assert "the queue has no entry 9" in done.err
    assert store.row(1).state == "waiting"


def test_a_damaged_queue_is_told(queue):
    queue_path().parent.mkdir(parents=True, exist_ok=True)
    queue_path().write_bytes(b"garbage" * 100)
    done = queue("list")
    assert done.code == 0
    assert "notice: the queue was damaged" in done.err


def test_a_newer_queue_is_refused_for_programs_too(queue, store):
    store._database.connection.execute("PRAGMA user_version = 99")
    done = queue("list", "--json")
    assert done.code == 7
    assert json.loads(done.out)["error"]["kind"] == "storage"


def test_no_engine_and_no_model_is_looked_for_where_none_is_needed(queue):
    for words in (["list"], ["pause"], ["resume"], ["retry"], ["clear"]):
        assert queue(*words, models=[model_info()]).folders == []
