"""The sample people: an owner with a vault, a developer with an app and its token, and a member of staff.

Each `ensure_…` takes the person's entry in the file of an earlier run, or an empty one, and returns the entry of now.
"""

import base64
import json
import secrets
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.utils import timezone
from joserfc import jwe
from joserfc.jwk import OctKey

from accounts.sharing_id import make_sharing_id, sharing_id_of
from common.encryption import DecryptionFailed, opened, sealed
from common.identifiers import secret_digest
from consent.connector_keys.actions import register_key
from consent_bridge.sealed import generate_connector_key, public_half, thumbprint
from deploy.sample_data import vaults
from deploy.sample_data.content import EXAMPLE_ORIGINS, OLD_DATA, OLD_DATA_CHANGED, OWNER_DATA, SAMPLE_APPLICATION
from deploy.sample_data.sample_person import SAMPLE
from developers.apps.actions import make_test_app
from developers.tokens.format import DEFAULT_LIFETIME, LONGEST_LIFETIME, new_token

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
    line = {"user_email": user.email, "domain": domain, "jwe": sealed, "updated_at": OLD_DATA_CHANGED}
    return json.dumps(line) + "\n"


Entry = dict[str, str]
_REGISTERED_AGO = timedelta(days=2)  # a key is vouched for a day after
_FRESH = timedelta(days=7)  # a management token that ends sooner is made anew


def ensure_owner(known: Entry) -> Entry:
    """Somebody with a vault that holds `OWNER_DATA`, and older data that waits under an older passphrase."""
    name = SAMPLE["email"].partition("@")[0]
    user, password = _ensure_account(name, SAMPLE["fullName"], known)
    passphrase = known.get("passphrase") or _new_passphrase()
    try:
        key = vaults.open_vault(user, passphrase) or vaults.make_vault(user, passphrase)
    except vaults.CannotOpenVault:
        # its passphrase, or the server's key that encrypts it, was in a folder that is gone: make a new person
        user, password = _ensure_account(f"{name}-{secrets.token_hex(3)}", SAMPLE["fullName"], {})
        key = vaults.make_vault(user, passphrase)
    vaults.write_missing_segments(user, key, OWNER_DATA)
    old_passphrase = known.get("old_passphrase") or _new_passphrase()
    return {
        "email": user.email,
        "password": password,
        "passphrase": passphrase,
        "old_passphrase": leave_old_data(user, old_passphrase),
    }


def ensure_met(owner: Entry, developer: Entry) -> Entry:
    """What the live app calls the owner, and an invitation that is open to any one other app."""
    user = apps.get_model("accounts.User").objects.get(email=owner["email"])
    app = apps.get_model("developers.App").objects.get(app_id=developer["app_id"])
    met, _ = apps.get_model("developers.AppPerson").objects.get_or_create(app=app, user=user)
    shown = sharing_id_of(user)
    if shown is None or shown.is_over or shown.app_name:
        make_sharing_id(by=user)
        shown = sharing_id_of(user)
    return {"user_id": met.pairwise_id, "sharing_id": shown.sharing_id if shown else ""}


def ensure_developer(known: Entry) -> Entry:
    """Somebody with a verified app and a test app, a valid token of each, and one to manage both with."""
    user, password = _ensure_account("dev", "Devon", known)
    existing = apps.get_model("developers.App").objects
    app = (
        existing.filter(app_id=known.get("app_id")).first()
        or existing.filter(members__user=user, mode="live").first()
        or _make_app(user)
    )
    if missing := [origin for origin in EXAMPLE_ORIGINS if origin not in app.origins]:  # made before those examples
        app.origins = [*app.origins, *missing]
        app.save(update_fields=["origins"])
    test_app = (
        existing.filter(app_id=known.get("test_app_id"), mode="test").first()
        or existing.filter(members__user=user, mode="test").first()
        or make_test_app(name=f"{SAMPLE_APPLICATION['name']} (test)", by=user)
    )
    return {
        "email": user.email,
        "password": password,
        "app_id": app.app_id,
        "connector_key": _ensure_connector_key(app, user, known.get("connector_key", "")),
        "token": _ensure_token(app, user, known.get("token", "")),
        "test_app_id": test_app.app_id,
        "test_token": _ensure_token(test_app, user, known.get("test_token", "")),
        "management_token": _ensure_management_token(user, known.get("management_token", "")),
    }


