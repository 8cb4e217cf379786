"""Prose: running text about nothing that a record asks, as long as wanted."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

__all__ = ["HELD_OUT_TOPICS", "TOPICS", "Topic", "draw_prose"]


@dataclass(frozen=True, slots=True)
class Topic:
    """Words that make the sentences of one subject: who, does, what, and how or when."""

    name: str
    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    tails: tuple[str, ...]


def draw_prose(length: int, rng: Random, topics: tuple[Topic, ...]) -> str:
    """Draw paragraphs of at least *length* characters, each about one of the topics."""
    paragraphs: list[str] = []
    size = 0
    while size < length or not paragraphs:
        topic = rng.choice(topics)
        count = rng.randint(3, 8)
        paragraphs.append(" ".join(_sentence(topic, rng) for _ in range(count)))
        size += len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)


def _sentence(topic: Topic, rng: Random) -> str:
    subject, verb, what, tail = (
        rng.choice(words) for words in (topic.subjects, topic.verbs, topic.objects, topic.tails)
    )
    roll = rng.random()
    if roll < 0.55:
        made = f"{subject} {verb} {what} {tail}"
    elif roll < 0.75:
        made = f"{tail}, {subject} {verb} {what}"
    elif roll < 0.9:
        made = f"{subject} {verb} {what}"
    else:
        made = f"{rng.choice(_LINKS)} {subject} {verb} {what} {tail}"
    return made[0].upper() + made[1:] + rng.choice(".....!")


_LINKS = ("it is often said that", "as a rule,", "meanwhile,", "for that reason", "strangely,")


def _topic(name: str, *lists: str) -> Topic:
    parts = [tuple(word.strip() for word in each.split("|")) for each in lists]
    return Topic(name, parts[0], parts[1], parts[2], parts[3])


TOPICS = (
    _topic(
        "rivers",
        "the river|a slow stream|melting snow|the delta|every flood|the old canal|fine sand"
        "|the current|a narrow gorge|the estuary",
        "carries|wears away|leaves behind|feeds|covers|shapes|hides|floods|drains|divides",
        "the meadows|layers of mud|whole islands|the reeds|rounded stones|the lower valley"
        "|fallen trees|the marshes|soft banks|the mill ponds",
        "in spring|after long rain|year after year|without a sound|far from the sea"
        "|in dry summers|near its mouth|below the bridge|over the centuries|at low water",
    ),
    _topic(
        "stars",
        "a young star|the comet|cold gas|the telescope|a distant galaxy|the dust cloud"
        "|our own sun|a small moon|the observer|faint light",
        "bends|reveals|outshines|follows|swallows|reflects|heats|crosses|drags along|betrays",
        "the nearest planets|a thin ring|its own orbit|the dark lanes|icy rocks|a glowing tail"
        "|the night sky|countless sparks|the outer shell|a hidden partner",
        "for millions of years|seen from here|without warning|at the edge of the disc"
        "|in clear nights|as theory says|over and over|before dawn|in deep silence|by chance",
    ),
    _topic(
        "kitchens",
        "the cook|a wooden spoon|slow heat|fresh dough|the baker|a heavy pot|sour milk"
        "|good salt|the apprentice|a sharp knife",
        "thickens|changes|stirs|ruins|saves|covers|divides|softens|sweetens|spoils",
        "the broth|a plain sauce|every loaf|the onions|a bowl of cream|the crust|dried beans"
        "|the filling|bitter leaves|the roast",
        "over a low flame|before anyone is awake|with a little patience|if nobody looks"
        "|in old farmhouses|while the oven heats|as grandmothers know|for hours|in one go"
        "|at the last moment",
    ),
    _topic(
        "software",
        "the scheduler|a background task|the cache|the compiler|a stale lock|the parser"
        "|an idle thread|the library|the test suite|a missing index",
        "delays|frees|rewrites|checks|blocks|merges|drops|copies|warms up|skips",
        "unused pages|the slow path|open handles|nested loops|every request|old snapshots"
        "|the shared buffer|temporary files|pending writes|the whole queue",
        "under heavy load|by design|unless told otherwise|in the next release|behind the scenes"
        "|after a restart|in most setups|when memory is short|without a trace|line by line",
    ),
    _topic(
        "gardens",
        "the gardener|an old apple tree|wild thyme|the hedge|a pair of blackbirds|the frost"
        "|deep roots|the compost|a climbing rose|the snails",
        "protects|overgrows|finds|eats|loosens|shades|outlives|surrounds|ruins|feeds",
        "the young lettuce|the south wall|heavy soil|the flower beds|tender shoots"
        "|the gravel path|ripe berries|the lawn|empty pots|the garden gate",
        "before the first frost|in the shade|all summer long|with little effort|after sunset"
        "|season after season|when it rains|at the wrong time|between the stones|in secret",
    ),
    _topic(
        "voyages",
        "the captain|a merchant ship|the crew|the lighthouse|a sudden storm|the pilot"
        "|the harbour|a torn sail|the ship's cat|thick fog",
        "loses|sights|repairs|abandons|welcomes|delays|guides|mistrusts|awaits|forgets",
        "the anchor|unknown shores|the cargo|the evening tide|a distant sail|the rigging"
        "|the lifeboats|hidden reefs|the northern passage|fresh water",
        "on the third watch|against the wind|with great relief|off the coast|without charts"
        "|in heavy seas|as legend has it|on the way home|under a pale moon|for the last time",
    ),
    _topic(
        "law",
        "the court|any such clause|the lower chamber|a written notice|the doctrine"
        "|the claimant's argument|settled practice|the statute|an earlier ruling|good faith",
        "limits|presumes|overrides|supports|excludes|extends|governs|weakens|confirms|leaves open",
        "the scope of the duty|any implied term|the remaining questions|the burden of proof"
        "|unreasonable delay|the common understanding|third-party interests|such exceptions"
        "|the usual remedies|the intention behind it",
        "in the absence of agreement|as a matter of principle|to that extent only"
        "|save where stated|on a narrow reading|in equity|for all practical purposes"
        "|mutatis mutandis|within reason|as far as possible",
    ),
)
"""What training may read around a document."""

HELD_OUT_TOPICS = (
    _topic(
        "mountains",
        "the ridge|a lonely hut|the glacier|the guide|loose rock|the north face|an eagle"
        "|the rope|thin air|the summit cross",
        "overlooks|crumbles above|blocks|tests|crowns|frightens|shelters from|narrows to"
        "|tires|rewards",
        "the tired climbers|the tree line|a hanging valley|the last slope|the tents"
        "|every visitor|the scree|a frozen lake|the west wind|the only path",
        "on clear mornings|above the clouds|in August|after a steep hour|for no reason"
        "|as old maps show|shortly before noon|in bad weather|with bare hands|far above the huts",
    ),
    _topic(
        "music",
        "the violist|a broken string|the slow movement|the hall|an old recording|the chorus"
        "|the drummer|a single oboe|the second theme|applause",
        "answers|drowns|repeats|carries|interrupts|follows|announces|echoes|colours|ends",
        "the opening bars|a long silence|the melody|the brass|every whisper|the refrain"
        "|a falling scale|the audience|the quiet passage|the final chord",
        "a little too early|in a minor key|from the balcony|as if by accident|once more"
        "|without vibrato|in the dark|to great effect|behind the curtain|at half speed",
    ),
    _topic(
        "insects",
        "the queen|a worker bee|the ant trail|a green beetle|the larva|the moth|a swarm"
        "|the spider's web|the dragonfly|the cricket",
        "guards|devours|circles|abandons|carries|avoids|warms|ignores|attracts|builds",
        "the brood|a rotten log|the street lamp|fresh pollen|its old skin|the nest entrance"
        "|tiny mites|the pond|a grain of sugar|the warm wall",
        "at dusk|by scent alone|in tireless lines|for a single day|under the bark"
        "|once the rain stops|in great numbers|without any leader|upside down|in late summer",
    ),
    _topic(
        "pottery",
        "the potter|wet clay|the kiln|a fine glaze|the wheel|iron oxide|the old master"
        "|a hairline crack|ash|the handle",
        "turns|stains|shrinks|spoils|hardens|smooths|outlasts|seals|marks|balances",
        "the rim|a row of bowls|the porous body|the shelf|every jug|the inner surface"
        "|a plain dish|the foot ring|its neighbours|the mould",
        "in the first firing|with wet fingers|beyond repair|on rainy days|at the slightest touch"
        "|as it cools|under the brush|after weeks of drying|by eye|with a soft ring",
    ),
)
"""What only an evaluation puts around a document."""
