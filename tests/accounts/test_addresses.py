"""Long addresses break between their parts."""

import pytest

from accounts.templatetags.addresses import breakable


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
