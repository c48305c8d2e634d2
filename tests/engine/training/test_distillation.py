"""Consistency distillation is that of its papers, and imitation follows the network without what is trained."""

import pytest
import torch
from diffusers import DDIMScheduler, LCMScheduler
from tiny_training import TinyTraining

from mezzotint.training.distillation import Consistency, Imitation
from mezzotint.training.objective import Asked, Objective

NOISE = {"beta_schedule": "scaled_linear", "beta_start": 0.00085, "beta_end": 0.012}
LCM = LCMScheduler(**NOISE)
PREDICTIONS = ("epsilon", "v_prediction")


def consistency_of(prediction):
    return Consistency(base=Objective(prediction=prediction, abar=LCM.alphas_cumprod.double()))


def drawn(count=4):
    generator = torch.Generator().manual_seed(0)
    clean, noise, *others = (torch.randn(count, 4, 8, 8, generator=generator).double() for _ in range(5))
    return clean, noise, others


def asked(trained, averaged, teacher):
    """A network with these outputs."""
    answers = {"trained": trained, "averaged": averaged, "teacher": teacher, "original": None}
    return Asked(**{name: lambda *_, each=each: each for name, each in answers.items()})


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_the_target_is_where_the_teachers_step_leads(prediction):
    """As written in arXiv 2310.04378, eq. 9, 11 and 16, with diffusers' DDIM as the solver."""
    clean, noise, (said, first, second) = drawn()
    consistency, levels = consistency_of(prediction), torch.tensor([19, 39, 499, 999])
    found = consistency.losses(asked(first, second, said), clean, noise, levels)
    solver = DDIMScheduler(
        **NOISE, prediction_type=prediction, clip_sample=False, set_alpha_to_one=False, steps_offset=19
    )
    solver.set_timesteps(50)
    solver.alphas_cumprod = LCM.alphas_cumprod.double()
    solver.final_alpha_cumprod = solver.alphas_cumprod[0]
    noisy = solver.add_noise(clean, noise, levels)
    for place, level in enumerate(levels.tolist()):
        x = noisy[place]
        stepped = solver.step(said[place], level, x).prev_sample
        wanted = boundary(prediction, stepped, second[place], max(0, level - 20))
        reached = boundary(prediction, x, first[place], level)
        apart = (((reached - wanted) ** 2 + 1e-6) ** 0.5 - 1e-3).mean()
        torch.testing.assert_close(found[place], apart, rtol=1e-6, atol=1e-9)


def boundary(prediction, sample, output, level):
    """What LCMScheduler takes a network's output for."""
    abar = LCM.alphas_cumprod.double()[level]
    signal, noise = abar.sqrt(), (1 - abar).sqrt()
    clean = (sample - noise * output) / signal if prediction == "epsilon" else signal * sample - noise * output
    skip, out = LCM.get_scalings_for_boundary_condition_discrete(level)
    return skip * sample + out * clean


@pytest.mark.parametrize("prediction", PREDICTIONS)
def test_without_noise_nothing_changes(prediction):
    sample, output, _ = drawn()
    same = consistency_of(prediction).consistent(sample, output, torch.zeros(4, dtype=torch.long))
    assert torch.equal(same, sample)


def test_timesteps_are_those_of_the_sampler():
    consistency = consistency_of("epsilon")
    levels = consistency.draw(2000, torch.Generator().manual_seed(0))
    assert sorted(set(levels.tolist())) == list(range(19, 1000, 20))
    assert consistency.spread(5).tolist() == [119, 319, 519, 719, 919]
    assert consistency.earlier(torch.tensor([19, 39, 999])).tolist() == [0, 19, 979]
    LCM.set_timesteps(4)
    assert set(LCM.timesteps.tolist()) <= set(levels.tolist())


def test_a_mask_leaves_pixels_out_of_the_loss():
    clean, noise, (said, first, second) = drawn()
    mask, levels, changed = torch.zeros(4, 1, 8, 8), torch.tensor([19, 199, 499, 999]), first.clone()
    mask[..., :4] = 1
    changed[..., 4:] += 1
    one, other = (
        consistency_of("epsilon").losses(asked(each, second, said), clean, noise, levels, mask)
        for each in (first, changed)
    )
    assert torch.equal(one, other)


