"""A live site for a crawler to be tried on: played by a server that shares no line with the package it tries.

It has LittleGolem's pages, and it fails, renames players and grows as sites do. ``python -m tests.rehearsal`` (``make
rehearse``) is the whole rehearsal.
"""
