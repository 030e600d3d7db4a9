"""Passwords are hashed a few at a time: more wait, and still more are told to come again, while others are served."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.sign_in import password_hash
from accounts.sign_in.password_hash import CappedArgon2, Turns
from common.problems import TemporarilyUnavailable
from tests.factories import PersonFactory


def test_it_costs_what_owasp_asks_for() -> None:
    encoded = CappedArgon2().encode("a password of mine", "saltsaltsaltsalt")

    assert encoded.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert CappedArgon2().verify("a password of mine", encoded)
    assert not CappedArgon2().verify("another", encoded)


def test_a_hash_of_another_cost_is_still_good_and_made_anew() -> None:
    from django.contrib.auth.hashers import Argon2PasswordHasher

    older = Argon2PasswordHasher().encode("a password of mine", "saltsaltsaltsalt")

    assert CappedArgon2().verify("a password of mine", older)
    assert CappedArgon2().must_update(older)


def test_of_many_at_once_some_go_some_wait_and_the_rest_is_refused() -> None:
    turns, go_on = Turns(2, waiting=3), threading.Event()
    inside, most = 0, 0
    lock, refused, full, entered = threading.Lock(), [], threading.Semaphore(0), threading.Semaphore(0)

    def hash_one() -> None:
        nonlocal inside, most
        try:
            with turns.take():
                with lock:
                    inside += 1
                    most = max(most, inside)
                entered.release()
                go_on.wait()
                with lock:
                    inside -= 1
        except TemporarilyUnavailable as refusal:
            refused.append(refusal.headers)
            full.release()

    with ThreadPoolExecutor(12) as pool:
        calls = [pool.submit(hash_one) for _ in range(12)]
        for _ in range(7):  # of twelve, two go and three wait
            assert full.acquire(timeout=60)
        for _ in range(2):
            assert entered.acquire(timeout=60)
        go_on.set()
    assert [call.exception() for call in calls] == [None] * 12
    assert most == 2
    assert refused == [{"Retry-After": "5"}] * 7
    with turns.take():
        pass  # and all have their place back


@pytest.mark.django_db
def test_a_sign_in_too_many_is_asked_to_come_again_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    person: Any = PersonFactory()
    client, signed_in = Client(raise_request_exception=False), Client()
    signed_in.force_login(person)
    full = Turns(1, waiting=0)
    monkeypatch.setattr(password_hash, "turns", full)
    with full.take():
        answer = client.post(reverse("account_login"), {"login": person.email, "password": "whatever-it-is"})
        other = signed_in.get("/consent/")

    assert (answer.status_code, answer["Retry-After"], other.status_code) == (503, "5", 200)
    assert b"not available for a moment" in answer.content
    again = client.post(reverse("account_login"), {"login": person.email, "password": "whatever-it-is"})
    assert again.status_code == 200
