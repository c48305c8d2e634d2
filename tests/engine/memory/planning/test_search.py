"""The search: as good as trying everything."""

import itertools
import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from planned_machines import MB, card, component, model, processor, task, usual_model

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.problem import HostTiers, Limits, Precision, Problem
from mezzotint.memory.planning.search import fastest, presence_options, smallest_solution

TIERS = ("ram", "disk")


def by_trying_everything(problem, precision, tile, limits):
    """The least time of all plans, without one bound."""
    best = math.inf
    every = itertools.starmap(HostTiers, itertools.product(TIERS, TIERS))
    locked = [each for hosts in every for each in problem.with_locks(precision, hosts, limits.pinned)]
    for guidance, hosts in itertools.product(problem.guidance_modes, locked):
        assert sum(hosts.locked.values()) <= limits.pinned
        if problem.host_bytes(precision, hosts) > limits.ram:
            continue
        room = limits.vram
        if problem.machine.one_memory:
            room = min(room, limits.ram - problem.host_bytes(precision, hosts))
        live = problem.activations(guidance, tile)
        parts = problem.parts(guidance, tile)
        always = tuple(range(len(live)))
        in_place = tuple((always, 0, problem.layouts(part, precision.of(part))[0]) for part in parts)
        others = itertools.product(*(every_way(problem, part, precision.of(part)) for part in parts))
        for ways in (in_place, *others):
            used = [problem.fixed_bytes + bytes_ for bytes_ in live]
            for present, _, layout in ways:
                for phase in present:
                    used[phase] += layout.device_bytes
            if max(used) <= room:
                seconds = sum(
                    problem.seconds(part, precision.of(part), layout, hosts, arrivals)
                    for part, (_, arrivals, layout) in zip(parts, ways, strict=True)
                )
                best = min(best, seconds)
    return best


def every_way(problem, part, scheme):
    for present, arrivals in presence_options(problem, part):
        for layout in problem.layouts(part, scheme):
            yield present, arrivals, layout


sizes = st.lists(st.integers(1, 60).map(lambda size: size * MB), max_size=5)


@st.composite
def small_problems(draw):
    def make(identity, shared):
        return model(
            component("text_encoder", "text", draw(sizes), live=1e4, shared=shared),
            component(
                "unet",
                "denoiser",
                draw(sizes),
                live=draw(st.sampled_from([1e3, 1e4])),
                work=draw(st.sampled_from([1e6, 1e8])),
            ),
            component("vae", "vae", [], outside=20 * MB, live=5e3, shared=f"{shared} vae"),
            id=identity,
            guided=draw(st.booleans()),
        )

    chosen = [make("one", "s"), make("two", "s")][: draw(st.integers(1, 2))]
    job = task(*chosen, size=512, steps=draw(st.sampled_from([1, 5])), count=draw(st.sampled_from([1, 2])))
    ram = draw(st.integers(100, 900)) * MB
    machine = draw(st.sampled_from([card, processor]))
    facts = machine(ram) if machine is processor else card(ram, ram, disk_rate=draw(st.sampled_from([1e8, 2e9])))
    return Problem(job, facts, Calibration()), Limits(
        draw(st.integers(150, 900)) * MB, ram, draw(st.sampled_from([0, ram // 4, ram]))
    )


@settings(max_examples=30, deadline=None)
@given(
    small_problems(), st.sampled_from([Precision("none", "none"), Precision("int8", "none")]), st.sampled_from([0, 256])
)
def test_nothing_is_faster_than_what_is_found(problem_and_limits, precision, tile):
    problem, limits = problem_and_limits
    wanted = by_trying_everything(problem, precision, tile, limits)
    found = fastest(problem, precision, tile, limits)
    assert (found is None) == math.isinf(wanted)
    if found is not None:
        assert math.isclose(found.seconds, wanted, rel_tol=1e-9)


@settings(max_examples=30, deadline=None)
@given(small_problems())
def test_a_bound_from_outside_hides_only_what_is_no_faster(problem_and_limits):
    problem, limits = problem_and_limits
    found = fastest(problem, Precision("none", "none"), 0, limits)
    assume(found is not None)
    assert fastest(problem, Precision("none", "none"), 0, limits, found.seconds * 0.999) is None
    again = fastest(problem, Precision("none", "none"), 0, limits, found.seconds * 1.001)
    assert again is not None
    assert again.seconds == found.seconds


def test_the_smallest_solution_takes_the_smallest_peak():
    problem = Problem(task(usual_model()), card(2**33, 2**35), Calibration())
    precision = Precision("int8", "none")
    peak = problem.smallest_peak(precision, 256)
    ram = problem.smallest_ram(precision, 256)
    assert fastest(problem, precision, 256, Limits(peak, ram, 0)) is not None
    assert fastest(problem, precision, 256, Limits(peak - 1, ram, 0)) is None
    assert fastest(problem, precision, 256, Limits(peak, ram - 1, 0)) is None
    assert {placed.layout.resident for placed in smallest_solution(problem, precision, 256).placed} == {0}


def test_with_room_for_all_nothing_moves():
    problem = Problem(task(usual_model()), card(2**34, 2**35), Calibration())
    found = fastest(problem, Precision("none", "none"), 0, Limits(2**34, 2**35, 2**34))
    assert found is not None
    assert not any(placed.arrivals or placed.layout.slots for placed in found.placed)
    assert (found.hosts.text, found.hosts.others) == ("ram", "ram")
    assert found.guidance == "batched"


def test_text_encoders_leave_the_room_to_what_runs_in_every_step():
    """They would be there at once for the next job, while blocks of the denoiser are copied in every step of this."""
    parts = (
        component("text_encoder", "text", [200 * MB] * 8, live=1e4, schemes=("none",)),
        component("unet", "denoiser", [200 * MB] * 20, live=1e4, work=1e9, schemes=("none",)),
        component("vae", "vae", [], live=1e4),
    )
    problem = Problem(task(model(*parts), steps=1), card(2**33, 2**35), Calibration())
    seen = []
    for room in range(1500, 7500, 300):
        found = fastest(problem, Precision("none", "none"), 0, Limits(room * MB, 2**35, 2**34))
        text, unet, _ = found.placed
        everything = not any(placed.layout.slots or placed.arrivals for placed in found.placed)
        assert text.present == (0,) or everything
        seen.append((unet.layout.resident, everything))
    assert seen == sorted(seen)
    assert seen[0][0] < 10 and seen[-1] == (20, True)
    assert (20, False) in seen


def test_what_two_models_share_is_there_once():
    text = component("text_encoder", "text", [10 * MB] * 4, shared="bigG")
    parts = [component("unet", "denoiser", [20 * MB] * 4), component("vae", "vae", [])]
    problem = Problem(
        task(model(text, *parts, id="base"), model(text, *parts, id="refiner")), card(2**33, 2**34), Calibration()
    )
    keys = [part.key for part in problem.parts("batched", 0)]
    assert keys == ["bigG", "base/unet", "refiner/unet", "refiner/vae"]


def test_a_network_of_two_stages_works_in_both():
    twice = model(component("unet", "denoiser", [20 * MB] * 4), component("vae", "vae", []))
    problem = Problem(task(twice, twice), card(2**33, 2**34), Calibration())
    unet = problem.parts("batched", 0)[0]
    assert unet.phases == (1, 2)
    assert next(presence_options(problem, unet)) == ((1, 2), 1)
