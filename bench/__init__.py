"""Speeds, each beside a reference measured in the same run; never asserted in tests."""
