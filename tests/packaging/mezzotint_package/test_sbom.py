import json

from mezzotint_package.locks import Locked, Wheel
from mezzotint_package.sbom import bill

EPOCH = 1767225600


def locked(name, version="1.0"):
    return Locked(name=name, version=version, wheels=(Wheel(url=f"https://x/{name}.whl", sha256="ab" * 32, size=1),))


def test_every_package_is_listed_once_with_its_backends_and_hashes():
    locks = {"cpu": [locked("numpy"), locked("torch", "2+cpu")], "window": [locked("numpy")]}
    document = json.loads(bill("1.2.3", EPOCH, "0.13.9", locks))
    components = {one["purl"]: one for one in document["components"]}
    assert list(components) == ["pkg:pypi/uv@0.13.9", "pkg:pypi/numpy@1.0", "pkg:pypi/torch@2%2Bcpu"]
    numpy = components["pkg:pypi/numpy@1.0"]
    assert numpy["properties"] == [{"name": "mezzotint:backends", "value": "cpu, window"}]
    assert numpy["externalReferences"][0]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert document["metadata"]["timestamp"] == "2026-01-01T00:00:00Z"
    assert document["dependencies"][0]["dependsOn"] == list(components)


def test_the_document_depends_on_its_contents_alone():
    locks = {"cpu": [locked("numpy")]}
    assert bill("1", EPOCH, "0.13.9", locks) == bill("1", EPOCH, "0.13.9", dict(locks))
    other = json.loads(bill("1", EPOCH, "0.13.9", {"cpu": [locked("numpy", "2")]}))
    assert other["serialNumber"] != json.loads(bill("1", EPOCH, "0.13.9", locks))["serialNumber"]
