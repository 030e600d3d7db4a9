"""What an older system left of the sample owner's: sealed as it would have been, and imported by the real command."""

import json
import tempfile
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from joserfc import jwe
from joserfc.jwk import OctKey

from deploy.sample_data.content import OLD_DATA, OLD_DATA_CHANGED

_ALG, _ENC, _ITERATIONS = "PBES2-HS512+A256KW", "A256GCM", 250_000


def leave_old_data(user: Any, passphrase: str) -> str:
    """Old rows that `passphrase` opens, which is returned; once only, so that what was moved stays moved."""
    if not apps.get_model("pkm.MigrationState").objects.filter(user=user).exists():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "old.jsonl"
            path.write_text("".join(_line(user, passphrase, domain) for domain in OLD_DATA))
            call_command("import_legacy", path, verbosity=0)
    return passphrase


def _line(user: Any, passphrase: str, domain: str) -> str:
    header = {"alg": _ALG, "enc": _ENC, "p2c": _ITERATIONS}
    key = OctKey.import_key(passphrase)
    sealed = jwe.encrypt_compact(header, json.dumps(OLD_DATA[domain]), key, algorithms=[_ALG, _ENC])
    told = {"user_email": user.email, "domain": domain, "jwe": sealed, "updated_at": OLD_DATA_CHANGED}
    return json.dumps(told) + "\n"
