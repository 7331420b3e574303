"""The page Play."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

router = APIRouter(prefix="/api/play", tags=["play"])


@asynccontextmanager
async def opened(_: FastAPI) -> AsyncIterator[None]:
    """What the page needs while the server runs."""
    yield
