"""Tools of the project itself: which code a stage runs, params, profiles, versions compared, reference pages."""
