"""One job at a time, in order, and only so many."""

import threading

import pytest

from mezzotint.api_server.jobs import ApiJob, ApiJobs
from mezzotint.api_server.refusal import Refusal
from mezzotint.errors import DeviceLost, OutOfMemory, UsageError

PATIENCE = 60


@pytest.fixture
def jobs():
    made = ApiJobs(2)
    yield made
    assert made.close(PATIENCE)


def answer_of(job):
    return job.answer.result(PATIENCE)


def failing(error):
    def work(tell, stop):
        raise error

    return ApiJob("job", 1, work)


def test_jobs_run_in_order_and_further_ones_are_refused(jobs):
    order, let_go = [], threading.Event()

    def work(number):
        def run(tell, stop):
            let_go.wait(PATIENCE)
            order.append(number)
            return {"number": number}

        return run

    made = [ApiJob("job", 1, work(number)) for number in range(3)]
    for job in made:
        jobs.submit(job)
    with pytest.raises(Refusal) as refused:
        jobs.submit(ApiJob("job", 1, work(9)))
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "5"})
    assert (jobs.running, jobs.waiting) == (made[0], 2)
    let_go.set()
    assert [answer_of(job)["number"] for job in made] == order == [0, 1, 2]
    assert (jobs.running, jobs.waiting) == (None, 0)


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (UsageError("no"), 422, "usage"),
        (OutOfMemory("full"), 507, "out_of_memory"),
        (MemoryError(), 507, "out_of_memory"),
        (Refusal(404, "none", "nothing"), 404, "none"),
        (ValueError("secret"), 500, "bug"),
        (SystemExit(3), 500, "bug"),
    ],
)
def test_errors_are_answers(jobs, error, status, kind):
    job = failing(error)
    jobs.submit(job)
    with pytest.raises(Refusal) as refused:
        answer_of(job)
    assert (refused.value.status, refused.value.kind) == (status, kind)
    assert "secret" not in refused.value.detail and jobs.lost is None


def test_a_lost_device_is_remembered(jobs):
    job = failing(DeviceLost("gone"))
    jobs.submit(job)
    with pytest.raises(Refusal):
        answer_of(job)
    assert isinstance(jobs.lost, DeviceLost)


def test_closing_cancels_what_runs_and_what_waits():
    jobs, running = ApiJobs(2), threading.Event()

    def work(tell, stop):
        running.set()
        while not stop():
            pass
        return {"stopped": True}

    first, second = ApiJob("job", 1, work), ApiJob("job", 1, work)
    jobs.submit(first)
    jobs.submit(second)
    assert running.wait(PATIENCE) and jobs.close(PATIENCE)
    assert answer_of(first) == {"stopped": True, "ignored_fields": []}
    for refused in (lambda: answer_of(second), lambda: jobs.submit(second)):
        with pytest.raises(Refusal) as refusal:
            refused()
        assert refusal.value.status == 503
