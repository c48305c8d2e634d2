"""Requests without what is as if it were not said: short in files, and the same when later versions can say more."""

import dataclasses
from typing import Any


def pruned(value: Any) -> Any:  # noqa: ANN401  any value of the boundary
    """A value of the boundary as plain data, only with what differs from the defaults."""
    if isinstance(value, tuple):
        return [pruned(one) for one in value]
    if not dataclasses.is_dataclass(value):
        return value
    return {
        field.name: pruned(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if getattr(value, field.name) != _default(field)
    }


def _default(field: "dataclasses.Field[Any]") -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
