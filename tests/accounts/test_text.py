"""What counts as plain text: what shows as it is written."""

import unicodedata

import pytest

from common.text import is_plain

SHOWN = {
    "one letter": "x",
    "English": "Suggest restaurants that you'd like, e.g. \u201cThai\u201d \u2013 50 \u20ac",
    "Hindi": "\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f",
    "Arabic with vowels": "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f",
    "Hebrew with points": "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
    "Thai": "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48",
    "Khmer": "\u1797\u17b6\u179f\u17b6\u1781\u17d2\u1798\u17c2\u179a",
    "Mongolian": "\u182e\u1823\u1829\u182d\u1823\u182f",
    "Korean": "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "Vietnamese": "Ti\u1ebfng Vi\u1ec7t",
    "Vietnamese, decomposed": unicodedata.normalize("NFD", "Ti\u1ebfng Vi\u1ec7t"),
    "Mongolian with chosen forms": "\u182d\u1820\u180b\u182d\u180c\u1820\u180d \u1820\u180f",
    "Japanese with chosen forms": "\u845b\U000e0100\u57ce \u8fbb\U000e0101 \U00020b9f\U000e0102",
    "Braille": "\u2803\u2817\u2807",
    "an ideographic space between words": "\u6771\u4eac\u3000\u6e0b\u8c37",
    "emoji": "\U0001f600",
    "heart in colour": "I \u2764\ufe0f food",
    "thermometer in colour": "\U0001f321\ufe0f",
    "information sign in colour": "\u2139\ufe0f",
    "heart as text": "I \u2764\ufe0e food",
    "newer emoji": "\U0001fae8",
    "sign of a later Unicode": "\U0001faff",
    "flag of Scotland": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "keycap": "1\ufe0f\u20e3 or #\ufe0f\u20e3",
    "flag": "\U0001f1e9\U0001f1ea",
    "skin tone": "\U0001f44d\U0001f3fd",
    "Persian": "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
    "Persian after a word": "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627 x",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Kannada": "\u0cb0\u200d\u0ccd\u0caf\u0cbe",
    "Bengali": "\u09b0\u200d\u09cd\u09af",
    "Hindi with a joiner": "\u0930\u094d\u200d\u092f",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "health worker": "\U0001f469\U0001f3fd\u200d\u2695\ufe0f",
    "burning heart": "\u2764\ufe0f\u200d\U0001f525",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
}

UNSEEN = [
    *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    *"\u180b\u180c\u180d\u180e\u180f",
    *map(chr, range(0xFE00, 0xFE10)),
    *"\U000e0100\U000e01ef\U000e0001\U000e0041\U000e0fff",
    *"\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202e\u2060\u2063\u2065\u2066\ufeff",
    *"\u2028\u2029\u0085\ue000\ud800\ufff0\ufdd0\uffff\U0001fffe\U00013439",
]


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN.keys())
def test_text_of_every_script_is_plain(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize("hidden", UNSEEN, ids=ascii)
@pytest.mark.parametrize("text", ["{}", "Suggest {}restaurants", "{}Thai", "f\u00fcr{}"])
def test_text_with_what_nobody_sees_is_not_plain(text: str, hidden: str) -> None:
    assert not is_plain(text.format(hidden))


@pytest.mark.parametrize(
    "text",
    [
        "\u200c\u0639\u0644\u06cc", "\u0639\u0644\u06cc\u200c", "\u0639\u200c\u200c\u0644",
        "\u0639\u200c\u200d\u0644", "Ali\u200cReza", "\u0639\u200ca", "a\u200d\u0639", "\u0661\u200c\u0662",
        "\u0639 \u200c\u0644", "\u4e00\u200d\u4e01", "\U0001f468\u200d", "\u200d\U0001f468",
        "\U0001f468\u200d\u200d\U0001f469", "\U0001f468\u200c\U0001f469", "\U0001f468\u200dx", "\u0639\u202e\u0644",
        "\u0639\u200f\u0644", "\u0639\u061c\u0644", "\U0001f468\ufe0e\u200d\U0001f469",
        "\u182d\u200d\u180b\u1820", "\u304b\u200d\u306a",
    ],
    ids=ascii,
)  # fmt: skip
def test_joiners_belong_between_what_they_join(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\u00a0", "\u3000\u2003", "\u0301", " \u0301\u0308", "\u20e3", "\n", "a\tb"],
    ids=ascii,
)
def test_text_without_anything_visible_or_with_a_break_is_not_plain(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text", ["a\ufe0f", "7\ufe0f", "\u2764\ufe0f\ufe0f", "\ufe0f\u2764", "\u2764 \ufe0f"], ids=ascii
)
def test_emoji_selector_belongs_directly_behind_what_has_a_picture(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "\u845b\U000e0100\U000e0100", "\U000e0100\u845b", "\u304b\U000e0100", "\u1820\U000e0100",
        "\u1820\u180b\u180b", "\u180b\u1820", "\u845b\u180b", "\u2764\ufe0e\ufe0f", "a\ufe0e",
    ],
    ids=ascii,
)  # fmt: skip
def test_form_selector_belongs_directly_behind_what_has_forms(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    ("base", "tags"),
    [
        ("\U0001f3f4", "gbsct"),
        ("\U0001f3f4", "gb\x7f"),
        ("\U0001f3f4", "ignore\x7f"),
        ("\U0001f3f4", "a hidden word\x7f"),
        ("\U0001f600", "gbsct\x7f"),
    ],
)
def test_tags_make_nothing_but_a_whole_flag(base: str, tags: str) -> None:
    assert not is_plain(base + "".join(chr(0xE0000 + ord(tag)) for tag in tags))
