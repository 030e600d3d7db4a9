"""A world whose log is signed and mirrored."""

from pathlib import Path
from typing import Any

import pytest

from consent.log.sequencing import sequence_and_sign
from tests.consent.verification.world import World, make_world


@pytest.fixture
def mirror(settings: Any, tmp_path: Path) -> Path:
    settings.LOG_MIRROR = str(tmp_path / "mirror")
    return tmp_path / "mirror"


@pytest.fixture
def world(db: None, mirror: Path) -> World:
    made = make_world()
    sequence_and_sign()
    return made
