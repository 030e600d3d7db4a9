"""The vault's JSON addresses (contract §2): parse, call one action or query, answer."""

from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.conf import settings
from django.http import HttpResponse
from pydantic import BaseModel
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.answers import json_answer
from accounts.authentication import require_recent_sign_in
from accounts.errors import InvalidRequest, checked
from pkm import actions, queries, schemas

if TYPE_CHECKING:
    from accounts.models import User

Model = TypeVar("Model", bound=BaseModel)


class OwnerView(APIView):
    """A signed-in person's own address. The method is checked before the session, as everywhere (contract 1.1)."""

    body_limit = settings.OWNER_BODY_LIMIT
    http_method_names = ["get", "head", "post", "put", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not hasattr(self, (request.method or "").lower()) or request.method not in self.allowed_methods:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)


def person(request: Request) -> "User":
    """Whose session this is; `SignedIn` let nobody else in."""
    return cast("User", request.user)


def query_of(request: Request, model: type[Model]) -> Model:
    """The query string as a checked `model`; a repeated parameter is refused."""
    for name, values in request.query_params.lists():
        if len(values) != 1:
            raise InvalidRequest(f"The query names {name[:64]} more than once.")
    return checked(model, request.query_params.dict())


def body_of(request: Request, model: type[Model]) -> Model:
    """The body as a checked `model`; these addresses take no query."""
    query_of(request, schemas.NoQuery)
    return checked(model, request.data)


class Keys(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        query_of(request, schemas.NoQuery)
        return json_answer(queries.vault_keys(person(request)))

    def post(self, request: Request) -> HttpResponse:
        body = body_of(request, schemas.KeysBody)
        wrappers = [actions.NewWrapper(**wrapper.model_dump()) for wrapper in body.wrappers]
        return json_answer(actions.create_vault(by=person(request), key_id=body.key_id, wrappers=wrappers), status=201)


class Wrappers(OwnerView):
    def post(self, request: Request) -> HttpResponse:
        require_recent_sign_in(request._request)
        wrapper = actions.NewWrapper(**body_of(request, schemas.WrapperBody).model_dump())
        return json_answer(actions.add_wrapper(by=person(request), wrapper=wrapper), status=201)


class Wrapper(OwnerView):
    def delete(self, request: Request, wrapper_id: str) -> HttpResponse:
        require_recent_sign_in(request._request)
        body_of(request, schemas.NoBody)
        actions.remove_wrapper(by=person(request), wrapper_id=wrapper_id)
        return HttpResponse(status=204)


class RestoreWrapper(OwnerView):
    def post(self, request: Request, wrapper_id: str) -> HttpResponse:
        require_recent_sign_in(request._request)
        body_of(request, schemas.NoBody)
        return json_answer(actions.restore_wrapper(by=person(request), wrapper_id=wrapper_id))


class Unlocked(OwnerView):
    def post(self, request: Request) -> HttpResponse:
        actions.note_unlock(by=person(request), wrapper_id=body_of(request, schemas.UnlockedBody).wrapper_id)
        return HttpResponse(status=204)


class Segments(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        query = query_of(request, schemas.SegmentsQuery)
        found = queries.sealed_segments(person(request), scope=query.scope, domain=query.domain)
        return json_answer({"segments": found})


class Segment(OwnerView):
    def put(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        body = body_of(request, schemas.SegmentBody)
        return json_answer(
            actions.write_segment(by=person(request), domain=domain, segment_id=segment_id, **body.model_dump())
        )

    def delete(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        base = int(query_of(request, schemas.DeleteQuery).base_content_revision)
        return json_answer(
            actions.delete_segment(by=person(request), domain=domain, segment_id=segment_id, base_content_revision=base)
        )


class HiddenScope(OwnerView):
    def put(self, request: Request, scope: str) -> HttpResponse:
        body_of(request, schemas.NoBody)
        actions.hide_scope(by=person(request), scope=scope)
        return HttpResponse(status=204)

    def delete(self, request: Request, scope: str) -> HttpResponse:
        body_of(request, schemas.NoBody)
        actions.show_scope(by=person(request), scope=scope)
        return HttpResponse(status=204)
