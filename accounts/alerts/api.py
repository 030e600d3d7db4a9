"""The owner's address about this browser's messages: a session with its CSRF token."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.alerts import push
from accounts.owner_api import OwnerView
from common.admission.schemas import Strict
from common.json_bodies import json_answer


class EndpointBody(Strict):
    """A browser's subscription, by its endpoint."""

    endpoint: str


class SubscriptionBody(EndpointBody):
    """The same with its keys, in base64url, as `PushSubscription.getKey` gives them: `p256dh` and `auth`."""

    public_key: str
    auth: str


class PushView(OwnerView):
    """`PUT` and `DELETE /account/push`: show this browser's person what they want to hear of, or not any more."""

    body_limit = 4096

    def put(self, request: Request) -> HttpResponse:
        body = self.body(SubscriptionBody)
        push.subscribe(
            by=self.person, request=request._request, endpoint=body.endpoint, public_key=body.public_key, auth=body.auth
        )
        return json_answer({"subscribed": True})

    def delete(self, request: Request) -> HttpResponse:
        push.unsubscribe(by=self.person, endpoint=self.body(EndpointBody).endpoint)
        return json_answer({"subscribed": False})
