"""As `scenes`, for the pages of profiles, sendings, messages and institutions."""

from agents_proxy.activations.models import Activation
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses.models import Correction, Run, Step
from agents_proxy.digests import digest
from agents_proxy.financial.models import Item, LinkSession, RefreshRun
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent.models import ProcessingConsent
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.institutions import linked
from tests.agents_proxy.phone_owners import TO
from tests.agents_proxy.proxy_calls import configure, owning
from tests.agents_proxy.runs import SUBMITTED, TICKED, finished, started
from tests.factories import (
    DestinationFactory,
    PhoneNumberFactory,
    ProcessingConsentFactory,
)
from tests.fakes.aggregator import aggregating
from tests.interrupted.scenes import Make, Scene, Stage


def _agents(stage: Stage) -> Agents:
    agents = stage.after.enter_context(speaking())
    stage.settings.AGENTS = {**stage.settings.AGENTS, **agents.settings()}
    return agents


def analysis(stage: Stage) -> Scene:
    title = "Start the analysis"
    typed = {**SUBMITTED, "email": owning(stage.person).email, **TICKED}
    return Scene("/profile/", "/profile/", title, Run.objects.exists, typed, "Ana Sá")


def cancel(stage: Stage) -> Scene:
    run = started(stage.person)
    here = f"/profile/{run.analysis_id}/"
    done = Run.objects.filter(pk=run.pk, status="cancelled").exists
    return Scene(f"{here}cancel/", here, "Stop the analysis", done)


def correct(stage: Stage) -> Scene:
    _agents(stage).replies = {"core": {"occupation": "thief"}}
    run = finished(stage.person)
    here = f"/profile/{run.analysis_id}/"
    sent = {"field": "occupation", "value": "baker", "do": "keep"}
    done = Correction.objects.filter(field="occupation", value__isnull=False).exists
    return Scene(f"{here}correct/", here, "Correct it: Occupation", done, sent)


def retry(stage: Stage) -> Scene:
    agents = _agents(stage)
    agents.replies = {"brand": "no profile at all", "core": {"likes": ["tea"]}}
    run = finished(stage.person)
    calls_before = len(agents.requests)
    here = f"/profile/{run.analysis_id}/"

    def done() -> bool:
        again = Run.objects.get(pk=run.pk)
        return len(agents.requests) > calls_before or again.status in ("queued", "running")

    return Scene(f"{here}retry/brand/", here, "Ask again: Brand agent", done)


def answer(stage: Stage) -> Scene:
    asks = {"state": "input-required", "message": {"role": "agent", "parts": [{"type": "text", "text": "Which Ana?"}]}}
    _agents(stage).replies = {"brand": {"result": {"id": "t", "status": asks}}}
    run = finished(stage.person)
    here = f"/profile/{run.analysis_id}/"
    done = Step.objects.filter(run=run, agent="brand").exclude(status="input_required").exists
    return Scene(
        f"{here}answer/brand/", here, "Send the answer: Brand agent", done, {"text": "The one in Porto."}, "Porto"
    )


def delete_run(stage: Stage) -> Scene:
    run = started(stage.person)
    analysis_actions.cancel_analysis(by=stage.person, analysis_id=run.analysis_id)
    here = f"/profile/{run.analysis_id}/delete/"
    return Scene(here, here, "Delete it", lambda: not Run.objects.filter(pk=run.pk).exists())


def send(stage: Stage) -> Scene:
    _agents(stage).replies = {"brand": {"likes": ["Muji"]}}
    destination = DestinationFactory()
    run = finished(stage.person)
    here = f"/profile/analyses/{run.analysis_id}/send/?destination={destination.destination_id}"
    title = f"Send it: {destination.name}"
    return Scene(here, here, title, lambda: Activation.objects.count() == 1, {"agreed": "yes"})


def agree(stage: Stage) -> Scene:
    here = "/profile/consent/?purposes=profile"
    sent = {"decision": "agree", "purpose-profile": "on", "duration": "month"}

    def done() -> bool:
        return ProcessingConsent.objects.filter(purposes=["profile"], lasts=30 * 86400).exists()

    return Scene(here, here, "I agree to what I ticked", done, sent)


def renew(stage: Stage) -> Scene:
    made = ProcessingConsentFactory(user=stage.person, purposes=["profile"])
    done = ProcessingConsent.objects.filter(pk=made.pk, renewed_at__isnull=False).exists
    here = f"/profile/consent/{made.consent_id}/renew/"
    return Scene(here, here, "Renew: Your profile", done)


def withdraw(stage: Stage) -> Scene:
    made = ProcessingConsentFactory(user=stage.person, purposes=["profile"])
    done = ProcessingConsent.objects.filter(pk=made.pk, withdrawn_at__isnull=False).exists
    path, title = f"/profile/consent/{made.consent_id}/withdraw/", "Withdraw: Your profile"
    return Scene(path, "/profile/consent/given/", title, done)


