"""`python -m tests.corpus.record [AREA...]`: record the corpus anew. When that is legitimate: tests/corpus/__init__.py.

It plays on a test database of its own, of the kind that DATABASE_URL names, as the tests do.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bridge"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")


def main() -> None:
    """Play, and write what was answered."""
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    from tests.corpus.recordings import AREAS, keep, played

    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        for area in sys.argv[1:] or AREAS:
            exchanges = played(area)
            keep(area, exchanges)
            sys.stdout.write(f"{area}: {len(exchanges)} exchanges\n")
    finally:
        teardown_databases(databases, verbosity=0)


if __name__ == "__main__":
    main()
