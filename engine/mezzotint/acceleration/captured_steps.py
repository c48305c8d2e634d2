"""Captures steps of a network as CUDA graphs, so that a step launches its kernels without Python between them.

A graph uses fixed addresses: inputs that change with each step are copied into its own buffers, the conditioning is
read in place, and a network whose weights have moved since is captured again.
https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from mezzotint.acceleration.text_cache import CachedLayer
from mezzotint.protocol import GraphsUsed

Count: TypeAlias = tuple[object, str]  # an owner and its attribute that counts calls: a number, or a Counter
Forward: TypeAlias = Callable[..., Any]  # of a network, with any arguments and result
Values: TypeAlias = tuple[Any, ...]
Named: TypeAlias = dict[str, Any]

KEPT = 4  # graphs at a time: the guidance halves, and groups of images generated together
CHANGING = "timestep"  # the only keyword argument that changes with each step; the others are the conditioning


class Place(NamedTuple):
    """A weight at the time of capture: its tensor and its address."""

    holder: Mapping[str, Tensor | None]
    name: str
    tensor: Tensor
    address: int


@dataclass(slots=True, kw_only=True, eq=False)
class _Graph:
    """A forward pass for one shape and one conditioning."""

    words: Mapping[str, Any]  # held, so that nothing else is allocated at their addresses
    graph: Any = None  # torch.cuda.CUDAGraph; None if it has only run eagerly
    inputs: Sequence[Any] = ()
    output: Any = None
    places: Sequence[Place] = ()
    remembered: Sequence[object] = ()  # cached outputs for the prompt, read in place
    counted: Sequence[Any] = ()  # calls per pass, for each count

    def release(self) -> None:
        """Release the graph's memory."""
        self.output, self.inputs, self.remembered = None, (), ()
        if self.graph is not None:
            self.graph.reset()
            self.graph = None


class CapturedSteps:
    """Captures the steps of one job and counts them; the first failure disables this and is reported."""

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
        """Capture and replay the network's passes in this context; `refusal` returns why a pass may not be, or ''."""
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
        """Release all graphs, because they are no longer valid or their memory is needed."""
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
                graph.release()  # an eager pass takes as much memory as they hold
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
        """Capture a pass over its own buffers, without running it; returns whether that succeeded."""
        device = next(each.device for each in changing if isinstance(each, Tensor) and each.device.type == "cuda")
        before = self._counts()
        try:
            if all(each.graph is None for each in self._graphs.values()):
                self._pool = torch.cuda.graph_pool_handle()  # a pool that no graph holds any more cannot be shared
            self._stream = self._stream or torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            known.inputs = [_buffer(each, device) for each in changing]
            named = {CHANGING: known.inputs[positional]} if len(changing) > positional else {}
            known.places = _places(network)
            graph = torch.cuda.CUDAGraph()
            _clear_workspaces()
            # Other threads continue to copy during the capture.
            how = {"pool": self._pool, "stream": self._stream, "capture_error_mode": "thread_local"}
            with torch.cuda.graph(graph, **how):
                known.output = plain(*known.inputs[:positional], **known.words, **named)
            known.graph = graph
        except RuntimeError as error:
            self._give_up(error)
            for layer in _remembering(network):
                layer.forget()  # tensors of the failed capture were never computed
            return False
        finally:
            _clear_workspaces()
        known.remembered = [layer.outputs for layer in _remembering(network)]
        known.counted = [after - ago for after, ago in zip(self._counts(), before, strict=True)]
        self._captured += 1
        return True

    def _counts(self) -> list[Any]:
        return [copy(getattr(owner, name)) for owner, name in self.counts]

    def _give_up(self, error: BaseException) -> None:
        self.forget()
        while error.__context__ is not None:  # the outermost error only says that the capture failed
            error = error.__context__
        self.failure = (str(error).strip().partition("\n")[0] or type(error).__name__)[:300]
        self._tell("not_captured", f"steps run without CUDA graphs, because capturing one failed: {self.failure}")


def _clear_workspaces() -> None:
    """Free cuBLAS workspaces: one from outside a capture may be freed later, one from inside would keep the pool."""
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
    """Whether all weights are the captured ones, at the same addresses."""
    return all(holder.get(name) is tensor and tensor.data_ptr() == address for holder, name, tensor, address in places)


def _shape(value: object) -> object:
    return (value.shape, value.stride(), value.dtype, value.device) if isinstance(value, Tensor) else value


def _identities(words: Mapping[Any, Any]) -> Iterator[object]:
    """What identifies a conditioning: address, version and layout of its tensors; other values by themselves."""
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
    """Copy a tensor of a pass's output, which the next replay overwrites."""
    return value.clone() if isinstance(value, Tensor) else value
