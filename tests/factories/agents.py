"""What the room of profile agents remembers; sealed columns are really sealed."""

import hashlib
from datetime import timedelta
from typing import Any

import factory
import orjson
from django.utils import timezone

from agents_proxy.activations.models import Activation
from agents_proxy.analyses.models import Correction, Run, Step
from agents_proxy.deletions.models import Deletion, new_deletion_id
from agents_proxy.deletions.sealing import Subject, sealed
from agents_proxy.destinations.models import Destination
from agents_proxy.financial.models import Item, LinkSession, RefreshRun
from agents_proxy.messaging.models import MessageTemplate, OptOut, OutboundMessage, PhoneNumber
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.models import Call
from agents_proxy.states import CallOutcome, Purpose, Reach
from common import encryption
from tests.factories.accounts import PersonFactory, StaffFactory
from tests.factories.developers import AppFactory
from tests.factories.making import makes

# but for sending, which names where to
EVERY_PURPOSE = [purpose.value for purpose in Purpose if purpose is not Purpose.ACTIVATION]
SUBMITTED = {"email": "zoe@example.org", "fullName": "Zoe Doe", "countryCode": "+49", "phoneNumber": "15112345678"}


def sealed_json(value: Any) -> str:
    """`value` as the room keeps it."""
    return encryption.sealed(orjson.dumps(value).decode())


def digest_of(number: int) -> str:
    return hashlib.sha256(f"digest {number}".encode()).hexdigest()


class ProcessingConsentFactory(makes(ProcessingConsent)):
    """Somebody's own consent to every purpose, by their address, for a day; a site holds the token with `site=True`."""

    class Params:
        site = factory.Trait(
            reach=Reach.SITE,
            origin="https://trips.example",
            app=factory.SubFactory(AppFactory, origins=["https://trips.example"]),
            token_digest=factory.Sequence(digest_of),
        )

    user = factory.SubFactory(PersonFactory)
    purposes = factory.LazyFunction(lambda: list(EVERY_PURPOSE))
    email = factory.LazyAttribute(lambda made: made.user.email.lower())
    statement_version = "tests"
    statement = "Ask the agents."
    origin = "http://localhost:8000"
    given_at = factory.LazyFunction(timezone.now)
    expires_at = factory.LazyAttribute(lambda made: made.given_at + timedelta(days=1))


class CallFactory(makes(Call)):
    agent = "brand"
    session_id = "session-1"
    task_id = factory.Sequence(lambda number: f"task-{number}")
    started_at = factory.LazyFunction(timezone.now)
    duration_ms = 812
    outcome = CallOutcome.ANSWERED
    bytes = 2048


class RunFactory(makes(Run)):
    """An analysis that waits for a worker."""

    user = factory.SubFactory(PersonFactory)
    consent = factory.SubFactory(
        ProcessingConsentFactory, user=factory.SelfAttribute("..user"), reach=Reach.RUN,
        purposes=["profile", "enrichment", "brand_affinity"],
    )  # fmt: skip
    input = factory.LazyAttribute(lambda made: sealed_json({**SUBMITTED, "email": made.user.email}))
    purge_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=30))


class CorrectionFactory(makes(Correction)):
    """A value that its person put in place of the agents'."""

    user = factory.SubFactory(PersonFactory)
    field = "occupation"
    value = factory.LazyFunction(lambda: encryption.sealed('"baker"'))
    at = factory.LazyFunction(timezone.now)
    consent = factory.SubFactory(ProcessingConsentFactory, user=factory.SelfAttribute("..user"))


class StepFactory(makes(Step)):
    """The first step of an analysis, waiting."""

    run = factory.SubFactory(RunFactory)
    position = 0
    agent = "brand"
    task_id = factory.Sequence(lambda number: f"task-{number}")


class DestinationFactory(makes(Destination)):
    """Where an app has brand affinities sent, to where nothing can be sent."""

    app = factory.SubFactory(AppFactory)
    name = "Trips CRM"
    url = "https://127.0.0.1/crm"
    secret = factory.LazyFunction(lambda: encryption.sealed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))


