"""What every test shares."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["skip_rules", "pace", "patience", "left_alone", "isolation", "tiny_models", "fake_service"]

# A busy machine is no reason to fail: nothing here is measured by the clock.
settings.register_profile("mezzotint", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mezzotint")