@pytest.fixture(scope="module")
def tiny(tiny_sdxl_folder):
    return TinyTraining(tiny_sdxl_folder, images=2, guidance=3.0)


def consistent(tiny, **rates):
    trainer = tiny.trainer(**rates)
    trainer._objective = Consistency(base=trainer._objective)
    return trainer


def inputs(tiny, level=499):
    noise = torch.randn(2, *tiny.images[0].latents.shape, generator=torch.Generator().manual_seed(0))
    return tiny.images, noise, torch.tensor([level, level])


def test_only_the_student_has_gradients_and_the_teacher_nothing_that_is_trained(tiny, monkeypatch):
    trainer, calls = consistent(tiny), []
    for parameter in trainer.adapter.parameters():
        parameter.data += 0.1
    predict = tiny.family.predict

    def watched(model, sample, timestep, conditioning):
        output = predict(model, sample, timestep, conditioning)
        calls.append((output.requires_grad, trainer.adapter._detached, timestep.tolist()))
        return output

    monkeypatch.setattr(type(tiny.family), "predict", lambda _, *given: watched(*given))
    with trainer.adapter.attached():
        trainer._losses(*inputs(tiny)).sum().backward()
    teacher, target, student = (False, True, [499] * 2), (False, False, [479] * 2), (True, False, [499] * 2)
    assert calls == [teacher, teacher, target, student]  # the teacher without and with the prompt


def test_the_teacher_is_the_guided_model(tiny):
    from mezzotint.families.text.conditionings import moved

    trainer = consistent(tiny)
    for parameter in trainer.adapter.parameters():
        parameter.data += 0.1
    sample, image = torch.randn(1, *tiny.images[0].latents.shape), tiny.images[0]
    with trainer.adapter.attached():
        found = trainer._asked([image]).teacher(sample, torch.tensor([500]))
    with torch.no_grad():
        plain = tiny.family.predict(tiny.model, sample, torch.tensor([500]), moved(image.teacher, tiny.model.device))
    torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-5)


def test_the_target_is_of_the_average_if_there_is_one(tiny):
    trainer = consistent(tiny, ema=0.9)
    images, noise, levels = inputs(tiny)
    with trainer.adapter.attached():
        before = trainer._losses(images, noise, levels)
        for each in trainer._average.values:
            each += 0.1
        after = trainer._losses(images, noise, levels)
        after.sum().backward()  # what was saved for gradients is still valid
    assert not torch.allclose(before, after)


@pytest.mark.slow
def test_it_learns_and_goes_on_to_the_bit(tiny, tmp_path):
    whole = consistent(tiny, steps=8, ema=0.5, peak=3e-3)
    before = loss_of(tiny, whole)
    for step in range(8):
        whole.train_step(lambda number: tiny.batch(number, 2))
        if step == 3:
            whole.save(tmp_path / "half.safetensors", {})
    assert loss_of(tiny, whole) < before
    again = consistent(tiny, steps=8, ema=0.5, peak=3e-3)
    again.restore(tmp_path / "half.safetensors")
    for _ in range(4):
        again.train_step(lambda number: tiny.batch(number, 2))
    assert all(map(torch.equal, whole.adapter.parameters(), again.adapter.parameters()))


def loss_of(tiny, trainer):
    with trainer.adapter.attached(), torch.no_grad():
        return sum(float(trainer._losses(*inputs(tiny, level)).sum()) for level in (199, 499, 799, 999))


def test_imitation_begins_without_loss_and_wants_what_the_network_predicts_alone(tiny):
    trainer = tiny.trainer()
    trainer._objective = Imitation(base=trainer._objective)
    images, noise, levels = inputs(tiny)
    with trainer.adapter.attached():
        assert not trainer._losses(images, noise, levels).any()
    alone = trainer._asked(images).trained(*(question := (trainer._objective.base.mixed(noise, noise, levels), levels)))
    for parameter in trainer.adapter.parameters():
        parameter.data += 0.1
    with trainer.adapter.attached():
        assert torch.equal(trainer._asked(images).original(*question), alone)
        assert trainer._losses(images, noise, levels).sum() > 0
