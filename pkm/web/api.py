"""The vault's JSON addresses (contract §2): parse, call one action or query, answer."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.owner_api import OwnerView, SignedInRecently
from common.admission.schemas import Nothing
from common.clock import rfc3339
from common.json_bodies import json_answer
from common.problems import checked
from pkm import notes as notes_actions
from pkm import signing as signing_actions
from pkm.errors import StaleRevision
from pkm.registry import hidden_scopes
from pkm.registry import queries as registry_queries
from pkm.reset import actions as reset_actions
from pkm.segments import actions as segment_actions
from pkm.segments import queries as segment_queries
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.web import schemas as web_schemas


class Keys(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer(vault_queries.vault_keys(self.person))

    def post(self, request: Request) -> HttpResponse:
        body = self.body(web_schemas.KeysBody)
        self.require_recent_sign_in()  # its root approves, as one that is set later
        wrappers = [vault_actions.NewWrapper(**wrapper.model_dump()) for wrapper in body.wrappers]
        root = None
        if body.signing_public_key is not None and body.signing_jwe is not None:
            root = vault_actions.NewRoot(body.signing_public_key, body.signing_jwe)
        create = partial(
            vault_actions.create_vault,
            by=self.person,
            key_id=body.key_id,
            wrappers=wrappers,
            root=root,
            possession_sha256=body.possession_sha256,
        )
        notes = {"jwe": body.notes, "base_revision": 0} if body.notes is not None else None
        return json_answer(notes_actions.change_with_notes(create, by=self.person, notes=notes), status=201)


class SigningKey(OwnerView):
    def put(self, request: Request) -> HttpResponse:
        body = self.body(web_schemas.SigningKeyBody)
        self.require_recent_sign_in()
        set_key = signing_actions.set_signing_key(
            by=self.person, public_key=body.signing_public_key, jwe=body.signing_jwe, rotation=body.rotation
        )
        return json_answer(set_key)


class Notes(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer(notes_actions.notes_of(self.person))

    def put(self, request: Request) -> HttpResponse:
        body = self.body(web_schemas.NotesBody)
        return json_answer(notes_actions.write_notes(by=self.person, **body.model_dump(), counted=True))


class Wrappers(OwnerView):
    permission_classes = (SignedInRecently,)

    def post(self, request: Request) -> HttpResponse:
        wrapper = vault_actions.NewWrapper(**self.body(web_schemas.WrapperBody).model_dump())
        return json_answer(vault_actions.add_wrapper(by=self.person, wrapper=wrapper), status=201)


class Wrapper(OwnerView):
    permission_classes = (SignedInRecently,)

    def delete(self, request: Request, wrapper_id: str) -> HttpResponse:
        self.body(Nothing)
        # whoever writes a program has decided; it is people in front of a button who are asked twice
        vault_actions.remove_wrapper(by=self.person, wrapper_id=wrapper_id, allow_only_recovery=True)
        return HttpResponse(status=204)


class RestoreWrapper(OwnerView):
    permission_classes = (SignedInRecently,)

    def post(self, request: Request, wrapper_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_answer(vault_actions.restore_wrapper(by=self.person, wrapper_id=wrapper_id))


class Unlocked(OwnerView):
    def post(self, request: Request) -> HttpResponse:
        if vault_actions.note_unlock(by=self.person, **self.body(web_schemas.UnlockedBody).model_dump()):
            reset_actions.take_back_reset(by=self.person)  # a way in is left after all
        return HttpResponse(status=204)


class Segments(OwnerView):
    takes_query = True

    def get(self, request: Request) -> HttpResponse:
        query = self.query(web_schemas.SegmentsQuery)
        found = segment_queries.sealed_segments(self.person, scope=query.scope, domain=query.domain)
        return json_answer({"segments": found})


class Segment(OwnerView):
    takes_query = True

    def put(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        body = self.body(web_schemas.SegmentBody).model_dump()
        notes = body.pop("notes")
        write = partial(segment_actions.write_segment, by=self.person, domain=domain, segment_id=segment_id, **body)
        is_first = body["base_content_revision"] == 0  # of which there are as many as segments, as in an import
        kept = notes_actions.change_with_notes(write, by=self.person, notes=notes, counted=not is_first)
        return json_answer(kept)

    def delete(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        base = self.query(web_schemas.DeleteQuery).base_content_revision
        notes = checked(web_schemas.WithNotesBody, request.data).model_dump()["notes"]
        delete = partial(
            segment_actions.delete_segment,
            by=self.person,
            domain=domain,
            segment_id=segment_id,
            base_content_revision=base,
        )
        return json_answer(notes_actions.change_with_notes(delete, by=self.person, notes=notes))


class HiddenScope(OwnerView):
    def put(self, request: Request, scope: str) -> HttpResponse:
        is_hidden = scope in registry_queries.hidden_scopes(self.person)  # once more protects nothing
        return self._change(hidden_scopes.hide_scope, scope, self._notes(), counted=is_hidden)

    def delete(self, request: Request, scope: str) -> HttpResponse:
        """Without its notes, where it has any, the vault would take this for somebody else's doing."""
        notes, person = self._notes(), self.person
        if notes is None and notes_actions.has_notes(person) and scope in registry_queries.hidden_scopes(person):
            raise StaleRevision("Send the notes that no longer name this scope.", member="notes")
        return self._change(hidden_scopes.show_scope, scope, notes, counted=True)

    def _notes(self) -> dict[str, Any] | None:
        notes: dict[str, Any] | None = self.body(web_schemas.WithNotesBody).model_dump()["notes"]
        return notes

    def _change(
        self, change: Callable[..., None], scope: str, notes: dict[str, Any] | None, *, counted: bool
    ) -> HttpResponse:
        changed = partial(change, by=self.person, scope=scope)
        notes_actions.change_with_notes(changed, by=self.person, notes=notes, counted=counted)
        return HttpResponse(status=204)


class FreshToGiveUp(SignedInRecently):
    """Giving up needs a sign-in of the last ten minutes; taking it back protects, and a session is enough."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method == "DELETE" or super().has_permission(request, view)


class Reset(OwnerView):
    permission_classes = (FreshToGiveUp,)

    def post(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        reset = reset_actions.request_reset(by=self.person)
        return json_answer({"vault_status": "locked_out", "takes_effect_at": rfc3339(reset.due_at)})

    def delete(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        reset_actions.take_back_reset(by=self.person)
        return HttpResponse(status=204)
