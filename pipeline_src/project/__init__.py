"""Tools of the project: code of stages, params, profiles, comparison of versions, scheduling, reference pages."""
