"""params.yaml as dataclasses: one module a section, and an unknown or missing key is an error."""
