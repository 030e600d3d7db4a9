"""Nothing is known about what the locks name, as far as the pinned file of advisories tells."""

import json
from datetime import UTC, datetime

from deploy.local import advisories
from deploy.local.place import ADVISORIES

# without the file there is nothing to test, and `./run prove` says that the line was left out
if ADVISORIES.is_file():

    def test_nothing_is_known_about_what_the_locks_name() -> None:
        pinned = json.loads(ADVISORIES.read_text())

        assert [
            str(each) for each in advisories.findings(pinned, advisories.accepted(), datetime.now(UTC).date())
        ] == []
