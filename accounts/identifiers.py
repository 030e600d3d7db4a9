"""The identifier of a person, and the address of one whom nobody can write to."""

from common.identifiers import new_identifier

_NOWHERE = "@sandbox.invalid"  # RFC 2606 keeps `.invalid` for what never exists


def new_user_id() -> str:
    return new_identifier("usr")


def sandbox_address(user_id: str) -> str:
    """The e-mail address of a sandbox person, which an account must have and nothing is ever sent to."""
    return f"{user_id}{_NOWHERE}"


def is_sandbox_address(email: str) -> bool:
    return email.strip().lower().endswith(_NOWHERE)
