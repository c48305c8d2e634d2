"""What becomes of images that are made together."""

import pytest
from fake_engine import result_of

from mezzotint.batch.run.outcomes import dispatch_by_request, error_of, outcomes_of
from mezzotint.errors import ImageRefused, MezzotintError, ProtocolError
from mezzotint.protocol import Failure, GenerateManyResult, GenerateRequest, ManyOutcome, Notice, OfRequest


def test_each_has_its_result_or_its_error():
    result = result_of(GenerateRequest(prompt="a house"), [])
    told = (
        ManyOutcome(result=result, failure=None),
        ManyOutcome(result=None, failure=Failure(kind="image_refused", message="cut off")),
        ManyOutcome(result=None, failure=None),
    )
    made, refused, nothing = outcomes_of(GenerateManyResult(schema_version=1, outcomes=told), 3)
    assert made is result
    assert isinstance(refused, ImageRefused) and str(refused) == "cut off"
    assert isinstance(nothing, MezzotintError)


@pytest.mark.parametrize("count", [0, 2])
def test_an_answer_about_others_is_none(count):
    told = GenerateManyResult(schema_version=1, outcomes=(ManyOutcome(result=None, failure=None),))
    with pytest.raises(ProtocolError, match="1 were returned"):
        outcomes_of(told, count)


def test_a_kind_that_is_not_known_here_is_kept():
    error = error_of("of_later", "something new")
    assert (type(error), error.kind, str(error)) == (MezzotintError, "of_later", "something new")
    assert MezzotintError.kind != "of_later"


def test_events_are_told_of_the_request_that_they_are_of():
    heard = []
    hear = dispatch_by_request(lambda index, event: heard.append((index, event)), 2)
    notice = Notice(code="a", message="b")
    for event in (notice, OfRequest(request=1, event=notice), OfRequest(request=2, event=notice)):
        hear(event)
    assert heard == [(0, notice), (1, notice)]
