"""For every address that takes a POST from a page: what must be there for it, what is sent, and how to see it done."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from accounts.models import SharingId, User
from consent.decisions import actions as decision_actions
from consent.decisions.models import AppReport, BlockedApp
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.registry.models import HiddenScope
from pkm.vault.models import KeyWrapper, VaultKey
from tests.factories import (
    BlockedAppFactory,
    ConsentRequestFactory,
    DiscoveryFactory,
    GrantFactory,
    give_vault,
)


@dataclass
class Stage:
    """What a scene may use; what it opens is closed after the test."""

    person: User
    settings: Any
    after: ExitStack


@dataclass
class Scene:
    """`page` holds the button; `typed` is what the person enters, ticks and presses; `says` the title of what waits."""

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
    says = f"Deny: {asked.app_name}"
    return Scene(f"{here}deny/", here, says, done, typed, "Not before the trip")


def grant_move(move: str, label: str, becomes: str, before: str = "active", **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        made = GrantFactory(request__user=stage.person, status=before)
        says = f"{label}: {made.app.name}"

        def done() -> bool:
            return Grant.objects.get(pk=made.pk).status == becomes

        return Scene(f"/consent/grants/{made.grant_id}/{move}/", "/consent/grants/", says, done, typed)

    return make


def keep(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person, request__refresh_policy="continuous")
    done = Grant.objects.filter(pk=made.pk, kept_current=False).exists
    says = f"Stop renewing: {made.app.name}"
    return Scene(f"/consent/grants/{made.grant_id}/keep/", "/consent/grants/", says, done, {"kept": "no"})


def block(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"

    def done() -> bool:
        return BlockedApp.objects.exists() and Grant.objects.get(pk=made.pk).status == "revoked"

    says = f"Block: {made.app.name}"
    return Scene(f"{here}block/", here, says, done, {"stop": "yes"})


def stop_everything(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    says = f"Stop everything: {made.app.name}"
    return Scene(f"{here}stop/", here, says, lambda: Grant.objects.get(pk=made.pk).status == "revoked")


def unblock(stage: Stage) -> Scene:
    made = BlockedAppFactory(user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    DiscoveryFactory(user=stage.person, app=made.app)
    says = f"Let it ask again: {made.app.name}"
    return Scene(f"{here}unblock/", "/consent/grants/", says, lambda: not BlockedApp.objects.exists())


def report(stage: Stage) -> Scene:
    asked = ConsentRequestFactory(user=stage.person)
    here = f"/consent/apps/{asked.app.app_id}/"
    text = "It pretends to be my bank.\nTwice."
    return Scene(
        f"{here}report/", here, f"Send the report: {asked.app.name}",
        lambda: [words.replace("\r", "") for words in AppReport.objects.values_list("text", flat=True)] == [text],
        {"text": text}, "It pretends to be my bank.\nTwice.",
    )  # fmt: skip


def verify_history(stage: Stage) -> Scene:
    decision_actions.deny(request_id=ConsentRequestFactory(user=stage.person).request_id, by=stage.person)
    return Scene("/consent/history/verify/", "/consent/history/", "Verify my history", lambda: True)


def discovery(stage: Stage) -> Scene:
    give_vault(stage.person)
    typed = {"scope": "attr.lifestyle.food.*", "hide": "1"}
    says = "Hide from apps: Food and drink"
    return Scene("/vault/discovery/", "/vault/data/lifestyle/", says, HiddenScope.objects.exists, typed)


def sharing_id(stage: Stage) -> Scene:
    give_vault(stage.person)
    says = "Make a sharing ID"
    return Scene("/vault/sharing-id/", "/vault/", says, SharingId.objects.exists, {"then": "make"})


def setup_done(stage: Stage) -> Scene:
    give_vault(stage.person)
    done = VaultKey.objects.filter(user=stage.person, pre_onboarding_completed=True).exists
    return Scene("/vault/setup/done/", "/vault/setup/preview/", "Done. Go to the inbox", done)


def give_up_vault(stage: Stage) -> Scene:
    give_vault(stage.person)
    here = "/account/security/reset/"
    done = VaultKey.objects.filter(user=stage.person, vault_status="locked_out").exists
    return Scene(here, here, "Give it up", done, {"understood": "yes"})


def keep_vault(stage: Stage) -> Scene:
    from pkm.reset.actions import ask_for_reset

    give_vault(stage.person)
    ask_for_reset(by=stage.person)
    done = VaultKey.objects.filter(user=stage.person, vault_status="active").exists
    here = "/account/security/reset/"
    return Scene(f"{here}keep/", here, "Keep my data", done)


def remove_wrapper(stage: Stage) -> Scene:
    give_vault(stage.person, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    path = f"/account/security/wrappers/{wrapper.wrapper_id}/remove/"
    done = KeyWrapper.objects.filter(pk=wrapper.pk, removed_at__isnull=False).exists
    typed = {"only_recovery": "yes"}
    return Scene(path, path, "Remove it: Passphrase", done, typed)


def restore_wrapper(stage: Stage) -> Scene:
    from pkm.vault.actions import remove_wrapper as remove

    scene = remove_wrapper(stage)
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    remove(by=stage.person, wrapper_id=wrapper.wrapper_id, leave_only_recovery=True)
    path = scene.path.replace("/remove/", "/restore/")

    def done() -> bool:
        return KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None

    return Scene(path, "/account/security/", "Put back: Passphrase", done)


SCENES: dict[str, Make] = {
    "consent:deny": deny,
    "consent:stop": grant_move("stop", "Stop sharing", "revoked"),
    "consent:pause": grant_move("pause", "Pause", "paused"),
    "consent:keep": keep,
    "consent:block": block,
    "consent:stop-everything": stop_everything,
    "consent:unblock": unblock,
    "consent:report": report,
    "consent:verify-history": verify_history,
    "vault:discovery": discovery,
    "vault:setup-done": setup_done,
    "vault:sharing-id": sharing_id,
    "vault-reset": give_up_vault,
    "vault-reset-keep": keep_vault,
    "wrapper-remove": remove_wrapper,
    "wrapper-restore": restore_wrapper,
}
