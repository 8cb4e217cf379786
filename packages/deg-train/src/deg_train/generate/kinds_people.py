"""Values about people, firms and places: names, addresses, and ways to reach them."""

from __future__ import annotations

from random import Random

from deg_train.generate.pools import ascii_letters, draw, draw_local, draw_locale
from deg_train.generate.shapes import fill_shape
from deg_train.generate.vocabulary import WORDS

__all__ = ["MAKERS"]


def make_person(rng: Random) -> str:
    """Name a person as documents do: in full, with a title, last name first, with initials."""
    locale = draw_locale(rng)
    first = draw_local("first_name", rng, locale)
    last = draw_local("last_name", rng, locale)
    roll = rng.random()
    if roll < 0.62:
        return f"{first} {last}"
    if roll < 0.70:
        return f"{first} {rng.choice('ABCDEFGHJKLMNPRSTW')}. {last}"
    if roll < 0.76:
        return f"{first[0]}. {last}"
    if roll < 0.82:
        return f"{last}, {first}"
    if roll < 0.90:
        return f"{rng.choice(('Dr.', 'Mr', 'Ms', 'Mrs.', 'Prof.', 'Dr', 'Mr.', 'Sir'))} {last}"
    if roll < 0.94:
        return f"{rng.choice(('Dr.', 'Ms', 'Mr', 'Prof.'))} {first} {last}"
    if roll < 0.97:
        return f"{first} {last}-{draw_local('last_name', rng, locale)}"
    return f"{first} {last}".upper()


def make_first_name(rng: Random) -> str:
    """Name a person by the first name."""
    return draw_local("first_name", rng)


def make_last_name(rng: Random) -> str:
    """Name a person by the family name."""
    return draw_local("last_name", rng)


def make_company(rng: Random) -> str:
    """Name a firm."""
    roll = rng.random()
    if roll < 0.3:
        return draw_local("company", rng)
    suffix = rng.choice(WORDS["company_suffix"])
    if roll < 0.55:
        return f"{draw_local('last_name', rng)} {suffix}"
    if roll < 0.85:
        return f"{rng.choice(WORDS['noun'])} {suffix}"
    if roll < 0.93:
        return rng.choice(WORDS["noun"]) + rng.choice(("ly", "ify", "tech", "worx", "net", "ra"))
    return f"{rng.choice(WORDS['noun'])}{rng.choice(WORDS['noun']).lower()} {suffix}"


def make_street_address(rng: Random) -> str:
    """Write a street with its house number, sometimes a flat."""
    address = draw_local("street_address", rng)
    if rng.random() < 0.15:
        address += rng.choice((", Apt. ", ", Flat ", ", Suite ", ", Unit ")) + str(
            rng.randint(1, 90)
        )
    return address


def make_street(rng: Random) -> str:
    """Name a street."""
    return draw_local("street_name", rng)


def make_city(rng: Random) -> str:
    """Name a town."""
    return draw_local("city", rng)


def make_country(rng: Random) -> str:
    """Name a country, in English."""
    return draw("country", rng)


def make_postcode(rng: Random) -> str:
    """Write a postal code."""
    return draw_local("postcode", rng)


def make_state(rng: Random) -> str:
    """Name a state or province, or give its letters."""
    return draw("state" if rng.random() < 0.7 else "state_abbr", rng)


def make_phone(rng: Random) -> str:
    """Write a phone number in one of many layouts."""
    return fill_shape(rng.choice(_PHONES), rng)


_PHONES = (
    "+1 ### ### ####",
    "+1 (###) ###-####",
    "+1-###-###-####",
    "(###) ###-####",
    "###-###-####",
    "###.###.####",
    "### ### ####",
    "+44 20 #### ####",
    "+44 7### ######",
    "020 #### ####",
    "07### ######",
    "+49 30 #######",
    "+49 (0)89 ######-##",
    "0#### ######",
    "+33 1 ## ## ## ##",
    "06 ## ## ## ##",
    "+34 6## ### ###",
    "+39 0# #### ####",
    "+48 ### ### ###",
    "+81 3-####-####",
    "+91 9#### #####",
    "+4179#######",
    "00##########",
    "1-800-###-####",
    "+1 ###-###-#### ext. ###",
    "(0##) ### ## ##",
    "+351 ## ### ## ##",
    "555-####",
)


