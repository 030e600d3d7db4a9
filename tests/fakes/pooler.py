"""A real PgBouncer in transaction mode in front of the database, which hands few sessions around among many clients."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from deploy.local.serving import free_port, is_free
from tests.patience import eventually

PROGRAM = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
_SETTINGS = """
[databases]
* = host={host} port={port} user='{user}'{password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 500
"""


@contextmanager
def pgbouncer(url: str, *, sessions: int = 4) -> Iterator[str]:
    """The address of the same database through a pooler that has so many sessions of PostgreSQL."""
    assert PROGRAM is not None
    parts, own_port = urlsplit(url), free_port()
    password = f" password='{unquote(parts.password)}'" if parts.password else ""
    configuration = _SETTINGS.format(
        host=parts.hostname, port=parts.port or 5432, user=unquote(parts.username or ""),
        password=password, own_port=own_port, sessions=sessions,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="consent-pooler-") as folder:
        file = Path(folder) / "pgbouncer.ini"
        file.write_text(configuration)
        os.chmod(folder, 0o755)  # it refuses to run as root, and reads its file as somebody else
        someone = ["--user=nobody"] if os.geteuid() == 0 else []
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen([PROGRAM, *someone, str(file)], stdout=log, stderr=subprocess.STDOUT)
        try:
            eventually(lambda: not is_free(own_port), "PgBouncer")
            yield f"postgres://{parts.username}@127.0.0.1:{own_port}{parts.path}"
        finally:
            process.kill()
            process.wait()
