"""A request as an app asks it: what every check looks at, and what is stored once all of them passed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from common.identifiers import new_identifier
from consent.ledger import canonical
from consent.requests import digest
from consent.requests.models import ConsentRequest
from consent.schemas import RequestConsentBody
from developers.authentication import AppContext
from pkm.registry.copy import Entry

# members of the body that are no column of a request under the same name: whom it is about, and the key and its use
_NOT_STORED = {"user_id", "connector_public_key", "requested_expiry", "connector_wrapping_alg"}


def requested_attributes(body: RequestConsentBody, entry: Entry) -> list[str]:
    """What the lists of the body name, required ones first; without any, all attributes of the scope."""
    return [*(body.required_attributes or []), *(body.optional_attributes or [])] or list(entry.attributes)


def answers_named(body: RequestConsentBody, entry: Entry) -> dict[str, dict[str, Any]]:
    """Path → definition of each answer in place of a value that may be given: none comes without being named."""
    accepted = chain.from_iterable((body.accepts or {}).values())
    paths = (*requested_attributes(body, entry), *accepted)
    return {path: entry.answers[path] for path in paths if path in entry.answers}


@dataclass(frozen=True)
class ConnectorKey:
    """The public key that the answer is sealed for: checked, and without members that it does not need."""

    jwk: dict[str, str]
    thumbprint: str


@dataclass(frozen=True)
class RequestDraft:
    """One call: who asks whom, what, and for which key."""

    app: AppContext
    body: RequestConsentBody
    key: ConnectorKey
    user_pk: int
    pairwise_id: str  # what the app calls them
    entry: Entry

    def as_request(self, *, at: datetime, handling: dict[str, Any] | None = None) -> ConsentRequest:
        """The request as it will stand, not stored yet: defaults filled in, null where absent, whole seconds.

        `handling` is what the app said becomes of the data; the digest is not over it.
        """
        created_at = at.replace(microsecond=0)
        request = ConsentRequest(
            request_id=new_identifier("req"),
            app_id=self.app.app_pk,
            app_name=self.app.app_name,
            user_id=self.user_pk,
            pairwise_id=self.pairwise_id,
            scope_entry_id=self.entry.pk,
            attributes=list(self.entry.attributes),
            derived=answers_named(self.body, self.entry) or None,
            connector_public_key=self.key.jwk,
            connector_thumbprint=self.key.thumbprint,
            wrapping_alg=self.body.connector_wrapping_alg,
            expires_at=created_at + timedelta(seconds=self.body.requested_expiry),
            created_at=created_at,
            handling=handling or {},
            **{name: value for name, value in self.body if name not in _NOT_STORED},
        )
        request.request_digest = canonical.sha256_canonical(self.digested(request))
        return request

    def digested(self, request: ConsentRequest) -> dict[str, Any]:
        """What the digest of `request`, of this app, is over."""
        return digest.members_of(request, app_id=self.app.app_id)
