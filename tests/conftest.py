"""What every test shares."""

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "skip_rules",
    "pace",
    "patience",
    "left_alone",
    "isolation",
    "tiny_models",
    "fake_service",
    "english_plurals",
    "every_device",
    "backward_installed",
]

# A busy machine is no reason to fail: nothing here is measured by the clock. The examples are the same in every run.
# `make test-slow` tries more of them.
for name, examples in (("mezzotint", 8), ("thorough", 100)):
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("mezzotint")
