"""Values that hold a number: money, counts, measures and percentages."""

from __future__ import annotations

from random import Random

from deg_train.generate.setting import Setting
from deg_train.generate.vocabulary import WORDS

__all__ = ["MAKERS", "SETTING_MAKERS"]

_SYMBOLS = ("$", "€", "£", "$", "€", "£", "¥", "₹", "zł", "CHF", "kr")


def make_amount(rng: Random) -> str:
    """Write a plain decimal number, small or large."""
    roll = rng.random()
    if roll < 0.3:
        return f"{rng.randint(1, 999)}.{rng.randrange(100):02}"
    if roll < 0.5:
        return _grouped(rng.randint(1000, 999_999), rng) + f".{rng.randrange(100):02}"
    if roll < 0.7:
        return str(rng.randint(1, 999))
    if roll < 0.85:
        return _grouped(rng.randint(1000, 9_999_999), rng)
    if roll < 0.95:
        return f"{rng.randint(0, 99)}.{rng.randrange(1, 10)}"
    return f"-{rng.randint(1, 999)}.{rng.randrange(100):02}"


def make_money(rng: Random, setting: Setting) -> str:
    """Write a sum of money with its sign or code, before or after."""
    whole = rng.choice((rng.randint(1, 99), rng.randint(100, 999), rng.randint(1000, 250_000)))
    part = rng.randrange(100)
    rng = setting.writer(rng)
    cents = f".{part:02}" if rng.random() < 0.7 else ""
    grouped = rng.random() < 0.8
    number = (f"{whole:,}" if grouped else str(whole)) + cents
    symbol, code = rng.choice(_SYMBOLS), rng.choice(WORDS["currency_code"])
    roll = rng.random()
    if roll < 0.45:
        return f"{symbol}{number}" if len(symbol) == 1 else f"{number} {symbol}"
    if roll < 0.65:
        return f"{number} {code}"
    if roll < 0.82:
        return f"{code} {number}"
    if roll < 0.92:
        return f"{number} {symbol}"
    if roll < 0.96:
        return f"{symbol} {number}"
    return f"{number} {rng.choice(('euros', 'dollars', 'pounds', 'francs'))}"


def make_integer(rng: Random) -> str:
    """Write a whole number, mostly a small count."""
    roll = rng.random()
    if roll < 0.5:
        return str(rng.randint(1, 60))
    if roll < 0.75:
        return str(rng.randint(10, 999))
    return _grouped(rng.randint(1000, 99_999), rng)


def make_percent(rng: Random) -> str:
    """Write a percentage."""
    number = str(rng.randint(1, 100)) if rng.random() < 0.6 else f"{rng.uniform(0, 100):.1f}"
    if rng.random() < 0.1:
        number = f"{rng.uniform(0, 10):.2f}"
    roll = rng.random()
    return f"{number}%" if roll < 0.8 else f"{number} %" if roll < 0.9 else f"{number} percent"


def make_quantity_unit(rng: Random) -> str:
    """Write a count with what is counted."""
    return f"{rng.randint(2, 400)} {rng.choice(WORDS['quantity_noun'])}"


def make_rating(rng: Random) -> str:
    """Write a rating as reviews, banks and schools do."""
    return rng.choice(WORDS["rating"])


def make_score_line(rng: Random) -> str:
    """Write the score of a match."""
    first, second = rng.randint(0, 6), rng.randint(0, 6)
    return rng.choice(
        (
            f"{first}-{second}",
            f"{first}:{second}",
            f"{first} - {second}",
            f"{rng.randint(60, 130)}-{rng.randint(60, 130)}",
            "6-4, 3-6, 7-5"
            if rng.random() < 0.3
            else f"6-{rng.randint(0, 4)}, 6-{rng.randint(0, 4)}",
            f"{first} to {second}",
        )
    )


def make_blood_pressure(rng: Random) -> str:
    """Write a blood pressure."""
    pair = f"{rng.randint(95, 180)}/{rng.randint(55, 110)}"
    return pair if rng.random() < 0.5 else f"{pair} mmHg"


def make_dosage(rng: Random) -> str:
    """Write how much of a drug to take, and when."""
    amount = f"{rng.choice((5, 10, 20, 25, 40, 50, 75, 100, 200, 250, 400, 500, 850))}"
    unit = rng.choice(("mg", "mg", "mg", " mg", " mcg", " ml", " units"))
    when = ("twice daily", "once a day", "every 8 hours", "at bedtime", "three times a day", "BID")
    return f"{amount}{unit}" + (f" {rng.choice(when)}" if rng.random() < 0.7 else "")


def make_coordinates(rng: Random) -> str:
    """Write a place on the globe."""
    north, east = rng.uniform(-70, 70), rng.uniform(-170, 170)
    if rng.random() < 0.6:
        return f"{north:.{rng.choice((3, 4, 5))}f}, {east:.4f}"
    side, hand = "N" if north >= 0 else "S", "E" if east >= 0 else "W"
    if rng.random() < 0.5:
        return f"{abs(north):.4f}° {side}, {abs(east):.4f}° {hand}"
    return (
        f"{int(abs(north))}°{rng.randrange(60)}'{side} {int(abs(east))}°{rng.randrange(60)}'{hand}"
    )


def _grouped(number: int, rng: Random) -> str:
    return f"{number:,}" if rng.random() < 0.7 else str(number)


def _measure(rng: Random, units: tuple[str, ...], highest: int) -> str:
    roll = rng.random()
    if roll < 0.5:
        number = str(rng.randint(1, highest))
    elif roll < 0.9:
        number = f"{rng.uniform(0.1, highest):.1f}"
    else:
        number = f"{rng.uniform(0.1, highest):,.2f}"
    return f"{number}{rng.choice((' ', ' ', ' ', ''))}{rng.choice(units)}"


def make_weight(rng: Random) -> str:
    """Write a weight."""
    return _measure(rng, ("kg", "kg", "g", "lbs", "lb", "t", "tonnes", "oz"), 900)


def make_length(rng: Random) -> str:
    """Write a length or a distance."""
    return _measure(rng, ("m", "cm", "mm", "km", "ft", "inches", "miles", "metres"), 600)


def make_temperature(rng: Random) -> str:
    """Write a temperature, sometimes below zero."""
    sign = "-" if rng.random() < 0.15 else ""
    return sign + _measure(rng, ("°C", "°C", "°F", "degrees", "C"), 110)


def make_speed(rng: Random) -> str:
    """Write a speed."""
    return _measure(rng, ("km/h", "mph", "m/s", "knots", "kph", "rpm"), 300)


def make_area(rng: Random) -> str:
    """Write an area."""
    return _measure(rng, ("m²", "sq ft", "hectares", "ha", "sqm", "acres", "km²"), 2000)


def make_volume(rng: Random) -> str:
    """Write a volume."""
    return _measure(rng, ("L", "litres", "ml", "m³", "gallons", "cl"), 800)


def make_power(rng: Random) -> str:
    """Write an electric or mechanical power."""
    return _measure(rng, ("W", "kW", "MW", "hp", "kWh", "watts"), 900)


MAKERS = {
    "amount": make_amount,
    "integer": make_integer,
    "percent": make_percent,
    "quantity_unit": make_quantity_unit,
    "rating": make_rating,
    "score_line": make_score_line,
    "blood_pressure": make_blood_pressure,
    "dosage": make_dosage,
    "coordinates": make_coordinates,
    "weight": make_weight,
    "length": make_length,
    "temperature": make_temperature,
    "speed": make_speed,
    "area": make_area,
    "volume": make_volume,
    "power": make_power,
}
SETTING_MAKERS = {"money": make_money}
