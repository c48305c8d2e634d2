"""What workers remark is told once, from whatever thread it comes."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.run.remarks import MOST_OF_ONE_CODE, Remarks
from mezzotint.protocol import Notice

NOTICES = st.lists(
    st.builds(Notice, code=st.sampled_from(["memory", "words", "kernel"]), message=st.sampled_from("abcdef"))
)


@given(NOTICES)
def test_each_is_told_once_in_order_and_few_of_a_code(heard):
    remarks, told = Remarks(), []
    for notice in heard:
        remarks.add(notice)
        told += remarks.new()
    first = list(dict.fromkeys(heard))
    assert told == [one for one in first if [x for x in first if x.code == one.code].index(one) < MOST_OF_ONE_CODE]


def test_from_several_threads_it_is_one():
    remarks, ready = Remarks(), threading.Barrier(4)

    def add():
        ready.wait()
        for _ in range(500):
            remarks.add(Notice(code="a", message="b"))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert remarks.new() == [Notice(code="a", message="b")] and remarks.new() == []