def ensure_staff(known: Entry) -> Entry:
    """Somebody who may use /admin/, with the secret of their authenticator app."""
    user, password = _ensure_account("staff", "Sam", known, is_staff=True, is_superuser=True)
    totp_secret = _ensure_authenticator(user, known.get("totp_secret"))
    return {"email": user.email, "password": password, "totp_secret": totp_secret}


def _ensure_account(name: str, display_name: str, known: Entry, **fields: Any) -> tuple[Any, str]:
    """The account of the known address, else of this name; its password is the known one, or a new one."""
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


def _ensure_authenticator(user: Any, known: str | None) -> str:
    """The secret of this account's authenticator app: the known one, or a new one."""
    secret = known or base64.b32encode(secrets.token_bytes(20)).decode()
    authenticators = apps.get_model("mfa.Authenticator").objects
    for authenticator in authenticators.filter(user=user, type="totp"):
        if _secret_of(authenticator) == secret:
            return secret
        authenticator.delete()
    authenticators.create(user=user, type="totp", data={"secret": sealed(secret)})
    return secret


def _secret_of(authenticator: Any) -> str | None:
    try:
        return opened(authenticator.data["secret"])
    except DecryptionFailed:  # the server's key that encrypts it was in a folder that is gone
        return None


def _make_app(user: Any) -> Any:
    staff, _ = apps.get_model("accounts.User").objects.get_or_create(
        email="reviewer@example.org", defaults={"is_staff": True, "password": "!"}
    )
    application = apps.get_model("developers.DeveloperApplication").objects.create(
        applicant=user, status="approved", reviewer=staff, reviewed_at=timezone.now(), **SAMPLE_APPLICATION
    )
    app = apps.get_model("developers.App").objects.create(
        application=application, name=application.name, origins=application.origins, verified=True
    )
    app.members.create(user=user, role="owner")
    return app


def _ensure_connector_key(app: Any, user: Any, known: str) -> str:
    """The known private JWK where the app registered it, else a new one, registered as if it had been two days ago."""
    keys = apps.get_model("consent.ConnectorKey").objects.registered().filter(app=app)
    if known and keys.filter(thumbprint=thumbprint(public_half(json.loads(known)))).exists():
        return known
    key = generate_connector_key()
    key_id, at = f"sample-{secrets.token_hex(3)}", timezone.now() - _REGISTERED_AGO
    register_key(app=app, key_id=key_id, jwk=public_half(key), by=user, at=at)
    return json.dumps(key)


def _ensure_token(app: Any, user: Any, known: str) -> str:
    """The known token where it is valid for this app, else a new one."""
    tokens = apps.get_model("developers.DeveloperToken").objects
    valid = tokens.filter(app=app, revoked_at=None, expires_at__gt=timezone.now())
    if valid.filter(digest=secret_digest(known)).exists():
        return known
    token, prefix, hashed = new_token(app.mode)
    expires_at = timezone.now() + LONGEST_LIFETIME
    tokens.create(app=app, prefix=prefix, digest=hashed, label="Sample", expires_at=expires_at, created_by=user)
    return token


def _ensure_management_token(user: Any, known: str) -> str:
    """The known token where it is valid for a while still, else a new one: it may last 90 days and no longer."""
    tokens = apps.get_model("developers.ManagementToken").objects
    now = timezone.now()
    if tokens.filter(user=user, revoked_at=None, expires_at__gt=now + _FRESH, digest=secret_digest(known)).exists():
        return known
    token, prefix, hashed = new_token("mgmt")
    tokens.create(
        user=user,
        prefix=prefix,
        digest=hashed,
        label="Sample",
        permissions={"*": ["read", "write"]},
        expires_at=now + DEFAULT_LIFETIME,
    )
    return token


def _new_passphrase() -> str:
    """A passphrase that no estimator finds weak and a person can type: five groups of random letters."""
    letters = "abcdefghijkmnpqrstuvwxyz"
    return "-".join("".join(secrets.choice(letters) for _ in range(5)) for _ in range(5))