class ActivationFactory(makes(Activation)):
    """A sending that waits for a worker."""

    run = factory.SubFactory(RunFactory)
    destination = factory.SubFactory(DestinationFactory)
    consent = factory.SubFactory(
        ProcessingConsentFactory, user=factory.SelfAttribute("..run.user"), reach=Reach.RUN, purposes=["activation"],
        destinations=factory.LazyAttribute(lambda made: [made.factory_parent.destination.destination_id]),
    )  # fmt: skip
    next_attempt_at = factory.LazyFunction(timezone.now)
    body = factory.LazyFunction(lambda: sealed_json({"type": "brand_affinity.activated"}))
    digest = factory.Sequence(digest_of)
    created_at = factory.LazyFunction(timezone.now)


class DeletionFactory(makes(Deletion)):
    """What an agent got of somebody, to be deleted there; `requested=False`: not yet."""

    class Params:
        requested = True

    deletion_id = factory.LazyFunction(new_deletion_id)
    consent = factory.SubFactory(ProcessingConsentFactory)
    agent = "brand"
    origin = "https://agents.example"
    subject = factory.LazyAttribute(
        lambda made: sealed(Subject(Identifiers((made.consent.user.email,))), made.deletion_id)
    )
    has_email = True
    first_at = last_at = factory.LazyFunction(timezone.now)
    status = factory.LazyAttribute(lambda made: "queued" if made.requested else "disclosed")
    requested_at = factory.LazyAttribute(lambda made: made.last_at if made.requested else None)
    next_attempt_at = factory.LazyAttribute(lambda made: made.last_at if made.requested else None)


class PhoneNumberFactory(makes(PhoneNumber)):
    """A number that its person has verified."""

    user = factory.SubFactory(PersonFactory)
    number = factory.LazyFunction(lambda: encryption.sealed("+4915112345678"))
    digest = factory.Sequence(digest_of)
    verified_at = factory.LazyFunction(timezone.now)


class MessageTemplateFactory(makes(MessageTemplate)):
    """Wording that waits for a second member of staff; `agreed=True` makes it active."""

    class Params:
        agreed = factory.Trait(
            approved_by=factory.SubFactory(StaffFactory), approved_at=factory.LazyFunction(timezone.now), active=True
        )

    name = factory.Sequence(lambda number: f"offer_{number}")
    language = "en"
    text = "Hello {name}, there is something new for you."
    proposed_by = factory.SubFactory(StaffFactory)


class OptOutFactory(makes(OptOut)):
    """A number that wants no messages."""

    digest = factory.Sequence(digest_of)


class OutboundMessageFactory(makes(OutboundMessage)):
    """A message on its way."""

    consent = factory.SubFactory(ProcessingConsentFactory, purposes=["messaging"])
    task_id = factory.Sequence(lambda number: f"task-{number}")
    recipient_digest = factory.Sequence(digest_of)
    body_digest = factory.Sequence(digest_of)


class ItemFactory(makes(Item)):
    """An institution that somebody linked."""

    user = factory.SubFactory(PersonFactory)
    consent = factory.SubFactory(ProcessingConsentFactory, user=factory.SelfAttribute("..user"), purposes=["financial"])
    upstream_id = factory.Sequence(lambda number: f"item-{number}")
    institution = "First Bank"
    access_token = factory.LazyFunction(lambda: encryption.sealed("access-of-tests"))


class LinkSessionFactory(makes(LinkSession)):
    """An open visit to the aggregator's page."""

    user = factory.SubFactory(PersonFactory)
    consent = factory.SubFactory(ProcessingConsentFactory, user=factory.SelfAttribute("..user"), purposes=["financial"])
    state_digest = factory.Sequence(digest_of)
    link_token = factory.LazyFunction(lambda: encryption.sealed("link-of-tests"))
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(minutes=30))


class RefreshRunFactory(makes(RefreshRun)):
    """A refresh that waits for a worker."""

    item = factory.SubFactory(ItemFactory)
