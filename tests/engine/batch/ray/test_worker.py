"""A worker on a Ray cluster, over one that lives in this process."""

from dataclasses import replace

import pytest
from batch_programs import StandIn, painted, task
from ray_programs import content_hashes, hash_of

from mezzotint import __version__
from mezzotint.batch.ray.cluster import ActorDied, WorkerResources
from mezzotint.batch.ray.node import Node
from mezzotint.batch.ray.worker import RayWorker
from mezzotint.batch.run.workers import WorkerDied, WorkerUnusable
from mezzotint.errors import Cancelled, ImageRefused, ProtocolError, StorageError
from mezzotint.protocol import GenerateResult, ImageInput, Saved


class Here:
    """A cluster; `dies` are the numbers of the calls with which a process ends, `deaf` those who greet nobody."""

    def __init__(self, dies=(), deaf=0, engine=StandIn, version=__version__, has_place=True):
        self.dies, self.deaf, self.engine, self.version, self.has_place = dies, deaf, engine, version, has_place
        self.started, self.alive, self.calls = [], set(), 0
        self.parcels, self.answers = [], lambda wire: wire

    def start(self, resources, node, arguments):
        self.started.append((resources, node, arguments))
        self.alive.add(len(self.started))
        self.node = Node(self.engine, content_hashes())
        return len(self.started)

    def ask(self, actor, method, *arguments, waiting=lambda: True):
        while not self.has_place:
            if not waiting():
                raise Cancelled("stopped")
        if actor not in self.alive or actor <= self.deaf:
            raise ActorDied("it is gone")
        if method == "hello":
            return {"version": self.version, "host": "far-away"}
        self.calls += 1
        self.parcels.append(arguments[0])
        if self.calls in self.dies:
            self.alive.discard(actor)
            raise ActorDied("it is gone")
        return self.answers(self.node.make(*arguments))

    def end(self, actor):
        self.alive.discard(actor)


def worker_on(cluster, gpus=1, **options):
    return RayWorker(
        cluster, WorkerResources(gpus=gpus, cores=1), content_hashes(options.pop("hashes", hash_of)), **options
    )


def make(worker, number, folder, words=None):
    heard = []
    return worker.make(task(number, folder, words).request, heard.append), heard


def test_it_is_started_once_and_kept_warm(tmp_path):
    cluster = Here()
    worker = worker_on(cluster, arguments=[["models"]])
    assert cluster.started == []
    for number in range(3):
        result, heard = make(worker, number, tmp_path)
        assert heard == [Saved(image=result.images[0], images=1)]
    assert cluster.started == [
        (WorkerResources(gpus=1, cores=1), "mezzotint.batch.ray.node:standard_node", [["models"]])
    ]
    worker.close()
    worker.close()
    assert cluster.alive == set()


@pytest.mark.parametrize(("gpus", "device"), [(1, "auto"), (0, "cpu")])
def test_the_process_takes_the_device_that_it_was_given(tmp_path, gpus, device):
    cluster = Here()
    request = replace(task(1, tmp_path).request, device="cuda:3")
    worker_on(cluster, gpus=gpus).make(request, lambda _: None)
    assert f'"device": "{device}"' in cluster.parcels[0]["requests"][0].replace('":"', '": "')


def test_a_process_that_dies_is_told_and_another_makes_the_next(tmp_path):
    cluster = Here(dies={2})
    worker = worker_on(cluster)
    make(worker, 1, tmp_path)
    with pytest.raises(WorkerDied, match="far-away ended"):
        make(worker, 2, tmp_path)
    assert make(worker, 3, tmp_path)[0].images
    assert len(cluster.started) == 2


def test_after_a_lost_device_the_process_is_not_asked_again(tmp_path):
    cluster = Here()
    worker = worker_on(cluster)
    with pytest.raises(WorkerDied, match="illegal memory access"):
        make(worker, 1, tmp_path, "lost")
    assert cluster.alive == set()
    assert make(worker, 2, tmp_path)[0].images


def test_one_that_ended_between_two_images_is_no_fault_of_either(tmp_path):
    cluster = Here()
    worker = worker_on(cluster)
    make(worker, 1, tmp_path)
    cluster.alive.clear()
    assert make(worker, 2, tmp_path)[0].images


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (Here(deaf=99), "failed to start 3 times: it is gone"),
        (Here(version="0.0.1"), "far-away has Mezzotint 0.0.1, and this is"),
        (Here(version=""), "far-away has no Mezzotint, and this is"),
        (Here(), "far-away cannot generate this: the model starter has different content there"),
    ],
)
def test_what_cannot_work_there_is_told_and_blames_no_image(tmp_path, cluster, words):
    with pytest.raises(WorkerUnusable, match=words):
        make(worker_on(cluster, hashes=lambda kind, name: "0" * 64), 1, tmp_path)
    assert list(tmp_path.rglob("*.png")) == []


def test_a_start_that_fails_now_and_then_is_tried_again(tmp_path):
    assert make(worker_on(Here(deaf=2)), 1, tmp_path)[0].images


def test_who_waits_for_a_place_is_told_once_and_can_stop(tmp_path):
    heard, asked = [], []

    def stopping():
        asked.append(True)
        return len(asked) > 3

    with pytest.raises(Cancelled):
        worker_on(Here(has_place=False), stopping=stopping).make(task(1, tmp_path).request, heard.append)
    assert [event.code for event in heard] == ["waiting"]


def test_one_that_cannot_be_sent_harms_no_other(tmp_path):
    cluster, heard = Here(), []
    requests = [task(number, tmp_path, words).request for number, words in enumerate(["a", "b", "refused", "c"])]
    requests[1] = replace(requests[1], images=(ImageInput(path=str(tmp_path / "gone.png")),))
    outcomes = worker_on(cluster).make_many(requests, lambda index, event: heard.append((index, type(event))))
    assert [type(one) for one in outcomes] == [GenerateResult, StorageError, ImageRefused, GenerateResult]
    assert heard == [(0, Saved), (3, Saved)]
    assert [len(wire["requests"]) for wire in cluster.parcels] == [3]
    assert worker_on(cluster).make_many(requests[1:2], lambda *_: None)[0].kind == "storage"


def test_images_that_are_too_large_together_go_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr("mezzotint.batch.ray.worker.MOST_SENT", 10)
    cluster, requests = Here(), []
    for number in range(3):
        photo = tmp_path / f"photo-{number}.png"
        painted(number).save(photo)
        requests.append(replace(task(number, tmp_path).request, images=(ImageInput(path=str(photo)),)))
    outcomes = worker_on(cluster).make_many(requests, lambda *_: None)
    assert all(isinstance(one, GenerateResult) for one in outcomes)
    assert [len(wire["requests"]) for wire in cluster.parcels] == [1, 1, 1]


def test_an_error_there_names_the_image_as_it_is_called_here(tmp_path):
    class Reads(StandIn):
        def generate(self, request, on_event, cancelled):
            raise ImageRefused(f"{request.images[0].path} is damaged")

    photo = tmp_path / "photo.png"
    painted(1).save(photo)
    request = replace(task(1, tmp_path).request, images=(ImageInput(path=str(photo)),))
    with pytest.raises(ImageRefused) as caught:
        worker_on(Here(engine=Reads)).make(request, lambda _: None)
    assert str(caught.value) == f"{photo} is damaged"


def test_an_answer_that_is_none_is_told(tmp_path):
    cluster = Here()
    cluster.answers = lambda wire: {**wire, "answers": []}
    with pytest.raises(ProtocolError, match="1 images were requested from a Ray node, but 0 were returned"):
        make(worker_on(cluster), 1, tmp_path)