def make_email(rng: Random) -> str:
    """Write an e-mail address of a person or of an office."""
    first, last = ascii_letters(make_first_name(rng)), ascii_letters(make_last_name(rng))
    first, last = first or "kim", last or "lee"
    roll = rng.random()
    if roll < 0.25:
        local = f"{first}.{last}"
    elif roll < 0.4:
        local = f"{first[0]}{rng.choice(('', '.', '_', '-'))}{last}"
    elif roll < 0.55:
        local = f"{first}{rng.choice(('', '_', '-'))}{rng.choice((last, last[0]))}"
    elif roll < 0.65:
        local = f"{first}{rng.randint(1, 999)}"
    elif roll < 0.72:
        local = f"{last}+{rng.choice(('news', 'shop', 'work', 'test', 'inbox'))}"
    else:
        local = rng.choice(_OFFICES)
    return f"{local}@{make_domain(rng)}"


_OFFICES = (
    "info",
    "contact",
    "support",
    "office",
    "billing",
    "sales",
    "hello",
    "help",
    "orders",
    "accounts",
    "hr",
    "press",
    "jobs",
    "team",
    "admin",
    "service",
    "returns",
    "booking",
    "reservations",
    "no-reply",
    "claims",
    "enquiries",
    "legal",
    "events",
    "editor",
    "frontdesk",
    "accounts.payable",
    "customer.care",
    "it-helpdesk",
)


def make_domain(rng: Random) -> str:
    """Write a domain name."""
    stem = ascii_letters(draw_local("last_name", rng)) or "north"
    noun = rng.choice(WORDS["noun"]).lower()
    tld = rng.choice(WORDS["tld"])
    roll = rng.random()
    if roll < 0.2:
        return rng.choice(
            ("gmail.com", "outlook.com", "yahoo.com", "gmx.de", "proton.me", "web.de")
        )
    if roll < 0.5:
        return f"{noun}{rng.choice(('', '-'))}{rng.choice(_STEMS)}.{tld}"
    if roll < 0.8:
        return f"{stem}{rng.choice(('', '-' + noun, 'group'))}.{tld}"
    return f"{rng.choice(('mail', 'shop', 'www2', 'eu', 'cs', 'uni'))}.{stem}.{tld}"


_STEMS = ("works", "foods", "labs", "media", "travel", "clinic", "hotel", "books", "energy", "it")


def make_url(rng: Random) -> str:
    """Write a web address."""
    host = rng.choice(("", "www.", "app.", "docs.", "shop.")) + make_domain(rng)
    url = f"{rng.choice(('https', 'https', 'https', 'http'))}://{host}"
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
        url += "/" + rng.choice(_PATHS)
    roll = rng.random()
    if roll < 0.15:
        url += f"/{rng.randint(1, 99999)}"
    elif roll < 0.3:
        url += f"?{rng.choice(('id', 'ref', 'q', 'page', 'token'))}={fill_shape('xx##x#', rng)}"
    elif roll < 0.38:
        url += "/"
    elif roll < 0.44:
        url += ".html"
    return url


_PATHS = (
    "blog",
    "products",
    "about",
    "careers",
    "help",
    "track",
    "orders",
    "news",
    "events",
    "docs",
    "api",
    "v2",
    "en",
    "de",
    "search",
    "item",
    "article",
    "terms",
    "privacy",
    "pay",
    "invoice",
    "view",
    "status",
    "register",
    "meet",
    "files",
    "download",
    "team",
)


def make_username(rng: Random) -> str:
    """Write a login name or a handle."""
    first, last = ascii_letters(make_first_name(rng)), ascii_letters(make_last_name(rng))
    noun = rng.choice(WORDS["noun"]).lower()
    return rng.choice(
        (
            f"{first}{rng.randint(1, 99)}",
            f"{first[:1]}{last}",
            f"{first}_{last}",
            f"{noun}{rng.choice(WORDS['noun'])}",
            f"@{noun}_{first}",
            f"the_{noun}_{rng.randint(1, 99)}",
            f"{last}.{first[:1]}",
            f"x{noun}x{rng.randint(80, 99)}",
        )
    )


MAKERS = {
    "person": make_person,
    "first_name": make_first_name,
    "last_name": make_last_name,
    "company": make_company,
    "street_address": make_street_address,
    "street": make_street,
    "city": make_city,
    "country": make_country,
    "postcode": make_postcode,
    "state": make_state,
    "phone": make_phone,
    "email": make_email,
    "url": make_url,
    "username": make_username,
}
