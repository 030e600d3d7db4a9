"""How the members of a query are read."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel

from common.admission.requests import JSONRequest
from common.problems import FieldError, InvalidRequest, checked

Model = TypeVar("Model", bound=BaseModel)

_WHOLE_NUMBER = re.compile(r"(-?[0-9]{1,18})(?:\.0+)?\Z")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def read_query(request: JSONRequest, model: type[Model]) -> Model:
    """The query as `model`, without the developer token. Unknown and repeated members are refused."""
    given: dict[str, Any] = {}
    for name, value in request.query_pairs:
        if name == "token":
            continue
        if name in given:
            raise invalid_member(name, "repeated", "Give this member once.")
        if _UNREADABLE.search(name) or _UNREADABLE.search(value):
            shown = _UNREADABLE.sub("?", name)
            raise invalid_member(shown, "unreadable", "Only UTF-8 text without control characters.")
        field = model.model_fields.get(name)
        is_number = field is not None and field.annotation in (int, int | None)
        whole = _WHOLE_NUMBER.match(value) if is_number else None
        given[name] = int(whole[1]) if whole else value
    return checked(model, given)


def invalid_member(field: str, code: str, message: str) -> InvalidRequest:
    """The refusal of one member of a query, or of one header."""
    error: FieldError = {"field": field, "code": code, "message": message}
    return InvalidRequest(f"{field} does not fit.", errors=[error])
