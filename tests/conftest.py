"""Settings for all tests."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.toy_checkout"]

# On a fresh machine the first example also compiles the kernels, which takes far longer than all the others.
settings.register_profile("zugwerk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zugwerk")
