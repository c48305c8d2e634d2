"""Optimizers step, and take the memory that is planned for them."""

import sys
from types import ModuleType
from typing import get_args

import pytest
import torch
from optimizer_cases import OPTIMIZERS
from torch import nn

from mezzotint.errors import UsageError
from mezzotint.training.adapters.adapter import Group
from mezzotint.training.optimizers import build_optimizer, set_rate
from mezzotint.training.planning.optimizer_bytes import state_tensors
from mezzotint.training_protocol import OptimizerName

SHAPES = ((16, 1152), (1152, 16), (64, 64), (16, 320, 3, 3), (4, 32), (100,), (4099,))


def stepped(name, shapes=SHAPES):
    parameters = [nn.Parameter(torch.ones(shape)) for shape in shapes]
    optimizer = build_optimizer(name, [Group(parameters=parameters)], 1.0 if name == "prodigy" else 1e-2)
    sum(each.square().sum() for each in parameters).backward()
    optimizer.step()
    return optimizer, parameters


def storages(value):
    """The memory of the tensors inside, each counted once."""
    if isinstance(value, dict):
        return {key: size for each in value.values() for key, size in storages(each).items()}
    if not isinstance(value, torch.Tensor):
        return {}
    if hasattr(value, "__tensor_flatten__") and type(value) is not torch.Tensor:
        return storages({name: getattr(value, name) for name in value.__tensor_flatten__()[0]})
    return {value.data_ptr(): value.nbytes}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_lowers_what_it_minimizes(name):
    _, parameters = stepped(name)
    assert all(float(each.detach().mean()) < 1 for each in parameters)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_has_the_bytes_that_are_planned(name):
    optimizer, _ = stepped(name)
    assert sum(storages(dict(optimizer.state)).values()) == sum(state_tensors(name, SHAPES))


def test_the_bytes_of_a_parameter_are_those_of_the_manual():
    shape = [(4096, 1024)]
    found = {name: sum(state_tensors(name, shape)) / (4096 * 1024) for name in get_args(OptimizerName)}
    assert found == pytest.approx(
        {
            "adamw": 8,
            "adamw-8bit": 2.03,
            "adamw-8bit-paged": 2.03,
            "adamw-4bit": 1.06,
            "adafactor": 0.001,
            "lion": 4,
            "prodigy": 16,
            "schedule-free": 8,
        },
        abs=5e-3,
    )


@pytest.mark.parametrize(
    ("name", "module", "install"),
    [
        ("adamw-8bit", "bitsandbytes.optim", "pip install 'bitsandbytes>=0.50'"),
        ("adamw-8bit-paged", "bitsandbytes.optim", "pip install 'bitsandbytes>=0.50'"),
        ("lion", "bitsandbytes.optim", "pip install 'bitsandbytes>=0.50'"),
        ("adamw-4bit", "torchao.optim", "pip install 'torchao>=0.18'"),
        ("prodigy", "prodigyopt", "pip install 'prodigyopt>=1.1'"),
        ("schedule-free", "schedulefree", "pip install 'schedulefree>=1.4'"),
    ],
)
def test_a_missing_package_is_named_with_the_line_that_installs_it(name, module, install, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match="which is not installed") as raised:
        build_optimizer(name, [Group(parameters=[nn.Parameter(torch.ones(2))])], 1e-3)
    assert install in str(raised.value)


def test_rates_in_tensors_are_set_in_place():
    rate = torch.tensor(1.0)
    optimizer = torch.optim.SGD([{"params": [nn.Parameter(torch.ones(1))], "lr": rate}])
    set_rate(optimizer, 0.5)
    assert float(rate) == 0.5
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    set_rate(optimizer, 0.5)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_prodigy_prints_nothing(monkeypatch, capsys):
    class Prodigy(torch.optim.SGD):
        def __init__(self, parameters, lr, weight_decay, **_):
            sys.stdout.write("Using decoupled weight decay")
            super().__init__(parameters, lr=lr)

    module = ModuleType("prodigyopt")
    monkeypatch.setattr(module, "Prodigy", Prodigy, raising=False)
    monkeypatch.setitem(sys.modules, "prodigyopt", module)
    build_optimizer("prodigy", [Group(parameters=[nn.Parameter(torch.ones(1))])], 1.0)
    assert capsys.readouterr().out == ""
