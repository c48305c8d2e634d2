"""Interprets the opcodes of a pickle that torch.save wrote, without ever running what it names.

Plain values and tensors become values here; every other object is an inert one with its name. Nothing is imported or
called, so that a hostile file can at most be refused. Format: the opcodes are documented in CPython's pickletools.
"""

import math
import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from mezzotint.checkpoints.plain_text import plain

MOST_OPCODES = 1_000_000  # an embedding has fewer than a hundred, a large upscaler 150,000
MAX_RANK = 8
# The packages of objects that files of tensors have; any other would be code.
_PACKAGES = ("torch", "numpy", "collections", "pytorch_lightning", "_codecs")
_BUILTINS = frozenset(f"{module} {name}" for module in ("builtins", "__builtin__") for name in ("set", "object"))
DTYPES = {  # by the class of a storage in torch, as safetensors calls them
    "FloatStorage": "F32",
    "HalfStorage": "F16",
    "BFloat16Storage": "BF16",
    "DoubleStorage": "F64",
    "LongStorage": "I64",
    "IntStorage": "I32",
}
_PUSHED = (  # opcodes whose argument is a value, without its size
    *("INT", "BININT", "LONG", "FLOAT", "BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES"),
)
_VALUES: Mapping[str, object] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageRef:
    """The numbers of one or more tensors, which are elsewhere in the file under a key."""

    dtype: str
    key: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PickledTensor:
    """A view into a storage; offset and strides in elements, inside of it."""

    storage: StorageRef
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class InertObject:
    """Anything else, of which only the name and the state are known."""

    name: str
    state: dict[object, object] = field(default_factory=dict)


def interpret(stream: BinaryIO) -> tuple[object, dict[str, StorageRef]]:
    """The value of one pickle, and its storages by key; the stream is then behind it.

    Raises ValueError, KeyError or IndexError for anything but plain values and tensors.
    """
    machine = _Machine()
    for number, (opcode, argument, _) in enumerate(pickletools.genops(stream)):
        if number == MOST_OPCODES:
            raise ValueError("more values than a file of a few tensors has")
        machine.step(opcode.name, argument)
    return machine.pop(), machine.storages


class _Machine:
    """The stack, the marks in it and the memo."""

    def __init__(self) -> None:
        self._stack: list[object] = []
        self._marks: list[int] = []
        self._memo: dict[object, object] = {}
        self.storages: dict[str, StorageRef] = {}

    def pop(self) -> object:
        return self._stack.pop()

    def step(self, name: str, argument: object) -> None:
        if name.rstrip("1248") in _PUSHED:
            self._stack.append(argument)
        elif name in _VALUES:
            self._stack.append(_VALUES[name])
        elif name in _STEPS:
            _STEPS[name](self, argument)
        else:
            raise ValueError(f"it has the opcode {name}")

    def skip(self, _: object) -> None: ...

    def mark(self, _: object) -> None:
        self._marks.append(len(self._stack))

    def since_mark(self) -> list[object]:
        start = self._marks.pop()
        taken = self._stack[start:]
        del self._stack[start:]
        return taken

    def empty_dict(self, _: object) -> None:
        self._stack.append({})

    def empty_list(self, _: object) -> None:
        self._stack.append([])

    def tuple(self, _: object) -> None:
        self._stack.append(tuple(self.since_mark()))

    def last(self, count: int) -> None:
        taken = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._stack.append(taken)

    def append(self, _: object) -> None:
        value = self.pop()
        self._list().append(value)

    def appends(self, _: object) -> None:
        values = self.since_mark()
        self._list().extend(values)

    def set_item(self, _: object) -> None:
        value, key = self.pop(), self.pop()
        _put(self._stack[-1], [(key, value)])

    def set_items(self, _: object) -> None:
        values = self.since_mark()
        _put(self._stack[-1], list(zip(values[::2], values[1::2], strict=True)))

    def put(self, argument: object) -> None:
        self._memo[argument] = self._stack[-1]

    def memoize(self, _: object) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def get(self, argument: object) -> None:
        self._stack.append(self._memo[argument])

    def named(self, argument: object) -> None:
        name = str(argument)
        if name not in _BUILTINS and name.partition(" ")[0].partition(".")[0] not in _PACKAGES:
            raise ValueError(f"it names {plain(name.replace(' ', '.'), 60)}, which is no tensor")
        self._stack.append(InertObject(name=name))

    def named_by_stack(self, _: object) -> None:
        name, module = self.pop(), self.pop()
        self.named(f"{module} {name}")

    def reduce(self, _: object) -> None:
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, InertObject) or not isinstance(arguments, tuple):
            raise ValueError("it calls what is no function")
        self._stack.append(_made(function.name, arguments))

    def new_object(self, _: object) -> None:
        _, kind = self.pop(), self.pop()
        self._stack.append(InertObject(name=kind.name if isinstance(kind, InertObject) else ""))

    def build(self, _: object) -> None:
        state, built = self.pop(), self._stack[-1]
        if isinstance(built, InertObject) and isinstance(state, dict):
            built.state = state

    def storage(self, _: object) -> None:
        said = self.pop()
        if isinstance(said, tuple) and said[:1] == ("module",):  # torch before 1.6: a class, with its source code
            self._stack.append(said[1])
            return
        found = _storage(said)
        self._stack.append(self.storages.setdefault(found.key, found))

    def _list(self) -> list[object]:
        found = self._stack[-1]
        if not isinstance(found, list):
            raise ValueError("it appends to what is no list")
        return found


