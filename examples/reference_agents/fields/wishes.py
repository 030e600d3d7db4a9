"""What is read out of text about needs, wishes and plans (pure)."""

from examples.reference_agents import patterns as p
from examples.reference_agents.fields.field import Field
from examples.reference_agents.values import intent, items

WISHES: dict[str, Field] = {
    "needs": Field(
        items,
        ("need",),
        {
            rf"{p.NOT_WHAT}\bneeds? (?!to\b|is\b|of\b|for\b)(.+)": None,
            r"\b(?:needs? is|(?:in|has) (?:(?!no\b)\w+ )?need (?:of|for)|requires|lacks|is short of|could (?:do with"
            r"|use)|has to"
            r" get|is missing) (.+)": None,
        },
    ),
    "wants": Field(
        items,
        ("want",),
        {
            rf"{p.NOT_WHAT}\bwants? (?:to (?:buy|get|have|own) )?(?!to\b|is\b)(.+)": None,
            r"\b(?:wants? is|looking for|(?:looking|hoping|planning|keen|wishes) to (?:buy|get)|is after|hoping for"
            r"|hopes for|saving up for|has (?:her|his) eye on"
            r"|in the market for|shopping for|shopping list is|shopping list are|set on|on the lookout for)"
            r" (.+)": None,
        },
    ),
    "desires": Field(
        items,
        ("desire", "dream", "dreams", "wishes"),
        {
            r"\b(?:(?:dreams?|dreamed|dreamt|dreaming) (?:of|about)|(?:longs?|yearns?|wishes|longing|yearning"
            r"|wishing) for|fantasi[sz]es about|has (?:her|his) heart set on)"
            r" (.+)": None
        },
    ),
    "intent_24h": Field(intent, ("within 24 hours", "next 24 hours", "24h", "plans for the next day"), {}),
    "intent_48h": Field(intent, ("within 48 hours", "next 48 hours", "48h", "plans for two days"), {}),
    "intent_72h": Field(intent, ("within 72 hours", "next 72 hours", "72h", "plans for three days"), {}),
    "brand_affinities": Field(items, ("favourite brands", "brands"), {}),
}
