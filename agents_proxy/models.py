"""Every record of this room, for Django, which looks for them here. Nothing of it is a prompt or an answer in clear."""

from agents_proxy.activations.models import Activation
from agents_proxy.analyses.models import Correction, Run, Step
from agents_proxy.deletions.models import Deletion
from agents_proxy.destinations.models import Destination
from agents_proxy.financial.models import Item, LinkSession, RefreshRun
from agents_proxy.messaging.models import MessageTemplate, OptOut, OutboundMessage, PhoneNumber
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.models import Call
