"""What everybody stands on: digests of code, params, profiles, declarations of systems, running DVC."""
