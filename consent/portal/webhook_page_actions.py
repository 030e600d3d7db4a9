"""What the buttons of the webhook pages ask for, in words, so that it can wait while somebody signs in again."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from consent.portal.webhook_forms import TYPE_FIELDS
from developers.models import AppMember, WebhookEndpoint
from developers.webhooks.policies import LONGEST_ADDRESS

Say = Callable[[WebhookEndpoint, Values], Words | None]


def _add(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    member = AppMember.objects.filter(user=person_of(request), app__app_id=kwargs["app_id"]).select_related("app")
    found = member.first()
    if found is None:
        return None
    asked = gettext("You asked to add a webhook endpoint to %(app)s.") % {"app": found.app.name}
    return Words(asked, gettext("Add the endpoint"))


def _of_endpoint(say: Say) -> Callable[[HttpRequest, Kwargs, Values], Words | None]:
    """Words about an endpoint of an app that this person manages."""

    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        own = WebhookEndpoint.objects.filter(
            pk=kwargs["endpoint_pk"], app__app_id=kwargs["app_id"], app__members__user=person_of(request)
        )
        endpoint = own.defer("secret", "previous_secret").first()
        return say(endpoint, values) if endpoint else None

    return words


def _change(endpoint: WebhookEndpoint, values: Values) -> Words:
    return Words(gettext("You asked to change the endpoint %(url)s.") % {"url": endpoint.url}, gettext("Save"))


def _switch(endpoint: WebhookEndpoint, values: Values) -> Words | None:
    if values.get("enabled") == "yes":
        asked = gettext("You asked to send webhooks to %(url)s again.") % {"url": endpoint.url}
        return Words(asked, gettext("Enable"))
    if values.get("enabled") == "no":
        asked = gettext("You asked to send no webhooks to %(url)s.") % {"url": endpoint.url}
        return Words(asked, gettext("Disable"))
    return None


def _renew(endpoint: WebhookEndpoint, values: Values) -> Words:
    asked = gettext("You asked to renew the secret of %(url)s.") % {"url": endpoint.url}
    return Words(asked, gettext("Renew the secret"), danger=True)


def _delete(endpoint: WebhookEndpoint, values: Values) -> Words:
    asked = gettext("You asked to delete the endpoint %(url)s.") % {"url": endpoint.url}
    return Words(asked, gettext("Delete the endpoint"), danger=True)


def _test(endpoint: WebhookEndpoint, values: Values) -> Words:
    return Words(gettext("You asked to send a test to %(url)s.") % {"url": endpoint.url}, gettext("Send a test"))


def _replay(endpoint: WebhookEndpoint, values: Values) -> Words:
    asked = gettext("You asked to send a delivery to %(url)s once more.") % {"url": endpoint.url}
    return Words(asked, gettext("Send again"))


def _replay_failed(endpoint: WebhookEndpoint, values: Values) -> Words:
    asked = gettext("You asked to send once more what did not arrive at %(url)s.") % {"url": endpoint.url}
    return Words(asked, gettext("Send again"))


_ENDPOINT = to_page("portal:webhook", "app_id", "endpoint_pk")
_FIELDS = (Field("url", _("Address"), "text", most=LONGEST_ADDRESS), *map(Field, TYPE_FIELDS))

ADD = PageAction(page=to_page("portal:webhooks", "app_id"), words=_add, fields=_FIELDS, shows_itself=True, fresh=True)
CHANGE = PageAction(page=_ENDPOINT, words=_of_endpoint(_change), fields=_FIELDS, fresh=True)
SWITCH = PageAction(page=_ENDPOINT, words=_of_endpoint(_switch), fields=(Field("enabled"),))
RENEW = PageAction(page=_ENDPOINT, words=_of_endpoint(_renew), fields=(Field("overlap"),), fresh=True)
DELETE = PageAction(
    page=to_page("portal:webhook-delete", "app_id", "endpoint_pk"), words=_of_endpoint(_delete), shows_itself=True
)
TEST = PageAction(page=_ENDPOINT, words=_of_endpoint(_test))
REPLAY = PageAction(page=_ENDPOINT, words=_of_endpoint(_replay))
REPLAY_FAILED = PageAction(page=_ENDPOINT, words=_of_endpoint(_replay_failed), fields=(Field("hours"),))
