"""The teacher: a student that is the dense network differs by nothing, also when threads share both."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from tiny_variant import shaken, variant_inputs, variant_network

from mezzotint_starter.variants.teacher import Teacher


def predict(network, inputs):
    return network(**inputs).sample


@pytest.fixture
def pair():
    """A dense network, and another that differs a little."""
    return variant_network(), shaken(variant_network())


def test_the_same_network_differs_by_nothing():
    teacher, student = Teacher(variant_network()), variant_network()
    ask = partial(predict, inputs=variant_inputs())
    with teacher.comparing_blocks(student):
        assert teacher.difference(ask(student), ask) == 0


def test_what_blocks_return_is_compared_only_on_request(pair):
    dense, student = pair
    teacher, ask = Teacher(dense), partial(predict, inputs=variant_inputs())
    predicted = ask(student)
    alone = teacher.difference(predicted, ask)
    torch.testing.assert_close(alone, (predicted - ask(dense)).square().mean())
    with teacher.comparing_blocks(student):
        assert teacher.difference(ask(student), ask) > alone
    assert teacher.difference(ask(student), ask) == alone


def test_predictions_without_gradients_are_not_compared(pair):
    dense, student = pair
    teacher, ask = Teacher(dense), partial(predict, inputs=variant_inputs())
    with teacher.comparing_blocks(student):
        with torch.no_grad():
            ask(student)
        loss = teacher.difference(ask(student), ask)
        assert loss == teacher.difference(ask(student), ask)


def test_threads_compare_their_own(pair):
    dense, student = pair
    teacher = Teacher(dense)
    batches = [partial(predict, inputs=variant_inputs(rows)) for rows in (1, 2, 3, 4)]
    with teacher.comparing_blocks(student):
        expected = [teacher.difference(ask(student), ask) for ask in batches]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda ask: teacher.difference(ask(student), ask), batches))
    torch.testing.assert_close(torch.stack(found), torch.stack(expected))


def test_only_the_student_learns(pair):
    dense, student = pair
    teacher, ask = Teacher(dense), partial(predict, inputs=variant_inputs())
    with teacher.comparing_blocks(student):
        teacher.difference(ask(student), ask).backward()
    assert all(each.grad is not None for each in student.parameters())
    assert all(each.grad is None for each in dense.parameters())
