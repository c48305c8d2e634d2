"""Drop default values from requests: files stay short, and hashes stay the same when later versions add fields."""

import dataclasses
from typing import Any


def pruned(value: Any) -> Any:  # noqa: ANN401  any protocol value
    """Return a protocol value as plain data, keeping only fields that differ from their defaults."""
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
