"""Plans are within 10 % of what training steps allocate."""

import pytest

from mezzotint.benchmarks.training_memory.steps import StepBench, every_lever
from mezzotint.catalog.catalog import Catalog
from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import TrainingLevers

LEVERS = every_lever(4)


@pytest.fixture(scope="module", params=["starter-dit", "starter-xl"])
def bench(request):
    return StepBench(Catalog.standard().find(ModelRef(id=request.param)))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("levers", LEVERS, ids=str)
def test_a_step_needs_what_was_predicted(bench, levers):
    measured = bench.measure(levers)
    assert abs(measured.error) < 0.1, (measured.predicted_bytes, measured.measured_bytes)


@pytest.mark.slow
def test_encoding_needs_what_was_predicted(bench):
    for name, (predicted, measured) in bench.encoding().items():
        assert predicted == pytest.approx(measured, rel=0.1), name


@pytest.mark.slow
def test_checkpointing_saves_most_of_the_activations(bench):
    plain = bench.measure(TrainingLevers(batch=4))
    again = bench.measure(TrainingLevers(batch=4, checkpointing="blocks"))
    assert again.measured_bytes < plain.measured_bytes