_STEPS: Mapping[str, Callable[[_Machine, object], None]] = {
    **dict.fromkeys(("PROTO", "FRAME", "STOP"), _Machine.skip),
    "MARK": _Machine.mark,
    "EMPTY_DICT": _Machine.empty_dict,
    "EMPTY_LIST": _Machine.empty_list,
    "TUPLE": _Machine.tuple,
    "TUPLE1": lambda machine, _: machine.last(1),
    "TUPLE2": lambda machine, _: machine.last(2),
    "TUPLE3": lambda machine, _: machine.last(3),
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    "MEMOIZE": _Machine.memoize,
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    "GLOBAL": _Machine.named,
    "STACK_GLOBAL": _Machine.named_by_stack,
    "REDUCE": _Machine.reduce,
    "NEWOBJ": _Machine.new_object,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.storage,
}


def _put(target: object, items: list[tuple[object, object]]) -> None:
    if not isinstance(target, dict):
        raise ValueError("it puts an item into what is no dictionary")
    for key, value in items:
        if not isinstance(key, str | int | float | None):  # nested tuples can take forever to hash
            raise ValueError("it has a key that is neither text nor a number")
        target[key] = value


def _made(name: str, arguments: tuple[object, ...]) -> object:
    """What a call would return, for the few functions that are known."""
    match name:
        case "collections OrderedDict":
            made: dict[object, object] = {}
            pairs = arguments[0] if arguments else []
            for pair in pairs if isinstance(pairs, list) else ():
                _put(made, [tuple(pair)])
            return made
        case "torch._utils _rebuild_tensor" | "torch._utils _rebuild_tensor_v2":
            return _tensor(*arguments[:4])
        case "torch._utils _rebuild_parameter":
            return arguments[0]
    return InertObject(name=name)


def _storage(said: object) -> StorageRef:
    """A storage by its persistent id: ("storage", its class, key, device, number of elements)."""
    if not isinstance(said, tuple) or len(said) < 5 or said[0] != "storage" or not isinstance(said[1], InertObject):
        raise ValueError("it refers to what is no storage of numbers")
    dtype, key, count = DTYPES.get(said[1].name.removeprefix("torch ")), said[2], said[4]
    if dtype is None or not isinstance(key, str) or type(count) is not int or count < 0:
        raise ValueError(f"it has a storage of the kind {plain(said[1].name, 60)}")
    return StorageRef(dtype=dtype, key=key, count=count)


def _tensor(storage: object, offset: object, shape: object, stride: object) -> PickledTensor:
    if not isinstance(storage, StorageRef) or type(offset) is not int or offset < 0:
        raise ValueError("it has a tensor without numbers")
    sides, steps = _counts(shape), _counts(stride)
    if len(sides) != len(steps):
        raise ValueError("it has a tensor of an impossible shape")
    if math.prod(sides) > storage.count:  # numbers repeated by a stride of 0: a few bytes that become gigabytes
        raise ValueError("it has a tensor that is larger than its storage")
    last = offset + sum((side - 1) * step for side, step in zip(sides, steps, strict=True))
    if 0 not in sides and last >= storage.count:
        raise ValueError("it has a tensor that is larger than its storage")
    return PickledTensor(storage=storage, offset=offset, shape=sides, stride=steps)


def _counts(value: object) -> tuple[int, ...]:
    items = value if isinstance(value, tuple) and len(value) <= MAX_RANK else (-1,)
    counts = tuple(item for item in items if type(item) is int and 0 <= item < 2**40)
    if len(counts) != len(items):
        raise ValueError("it has a tensor of an impossible shape")
    return counts
