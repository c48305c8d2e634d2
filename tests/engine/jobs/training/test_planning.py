"""Plans before a training, and what it goes on with."""

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import encode
from mezzotint.errors import UsageError
from mezzotint.jobs.training.planning import levers_of, plan_before
from mezzotint.training_protocol import TrainingLevers


def test_a_request_is_planned_without_its_images(request_of):
    request = request_of(dataset="/nowhere", prompts=("a house",), checkpointing="blocks")
    plan = plan_before(request, Catalog.standard())
    assert plan.fits and plan.levers == TrainingLevers(checkpointing="blocks", batch=2)
    assert [each.name for each in plan.phases] == ["text", "images", "network", "samples"]
    assert plan.peak_bytes == max(each.peak for each in plan.phases) > 0


def test_on_a_cpu_nothing_is_chosen(request_of, monkeypatch):
    from mezzotint.jobs.training import planning
    from mezzotint.memory.machine.probe import ordinary_machine

    monkeypatch.setattr(planning, "machine_of", lambda _: ordinary_machine(2**20, 2**20))
    plan = plan_before(request_of(), Catalog.standard())
    assert not plan.fits and plan.levers.quantization == plan.levers.checkpointing == "none"


def test_what_cannot_be_trained_is_refused(request_of):
    with pytest.raises(UsageError, match="rank is -1"):
        plan_before(request_of(rank=-1), Catalog.standard())


@pytest.mark.parametrize(
    ("last", "planned", "used"),
    [("sqrt", "none", "sqrt"), ("none", "blocks", "blocks"), ("selective", "selective", "selective")],
)
def test_resumed_it_needs_no_more_than_last_time(last, planned, used):
    began = TrainingLevers(checkpointing=last, quantization="int4", text_on_cpu=True, vae_tile=512)
    found = levers_of({"levers": encode(began)}, TrainingLevers(checkpointing=planned, optimizer="lion"))
    assert found == TrainingLevers(checkpointing=used, quantization="int4", text_on_cpu=True, vae_tile=512)
    assert levers_of({}, began) == began  # a run of an earlier version
