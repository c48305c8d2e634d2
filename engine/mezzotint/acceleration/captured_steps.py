"""Steps of a network captured as CUDA graphs, so that a step launches its kernels without Python between them.

A graph works at fixed addresses: what changes with each step is copied into buffers of its own, what the words became
is read where it lies, and a network whose weights have moved since is captured anew.
https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from mezzotint.acceleration.text_cache import CachedLayer
from mezzotint.protocol import GraphsUsed

Count: TypeAlias = tuple[object, str]  # an attribute that layers count their calls in
Forward: TypeAlias = Callable[..., Any]  # of a network, of whatever it takes and gives
Values: TypeAlias = tuple[Any, ...]
Named: TypeAlias = dict[str, Any]

KEPT = 4  # graphs at a time: the halves of the guidance, and parts of images that are made together
CHANGING = "timestep"  # the one keyword that changes with each step; the others are the words'


class Place(NamedTuple):
    """Of a weight: what lay there, and where in memory."""

    holder: Mapping[str, Tensor | None]
    name: str
    tensor: Tensor
    address: int


@dataclass(slots=True, kw_only=True, eq=False)
class _Graph:
    """A forward pass of one shape and of one conditioning."""

    words: Mapping[str, Any]  # held, so that nothing else comes to lie where they do
    graph: Any = None  # torch.cuda.CUDAGraph; None: made once, as ever
    inputs: Sequence[Any] = ()
    output: Any = None
    places: Sequence[Place] = ()
    remembered: Sequence[object] = ()  # of the words, read where it lies
    counted: Sequence[int] = ()  # calls of one pass

    def release(self) -> None:
        """Release its memory."""
        self.output, self.inputs, self.remembered = None, (), ()
        if self.graph is not None:
            self.graph.reset()
            self.graph = None


class CapturedSteps:
    """Captures for one job, and counts; the first failure ends that, and is told."""

    def __init__(self, tell: Callable[[str, str], None], counts: Sequence[Count] = ()) -> None:
        self._tell, self.counts = tell, tuple(counts)
        self._captured = self._replayed = self._eager = 0
        self.failure = ""
        self._reason = ""
        self._graphs: OrderedDict[object, _Graph] = OrderedDict()
        self._pool: Any = None
        self._stream: Any = None

    @property
    def used(self) -> GraphsUsed:
        """How many steps were captured, replayed and run eagerly."""
        return GraphsUsed(
            captured=self._captured, replayed=self._replayed, eager=self._eager, reason=self.failure or self._reason
        )

    @contextmanager
    def running(self, network: nn.Module, refusal: Callable[[], str]) -> Iterator[None]:
        """Have a network's passes captured and replayed, inside; `refusal` says why one is not to be."""
        plain = network.forward

        def forward(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  whatever networks take and give
            why = self.failure or refusal()
            if why:
                self.forget()
                self._reason = why
                self._eager += 1
                return plain(*args, **kwargs)
            return self._step(network, plain, args, kwargs)

        vars(network)["forward"] = forward
        try:
            yield
        finally:
            vars(network).pop("forward", None)
            self.forget()
            self._pool = self._stream = None

    def forget(self) -> None:
        """Let go of all graphs: what was captured holds no more, or their memory is wanted."""
        for graph in self._graphs.values():
            graph.release()
        self._graphs.clear()

    def _step(self, network: nn.Module, plain: Forward, args: Values, kwargs: Named) -> Any:  # noqa: ANN401
        changing = (*args, *((kwargs[CHANGING],) if CHANGING in kwargs else ()))
        words = {name: value for name, value in kwargs.items() if name != CHANGING}
        key = (len(args), *(_shape(each) for each in changing), *_identities(words))
        known = self._graphs.get(key)
        if known is None:
            self._remember(key, _Graph(words=words))
            for graph in self._graphs.values():
                graph.release()  # a pass as ever takes as much memory as they hold
            self._eager += 1
            return plain(*args, **kwargs)
        self._graphs.move_to_end(key)
        if known.graph is not None and not _in_place(known.places):
            known.release()
        if known.graph is None:
            if not self._capture(network, plain, known, changing, len(args)):
                self._eager += 1
                return plain(*args, **kwargs)
        else:
            for (owner, name), calls in zip(self.counts, known.counted, strict=True):
                setattr(owner, name, getattr(owner, name) + calls)
        for ours, given in zip(known.inputs, changing, strict=True):
            if isinstance(ours, Tensor):
                ours.copy_(given, non_blocking=True)
        known.graph.replay()
        self._replayed += 1
        return tree_map(_copied, known.output)

    def _remember(self, key: object, graph: _Graph) -> None:
        while len(self._graphs) >= KEPT:
            self._graphs.popitem(last=False)[1].release()
            self._reason = f"more than {KEPT} shapes or conditionings alternate"
        self._graphs[key] = graph

    def _capture(
        self, network: nn.Module, plain: Forward, known: _Graph, changing: Sequence[Any], positional: int
    ) -> bool:
        """Whether a pass over buffers of its own is captured; it has not been made yet then."""
        device = next(each.device for each in changing if isinstance(each, Tensor) and each.device.type == "cuda")
        before = self._counts()
        try:
            if all(each.graph is None for each in self._graphs.values()):
                self._pool = torch.cuda.graph_pool_handle()  # one that no graph holds any more cannot be shared
            self._stream = self._stream or torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            known.inputs = [_buffer(each, device) for each in changing]
            named = {CHANGING: known.inputs[positional]} if len(changing) > positional else {}
            known.places = _places(network)
            graph = torch.cuda.CUDAGraph()
            _clear_workspaces()
            # Copies of other threads go on meanwhile.
            how = {"pool": self._pool, "stream": self._stream, "capture_error_mode": "thread_local"}
            with torch.cuda.graph(graph, **how):
                known.output = plain(*known.inputs[:positional], **known.words, **named)
            known.graph = graph
        except RuntimeError as error:
            self._give_up(error)
            for layer in _remembering(network):
                layer.forget()  # what it was given in the capture has no numbers
            return False
        finally:
            _clear_workspaces()
        known.remembered = [layer.outputs for layer in _remembering(network)]
        known.counted = [after - ago for after, ago in zip(self._counts(), before, strict=True)]
        self._captured += 1
        return True

    def _counts(self) -> list[int]:
        return [getattr(owner, name) for owner, name in self.counts]

    def _give_up(self, error: BaseException) -> None:
        self.forget()
        while error.__context__ is not None:  # the end of a capture says only that something failed in it
            error = error.__context__
        self.failure = (str(error).strip().partition("\n")[0] or type(error).__name__)[:300]
        self._tell("not_captured", f"steps run without CUDA graphs, because capturing one failed: {self.failure}")


def _clear_workspaces() -> None:
    """Of products: one that was taken outside of a capture may be freed, one from inside would hold the pool."""
    torch._C._cuda_clearCublasWorkspaces()


def _remembering(network: nn.Module) -> list[CachedLayer]:
    return [module for module in network.modules() if isinstance(module, CachedLayer)]


def _places(network: nn.Module) -> list[Place]:
    holders: list[Mapping[str, Tensor | None]] = [
        holder for module in network.modules() for holder in (module._parameters, module._buffers)
    ]
    return [
        Place(holder, name, tensor, tensor.data_ptr())
        for holder in holders
        for name, tensor in holder.items()
        if tensor is not None
    ]


def _in_place(places: Sequence[Place]) -> bool:
    """Whether all weights are those that were captured, and lie where they lay."""
    return all(holder.get(name) is tensor and tensor.data_ptr() == address for holder, name, tensor, address in places)


def _shape(value: object) -> object:
    return (value.shape, value.stride(), value.dtype, value.device) if isinstance(value, Tensor) else value


def _identities(words: Mapping[Any, Any]) -> Iterator[object]:
    """What tells a conditioning from another: where its tensors lie and how they look; other values themselves."""
    for name, value in words.items():
        if isinstance(value, Mapping):
            yield name, *_identities(value)
        elif isinstance(value, list | tuple):
            yield name, *_identities(dict(enumerate(value)))
        elif isinstance(value, Tensor):
            version = None if value.is_inference() else value._version
            yield name, value.data_ptr(), version, _shape(value)
        else:
            yield name, value


def _buffer(value: Any, device: torch.device) -> Any:  # noqa: ANN401  numbers stay numbers
    return torch.empty_like(value, device=device) if isinstance(value, Tensor) else value


def _copied(value: Any) -> Any:  # noqa: ANN401
    """Of a pass's output: the next replay writes over it."""
    return value.clone() if isinstance(value, Tensor) else value
