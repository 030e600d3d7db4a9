"""The vault's JSON addresses (contract §2): parse, call one action or query, answer."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.owner_api import OwnerView, SignedInRecently
from common.admission.shapes import Nothing
from common.json_bodies import json_answer
from pkm.notes import actions as notes_actions
from pkm.registry import hidden_scopes
from pkm.reset import actions as reset_actions
from pkm.segments import actions as segment_actions
from pkm.segments import queries as segment_queries
from pkm.signing import actions as signing_actions
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.web import schemas as web_schemas


class Keys(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        return json_answer(vault_queries.vault_keys(self.person))

    def post(self, request: Request) -> HttpResponse:
        body = self.body(web_schemas.KeysBody)
        wrappers = [vault_actions.NewWrapper(**wrapper.model_dump()) for wrapper in body.wrappers]
        root = None
        if body.signing_public_key is not None and body.signing_jwe is not None:
            root = vault_actions.NewRoot(body.signing_public_key, body.signing_jwe)
        made = notes_actions.create_vault_with_notes(
            by=self.person,
            key_id=body.key_id,
            wrappers=wrappers,
            root=root,
            possession_sha256=body.possession_sha256,
            notes=body.notes,
        )
        return json_answer(made, status=201)


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
        kept = notes_actions.write_notes(by=self.person, jwe=body.jwe, base_revision=body.base_revision)
        return json_answer(kept)


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
        vault_actions.remove_wrapper(by=self.person, wrapper_id=wrapper_id, leave_only_recovery=True)
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
        body = self.body(web_schemas.SegmentBody)
        return json_answer(
            segment_actions.write_segment(by=self.person, domain=domain, segment_id=segment_id, **body.model_dump())
        )

    def delete(self, request: Request, domain: str, segment_id: str) -> HttpResponse:
        base = int(self.query(web_schemas.DeleteQuery).base_content_revision)
        return json_answer(
            segment_actions.delete_segment(
                by=self.person, domain=domain, segment_id=segment_id, base_content_revision=base
            )
        )


class HiddenScope(OwnerView):
    def put(self, request: Request, scope: str) -> HttpResponse:
        self.body(Nothing)
        hidden_scopes.hide_scope(by=self.person, scope=scope)
        return HttpResponse(status=204)

    def delete(self, request: Request, scope: str) -> HttpResponse:
        self.body(Nothing)
        hidden_scopes.show_scope(by=self.person, scope=scope)
        return HttpResponse(status=204)
