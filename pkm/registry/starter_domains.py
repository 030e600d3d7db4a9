"""The domains and segments that a deployment starts with (pure data); their attributes are `starter_attributes`'s.

What is marked with `_` is kept in English and translated where a page shows it (`pkm.registry.labels.translated`).
The order is the canonical one, as it is that of attributes.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True)
class StarterDomain:
    """A part of life; its icon has the domain's own name. `whole` names the scope over all of it.

    `tier` is how sensitive every scope of the domain is.
    """

    name: str
    label: str
    whole: str
    description: str
    tier: str = "standard"


@dataclass(frozen=True)
class Segment:
    """A group of attributes that is sealed together; `path` is `domain.name`."""

    path: str
    label: str
    description: str

    @property
    def domain(self) -> str:
        return self.path.partition(".")[0]


DOMAINS: tuple[StarterDomain, ...] = (
    StarterDomain("identity", _("Identity"), _("Identity: everything"), _("Who you are: your name, age and gender.")),
    StarterDomain("contact", _("Contact"), _("Contact: everything"), _("How you can be reached."), tier="confidential"),
    StarterDomain("location", _("Location"), _("Location: everything"), _("Where you live."), tier="confidential"),
    StarterDomain(
        "demographics", _("Household"), _("Household: everything"), _("The people you live with."), tier="confidential"
    ),
    StarterDomain(
        "professional",
        _("Work and income"),
        _("Work and income: everything"),
        _("Your work, your education and how you live."),
    ),
    StarterDomain(
        "lifestyle", _("Lifestyle"), _("Lifestyle: everything"), _("How you eat, move, shop and spend your days.")
    ),
    StarterDomain("technology", _("Technology"), _("Technology: everything"), _("The devices and services you use.")),
    StarterDomain("interests", _("Interests"), _("Interests: everything"), _("What you do for fun.")),
    StarterDomain(
        "intents", _("Plans and wishes"), _("Plans and wishes: everything"), _("What you need, want or plan to buy.")
    ),
    StarterDomain("brands", _("Brands"), _("Brands: everything"), _("The brands you like and those you avoid.")),
    StarterDomain(
        "financial",
        _("Spending"),
        _("Spending: everything"),
        _("Where your money goes, in broad strokes."),
        tier="restricted",
    ),
)
SEGMENTS: tuple[Segment, ...] = (
    Segment("identity.basic", _("The basics about you"), _("Your name, age and gender.")),
    Segment("contact.email", _("E-mail"), _("Where e-mail reaches you.")),
    Segment("contact.phone", _("Phone"), _("Where calls and messages reach you.")),
    Segment("location.home", _("Home address"), _("Where you live, from the street to the country.")),
    Segment("demographics.household", _("Household"), _("Your family status and who lives with you.")),
    Segment("professional.work", _("Work and income"), _("What you do, what you learned, and your rough means.")),
    Segment("lifestyle.food", _("Food and drink"), _("What you like to eat and drink.")),
    Segment("lifestyle.fitness", _("Fitness"), _("How you keep moving.")),
    Segment("lifestyle.shopping", _("Shopping"), _("How and where you like to shop.")),
    Segment(
        "lifestyle.habits",
        _("Everyday habits"),
        _("How you get around, when you sleep and what you do for the environment."),
    ),
    Segment("technology.use", _("Devices and media"), _("How you use devices, social platforms and media.")),
    Segment("interests.leisure", _("Free time"), _("Sports, games and travel.")),
    Segment(
        "intents.now",
        _("Current plans and wishes"),
        _("What you need, want or wish for now, and what you plan for the next days."),
    ),
    Segment("brands.affinity", _("Brand preferences"), _("What you like, what you do not, and how you choose.")),
    Segment(
        "financial.signals", _("Spending patterns"), _("The shops and categories you spend on, and roughly how much.")
    ),
)
