"""What a language needs to tell a claim about everything, and when a claim is taken back."""

import re
from dataclasses import dataclass
from typing import Final

_TURN: Final = re.compile(
    r"\b(?:but|however|yet|aber|doch|jedoch|mais|cependant|pero|sin embargo)\b|但是?|不过|然而"
    r"|,\s*(?:(?:and|now|und|nun|et|y)\s+)*(?=$)"
)
NUMBERS: Final[dict[str, int]] = {
    **dict.fromkeys(["one", "ein", "eine", "einer", "un", "une", "uno", "una", "一"], 1),
} | {
    word: number
    for line in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "两 三 四 五 六 七 八 九 十 十一 十二",
    )
    for number, word in enumerate(line.split(), 2)
}
NUMBER: Final = rf"(?:\d{{1,4}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"


@dataclass(frozen=True, slots=True)
class Words:
    """What one language has for it: insides of regular expressions over lower-case text."""

    steps: str
    """The steps of a plan."""
    whole: str
    """Everything that was to be done."""
    proof: str
    """What a check of everything is about, besides the whole."""
    link: str
    """Verbs between the whole and what is said of it."""
    filler: str
    """What else may stand there and changes nothing."""
    done: str
    checked: str
    did: str
    """What stands in front of the whole, as in "completed all steps"."""
    proved: str
    tail: str
    """What may follow and changes nothing."""
    unless: str
    """In the clause before it or within it: no claim."""
    condition: str
    """Anywhere before it: no claim."""
    but: str
    """Anywhere after it: no claim."""
    gap: str = r"\s+"
    edge: str = r"\b"


def stands(match: re.Match[str], sentence: str, words: Words) -> bool:
    """Whether nothing around a claim takes it back."""
    before, after = sentence[: match.start()], sentence[match.end() :]
    clause = _TURN.split(before)[-1] + match[0]
    edge = words.edge
    return not (
        re.search(f"{edge}(?:{words.unless}){edge}", clause)
        or re.search(f"{edge}(?:{words.condition}){edge}", before)
        or re.search(f"{edge}(?:{words.but}){edge}", after)
    )
