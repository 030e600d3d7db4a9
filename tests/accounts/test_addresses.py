"""Long addresses break between their parts, and "e-mail" never after its hyphen."""

import pytest

from accounts.templatetags.addresses import breakable, unbroken


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ana.sa@example.org", "ana<wbr>.sa<wbr>@example<wbr>.org"),
        ("a@b", "a<wbr>@b"),
        ("Write to a@b.org. Thanks.", "Write to a<wbr>@b<wbr>.org. Thanks."),
        ("<b>@x.org", "&lt;b&gt;<wbr>@x<wbr>.org"),
        ("@a..b@", "@a..b@"),
        ("https://a.example/b/c", "https://a<wbr>.example<wbr>/b<wbr>/c"),
        ("Added https://a.example/?q=1&b=2.", "Added https://a<wbr>.example<wbr>/?q=1&amp;b=2."),
        ("yes/no. None.", "yes/no. None."),
        ("no address. None.", "no address. None."),
        ("", ""),
    ],
)
def test_an_address_may_break_before_each_of_its_parts(text: str, shown: str) -> None:
    assert breakable(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Confirm your e-mail address", 'Confirm your <span class="one-word">e-mail</span> address'),
        ("Deine E-Mail-Adresse", 'Deine <span class="one-word">E-Mail</span>-Adresse'),
        ("<b>one-mail", "&lt;b&gt;one-mail"),
    ],
)
def test_an_e_mail_does_not_break_after_its_hyphen(text: str, shown: str) -> None:
    assert unbroken(text) == shown
