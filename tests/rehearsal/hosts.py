"""Imported first, it makes hosts of .example this machine."""

from tests.rehearsal.resolved import patch_all

patch_all()
