"""Whether a model's prose claims more than the report shows."""

import re
import unicodedata
from functools import cache
from typing import Final, Literal

from .claim_grammar import Words, stands
from .claim_numbers import gives_numbers, has_false_number, says_hundred
from .claim_words import LANGUAGES
from .report import PlanReport
from .text import one_line

Kind = Literal["done", "checked"]

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。!?;])|\n+")
_MARKUP: Final = re.compile(r"[*_`#>|~\"“”„«»「」]+")
_HARMLESS: Final = re.compile(
    r"\b(?:(?:with )?no|without(?: any)?|zero|0) "
    r"(?:errors?|problems?|issues?|failures?|doubt|(?:steps? )?(?:failed|blocked))\b"
    r"|\bnone (?:were |was )?(?:failed|blocked)\b|\bnot only\b"
    r"|\bno longer\b|\bnothing (?:failed|is left|remains)\b"
    r"|\b(?:keine|ohne) (?:fehler|probleme)\b|\bnicht nur\b"
    r"|\bsans (?:erreurs?|problèmes?|échec)\b|\baucune? (?:erreur|problème)\b"
    r"|\bsin (?:errores|problemas|fallos)\b|\bningún (?:error|problema)\b"
    r"|(?:没有?|毫?无)(?:任何)?(?:错误|问题|失败|遗漏)|无误|不仅|不过"
)


def overclaim(prose: str, report: PlanReport) -> str:
    """What a text claims that the report does not show, as one sentence; empty if nothing.

    A claim is that everything is done when it is not, that everything is verified when it is not,
    or a number of steps that the counts contradict. English, German, French, Spanish and Chinese
    are read. In doubt there is no claim.
    """
    for sentence in _SENTENCE.split(unicodedata.normalize("NFKC", prose)):
        plain = " ".join(_HARMLESS.sub(" ", _plain(sentence)).split())
        if plain and not plain.endswith("?") and _claims(plain, report):
            return f'It says "{one_line(sentence, 160)}", which the report does not show.'
    return ""


def _plain(sentence: str) -> str:
    text = " ".join(_MARKUP.sub("", sentence).replace("’", "'").lower().split())
    return text.replace("everything's", "everything is").replace("all's", "all is")


def _claims(sentence: str, report: PlanReport) -> bool:
    if has_false_number(sentence, report):
        return True
    outcome = report["outcome"]
    if outcome == "completed":
        return False
    if outcome != "completed_unverified" and says_hundred(sentence):
        return True
    if gives_numbers(sentence):  # and they are right
        return False
    kinds: tuple[Kind, ...] = ("done", "checked")
    return any(_says(sentence, kind) for kind in kinds[outcome == "completed_unverified" :])


def _says(sentence: str, kind: Kind) -> bool:
    """Whether it says of everything that it is done, or checked."""
    return any(
        stands(match, sentence, words)
        for words in LANGUAGES
        for pattern in _patterns(words, kind)
        for match in pattern.finditer(sentence)
    )


@cache
def _patterns(words: Words, kind: Kind) -> list[re.Pattern[str]]:
    """Everything is done; everything done; did everything."""
    gap, edge, filler, whole = words.gap, words.edge, words.filler, words.whole
    state, did = (words.done, words.did) if kind == "done" else (words.checked, words.proved)
    if kind == "checked":
        filler, whole = f"{filler}|{words.done}", f"{whole}|{words.proof}"
    end = rf"(?=\s*(?:$|[^\w\s'-]|(?:{words.tail}){edge}))"
    some = f"(?:{gap}(?:{filler})){{0,3}}"
    linked = f"{gap}(?:{words.link})(?:{gap}(?:{filler}|{words.link})){{0,5}}"
    return [
        re.compile(f"{edge}(?:{whole}){some}{linked}{gap}(?:{state}){edge}"),
        re.compile(f"{edge}(?:{whole}){some}{gap}(?:{state}){end}"),
        re.compile(f"{edge}(?:{did}){some}{gap}(?:{whole}){end}"),
    ]
