"""Values that are words: goods, works, living things, trades and titles."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from deg_train.generate.pools import draw, draw_local
from deg_train.generate.vocabulary import WORDS

__all__ = ["MAKERS"]


def make_product(rng: Random) -> str:
    """Name a product for sale."""
    name = rng.choice(WORDS["product"])
    roll = rng.random()
    if roll < 0.35:
        return name
    if roll < 0.5:
        return f"{rng.choice(WORDS['adjective'])} {name}"
    if roll < 0.65:
        return f"{name}, {rng.choice(WORDS['color'])}"
    if roll < 0.8:
        brand, model = rng.choice(WORDS["noun"]), rng.choice(("X", "S", "Z", ""))
        return f"{brand} {rng.choice(WORDS['adjective'])} {model}{rng.randint(1, 900)}"
    if roll < 0.92:
        return f"{rng.choice(WORDS['noun'])} {name}"
    return name.title()


def make_job_title(rng: Random) -> str:
    """Name a job."""
    roll = rng.random()
    if roll < 0.25:
        return draw("job", rng)
    title = rng.choice(WORDS["job_title"])
    return f"{rng.choice(WORDS['seniority'])} {title}" if roll < 0.5 else title


def make_university(rng: Random) -> str:
    """Name a university."""
    return rng.choice(WORDS["university_pattern"]).format(draw_local("city", rng))


def make_color(rng: Random) -> str:
    """Name a colour."""
    return rng.choice(WORDS["color"]) if rng.random() < 0.75 else draw("color_name", rng)


def make_team(rng: Random) -> str:
    """Name a team."""
    return f"{draw_local('city', rng)} {rng.choice(WORDS['team_noun'])}"


def make_song(rng: Random) -> str:
    """Name a song."""
    return _title(rng)


def make_film(rng: Random) -> str:
    """Name a film."""
    return _title(rng) if rng.random() < 0.8 else f"{_title(rng)} {rng.choice(('II', '2', '3'))}"


def make_book(rng: Random) -> str:
    """Name a book."""
    if rng.random() < 0.3:
        topic = rng.choice(WORDS["industry"] + WORDS["plant"] + WORDS["animal"])
        start = ("A Short History of", "The Joy of", "Understanding", "Notes on", "Introduction to")
        return f"{rng.choice(start)} {topic.title()}"
    return _title(rng)


def make_restaurant(rng: Random) -> str:
    """Name a restaurant."""
    inner = rng.choice((rng.choice(WORDS["noun"]), draw_local("first_name", rng)))
    return rng.choice(WORDS["restaurant_pattern"]).format(inner)


def make_event_name(rng: Random) -> str:
    """Name an event."""
    event = rng.choice(WORDS["event"])
    roll = rng.random()
    if roll < 0.4:
        return f"{draw_local('city', rng)} {event}"
    if roll < 0.7:
        return f"{rng.choice(WORDS['noun'])} {event}"
    return f"{event} {rng.randint(2015, 2027)}" if roll < 0.9 else f"{rng.randint(4, 40)}th {event}"


def make_project_name(rng: Random) -> str:
    """Name a project."""
    noun, other = rng.choice(WORDS["noun"]), rng.choice(WORDS["noun"])
    return rng.choice(
        (
            f"Project {noun}",
            f"{noun} {other}",
            f"{noun.lower()}-{other.lower()}",
            f"Operation {rng.choice(WORDS['mood'])} {noun}",
            f"{noun.upper()}",
            f"{noun} {rng.randint(2, 30)}",
            f"{rng.choice(WORDS['department'])} Renewal",
        )
    )


def make_headline(rng: Random) -> str:
    """Write a headline."""
    return rng.choice(WORDS["headline"])


def make_hashtag(rng: Random) -> str:
    """Write a hashtag."""
    noun, other = rng.choice(WORDS["noun"]), rng.choice(WORDS["abstract"])
    return "#" + rng.choice(
        (f"{noun}{other}", noun.lower(), f"{noun}{rng.randint(2018, 2027)}", f"{other}Now")
    )


def _title(rng: Random) -> str:
    mood, noun, other = (rng.choice(WORDS[name]) for name in ("mood", "noun", "abstract"))
    return rng.choice(
        (
            f"The {mood} {noun}",
            f"{mood} {other}",
            f"{other} of the {noun}",
            f"{noun} and {other}",
            f"A {noun} in {draw_local('city', rng)}",
            f"{other}",
            f"When the {noun} Sleeps",
            f"No {other} for {draw_local('first_name', rng)}",
            f"{mood} {noun}",
        )
    )


def _listed(name: str) -> Callable[[Random], str]:
    words = WORDS[name]
    return lambda rng: rng.choice(words)


_LISTED = [
    "department",
    "industry",
    "degree",
    "language",
    "nationality",
    "material",
    "drug",
    "disease",
    "dish",
    "animal",
    "plant",
    "species",
    "planet",
    "chemical",
    "software",
    "contract_term",
    "currency_code",
]

MAKERS: dict[str, Callable[[Random], str]] = {
    **{name: _listed(name) for name in _LISTED},
    "product": make_product,
    "job_title": make_job_title,
    "university": make_university,
    "color": make_color,
    "team": make_team,
    "song": make_song,
    "film": make_film,
    "book": make_book,
    "restaurant": make_restaurant,
    "event_name": make_event_name,
    "project_name": make_project_name,
    "headline": make_headline,
    "hashtag": make_hashtag,
}
