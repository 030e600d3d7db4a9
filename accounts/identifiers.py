"""The identifier of a person."""

from common.identifiers import new_identifier


def new_user_id() -> str:
    return new_identifier("usr")