def _carrier(stage: Stage) -> Agents:
    agents = stage.after.enter_context(speaking())
    configure(stage.settings, "messaging", url=f"{agents.address}/messaging")
    return agents


def number(stage: Stage) -> Scene:
    carrier = _carrier(stage)
    title = "Send a code"
    here = "/profile/numbers/"
    return Scene(here, here, title, lambda: len(carrier.requests) == 1, {"to": "+49 151 12345678"}, "+49 151 12345678")


def _profile_agent(stage: Stage, name: str) -> Agents:
    agents = stage.after.enter_context(speaking())
    agents.replies = {name: {"full_name": "Ana"}}
    configure(stage.settings, name, url=f"{agents.address}/{name}")
    return agents


def create_profile(stage: Stage) -> Scene:
    owning(stage.person)
    agents, here, text = _profile_agent(stage, "core-profile"), "/profile/create/", "I am Ana, and I love tea."
    typed = {"text": text, "agreed": "on"}
    return Scene(here, here, "Create it", lambda: len(agents.requests) == 1, typed, text)


def update_profile(stage: Stage) -> Scene:
    agents, here, text = _profile_agent(stage, "core-profile-update"), "/profile/update/", "I moved to Salzburg."
    typed = {"about": owning(stage.person).email, "instruction": text, "agreed": "on"}
    return Scene(here, here, "Update it", lambda: len(agents.requests) == 1, typed, text)


def look_up_profile(stage: Stage) -> Scene:
    agents, here, mail = _profile_agent(stage, "core"), "/profile/look-up/", owning(stage.person).email
    typed = {"about": mail, "agreed": "on"}
    return Scene(here, here, "Look it up", lambda: len(agents.requests) == 1, typed, mail)


def message(stage: Stage) -> Scene:
    carrier, here = _carrier(stage), "/profile/messages/"
    PhoneNumberFactory(user=stage.person, digest=digest("number", TO))
    typed = {"to": TO, "text": "Your table is ready.", "agreed": "on", "do": "send"}
    return Scene(here, here, "Send it", lambda: len(carrier.requests) == 1, typed, "Your table is ready.")


def code(stage: Stage) -> Scene:
    from tests.agents_proxy.test_messaging import code_of

    carrier = _carrier(stage)
    here = f"/profile/numbers/{phone_numbers.send_code(by=stage.person, number=TO)}/code/"
    done = PhoneNumber.objects.filter(verified_at__isnull=False).exists
    return Scene(here, here, "Verify: +49 … 78", done, {"code": code_of(carrier)}, code_of(carrier))


def forget(stage: Stage) -> Scene:
    made = PhoneNumberFactory(user=stage.person)
    path = f"/profile/numbers/{made.pk}/forget/"
    title = "Remove: +49 … 78"
    return Scene(path, "/profile/numbers/", title, lambda: not PhoneNumber.objects.exists())


def link(stage: Stage) -> Scene:
    bank = stage.after.enter_context(aggregating())
    stage.settings.AGGREGATOR = bank.settings()
    done = ProcessingConsent.objects.filter(user=stage.person).exists
    here, title = "/profile/financial/", "Link an institution"
    return Scene(f"{here}link/", here, title, done, {"agreed": "yes"})


def _item(stage: Stage) -> Item:
    bank = stage.after.enter_context(aggregating())
    stage.settings.AGGREGATOR = bank.settings()
    return linked(stage.person, bank)


def refresh(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/refresh/"
    title = "Read again"
    return Scene(path, "/profile/financial/", title, RefreshRun.objects.exists)


def link_again(stage: Stage) -> Scene:
    item = _item(stage)
    Item.objects.update(status="login_required")
    path = f"/profile/financial/{item.item_id}/link/"
    return Scene(path, "/profile/financial/", "Sign in there again", LinkSession.objects.exists)


def remove_item(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/remove/"
    title = "Remove it"
    return Scene(path, path, title, lambda: Item.objects.get().status == "removed")


def identity(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/identity/"
    title = "Show who they say I am"
    done = ProcessingConsent.objects.filter(purposes=["identity"]).exists
    return Scene(path, "/profile/financial/", title, done, {"agreed": "yes"})


SCENES: dict[str, Make] = {
    "profile:home": analysis,
    "profile:cancel": cancel,
    "profile:retry": retry,
    "profile:answer": answer,
    "profile:correct": correct,
    "profile:delete": delete_run,
    "activations:send": send,
    "processing:consent": agree,
    "processing:renew": renew,
    "processing:withdraw": withdraw,
    "profile:create": create_profile,
    "profile:update": update_profile,
    "profile:look-up": look_up_profile,
    "messaging:messages": message,
    "numbers:numbers": number,
    "numbers:code": code,
    "numbers:forget": forget,
    "financial:link": link,
    "financial:link_again": link_again,
    "financial:refresh": refresh,
    "financial:identity": identity,
    "financial:remove": remove_item,
}
