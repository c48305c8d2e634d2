"""Timings of earlier runs, put into a queue."""

from mezzotint.jobs.expectation import key_id
from mezzotint.jobs.expectation import record_timing as record


def record_timing(store, key, seconds):
    """As a run that ended would."""
    with store._database.writing():
        record(store._database, key_id(store._database, key), seconds)
