"""Each address of the agents with what the OpenAPI document says of it. `describe` marks the views with it."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema_view

from agents_proxy import answers, errors
from agents_proxy import descriptions as told
from agents_proxy.activations import api as activations
from agents_proxy.activations import errors as activation_errors
from agents_proxy.activations.schemas import ActivationBody
from agents_proxy.agents import AGENTS
from agents_proxy.analyses import api as analyses
from agents_proxy.analyses import errors as analysis_errors
from agents_proxy.analyses.schemas import AnalysisBody
from agents_proxy.descriptions import agent_call, own_address, path_member, removal, shared_address
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.documented_institutions import INSTITUTIONS
from agents_proxy.messaging import api as messaging
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.schemas import CodeBody, MessageBody, NumberBody
from agents_proxy.processing_consent import api as consents
from agents_proxy.processing_consent.schemas import ConsentBody
from agents_proxy.proxy.api import AgentView
from agents_proxy.proxy.schemas import PromptBody
from agents_proxy.proxy.shared_views import CallersSubject

_TASK = {"sessionId": "session-1", "id": "task-1"}
_CALL: dict[str, Any] = {"answer": answers.AgentAnswer, "refused": answers.AgentRefusal}
_PROMPTED = [name for name in AGENTS if name != "messaging"]
_ID = {"type": "string", "minLength": 1}
_ANALYSIS = path_member(
    "analysis_id", "As the start of the analysis was answered.", _ID | {"example": "ana_4tx2mjm3cwi6q7ez"}
)
_ACTIVATION = path_member("activation_id", "As the sending was answered.", _ID | {"example": "act_3sw6kq2m5zt4v7xj"})
_AGENT_OF_STEP = {
    "type": "string",
    "enum": [name for name, agent in AGENTS.items() if agent.in_analysis],
    "example": "brand",
}

_CALLS: dict[Any, dict[str, Any]] = {
    # before `AgentView`, whose method it has: a description of that would be added to
    messaging.MessagingView: {
        "post": agent_call(
            name="sendMessage",
            summary="Send a message to a verified number",
            description="Either `text` or an approved `template`, to a number that the consenting person verified.",
            body=MessageBody,
            body_example={"to": "+4915123456789", "text": "Your table is ready.", **_TASK},
            refusals=[refusal for refusal in errors.every_refusal() if refusal is not errors.UnknownAgent],
            **_CALL,
        )
    },
    AgentView: {
        "post": agent_call(
            name="callAgent",
            summary="Ask an agent",
            description=(
                "Sends one prompt, once, and answers the agent's JSON-RPC object. It needs a live consent to the "
                "agent's purpose: that of the signed-in person, or the consent token of another site's visitor. "
                "`sessionId` and `id` only correlate."
            ),
            parameters=[path_member("agent", "Which one.", {"type": "string", "enum": _PROMPTED, "example": "core"})],
            body=PromptBody,
            body_example={"text": "Which restaurants would I like?", **_TASK},
            refusals=list(errors.every_refusal()),
            **_CALL,
        )
    },
}
_CONSENTS: dict[Any, dict[str, Any]] = {
    consents.Consents: {
        "get": own_address(
            name="listAgentConsents",
            tag=told.CONSENT,
            summary="What one agreed to",
            description="Every consent to processing, newest first, in the words that were agreed to.",
            answers={200: answers.AgentConsents},
        ),
        "post": own_address(
            name="giveAgentConsent",
            tag=told.CONSENT,
            summary="Agree to processing",
            description="Covers one's own calls with these purposes, and with `activation` what one sends "
            "to the destinations that it names.",
            body=ConsentBody,
            body_example={"purposes": ["profile", "brand_affinity"], "agreed": True},
            answers={201: answers.AgentConsentGiven},
            refusals=[UnknownDestination, errors.AddressNotVerified],
        ),
    },
    CallersSubject: {
        "get": own_address(
            name="getSubject",
            tag=told.CONSENT,
            summary="Whom prompts may name",
            description="The verified address and the verified number that the consent names: one of each at most, as "
            "far as its purposes use them. In a session it is what one's own consents name together.",
            answers={200: answers.AgentSubject},
            takes_token=True,
        )
    },
    consents.OneConsent: {
        "delete": removal(
            own_address,
            name="withdrawAgentConsent",
            tag=told.CONSENT,
            summary="Withdraw a consent",
            description="Ends it at once. A repeated call answers the same.",
            parameters=[path_member("consent_id", "As the list has it.", _ID)],
            refusals=[errors.UnknownConsent],
        )
    },
}
_ANALYSES: dict[Any, dict[str, Any]] = {
    analyses.Analyses: {
        "get": shared_address(
            name="listAnalyses",
            tag=told.ANALYSES,
            summary="One's analyses",
            description="Newest first, in pages; give `nextCursor` as `cursor` for the following one.",
            parameters=[
                OpenApiParameter("cursor", {"type": "string", "pattern": "^ana_[a-z2-7]{1,60}$"}),
                OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}),
            ],
            answers={200: answers.AnalysisPage},
        ),
        "post": shared_address(
            name="startAnalysis",
            tag=told.ANALYSES,
            summary="Have one's profile put together",
            description="`agreed` is the consent to profile, enrichment and brand_affinity for this run alone.",
            body=AnalysisBody,
            body_example={
                "email": "ada@example.org",
                "fullName": "Ada Example",
                "countryCode": "+49",
                "phoneNumber": "15123456789",
                "agreed": True,
            },
            answers={202: answers.AnalysisAccepted},
            refusals=[errors.AddressNotVerified, analysis_errors.TooManyAnalyses, analysis_errors.AnalysisBudgetSpent],
        ),
    },
    analyses.Analysis: {
        "get": shared_address(
            name="getAnalysis",
            tag=told.ANALYSES,
            summary="How an analysis stands",
            description="Its steps, and once it ended the merged profile.",
            parameters=[_ANALYSIS],
            answers={200: answers.AnalysisStatus},
            refusals=[analysis_errors.UnknownAnalysis],
        ),
        "delete": removal(
            shared_address,
            name="deleteAnalysis",
            tag=told.ANALYSES,
            summary="Delete an analysis",
            description="What went in and what came out is gone at once.",
            parameters=[_ANALYSIS],
            refusals=[analysis_errors.UnknownAnalysis],
        ),
    },
    analyses.Cancel: {
        "post": shared_address(
            name="cancelAnalysis",
            tag=told.ANALYSES,
            summary="Stop an analysis",
            description="What was found so far stays.",
            parameters=[_ANALYSIS],
            answers={200: answers.AnalysisStatus},
            refusals=[analysis_errors.UnknownAnalysis, analysis_errors.AnalysisEnded],
            takes_body=True,
        )
    },
    analyses.Raw: {
        "get": shared_address(
            name="getRawAnalysis",
            tag=told.ANALYSES,
            summary="What each agent answered, in full",
            description="Input, merged profile and every agent's result.",
            parameters=[_ANALYSIS],
            answers={200: answers.AnalysisRaw},
            refusals=[analysis_errors.UnknownAnalysis],
        )
    },
    analyses.Retry: {
        "post": shared_address(
            name="retryAnalysisStep",
            tag=told.ANALYSES,
            summary="Try a failed step again",
            description="Once the analysis has ended.",
            parameters=[_ANALYSIS, path_member("agent", "Whose step.", _AGENT_OF_STEP)],
            answers={202: answers.AnalysisAccepted},
            refusals=[
                analysis_errors.UnknownAnalysis,
                analysis_errors.StepNotFailed,
                analysis_errors.ConsentEnded,
                analysis_errors.AnalysisBudgetSpent,
            ],
            takes_body=True,
        )
    },
}
_ACTIVATIONS: dict[Any, dict[str, Any]] = {
    activations.Activations: {
        "get": shared_address(
            name="listActivations",
            tag=told.ANALYSES,
            summary="What was sent of an analysis",
            description="Every sending to a destination, newest first. What was sent is kept as a digest alone.",
            parameters=[_ANALYSIS],
            answers={200: answers.Activations},
            refusals=[analysis_errors.UnknownAnalysis],
        ),
        "post": shared_address(
            name="activateAnalysis",
            tag=told.ANALYSES,
            summary="Send the brand affinity to a destination",
            description="Needs a consent to `activation` that names the destination. It is sent signed, as Standard "
            "Webhooks say, and tried again for most of a day. The same `sending` again is answered with what became of "
            "it, and nothing is sent twice.",
            parameters=[_ANALYSIS],
            body=ActivationBody,
            body_example={"destinationId": "des_5w2q4k6m7n2p4r6t3v5x7z2b4d"},
            answers={202: answers.ActivationAccepted},
            refusals=[
                analysis_errors.UnknownAnalysis,
                UnknownDestination,
                errors.AddressNotVerified,
                activation_errors.NothingToActivate,
                activation_errors.SendingTaken,
                activation_errors.ActivationBudgetSpent,
                errors.AgreementRequired,
            ],
        ),
    },
    activations.Activation: {
        "get": shared_address(
            name="getActivation",
            tag=told.ANALYSES,
            summary="How a sending stands",
            description="Until it is `delivered` or `failed`.",
            parameters=[_ANALYSIS, _ACTIVATION],
            answers={200: answers.Activation},
            refusals=[analysis_errors.UnknownAnalysis, activation_errors.UnknownActivation],
        )
    },
    activations.Destinations: {
        "get": shared_address(
            name="listAgentDestinations",
            tag=told.ANALYSES,
            summary="Where one may send",
            description="The destinations of the token's app; to a person, those of the apps that they agreed to.",
            answers={200: answers.AgentDestinations},
        )
    },
}
_MESSAGES: dict[Any, dict[str, Any]] = {
    messaging.Messages: {
        "get": own_address(
            name="listSentMessages",
            tag=told.MESSAGES,
            summary="Messages that were sent to one",
            description="Neither the number nor the words were kept.",
            answers={200: answers.SentMessages},
        )
    },
    messaging.Numbers: {
        "get": own_address(
            name="listPhoneNumbers",
            tag=told.MESSAGES,
            summary="One's verified numbers",
            description="In the order in which they came.",
            answers={200: answers.PhoneNumbers},
        ),
        "post": own_address(
            name="addPhoneNumber",
            tag=told.MESSAGES,
            summary="Have a code sent to a number",
            description="The number is there once the code came back.",
            body=NumberBody,
            body_example={"to": "+4915123456789"},
            answers={202: answers.CodeSent},
            refusals=[
                phone_numbers.InvalidNumber,
                phone_numbers.TooManyCodes,
                phone_numbers.MessagingUnavailable,
            ],
        ),
    },
    messaging.Codes: {
        "post": own_address(
            name="verifyPhoneNumber",
            tag=told.MESSAGES,
            summary="Prove a number by its code",
            description="Five wrong codes end it.",
            body=CodeBody,
            body_example={"to": "+4915123456789", "code": "123456"},
            answers={200: answers.NumberVerified},
            refusals=[phone_numbers.WrongCode],
        )
    },
    messaging.OneNumber: {
        "delete": removal(
            own_address,
            name="forgetPhoneNumber",
            tag=told.MESSAGES,
            summary="Forget a number",
            description="No message is sent to it any more.",
            parameters=[path_member("number_pk", "As the list has it.", {"type": "integer", "minimum": 0})],
            refusals=[phone_numbers.UnknownNumber],
        )
    },
}


def describe() -> None:
    """Mark every view, as drf-spectacular's decorators do where views describe themselves."""
    for group in (_CONSENTS, _CALLS, _ANALYSES, _ACTIVATIONS, _MESSAGES, INSTITUTIONS):
        for view, methods in group.items():
            extend_schema_view(**methods)(view)
