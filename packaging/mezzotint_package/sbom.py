"""A bill of materials in CycloneDX's form: every package that a payload can install."""

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mezzotint_package.locks import Locked

_NAMESPACE = uuid.UUID("6a5d9e2c-2f8b-4c55-9e0d-0f6a1f1a4b1e")


def bill(version: str, epoch: int, uv: str, locks: Mapping[str, Sequence[Locked]]) -> str:
    """Return the document; a component says in which locks it is."""
    backends: dict[tuple[str, str], list[str]] = {}
    packages: dict[tuple[str, str], Locked] = {}
    for backend, packages_of in sorted(locks.items()):
        for one in packages_of:
            backends.setdefault((one.name, one.version), []).append(backend)
            packages[one.name, one.version] = one
    components = [_component("uv", uv, {})] + [
        _component(name, number, {"backends": ", ".join(backends[name, number])}, packages[name, number])
        for name, number in sorted(packages)
    ]
    told = json.dumps(components, sort_keys=True)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, f'{version} {told}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z"),
            "component": {
                "type": "application",
                "bom-ref": "mezzotint",
                "name": "mezzotint",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
        "dependencies": [{"ref": "mezzotint", "dependsOn": [one["bom-ref"] for one in components]}],
    }
    return json.dumps(document, indent=1) + "\n"


def _component(name: str, version: str, properties: Mapping[str, str], locked: Locked | None = None) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{version.replace('+', '%2B')}"
    component: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if properties:
        component["properties"] = [{"name": f"mezzotint:{key}", "value": text} for key, text in properties.items()]
    if locked is not None:
        component["externalReferences"] = [
            {"type": "distribution", "url": wheel.url, "hashes": [{"alg": "SHA-256", "content": wheel.sha256}]}
            for wheel in locked.wheels
        ]
    return component
