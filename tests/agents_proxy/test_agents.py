"""The table of agents: what the settings, the handbook and the pages take from it."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import translation

from agents_proxy.agents import AGENTS, ANALYSIS_AGENTS, ANALYSIS_PURPOSES, Agent, Protocol, title_of, upstream_of
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import merging, page_content, results, steps
from agents_proxy.analyses.models import Step
from agents_proxy.proxy.models import Call
from agents_proxy.states import Purpose
from config import env
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import kept, started
from tests.factories import PersonFactory

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "agents.md"
KNOWN = "AGENT_CORE_PROTOCOL must be one of tasks-send, a2a"
LOYALTY = Agent(name="loyalty-points", purpose=Purpose.ENRICHMENT)


def test_an_analysis_asks_four_agents_in_their_order_and_needs_consent_to_what_they_do() -> None:
    assert ANALYSIS_AGENTS == ("brand", "core", "public", "second")
    assert ANALYSIS_PURPOSES == (Purpose.PROFILE, Purpose.ENRICHMENT, Purpose.BRAND_AFFINITY)
    assert [name for name, agent in AGENTS.items() if agent.reads_purchases] == ["brand"]


def test_every_name_fits_an_address_and_the_columns_that_keep_it() -> None:
    longest = min(model._meta.get_field("agent").max_length for model in (Call, Step))

    assert [name for name in AGENTS if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name) or len(name) > longest] == []
    assert len({agent.variable_prefix for agent in AGENTS.values()}) == len(AGENTS)


def test_the_handbook_lists_each_agent_with_the_consent_that_it_needs() -> None:
    rows = re.findall(r"^\| `POST /api/a2a/([a-z-]+)` \| [^|]+ \| `([a-z_]+)` \|$", HANDBOOK.read_text(), re.MULTILINE)

    assert sorted(rows) == sorted((name, agent.purpose.value) for name, agent in AGENTS.items())


def test_settings_read_the_variables_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"URL": "https://agent.example", "TOKEN": "secret", "TIMEOUT": "7"}.items():
        monkeypatch.setenv(f"AGENT_LOYALTY_POINTS_{name}", value)

    read = env.agent(LOYALTY.variable_prefix, LOYALTY.protocols, LOYALTY.protocol)

    given = {"url": "https://agent.example", "token": "secret", "timeout": 7}
    ours = ("model", "token_header", "token_url", "client_id", "client_secret", "scope")
    theirs = ("delete_url", "contact", "name", "operator", "country", "privacy_notice")
    nothing = dict.fromkeys((*ours, *theirs), "")
    assert read == {**given, **nothing, "protocol": "tasks-send", "checks_consent": False}
    monkeypatch.setenv("AGENT_LOYALTY_POINTS_DELETE_URL", "https://agent.example/delete")
    monkeypatch.setenv("AGENT_LOYALTY_POINTS_CONTACT", "privacy@agent.example")
    monkeypatch.setenv("AGENT_LOYALTY_POINTS_PROTOCOL", "a2a")
    monkeypatch.setenv("AGENT_LOYALTY_POINTS_CHECKS_CONSENT", "true")
    read = env.agent(LOYALTY.variable_prefix, LOYALTY.protocols, LOYALTY.protocol)
    deletion = {"delete_url": "https://agent.example/delete", "contact": "privacy@agent.example"}
    assert read == {**nothing, **given, **deletion, "protocol": "a2a", "checks_consent": True}


@pytest.mark.parametrize(
    ("variable", "value", "refusal"),
    [
        ("URL", "agent.example", "AGENT_CORE_URL must start with https:// or http://."),
        ("DELETE_URL", "ftp://agent.example", "AGENT_CORE_DELETE_URL must start with https:// or http://."),
        ("PROTOCOL", "grpc", f"{KNOWN}, not 'grpc'."),
        ("PROTOCOL", "tasks/send", f"{KNOWN}, not 'tasks/send'."),  # a method, and the name of old
        ("PROTOCOL", "message/send", f"{KNOWN}, not 'message/send'."),
        ("PROTOCOL", "SendMessage", f"{KNOWN}, not 'SendMessage'."),
        ("TIMEOUT", "0", "AGENT_CORE_TIMEOUT must lie between 1 and 600, not 0."),
    ],
)
def test_a_variable_that_cannot_work_raises(
    variable: str, value: str, refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"AGENT_CORE_{variable}", value)

    with pytest.raises(ImproperlyConfigured, match=re.escape(refusal)):
        env.agent("AGENT_CORE", AGENTS["core"].protocols, Protocol.TASKS_SEND)


@pytest.mark.parametrize(
    ("variables", "refusal"),
    [
        ({"TOKEN_URL": "https://login.example/"}, "Set AGENT_BRAND_TOKEN_URL, _CLIENT_ID and _CLIENT_SECRET, or none"),
        ({"CLIENT_ID": "us", "CLIENT_SECRET": "secret"}, "Set AGENT_BRAND_TOKEN_URL, _CLIENT_ID and _CLIENT_SECRET"),
        ({"PROTOCOL": "openai", "URL": "https://llm.example/v1"}, "AGENT_BRAND_MODEL must name the model"),
    ],
)
def test_variables_that_belong_together(
    variables: dict[str, str], refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"AGENT_BRAND_{name}", value)

    with pytest.raises(ImproperlyConfigured, match=re.escape(refusal)):
        env.agent("AGENT_BRAND", AGENTS["brand"].protocols, Protocol.TASKS_SEND)


def test_settings_have_an_entry_for_each_agent(settings: Any) -> None:
    assert settings.AGENTS.keys() == AGENTS.keys()
    settings.AGENTS = {**settings.AGENTS, "core": {"url": "", "token": "", "timeout": 50, "protocol": "tasks-send"}}
    assert upstream_of("core") is None


def test_an_agent_without_words_of_its_own_is_called_by_its_name_and_purpose() -> None:
    with translation.override("en"):
        assert (LOYALTY.title, LOYALTY.summary) == ("Loyalty points agent", "Public information")
        assert (AGENTS["second"].title, title_of("second")) == ("Second public-data agent", "Second public-data agent")
    assert title_of("gone-since-then") == "gone-since-then"


@pytest.mark.django_db
def test_an_entry_is_all_that_an_analysis_needs(agents: Agents, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Agent(name="loyalty-points", purpose=Purpose.ENRICHMENT, in_analysis=True)
    monkeypatch.setitem(AGENTS, entry.name, entry)
    for module in (analysis_actions, merging):
        monkeypatch.setattr(module, "ANALYSIS_AGENTS", (*ANALYSIS_AGENTS, entry.name))
    settings.AGENTS = {**settings.AGENTS, entry.name: settings.AGENTS["second"]}
    agents.replies = {"public": {"city": "Bonn"}, "second": {"city": "Porto"}}
    run = started(PersonFactory())

    steps.run_through(run.pk)

    shown = page_content.progress(kept(run))["steps"]
    assert [(step["label"], step["purpose"], step["status"]) for step in shown][-1] == (
        "Loyalty points agent", "Public information", "succeeded",
    )  # fmt: skip
    assert results.merged_of(list(run.steps.all())).provenance == {"city": "loyalty-points"}
