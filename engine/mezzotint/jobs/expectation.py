"""Time estimates, learned from earlier runs."""

import math
from collections.abc import Sequence
from dataclasses import replace

from mezzotint.jobs.requests import SizeOf, no_size, run_key, steps_of
from mezzotint.jobs.storage.database import Database
from mezzotint.jobs.tasks import Basis, Expected, PhaseSeconds, RunKey
from mezzotint.protocol import GenerateRequest, GenerateResult

KEPT = 24  # runs remembered per key
_FADE = 0.85  # the weight of a run relative to the next newer one
_COLD = 0.25  # a load below this fraction of the longest one found its model already loaded

_UNKNOWN = Expected(seconds=None, phases=None, basis="unknown")


def seconds_of(result: GenerateResult) -> PhaseSeconds:
    """Return the time that a job took, by phase."""
    images = max(1, len(result.images))
    steps = sum(len(stage.timesteps) for stage in result.stages)
    times = result.timings
    return PhaseSeconds(
        load=times.load,
        encode=times.encode,
        step=sum(times.denoise) / (images * max(1, steps)),
        decode=times.decode / images,
        save=times.save / images,
        steps=steps,
    )


def key_id(database: Database, key: RunKey) -> int:
    """Return the id of a key, inserting it if it is new; call inside `writing()`."""
    values = (key.model, key.quantization, key.width, key.height, key.device)
    database.change(
        "INSERT INTO run_keys (model, quantization, width, height, device) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        *values,
    )
    found = database.connection.execute(
        "SELECT id FROM run_keys WHERE (model, quantization, width, height, device) = (?, ?, ?, ?, ?)", values
    ).fetchone()
    return int(found[0])


def record_timing(database: Database, key: int, seconds: PhaseSeconds) -> None:
    """Record the timings of a run, skipping invalid ones; call inside `writing()`."""
    times = (seconds.load, seconds.encode, seconds.step, seconds.decode, seconds.save)
    if not all(math.isfinite(time) and time >= 0 for time in times):
        return
    database.insert(
        "INSERT INTO timings (key, load, encode, step, decode, save, steps) VALUES (?, ?, ?, ?, ?, ?, ?)",
        key,
        *times,
        seconds.steps,
    )
    database.change(
        "DELETE FROM timings WHERE key = ?1 AND id <= "
        "(SELECT id FROM timings WHERE key = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        key,
        KEPT,
    )


def record_step_time(database: Database, request: GenerateRequest, step: float, size_of: SizeOf = no_size) -> None:
    """Record a step time alone, with known times for the other phases; call inside `writing()`."""
    key = run_key(request, size_of)
    known = _known(database, key)
    phases = PhaseSeconds(load=0, encode=0, step=0, decode=0, save=0) if known is None else known[0]
    steps = steps_of(request) or phases.steps
    if steps:
        record_timing(database, key_id(database, key), replace(phases, step=step, steps=steps))


def expected(
    database: Database, request: GenerateRequest, *, loaded: bool = False, size_of: SizeOf = no_size
) -> Expected:
    """Estimate the time of a request; `loaded`: its model is already on the device."""
    known = _known(database, run_key(request, size_of))
    if known is None:
        return _UNKNOWN
    phases, basis = known
    steps = steps_of(request) or phases.steps
    if not steps:
        return _UNKNOWN
    phases = replace(phases, steps=steps, load=0.0 if loaded else phases.load)
    return Expected(seconds=_total(phases, request.count, 1), phases=phases, basis=basis)


def expected_queue(database: Database, entry: int | None = None) -> float | None:
    """Estimate the seconds for all waiting and running tasks, or for those of one entry; None without timings."""
    groups = database.rows(
        "SELECT key, steps, count(*), sum(count - (SELECT count(*) FROM images WHERE task = tasks.id)) FROM tasks "
        "WHERE state IN ('waiting', 'running') AND entry = coalesce(?, entry) GROUP BY key, steps",
        entry,
    )
    total = 0.0
    loads: dict[int, float] = {}
    for key, steps, tasks, images in groups:
        known = _known(database, _key(database, key))
        if known is None or not (steps or known[0].steps):
            return None
        phases = replace(known[0], steps=steps or known[0].steps)
        loads[key] = phases.load  # once: later tasks find the model loaded
        total += _total(replace(phases, load=0.0), images, tasks)
    return total + sum(loads.values())


def _total(phases: PhaseSeconds, images: int, tasks: int) -> float:
    each = phases.steps * phases.step + phases.decode + phases.save
    return phases.load + tasks * phases.encode + images * each


def _key(database: Database, key: int) -> RunKey:
    found = database.row("SELECT model, quantization, width, height, device FROM run_keys WHERE id = ?", key)
    model, quantization, width, height, device = found or ("", "", 0, 0, "")
    return RunKey(model=model, quantization=quantization, width=width, height=height, device=device)


def _known(database: Database, key: RunKey) -> tuple[PhaseSeconds, Basis] | None:
    """Return times of such runs, or of the same model at another size, scaled by the number of pixels."""
    sizes = database.rows(
        "SELECT id, width, height FROM run_keys WHERE (model, quantization, device) = (?, ?, ?) "
        "AND EXISTS (SELECT 1 FROM timings WHERE key = run_keys.id)",
        key.model,
        key.quantization,
        key.device,
    )
    for number, width, height in sizes:
        if (width, height) == (key.width, key.height):
            return _learned(database, number), "measured"
    scalable = [size for size in sizes if size[1] and size[2]]
    if not scalable or not (key.width and key.height):
        return None
    pixels = key.width * key.height
    number, width, height = min(scalable, key=lambda size: abs(math.log(pixels / (size[1] * size[2]))))
    return _scaled(_learned(database, number), pixels / (width * height)), "scaled"


def _scaled(phases: PhaseSeconds, by: float) -> PhaseSeconds:
    return replace(phases, step=phases.step * by, decode=phases.decode * by, save=phases.save * by)


def _learned(database: Database, key: int) -> PhaseSeconds:
    runs = database.rows(
        "SELECT load, encode, step, decode, save, steps FROM timings WHERE key = ? ORDER BY id DESC", key
    )
    load, encode, step, decode, save, steps = zip(*runs, strict=True)
    longest = max(load)
    cold = [seconds for seconds in load if seconds >= _COLD * longest]
    return PhaseSeconds(
        load=fading_median(cold),
        encode=fading_median(encode),
        step=fading_median(step),
        decode=fading_median(decode),
        save=fading_median(save),
        steps=steps[0],
    )


def fading_median(newest_first: Sequence[float]) -> float:
    """Return the median with lower weights for older values: a single outlier changes it little."""
    weighed = sorted((value, _FADE**age) for age, value in enumerate(newest_first))
    half = sum(weight for _, weight in weighed) / 2
    for value, weight in weighed:
        half -= weight
        if half <= 0:
            return value
    return weighed[-1][0]
