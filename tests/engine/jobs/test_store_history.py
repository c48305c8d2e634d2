"""Any history of the queue: nothing lost, nothing twice, what is over stays over, order and cancels are kept."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from mezzotint.jobs.store import JobStore, TaskCounts
from mezzotint.protocol import GeneratedImage, GenerateRequest, Output

OPEN = ("waiting", "running", "interrupted")


@dataclass
class Wanted:
    """A task as it is to be."""

    id: int
    seed: int
    count: int
    state: str = "waiting"
    made: set = field(default_factory=set)
    deaths: int = 0
    cancelled: bool = False
    owner: str = ""

    @property
    def is_whole(self):
        return len(self.made) == self.count


class Histories(RuleBasedStateMachine):
    """Two programs, each with a connection of its own, at one queue; any of them may die at any moment."""

    entries = Bundle("entries")

    @initialize()
    def open(self):
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "queue.sqlite"
        self.stores = [self.program(), self.program()]
        self.order, self.wanted = [], {}
        self.paused = self.stops = False
        self.living, self.born, self.seeds = ["p0", "p1"], 2, 0

    def program(self):
        store = JobStore.open(self.path).store
        store._database.connection.execute("PRAGMA synchronous = OFF")  # no power fails here
        return store

    def teardown(self):
        if hasattr(self, "stores"):
            for store in self.stores:
                store.close()
            shutil.rmtree(self.folder)

    def tasks(self):
        return [task for entry in self.order for task in self.wanted[entry]]

    def running(self):
        return [task for task in self.tasks() if task.state == "running"]

    # ---- a person

    @rule(
        target=entries,
        which=st.integers(0, 1),
        counts=st.lists(st.integers(1, 3), min_size=1, max_size=3),
        front=st.booleans(),
    )
    def add(self, which, counts, front):
        requests, seeds = [], []
        for count in counts:
            seeds.append(self.seeds)
            output = Output(path=f"{self.folder}/none/[seed].png")
            requests.append(GenerateRequest(prompt=f"{self.seeds}", seed=self.seeds, count=count, output=output))
            self.seeds += 10
        entry = self.stores[which].add(requests, front=front)
        made = self.stores[which].entry(entry).tasks
        self.wanted[entry] = [Wanted(one.id, seed, count) for one, seed, count in zip(made, seeds, counts, strict=True)]
        waiting = [one for one in self.order if any(task.state == "waiting" for task in self.wanted[one])]
        self.order.insert(self.order.index(waiting[0]) if front and waiting else len(self.order), entry)
        return entry

    @rule(target=entries, which=st.integers(0, 1), entry=entries)
    def duplicate(self, which, entry):
        if entry not in self.order:
            return multiple()
        (copy,) = self.stores[which].duplicate([entry])
        pairs = zip(self.stores[which].entry(copy).tasks, self.wanted[entry], strict=True)
        self.wanted[copy] = [Wanted(one.id, old.seed, old.count) for one, old in pairs]
        self.order.append(copy)
        return copy

    @rule(which=st.integers(0, 1), moved=st.lists(entries, max_size=3), before=st.none() | entries)
    def move(self, which, moved, before):
        moved = {one for one in moved if one in self.order}
        before = before if before in self.order else None
        self.stores[which].move(moved, before)
        after = self.order[self.order.index(before) :] if before is not None else []
        rest = [one for one in self.order if one not in moved]
        at = next((rest.index(one) for one in after if one not in moved), len(rest))
        self.order = rest[:at] + [one for one in self.order if one in moved] + rest[at:]

    @rule(which=st.integers(0, 1), entry=entries)
    def cancel(self, which, entry):
        self.stores[which].cancel([entry])
        self._cancel(self.wanted.get(entry, ()))

    @rule(which=st.integers(0, 1), data=st.data())
    def cancel_task(self, which, data):
        if self.tasks():
            task = data.draw(st.sampled_from(self.tasks()))
            self.stores[which].cancel_task(task.id)
            self._cancel([task])

    def _cancel(self, tasks):
        for task in tasks:
            if task.state in ("waiting", "interrupted"):
                task.state = "cancelled"
            elif task.state == "running":
                task.cancelled = True

    @rule(which=st.integers(0, 1), entry=entries)
    def retry(self, which, entry):
        self.stores[which].retry([entry])
        for task in self.wanted.get(entry, ()):
            if task.state in ("failed", "cancelled", "set_aside", "interrupted"):
                task.deaths = task.deaths if task.state == "interrupted" else 0
                task.state = "done" if task.is_whole else "waiting"

    @rule(which=st.integers(0, 1), entry=consumes(entries))
    def remove(self, which, entry):
        self._cancel(self.wanted.get(entry, ()))
        runs = any(task.state == "running" for task in self.wanted.get(entry, ()))
        assert self.stores[which].remove([entry]) == ((entry,) if runs else ())
        if not runs:
            self._forget(entry)

    @rule(which=st.integers(0, 1))
    def clear(self, which):
        over = [one for one in self.order if all(task.state in ("done", "cancelled") for task in self.wanted[one])]
        assert self.stores[which].clear_finished() == len(over)
        for entry in over:
            self._forget(entry)

    def _forget(self, entry):
        self.wanted.pop(entry, None)
        self.order = [one for one in self.order if one != entry]

    @rule(which=st.integers(0, 1), what=st.sampled_from(["pause", "resume", "stop", "go on"]))
    def switch(self, which, what):
        store = self.stores[which]
        if what == "pause":
            store.pause()
            self.paused = True
        elif what == "resume":
            store.resume()
            self.paused = self.stops = False
        else:
            self.stops = what == "stop"
            store.stop_after_current(self.stops)

    # ---- whoever makes the images

    @rule(which=st.integers(0, 1))
    def claim(self, which):
        owner = self.living[which]
        task = self.stores[which].claim(owner)
        if self.stops:
            self.paused, self.stops = True, False
        if not self.paused:  # what got its last image after it was put back is done
            for one in self.tasks():
                if one.state == "waiting":
                    if not one.is_whole:
                        break
                    one.state = "done"
        expected = next((one for one in self.tasks() if one.state == "waiting"), None)
        if self.paused or expected is None:
            assert task is None
            return
        assert task.id == expected.id
        assert task.attempts == expected.deaths + 1
        missing = {task.request.seed + number for number in range(task.request.count)}
        assert missing == {expected.seed + number for number in range(expected.count) if number not in expected.made}
        expected.state, expected.owner, expected.cancelled = "running", owner, False

    @rule(which=st.integers(0, 1), data=st.data())
    def save(self, which, data):
        """Images come in their order, some a second time."""
        if self.tasks():
            task = data.draw(st.sampled_from(self.running() or self.tasks()))
            number = data.draw(st.integers(0, min(task.count - 1, len(task.made))))
            image = GeneratedImage(
                path=f"/{task.id}/{number}.png", width=1, height=1, seed=task.seed + number, index=0, sha256=""
            )
            self.stores[which].saved(task.id, image)
            task.made.add(number)

    @rule(
        which=st.integers(0, 1),
        data=st.data(),
        how=st.sampled_from(["finish", "fail", "cancelled", "requeue", "on_engine_death"]),
    )
    def end(self, which, data, how):
        if not self.tasks():
            return
        task = data.draw(st.sampled_from(self.running() or self.tasks()))
        store = self.stores[which]
        if how in ("fail", "cancelled"):
            state = store.fail(task.id, "cancelled" if how == "cancelled" else "failed", "x")
        elif how == "finish":
            state = store.finish(task.id)
        else:
            state = getattr(store, how)(task.id, because="x")
        if task.state != "running":
            assert state is None
            return
        task.state = self._ended(task, how)
        assert state == task.state

    def _ended(self, task, how):
        if how == "on_engine_death":
            task.deaths += 1
        if how in ("fail", "cancelled"):
            return "failed" if how == "fail" else "cancelled"
        if task.is_whole:
            return "done"
        if how == "finish":
            return "failed"
        if task.cancelled:
            return "cancelled"
        return "set_aside" if how == "on_engine_death" and task.deaths >= 2 else "waiting"

    @rule(which=st.integers(0, 1))
    def kill(self, which):
        """No farewell; another comes in its place, and looks what is left."""
        self.stores[which].close()
        self.stores[which] = self.program()
        dead, self.living[which] = self.living[which], f"p{self.born}"
        self.born += 1
        found = self.stores[which].recover(lambda owner: owner in self.living)
        ended = {"done": [], "interrupted": [], "set_aside": [], "cancelled": []}
        for task in self.running():
            if task.owner == dead:
                task.deaths += 1
                again = "set_aside" if task.deaths >= 2 else "interrupted"
                task.state = "done" if task.is_whole else "cancelled" if task.cancelled else again
                ended[task.state].append(task.id)
        assert {name: sorted(getattr(found, name)) for name in ended} == {k: sorted(v) for k, v in ended.items()}
        if ended["interrupted"] or ended["set_aside"]:
            self.paused = True

    @rule(which=st.integers(0, 1))
    def go_on(self, which):
        self.stores[which].resume_interrupted()
        self.paused = False
        for task in self.tasks():
            if task.state == "interrupted":
                task.state = "waiting"

    # ---- what always holds

    @invariant()
    def all_is_as_it_is_to_be(self):
        if not hasattr(self, "stores"):
            return
        for store in self.stores:
            assert [row.id for row in store.rows()] == self.order
            assert (store.paused(), store.stops_after_current()) == (self.paused, self.stops)
        for entry in self.order:
            self._is_as_wanted(self.stores[entry % 2].entry(entry), self.wanted[entry])

    def _is_as_wanted(self, found, wanted):
        assert [(task.id, task.state) for task in found.tasks] == [(one.id, one.state) for one in wanted]
        for task, one in zip(found.tasks, wanted, strict=True):
            assert {image.index for image in task.images} == one.made
            assert len(task.images) == len(one.made)
            assert (task.request.seed, task.request.count) == (one.seed, one.count)
        states = [one.state for one in wanted]
        assert found.row.counts == TaskCounts(**{state: states.count(state) for state in set(states)})
        assert found.row.images == sum(len(one.made) for one in wanted)
        assert (found.row.finished is None) == any(state in OPEN for state in states)


TestHistories = Histories.TestCase
TestHistories.settings = settings(stateful_step_count=40, deadline=None)
