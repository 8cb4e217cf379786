"""Foreign forms: labels, dates and sums as other languages write them, asked about in English."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from deg_train.generate.documents import DocumentSource
from deg_train.generate.drafts import Draft, Fact, draw_text
from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.library import default_library
from deg_train.generate.setting import Setting, draw_setting

__all__ = ["LANGUAGES", "ForeignSource", "Language"]


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes a form.

    Attributes:
        months: The names of the months, from January on.
        date: A pattern of `{day}`, `{month}` and `{year}`.
        thousands: What stands between groups of three figures; the decimal sign is a comma.
        labels: By domain, what each of its fields is called.
    """

    months: tuple[str, ...]
    date: str
    thousands: str
    labels: dict[str, dict[str, str]]


_KEYS = {
    "invoice": "invoice_number issue_date due_date delivery_date seller_name buyer_name clerk "
    "total_due net_amount tax_rate order_ref".split(),
    "travel_booking": "traveller booking_ref origin destination depart_date return_date "
    "depart_time fare".split(),
}


def _language(months: str, date: str, thousands: str, **labels: str) -> Language:
    named = {
        domain: dict(zip(_KEYS[domain], text.split("|"), strict=True))
        for domain, text in labels.items()
    }
    return Language(tuple(months.split()), date, thousands, named)


LANGUAGES = {
    "German": _language(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "{day}. {month} {year}",
        ".",
        invoice="Rechnungsnummer|Rechnungsdatum|Zahlbar bis|Lieferdatum|Verkäufer|Kunde"
        "|Ansprechpartner|Gesamtbetrag|Nettobetrag|MwSt.|Bestellnummer",
        travel_booking="Reisender|Buchungscode|Von|Nach|Hinreise|Rückreise|Abfahrt|Fahrpreis",
    ),
    "French": _language(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "{day} {month} {year}",
        "\u202f",
        invoice="Numéro de facture|Date de facture|À régler avant le|Date de livraison|Vendeur"
        "|Client|Contact|Total à payer|Montant HT|TVA|Numéro de commande",
        travel_booking="Voyageur|Référence|Départ de|Destination|Date d'aller|Date de retour"
        "|Heure de départ|Prix du billet",
    ),
    "Spanish": _language(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "{day} de {month} de {year}",
        ".",
        invoice="Número de factura|Fecha de factura|Vencimiento|Fecha de entrega|Vendedor|Cliente"
        "|Contacto|Total a pagar|Importe neto|IVA|Número de pedido",
        travel_booking="Viajero|Localizador|Origen|Destino|Fecha de ida|Fecha de vuelta"
        "|Hora de salida|Precio del billete",
    ),
    "Italian": _language(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
        "dicembre",
        "{day} {month} {year}",
        ".",
        invoice="Numero fattura|Data fattura|Scadenza|Data di consegna|Venditore|Cliente"
        "|Referente|Totale da pagare|Imponibile|IVA|Numero ordine",
        travel_booking="Viaggiatore|Codice prenotazione|Da|A|Data di andata|Data di ritorno"
        "|Ora di partenza|Prezzo del biglietto",
    ),
    "Dutch": _language(
        "januari februari maart april mei juni juli augustus september oktober november december",
        "{day} {month} {year}",
        ".",
        invoice="Factuurnummer|Factuurdatum|Vervaldatum|Leverdatum|Verkoper|Klant"
        "|Contactpersoon|Te betalen|Nettobedrag|Btw|Bestelnummer",
        travel_booking="Reiziger|Boekingscode|Van|Naar|Heenreis|Terugreis|Vertrektijd|Ticketprijs",
    ),
    "Portuguese": _language(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "{day} de {month} de {year}",
        ".",
        invoice="Número da fatura|Data da fatura|Vencimento|Data de entrega|Vendedor|Cliente"
        "|Contacto|Total a pagar|Valor líquido|IVA|Número da encomenda",
        travel_booking="Passageiro|Código da reserva|Origem|Destino|Data de ida|Data de volta"
        "|Hora de partida|Preço do bilhete",
    ),
}

_BETWEEN = (": ", ": ", ":\t", " - ", " = ", ":\n  ")


class ForeignSource(DocumentSource):
    """An endless source of records about forms in other languages than the questions."""

    def __init__(self) -> None:
        super().__init__("train")

    def _draft(self, rng: Random) -> Draft:
        language = LANGUAGES[rng.choice(list(LANGUAGES))]
        name = rng.choice(list(language.labels))
        domain, labels = default_library().domains[name], language.labels[name]
        draft, setting, between = Draft(domains=[domain]), draw_setting(rng), rng.choice(_BETWEEN)
        keys = rng.sample(list(labels), rng.randint(4, len(labels)))
        for number, key in enumerate(keys):
            spec = domain.fields[key]
            draft.say(("\n" if number else "") + labels[key] + between)
            draft.print(Fact(spec, _text(spec, language, setting, rng)))
        draft.absent = [
            spec
            for spec in domain.fields.values()
            if spec.key not in keys and spec.kind not in DECIDE_KINDS
        ]
        return draft


def _text(spec: Field, language: Language, setting: Setting, rng: Random) -> str:
    if spec.kind == "date" and rng.random() < 0.7:
        day = setting.draw_date(rng)
        month = language.months[day.month - 1]
        return language.date.format(day=day.day, month=month, year=day.year)
    if spec.kind == "money":
        whole = f"{rng.randint(12, 98_000):,}".replace(",", language.thousands)
        return f"{whole},{rng.randrange(100):02}" + rng.choice((" €", " EUR", ""))
    return draw_text(spec, rng, setting)
