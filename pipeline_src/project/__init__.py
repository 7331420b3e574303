"""The base of all packages: digests of code, params, profiles, declarations of systems, running DVC."""
