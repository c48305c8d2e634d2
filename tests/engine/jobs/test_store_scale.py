"""Large queues: what is asked of the database does not grow with what is in it. Counted, not timed."""

import pytest
from queue_timings import record_timing

from mezzotint.jobs.store import JobStore, PhaseSeconds, run_key
from mezzotint.protocol import GeneratedImage, GenerateRequest, Output

MANY = 10_000
SECONDS = PhaseSeconds(load=1, encode=1, step=1, decode=1, save=1, steps=20)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """As many entries as tasks in its first entry."""
    folder = tmp_path_factory.mktemp("large")
    store = JobStore.open(folder / "queue.sqlite").store
    connection = store._database.connection
    connection.execute("PRAGMA synchronous = OFF")  # what a crash does is tested elsewhere
    requests = [
        GenerateRequest(prompt=str(seed), seed=seed, output=Output(path=f"{folder}/none/[seed].png"))
        for seed in range(MANY)
    ]
    store.add(requests)
    connection.execute("BEGIN")
    connection.execute(f"""
        WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n <= {MANY})
        INSERT INTO entries (id, position, title, kind, model, created) SELECT n, n, 'x', 'generate', '', 0 FROM numbers
    """)
    connection.execute("INSERT INTO requests SELECT e.id, r.request FROM entries e, requests r WHERE e.id > 1")
    connection.execute(
        "INSERT INTO tasks (entry, number, changes, seed, drawn, count, steps, key) "
        "SELECT id, 0, '{}', 0, 0, 1, 0, 1 FROM entries WHERE id > 1"
    )
    connection.execute("COMMIT")
    record_timing(store, run_key(requests[0]), SECONDS)
    yield store
    store.close()


@pytest.fixture
def questions(large):
    """What was asked of the database; what a trigger does is told as the statement that set it off, once more."""
    asked = []
    large._database.connection.set_trace_callback(lambda sql: None if asked[-1:] == [sql] else asked.append(sql))
    yield asked
    large._database.connection.set_trace_callback(None)


def image(task):
    return GeneratedImage(path=f"/{task.id}.png", width=1, height=1, seed=task.request.seed, index=0, sha256="")


WAYS = {
    "rows": (lambda store: store.rows(offset=5000), 1),
    "rows of a state": (lambda store: store.rows(states=["waiting", "running"], offset=9000), 1),
    "count": (lambda store: store.count(["waiting"]), 1),
    "row": (lambda store: store.row(7000), 1),
    "an entry of many tasks": (lambda store: store.entry(1), 4),
    "claim": (lambda store: store.claim("me"), 16),
    "move many": (lambda store: store.move(range(3000, 4000), 10), 1100),
    "cancel many": (lambda store: store.cancel(range(5000, 6000)), 5),
    "retry many": (lambda store: store.retry(range(5000, 6000)), 5),
    "remove many": (lambda store: store.remove(range(6000, 6500)), 7),
    "version": (lambda store: store.version(), 1),
    "expected of the queue": (lambda store: store.expected_queue(), 6),
    "expected of an entry": (lambda store: store.expected_entry(1), 6),
    "interrupted": (lambda store: store.interrupted(), 3),
    "recover": (lambda store: store.recover(lambda _: True), 8),
    "clear": (lambda store: store.clear_finished(), 3),
}


@pytest.mark.parametrize("name", WAYS)
def test_few_questions(large, questions, name):
    act, most = WAYS[name]
    act(large)
    assert 0 < len(questions) <= most, questions[:30]


@pytest.mark.parametrize(
    "name", ["rows", "rows of a state", "claim", "expected of an entry", "recover", "interrupted", "cancel many"]
)
def test_none_reads_a_whole_table_but_where_it_must(large, questions, name):
    WAYS[name][0](large)
    connection = large._database.connection
    connection.set_trace_callback(None)
    for sql in questions:
        if sql.startswith(("SELECT", "UPDATE", "DELETE")):
            plan = [line[3] for line in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
            whole = [
                step for step in plan if step.startswith("SCAN") and "INDEX" not in step and "json_each" not in step
            ]
            assert whole == [], sql
            assert not [step for step in plan if "TEMP B-TREE FOR ORDER BY" in step and "state" not in name], sql


def test_a_task_of_many_is_made_with_few_questions(large, questions):
    task = large.claim("me")
    questions.clear()
    large.saved(task.id, image(task))
    large.finish(task.id, SECONDS)
    assert len(questions) <= 16


def test_a_text_of_a_million_characters_is_kept_once(tmp_path):
    prompt = "a house " * 125_000
    path = tmp_path / "queue.sqlite"
    with JobStore.open(path).store as store:
        store.add([GenerateRequest(prompt=prompt, seed=seed) for seed in range(300)])
        last = store.entry(1).tasks[299].request
        assert (last.prompt, last.seed) == (prompt, 299)
        assert len(store.row(1).title) <= 200
    assert path.stat().st_size < 3_000_000
