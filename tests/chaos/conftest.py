"""The killing of processes takes a minute and a PostgreSQL cluster of its own: it is collected only where CHAOS=1."""

import os

collect_ignore = [] if os.environ.get("CHAOS") else ["test_chaos.py"]
