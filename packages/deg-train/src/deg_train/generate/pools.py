"""Pools: some hundred values of each Faker provider and locale, always the same ones."""

from __future__ import annotations

import unicodedata
from functools import cache
from random import Random
from zlib import crc32

from faker import Faker

__all__ = ["ascii_letters", "draw", "draw_local", "pool"]

POOL_SIZE = 300

# locale: weight; English leads because the documents are English
_LOCALES = {
    "en_US": 7,
    "en_GB": 4,
    "de_DE": 2,
    "fr_FR": 2,
    "es_ES": 2,
    "it_IT": 2,
    "pl_PL": 1,
    "nl_NL": 1,
    "pt_BR": 1,
    "sv_SE": 1,
    "en_IN": 2,
    "tr_TR": 1,
}
_NAMES = tuple(_LOCALES)
_WEIGHTS = tuple(_LOCALES.values())
_CUMULATIVE = tuple(sum(_WEIGHTS[: index + 1]) for index in range(len(_WEIGHTS)))


@cache
def pool(provider: str, locale: str = "en_US") -> tuple[str, ...]:
    """Return the pool of a provider, such as `last_name`, in a locale."""
    faker = _faker(locale)
    faker.seed_instance(crc32(f"{provider}/{locale}".encode()))
    make = getattr(faker, provider)
    return tuple(
        dict.fromkeys(" ".join(str(make()).replace("\n", ", ").split()) for _ in range(POOL_SIZE))
    )


def draw(provider: str, rng: Random) -> str:
    """Draw a value of a provider from the English pool."""
    return rng.choice(pool(provider))


def draw_local(provider: str, rng: Random, locale: str = "") -> str:
    """Draw a value of a provider, in the locale or in a random one."""
    return rng.choice(pool(provider, locale or draw_locale(rng)))


def draw_locale(rng: Random) -> str:
    """Draw a locale, English ones more often."""
    return rng.choices(_NAMES, cum_weights=_CUMULATIVE)[0]


@cache
def ascii_letters(text: str) -> str:
    """Return the lower-case ASCII letters and digits of the text, accents dropped."""
    folded = unicodedata.normalize("NFKD", text.lower().replace("ß", "ss").replace("ł", "l"))
    return "".join(letter for letter in folded if letter.isascii() and letter.isalnum())


@cache
def _faker(locale: str) -> Faker:
    faker = Faker(locale)
    if locale == "it_IT":
        # its towns come from a set, so that their order is another one in every process
        for provider in faker.factories[0].providers:
            if hasattr(provider, "cities"):
                provider.cities = sorted(provider.cities)
    return faker
