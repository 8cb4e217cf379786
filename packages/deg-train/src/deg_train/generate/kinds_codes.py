"""Values that identify things: numbers of papers, of machines, of seats and of networks."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from deg_train.generate.shapes import fill_shape
from deg_train.generate.vocabulary import WORDS

__all__ = ["MAKERS"]

# in the spelling of `fill_shape`: # for a digit, ? for a capital and so on
_SHAPES = {
    "invoice_id": (
        r"INV-#####|INV-2\02#-####|INV####|RE-%#####|F2\02#/####|%#######|INV/2\02#/#####|"
        r"FA-####-##|2\02#-####|INVC#####|SI-%####|#####/##|RG%#######|B-####|INV_2\02#_###|"
        r"A%####|R-2\02%-####"
    ),
    "order_id": (
        "ORD-######|PO-#####|%#########|#%#-#######-#######|SO######|PO%####|ORDER-####|"
        "WEB-#######|#?-######|O%##-####|AM-####-??|WO-#####|%#####-?|ON-########|BST%#####|"
        "4500%#####"
    ),
    "ticket_id": (
        r"TCK-#####|INC#######|SUP-####|HELP-%##|%#####|CASE-%####|REQ-######|ZD-#######|"
        r"OPS-%###|SR#########|T-2\02#-###|SD-%####|#%####|BUG-####|CR-####"
    ),
    "tracking_number": (
        "1Z***###########|JD0###############|RR#########DE|9400############|%###########|"
        "LX#########GB|TBA############|%### #### ####|CP#########PL|DHL-##########|"
        "GM##########|00340############"
    ),
    "account_number": (
        "########|##########|####-####-##|%#########|#### #### ####|ACC-######|K-#######|"
        "%#######-##|KD######|C%#####|##-##-## ########|CUST#####|%###.###.##"
    ),
    "iban": (
        "DE## #### #### #### #### ##|DE####################|GB## ???? #### #### #### ##|"
        "FR## #### #### #### #### #### ###|ES## #### #### ## ##########|"
        "PL## #### #### #### #### #### ####|NL##????##########|IT##?######################|"
        "CH## #### #### #### #### #"
    ),
    "sku": (
        "???-####|??-###-??|####-???|SKU-#####|%####-?|??######|?##-##?|ART-####|%#######|"
        "??#.###.##|PRD_####|??-%###/?|W-###-XL|###-###|KT-????-##"
    ),
    "serial_number": (
        "SN-########|?#?##?####|S/N %#########|????########|##?########|SN:#######|"
        "C0###?##?#??|#####-?????-##|5CD#######|?###-####-####|%##########|XJ#########"
    ),
    "policy_number": (
        "POL-#######|HO-########|%#########|KV ### ### ###|AUT-####-####|L#########|"
        "PN/####/###|###-##-######|BX######|MTR%#####-#"
    ),
    "case_number": (
        r"CASE-#####|2\02#-CV-#####|%:##-cr-#####|AZ ## ? ###/##|C-###/##|CR-2\02#-####|"
        r"FIR ####/2\02#|%## F.3d ###|RTA-#####|## O ####/##|No. ##-####|HR-%###-#|EWHC %###"
    ),
    "reference_code": (
        "REF-######|??######|******|####/??/##|REF: ?###|Q-####-##|K%###|BK-*****|%######|"
        "??-##/####|******-***|R/####|?-%##-%##|ABC-###-?|*#*#*#*#|GX ## ##|TX-#####"
    ),
    "license_plate": (
        "??## ???|? ?? ####|?-?? %##|??-###-??|???-####|##-??-##|#???###|?? #####|KR %####?|"
        "M-?? %###|??? ###|%???###"
    ),
    "vin": (
        "1H??M8##3J?######|W?WZZZ1KZ?#######|%*******?*?######|JT?B?##E##?######|5YJ*E1E##?F######"
    ),
    "isbn": (
        "978-#-##-######-#|978#########%|979-##-###-####-#|0-##-######-#|978-3-####-####-#|"
        "ISBN 978-#-####-####-#|#-###-#####-#"
    ),
    "flight_number": (
        "LH %##|LH%###|BA ###|BA%##|AA %###|DL%##|FR %###|U2 ####|KL%###|AF %##|LO %##|EK%#|"
        "W6 ####|SK%###|UA ###|TK%###|AZ %##|QF%#"
    ),
    "train_number": (
        "ICE %##|IC %###|RE %#|EC %##|TGV ####|R%##|TLK %####|EN %##|RJ %##|FR ####|S%#|"
        "Amtrak %##|NJ ###"
    ),
    "seat": (
        r"%#?|%?|%##|Row %#, Seat %|%#-?|?%#|Coach %, Seat %#|Block ?, Row %#|%#\A|%#\F|Stall %#"
    ),
    "room": (
        "%##|Room %##|?%##|%.%##|B-%##|Suite %##|%##?|Lab %#|R. %.##|Ward %?|#%#|Room ?.%##|"
        "H%#|Office %##|Meeting Room %|Hall %|Auditorium ?"
    ),
    "gate": "?%#|%#|Gate %#|?%|Gate ?%#|Platform %|%?|Pier ?",
    "ip_address": (
        "10.#.%#.%#|192.168.%.%#|172.16.%#.%#|%#.1%#.%.2%|185.%#.1##.%#|fe80::~~~~:~~~~|"
        "2001:db8::~~"
    ),
    "mac_address": (
        "~~:~~:~~:~~:~~:~~|^^-^^-^^-^^-^^-^^|~~~~.~~~~.~~~~|^^:^^:^^:^^:^^:^^|00:1A:^^:^^:^^:^^"
    ),
    "version": (
        r"v%.#.#|%.#|%.##.#|2\02#.#|v%.#.#-rc%|%.#.#-beta|%.#.#.####|v%|%.#.#~|r%###|2%.%0.#|"
        r"build ####"
    ),
    "git_hash": "~~~~~~~|~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~|~~~~~~~~|~~~~~~~~~~~~",
    "error_code": (
        "E####|ERR_####|0x8#######|E-##|ORA-#####|SQLSTATE ##?##|ERR-%##|F%##|ECONN####|P0###|"
        "U#%##|0x0000#^^^|TS####|CS####|EX_##|H%#|-%###"
    ),
    "uuid": r"~~~~~~~~-~~~~-4~~~-\a~~~-~~~~~~~~~~~~|~~~~~~~~-~~~~-4~~~-9~~~-~~~~~~~~~~~~",
}

_STATUSES = [
    "200",
    "201",
    "204",
    "301",
    "302",
    "304",
    "400",
    "401",
    "403",
    "404",
    "405",
    "409",
    "410",
    "418",
    "422",
    "429",
    "500",
    "502",
    "503",
    "504",
]
_PORTS = [
    "80",
    "443",
    "22",
    "21",
    "25",
    "53",
    "110",
    "143",
    "389",
    "465",
    "587",
    "993",
    "995",
    "1433",
    "3000",
    "3306",
    "5432",
    "5672",
    "6379",
    "8000",
]


def _shaped(kind: str) -> Callable[[Random], str]:
    shapes = tuple(_SHAPES[kind].split("|"))
    return lambda rng: fill_shape(rng.choice(shapes), rng)


def make_http_status(rng: Random) -> str:
    """Write a status code of HTTP."""
    return rng.choice(_STATUSES)


def make_port(rng: Random) -> str:
    """Write a port number."""
    return rng.choice(_PORTS) if rng.random() < 0.5 else str(rng.randint(1025, 65535))


def make_hostname(rng: Random) -> str:
    """Write the name of a machine."""
    host, noun = rng.choice(WORDS["host"]), rng.choice(WORDS["noun"]).lower()
    return rng.choice(
        (
            f"{host}{rng.randint(1, 40):02}",
            f"{host}-{rng.randint(1, 9)}.{noun}.{rng.choice(WORDS['tld'])}",
            f"{noun}-{host}-{rng.randint(1, 99)}",
            f"{host}.{noun}.internal",
            f"srv-{noun}.local",
            f"ip-10-{rng.randint(0, 99)}-{rng.randint(0, 99)}-{rng.randint(1, 250)}",
            f"{noun}.eu-west-{rng.randint(1, 3)}.{host}.net",
        )
    )


def make_file_path(rng: Random) -> str:
    """Write the path of a file."""
    folders = rng.sample(WORDS["file_folder"], rng.randint(1, 3))
    stem = rng.choice(WORDS["file_stem"])
    if rng.random() < 0.4:
        stem += rng.choice(
            (f"_{rng.randint(1, 99)}", "-final", "_v2", f"-{rng.randint(2018, 2026)}")
        )
    name = f"{stem}.{rng.choice(WORDS['file_ending'])}"
    roll = rng.random()
    if roll < 0.6:
        return "/" + "/".join(folders) + f"/{name}"
    if roll < 0.75:
        return "C:\\" + "\\".join(folders) + f"\\{name}"
    return name if roll < 0.85 else "/".join(folders[:2]) + f"/{name}"


def make_building(rng: Random) -> str:
    """Name a building."""
    return rng.choice(WORDS["building"])


MAKERS: dict[str, Callable[[Random], str]] = {
    **{kind: _shaped(kind) for kind in _SHAPES},
    "http_status": make_http_status,
    "port": make_port,
    "hostname": make_hostname,
    "file_path": make_file_path,
    "building": make_building,
}
