"""For every address that takes a POST from a page: what must be there for it, what is sent, and how to see it done."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses.models import Run
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.digests import digest
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent.models import ProcessingConsent
from consent.decisions import actions as decision_actions
from consent.decisions.models import AppReport, BlockedApp
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.registry.models import HiddenScope
from pkm.vault.models import KeyWrapper, VaultKey
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.institutions import linked
from tests.agents_proxy.phone_owners import TO
from tests.agents_proxy.proxy_calls import configure
from tests.agents_proxy.runs import SUBMITTED, finished, started
from tests.factories import (
    BlockedAppFactory,
    ConsentRequestFactory,
    DestinationFactory,
    DiscoveryFactory,
    GrantFactory,
    PhoneNumberFactory,
    ProcessingConsentFactory,
    give_vault,
)
from tests.fakes.aggregator import aggregating


@dataclass
class Stage:
    """What a scene may use; what it opens is closed after the test."""

    person: User
    settings: Any
    after: ExitStack


@dataclass
class Scene:
    """`page` holds the button; `typed` is what the person enters, ticks and presses; `says` is shown while it waits."""

    path: str
    page: str
    says: str
    done: Callable[[], Any]
    typed: dict[str, str] = field(default_factory=dict)
    shows: str = ""  # of what was typed, what is on the page again


Make = Callable[[Stage], Scene]


def deny(stage: Stage) -> Scene:
    asked = ConsentRequestFactory(user=stage.person)
    here = f"/consent/requests/{asked.request_id}/"

    def done() -> bool:
        row = ConsentRequest.objects.get(pk=asked.pk)
        return (row.status, row.decision_note) == ("denied", "Not before the trip")

    typed = {"reason": "Not before the trip"}
    says = f"You asked to deny the request of {asked.app_name}."
    return Scene(f"{here}deny/", here, says, done, typed, "Not before the trip")


def grant_move(move: str, becomes: str, before: str = "active", **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        made = GrantFactory(request__user=stage.person, status=before)
        says = f"You asked to {move} sharing with {made.app.name}."

        def done() -> bool:
            return Grant.objects.get(pk=made.pk).status == becomes

        return Scene(f"/consent/grants/{made.grant_id}/{move}/", "/consent/grants/", says, done, typed)

    return make


def keep(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person, request__refresh_policy="continuous")

    def done() -> bool:
        return not Grant.objects.get(pk=made.pk).kept_current

    says = f"You asked to leave what {made.app.name} reads as it is."
    return Scene(f"/consent/grants/{made.grant_id}/keep/", "/consent/grants/", says, done, {"kept": "no"})


def block(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"

    def done() -> bool:
        return BlockedApp.objects.exists() and Grant.objects.get(pk=made.pk).status == "revoked"

    says = f"You asked to block {made.app.name} and to stop everything that it can read."
    return Scene(f"{here}block/", here, says, done, {"stop": "yes"})


def stop_everything(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    says = f"You asked to stop everything that {made.app.name} can read."
    return Scene(f"{here}stop/", here, says, lambda: Grant.objects.get(pk=made.pk).status == "revoked")


def unblock(stage: Stage) -> Scene:
    made = BlockedAppFactory(user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    DiscoveryFactory(user=stage.person, app=made.app)
    says = f"You asked to let {made.app.name} ask you again."
    return Scene(f"{here}unblock/", "/consent/grants/", says, lambda: not BlockedApp.objects.exists())


def report(stage: Stage) -> Scene:
    asked = ConsentRequestFactory(user=stage.person)
    here = f"/consent/apps/{asked.app.app_id}/"
    text = "It pretends to be my bank.\nTwice."
    return Scene(
        f"{here}report/", here, f"You asked to report {asked.app.name} to our staff.",
        lambda: [words.replace("\r", "") for words in AppReport.objects.values_list("text", flat=True)] == [text],
        {"text": text}, "It pretends to be my bank.\nTwice.",
    )  # fmt: skip


def verify_history(stage: Stage) -> Scene:
    decision_actions.deny(request_id=ConsentRequestFactory(user=stage.person).request_id, by=stage.person)
    return Scene(
        "/consent/history/verify/", "/consent/history/", "You asked to have your history checked.", lambda: True
    )


def discovery(stage: Stage) -> Scene:
    give_vault(stage.person)
    typed = {"scope": "attr.lifestyle.food.*", "hide": "1"}
    says = "You asked to hide from apps that you could share: Food and drink."
    return Scene("/vault/discovery/", "/vault/data/lifestyle/", says, HiddenScope.objects.exists, typed)


def setup_done(stage: Stage) -> Scene:
    give_vault(stage.person)

    def done() -> bool:
        return VaultKey.objects.get(user=stage.person).pre_onboarding_completed

    return Scene("/vault/setup/done/", "/vault/setup/preview/", "You asked to end the set-up of your data.", done)


def give_up_vault(stage: Stage) -> Scene:
    give_vault(stage.person)
    here = "/account/security/reset/"

    def done() -> bool:
        return VaultKey.objects.get(user=stage.person).vault_status == "locked_out"

    return Scene(here, here, "You asked to give up your sealed data.", done, {"understood": "yes"})


def keep_vault(stage: Stage) -> Scene:
    from pkm.reset.actions import ask_for_reset

    give_vault(stage.person)
    ask_for_reset(by=stage.person)

    def done() -> bool:
        return VaultKey.objects.get(user=stage.person).vault_status == "active"

    here = "/account/security/reset/"
    return Scene(f"{here}keep/", here, "You asked to keep your sealed data.", done)


def remove_wrapper(stage: Stage) -> Scene:
    give_vault(stage.person, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    path = f"/account/security/wrappers/{wrapper.wrapper_id}/remove/"

    def done() -> bool:
        return KeyWrapper.objects.get(pk=wrapper.pk).removed_at is not None

    typed = {"only_recovery": "yes"}
    return Scene(path, path, "You asked to remove a way to unlock your data: Passphrase.", done, typed)


def restore_wrapper(stage: Stage) -> Scene:
    from pkm.vault.actions import remove_wrapper as remove

    scene = remove_wrapper(stage)
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    remove(by=stage.person, wrapper_id=wrapper.wrapper_id, leave_only_recovery=True)
    path = scene.path.replace("/remove/", "/restore/")

    def done() -> bool:
        return KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None

    return Scene(path, "/account/security/", "You asked to put back a way to unlock your data: Passphrase.", done)


# --- the profile ------------------------------------------------------------------------------------------------------


def _agents(stage: Stage) -> Agents:
    agents = stage.after.enter_context(speaking())
    stage.settings.AGENTS = {**stage.settings.AGENTS, **agents.settings()}
    return agents


def analysis(stage: Stage) -> Scene:
    says = "You asked to start an analysis with these details."
    return Scene("/profile/", "/profile/", says, Run.objects.exists, {**SUBMITTED, "agreed": "on"}, "Ana Sá")


def cancel(stage: Stage) -> Scene:
    run = started(stage.person)
    here = f"/profile/{run.analysis_id}/"

    def done() -> bool:
        return Run.objects.get(pk=run.pk).status == "cancelled"

    return Scene(f"{here}cancel/", here, "You asked to stop the analysis.", done)


def retry(stage: Stage) -> Scene:
    agents = _agents(stage)
    agents.says = {"brand": "no profile at all", "core": {"likes": ["tea"]}}
    run = finished(stage.person)
    asked_before = len(agents.asked)
    here = f"/profile/{run.analysis_id}/"

    def done() -> bool:
        again = Run.objects.get(pk=run.pk)
        return len(agents.asked) > asked_before or again.status in ("queued", "running")

    return Scene(f"{here}retry/brand/", here, "You asked to have an agent asked again.", done)


def delete_run(stage: Stage) -> Scene:
    run = started(stage.person)
    analysis_actions.cancel_analysis(by=stage.person, analysis_id=run.analysis_id)
    here = f"/profile/{run.analysis_id}/delete/"
    return Scene(here, here, "You asked to delete an analysis", lambda: not Run.objects.filter(pk=run.pk).exists())


def send(stage: Stage) -> Scene:
    _agents(stage).says = {"brand": {"likes": ["Muji"]}}
    destination = DestinationFactory()
    run = finished(stage.person)
    here = f"/profile/analyses/{run.analysis_id}/send/?destination={destination.destination_id}"
    says = f"You asked to send your brand affinity to {destination.described}."
    return Scene(here, here, says, lambda: Activation.objects.count() == 1, {"agreed": "yes"})


def agree(stage: Stage) -> Scene:
    here = "/profile/consent/?purposes=profile"
    says = "You said that you agree to what is written below."
    return Scene(here, here, says, ProcessingConsent.objects.exists, {"decision": "agree"})


def withdraw(stage: Stage) -> Scene:
    made = ProcessingConsentFactory(user=stage.person, purposes=["profile"])

    def done() -> bool:
        return ProcessingConsent.objects.get(pk=made.pk).withdrawn_at is not None

    path, says = f"/profile/consent/{made.consent_id}/withdraw/", "You asked to withdraw what you agreed to:"
    return Scene(path, "/profile/consent/given/", says, done)


def _carrier(stage: Stage) -> Agents:
    agents = stage.after.enter_context(speaking())
    configure(stage.settings, "messaging", url=f"{agents.address}/messaging")
    return agents


def number(stage: Stage) -> Scene:
    carrier = _carrier(stage)
    says = "You asked for a code to this phone number."
    here = "/profile/numbers/"
    return Scene(here, here, says, lambda: len(carrier.asked) == 1, {"to": "+49 151 12345678"}, "+49 151 12345678")


def _profile_agent(stage: Stage, name: str) -> Agents:
    agents = stage.after.enter_context(speaking())
    agents.says = {name: {"full_name": "Ana"}}
    configure(stage.settings, name, url=f"{agents.address}/{name}")
    return agents


def create_profile(stage: Stage) -> Scene:
    agents, here, text = _profile_agent(stage, "core-profile"), "/profile/create/", "I am Ana, and I love tea."
    typed = {"text": text, "agreed": "on"}
    return Scene(here, here, "You asked for this: Create a profile.", lambda: len(agents.asked) == 1, typed, text)


def update_profile(stage: Stage) -> Scene:
    agents, here, text = _profile_agent(stage, "core-profile-update"), "/profile/update/", "I moved to Salzburg."
    typed = {"email": "ana@example.org", "instruction": text, "agreed": "on"}
    return Scene(here, here, "You asked for this: Update your profile.", lambda: len(agents.asked) == 1, typed, text)


def look_up_profile(stage: Stage) -> Scene:
    agents, here, mail = _profile_agent(stage, "core"), "/profile/look-up/", "ana@example.org"
    typed = {"email": mail, "agreed": "on"}
    return Scene(here, here, "You asked for this: Look up your profile.", lambda: len(agents.asked) == 1, typed, mail)


def message(stage: Stage) -> Scene:
    carrier, here = _carrier(stage), "/profile/messages/"
    PhoneNumberFactory(user=stage.person, digest=digest("number", TO))
    typed = {"to": TO, "text": "Your table is ready.", "agreed": "on", "do": "send"}
    return Scene(
        here, here, "You asked to have a message sent.", lambda: len(carrier.asked) == 1, typed, "Your table is ready."
    )


def code(stage: Stage) -> Scene:
    from tests.agents_proxy.test_messaging import code_of

    carrier = _carrier(stage)
    here = f"/profile/numbers/{phone_numbers.send_code(by=stage.person, number=TO)}/code/"

    def done() -> bool:
        return PhoneNumber.objects.get().verified_at is not None

    return Scene(here, here, "You entered the code for +49 … 78.", done, {"code": code_of(carrier)}, code_of(carrier))


def forget(stage: Stage) -> Scene:
    made = PhoneNumberFactory(user=stage.person)
    path = f"/profile/numbers/{made.pk}/forget/"
    says = "You asked to remove the phone number"
    return Scene(path, "/profile/numbers/", says, lambda: not PhoneNumber.objects.exists())


def link(stage: Stage) -> Scene:
    bank = stage.after.enter_context(aggregating())
    stage.settings.AGGREGATOR = bank.settings()

    def done() -> bool:
        return ProcessingConsent.objects.filter(user=stage.person).exists()

    here, says = "/profile/financial/", "You asked to link an institution."
    return Scene(f"{here}link/", here, says, done, {"agreed": "yes"})


def _item(stage: Stage) -> Item:
    bank = stage.after.enter_context(aggregating())
    stage.settings.AGGREGATOR = bank.settings()
    return linked(stage.person, bank)


def refresh(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/refresh/"
    says = "You asked to read again from Your institution."
    return Scene(path, "/profile/financial/", says, RefreshRun.objects.exists)


def remove_item(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/remove/"
    says = "You asked to remove Your institution, with all that was read."
    return Scene(path, path, says, lambda: Item.objects.get().status == "removed")


def identity(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/identity/"
    says = "You asked who Your institution says you are."

    def done() -> bool:
        return ProcessingConsent.objects.filter(purposes=["identity"]).exists()

    return Scene(path, "/profile/financial/", says, done, {"agreed": "yes"})


SCENES: dict[str, Make] = {
    "consent:deny": deny,
    "consent:stop": grant_move("stop", "revoked"),
    "consent:pause": grant_move("pause", "paused"),
    "consent:resume": grant_move("resume", "active", "paused"),
    "consent:keep": keep,
    "consent:block": block,
    "consent:stop-everything": stop_everything,
    "consent:unblock": unblock,
    "consent:report": report,
    "consent:verify-history": verify_history,
    "vault:discovery": discovery,
    "vault:setup-done": setup_done,
    "vault-reset": give_up_vault,
    "vault-reset-keep": keep_vault,
    "wrapper-remove": remove_wrapper,
    "wrapper-restore": restore_wrapper,
    "profile:home": analysis,
    "profile:cancel": cancel,
    "profile:retry": retry,
    "profile:delete": delete_run,
    "activations:send": send,
    "processing:consent": agree,
    "processing:withdraw": withdraw,
    "profile:create": create_profile,
    "profile:update": update_profile,
    "profile:look-up": look_up_profile,
    "messaging:messages": message,
    "numbers:numbers": number,
    "numbers:code": code,
    "numbers:forget": forget,
    "financial:link": link,
    "financial:refresh": refresh,
    "financial:identity": identity,
    "financial:remove": remove_item,
}
