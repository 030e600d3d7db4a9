"""`manage.py sample_data`: people to try the service with, and the file that says how to sign in as them.

The one place of the server that plays a client: it seals the sample owner's vault as their browser would, with the
bridge. Run again it keeps what is there and repairs what is missing; in another database it makes everything anew.
"""

import base64
import json
import os
import secrets
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.atrest import Unreadable, opened
from accounts.atrest import sealed as sealed_at_rest
from consent.management.sample import OWNER_DATA, SAMPLE_APPLICATION
from consent_bridge import sealed
from consent_bridge.errors import BridgeError
from consent_bridge.wrappers import Kind, VaultKey
from developers.tokens import LONGEST_LIFETIME, digest, new_token
from pkm import queries
from pkm.actions.segments import write_segment
from pkm.actions.vault import NewWrapper, create_vault

Part = dict[str, str]


class Unopenable(Exception):
    """There is a vault, and what is known here does not open it."""


class Command(BaseCommand):
    help = "Make sample people, an app with a token, and a member of staff; write who they are to var/sample.json."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--keep-address", action="store_true", help="leave the file's base_url as it is")

    def handle(self, *args: Any, keep_address: bool, **options: Any) -> None:
        path = settings.VAR / "sample.json"
        known = _read(path)
        with transaction.atomic():
            sample = {
                "base_url": known.get("base_url", settings.BASE_URL) if keep_address else settings.BASE_URL,
                "owner": _owner(known.get("owner", {})),
                "developer": _developer(known.get("developer", {})),
                "staff": _staff(known.get("staff", {})),
            }
        if sample != known:
            _write(path, sample)
        self.stdout.write(f"Sample data is in {path}")


def _owner(known: Part) -> Part:
    """Somebody with a vault that holds `OWNER_DATA`."""
    user, password = _account("zoe", "Zoe", known)
    passphrase = known.get("passphrase") or _words()
    try:
        key = _open_vault(user, passphrase) or _make_vault(user, passphrase)
    except Unopenable:
        # its passphrase, or the server's key around it, is in a folder that is gone: somebody new begins
        user, password = _account(f"zoe-{secrets.token_hex(3)}", "Zoe", {})
        key = _make_vault(user, passphrase)
    held = queries.current_revisions(user, OWNER_DATA)
    for place in OWNER_DATA.keys() - held.keys():
        _write_segment(user, key, *place)
    return {"email": user.email, "password": password, "passphrase": passphrase, "user_id": user.public_id}


def _developer(known: Part) -> Part:
    """Somebody with a verified app and a token that works."""
    user, password = _account("dev", "Devon", known)
    apps_here = apps.get_model("developers.App").objects
    app = (
        apps_here.filter(app_id=known.get("app_id")).first()
        or apps_here.filter(members__user=user).first()
        or _make_app(user)
    )
    tokens = apps.get_model("developers.DeveloperToken").objects.filter(app=app, revoked_at=None)
    token = known.get("token", "")
    if not tokens.filter(digest=digest(token), expires_at__gt=timezone.now()).exists():
        token, prefix, kept = new_token()
        expires = timezone.now() + LONGEST_LIFETIME
        tokens.create(app=app, prefix=prefix, digest=kept, label="Sample", expires_at=expires, created_by=user)
    return {"email": user.email, "password": password, "app_id": app.app_id, "token": token}


def _staff(known: Part) -> Part:
    user, password = _account("staff", "Sam", known, is_staff=True, is_superuser=True)
    return {"email": user.email, "password": password, "totp_secret": _authenticator_app(user, known)}


def _authenticator_app(user: Any, known: Part) -> str:
    """The secret of this account's authenticator app: the known one, or a fresh one. /admin/ opens with its codes."""
    secret = known.get("totp_secret") or base64.b32encode(secrets.token_bytes(20)).decode()
    apps_here = apps.get_model("mfa.Authenticator").objects
    for row in apps_here.filter(user=user, type="totp"):
        if _secret_of(row) == secret:
            return secret
        row.delete()
    apps_here.create(user=user, type="totp", data={"secret": sealed_at_rest(secret)})
    return secret


def _secret_of(row: Any) -> str | None:
    try:
        return opened(row.data["secret"])
    except Unreadable:  # the server's key around it is in a folder that is gone
        return None


def _account(name: str, display_name: str, known: Part, **fields: Any) -> tuple[Any, str]:
    """The account of the known address, else of this name; its password is the known one, or a fresh one."""
    users = apps.get_model("accounts.User").objects
    email = known.get("email", f"{name}@example.org")
    user = users.filter(email=email).first() or users.create_user(email, display_name=display_name, **fields)
    password = known.get("password") or secrets.token_urlsafe(12)
    if not user.check_password(password):
        user.set_password(password)
        user.save()
    apps.get_model("account.EmailAddress").objects.get_or_create(
        user=user, email=email, defaults={"verified": True, "primary": True}
    )
    return user, password


def _make_app(user: Any) -> Any:
    staff, _ = apps.get_model("accounts.User").objects.get_or_create(
        email="reviewer@example.org", defaults={"is_staff": True, "password": "!"}
    )
    application = apps.get_model("developers.DeveloperApplication").objects.create(
        applicant=user, status="approved", reviewer=staff, reviewed_at=timezone.now(), **SAMPLE_APPLICATION
    )
    app = apps.get_model("developers.App").objects.create(application=application, name=application.name, verified=True)
    app.members.create(user=user, role="owner")
    return app


def _open_vault(user: Any, passphrase: str) -> VaultKey | None:
    """The key of this person's vault, None where there is no vault, or `Unopenable`."""
    try:
        vault = queries.vault_keys(user)
    except Unreadable as error:
        raise Unopenable from error
    if vault["vault_status"] == "absent":
        return None
    for wrapper in vault["wrappers"]:
        if wrapper["kind"] == "passphrase":
            try:
                return sealed.unwrap(
                    wrapper["jwe"], "passphrase", passphrase, user_id=user.public_id, key_id=vault["key_id"]
                )
            except BridgeError:
                continue
    raise Unopenable


def _make_vault(user: Any, passphrase: str) -> VaultKey:
    key = sealed.generate_vault_key()
    secret: dict[Kind, str] = {"passphrase": passphrase, "recovery": sealed.generate_recovery_code()}
    labels = {"passphrase": "Passphrase", "recovery": "Recovery code"}
    wrappers = [
        NewWrapper(kind=kind, label=labels[kind], jwe=sealed.wrap(key, kind, secret[kind], user.public_id))
        for kind in secret
    ]
    create_vault(by=user, key_id=key.key_id, wrappers=wrappers)
    return key


def _write_segment(user: Any, key: VaultKey, domain: str, segment: str) -> None:
    """Over whatever revision a deleted one left behind."""
    newest = apps.get_model("pkm.Blob").objects.filter(user=user, domain=domain, segment_id=segment, is_current=True)
    base = newest.values_list("content_revision", flat=True).first() or 0
    values = OWNER_DATA[domain, segment]
    header = sealed.SegmentHeader(key.key_id, user.public_id, domain, segment, base + 1)
    write_segment(
        by=user,
        domain=domain,
        segment_id=segment,
        jwe=sealed.seal_segment(values, key.secret, header),
        base_content_revision=base,
        attributes=list(values),
    )


def _words() -> str:
    """A passphrase that no estimator finds weak and a person can type: five groups of random letters."""
    letters = "abcdefghijkmnpqrstuvwxyz"
    return "-".join("".join(secrets.choice(letters) for _ in range(5)) for _ in range(5))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, sample: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(".sample.json.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(sample, file, indent=2)
    temporary.replace(path)
