"""A worker on a Ray cluster: requests images from a remote process, and writes them to the local disk."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from mezzotint import __version__
from mezzotint.batch.ray.cluster import ActorDied, WorkerResources
from mezzotint.batch.ray.content_hashes import ContentHashes
from mezzotint.batch.ray.delivery import delivered
from mezzotint.batch.ray.parcel import (
    MOST_SENT,
    Answer,
    Parcel,
    Reply,
    given_images,
    packed,
    parcel_to_wire,
    reply_from_wire,
    together,
)
from mezzotint.batch.run.outcomes import OnEventOf, Outcome, error_of
from mezzotint.batch.run.workers import WorkerDied, WorkerUnusable
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import MezzotintError, ProtocolError
from mezzotint.protocol import GenerateRequest, GenerateResult, Notice, OnEvent, Saved
from mezzotint.trouble import shown

STANDARD_NODE = "mezzotint.batch.ray.node:standard_node"
_STARTS = 3  # that may fail in a row


class AnyCluster(Protocol):
    """Starts and calls remote processes."""

    def start(self, resources: WorkerResources, node: str, arguments: list[str]) -> Any:  # noqa: ANN401
        """Start a worker process."""

    def ask(
        self,
        actor: Any,  # noqa: ANN401
        method: str,
        *arguments: object,
        waiting: Callable[[], bool] = ...,
    ) -> Any:  # noqa: ANN401
        """Return its answer. Raises ActorDied, Cancelled or WorkerUnusable."""

    def end(self, actor: Any) -> None:  # noqa: ANN401
        """End the worker process."""


class RayWorker:
    """One process of a cluster with its own GPU, replaced when it dies. Writes nothing on the node."""

    in_this_process = False

    def __init__(
        self,
        cluster: AnyCluster,
        resources: WorkerResources,
        hashes: ContentHashes,
        *,
        node: str = STANDARD_NODE,
        arguments: Sequence[Any] = (),
        batch_size: int = 1,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """`stopping`: whether to stop waiting for free resources in the cluster."""
        self._cluster, self._resources, self._hashes = cluster, resources, hashes
        self._node, self._arguments, self._batch_size, self._stopping = node, list(arguments), batch_size, stopping
        self._actor: Any = None
        self._host = ""

    def ready(self) -> None:
        """Do nothing: resources in the cluster may take long to become free; the first image waits for them."""

    def batch_size(self, _: GenerateRequest) -> int:
        """Return the batch size of its device."""
        return self._batch_size

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Generate on the node, and write here."""
        (outcome,) = self.make_many([request], lambda _, event: on_event(event))
        if isinstance(outcome, MezzotintError):
            raise outcome
        return outcome

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Generate on the node, and write here; an input image that cannot be sent fails only its own request."""
        outcomes: dict[int, Outcome] = {}
        parcels: dict[int, Parcel] = {}
        for index, request in enumerate(requests):
            try:
                parcels[index] = packed(replace(request, device="auto" if self._resources.gpus else "cpu"))
            except MezzotintError as error:
                outcomes[index] = error
        for group in _groups(parcels):
            answers = self._answers([parcels[index] for index in group], partial(on_event, group[0]))
            for index, answer in zip(group, answers, strict=True):
                outcomes[index] = _outcome(requests[index], answer, parcels[index], partial(on_event, index))
        return [outcomes[index] for index in range(len(requests))]

    def _answers(self, parcels: Sequence[Parcel], on_event: OnEvent) -> tuple[Answer, ...]:
        parcel = together(parcels, self._hashes.required(one.requests[0] for one in parcels))
        actor = self._started(on_event)
        with self._raising_worker_died():
            reply = reply_from_wire(self._cluster.ask(actor, "make", parcel_to_wire(parcel)))
        self._check(reply)
        if len(reply.answers) != len(parcels):
            raise ProtocolError(
                f"{len(parcels)} images were requested from a Ray node, but {len(reply.answers)} were returned"
            )
        return reply.answers

    def _check(self, reply: Reply) -> None:
        if reply.unusable:
            raise WorkerUnusable(f"the Ray node {self._host} cannot generate this: {plain(reply.unusable, 800)}")
        if reply.lost:
            words = f"on the Ray node {self._host}: {plain(reply.lost, 300)}"
            self.close()
            raise WorkerDied(words)

    @contextmanager
    def _raising_worker_died(self) -> Iterator[None]:
        try:
            yield
        except ActorDied as died:
            words = f"the process on the Ray node {self._host} ended ({died})"
            self.close()
            raise WorkerDied(words) from died

    # ---- process

    def _started(self, on_event: OnEvent) -> Any:  # noqa: ANN401  a handle
        """Return the process, started if needed; a death between two images is the fault of neither."""
        why = ""
        for _ in range(_STARTS):
            try:
                if self._actor is None:
                    self._actor = self._cluster.start(self._resources, self._node, self._arguments)
                self._greet(on_event)
                return self._actor
            except ActorDied as died:
                self.close()
                why = str(died)
        raise WorkerUnusable(f"a process on the Ray cluster failed to start {_STARTS} times: {why}")

    def _greet(self, on_event: OnEvent) -> None:
        """Check that the process answers and has the same version; this may wait for a free GPU."""
        told = self._host != ""

        def waiting() -> bool:
            nonlocal told
            if not told:
                told = True
                on_event(Notice(code="waiting", message="waiting for free resources in the Ray cluster"))
            return not self._stopping()

        said = self._cluster.ask(self._actor, "hello", waiting=waiting)
        self._host = plain(said["host"], 80)
        if said["version"] != __version__:
            has = f"Mezzotint {plain(said['version'], 40)}" if said["version"] else "no Mezzotint"
            raise WorkerUnusable(
                f"the Ray node {self._host} has {has}, and this is {__version__}: install the same version on all nodes"
            )

    def close(self) -> None:
        """Kill the process; results that it has not sent are lost, and were never reported."""
        if self._actor is not None:
            self._cluster.end(self._actor)
            self._actor = None
            self._host = ""


def _groups(parcels: dict[int, Parcel]) -> list[list[int]]:
    """Put all parcels into one call, or each into its own if they would be too large."""
    if sum(parcel.bytes() for parcel in parcels.values()) > MOST_SENT:
        return [[index] for index in parcels]
    return [list(parcels)] if parcels else []


def _outcome(request: GenerateRequest, answer: Answer, parcel: Parcel, on_event: OnEvent) -> Outcome:
    if answer.failure is not None:
        message = answer.failure.message
        for path, sent in zip(given_images(request), given_images(parcel.requests[0]), strict=True):
            message = message.replace(sent, shown(path))
        return error_of(answer.failure.kind, message)
    try:
        result = delivered(request, answer)
    except MezzotintError as error:
        return error
    for made in result.images:
        on_event(Saved(image=made, images=len(result.images)))
    return result
