"""Numbers of steps in a text, held against the counts of a report."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from .claim_grammar import NUMBER, NUMBERS, Words, stands
from .claim_words import LANGUAGES
from .report import PlanReport

_STEPS: Final = rf"(?:{'|'.join(words.steps for words in LANGUAGES)})"
_PAIR: Final = re.compile(
    rf"(?<![a-zà-ÿ0-9./])(?P<n>{NUMBER})(?: {_STEPS})?"
    r"(?: ?/ ?| (?:out )?of | von | der | aus | sur | des? )(?:(?:the|all|den|les|los|las) )?"
    rf"(?P<m>{NUMBER})(?![./]?\d)(?P<of_steps>\s*{_STEPS}(?![a-z]))?"
)
_CHINESE_PAIR: Final = re.compile(
    rf"(?P<m>{NUMBER})(?P<of_steps>个(?:步骤|任务))[中里][的有已]*(?:完成了?)?(?P<n>{NUMBER})个"
)
_ELSE: Final = re.compile(  # of the steps of something else, such as a recipe
    r"\s+(?:of|in|for|from|der|des|du|del?|von)\b"
    r"(?!(?: (?:the|this|your|der|la))?(?: \w+)? (?:plans?|tasks?|aufgabe|tâche|tarea)\b)"
)
_HUNDRED: Final = re.compile(r"\b100 ?(?:%|percent|prozent|pour cent|por ciento)|百分之百")
_LESS: Final = re.compile(r"(?<![\d.,])\d{1,2}(?:[.,]\d+)? ?(?:%|percent|prozent)")
_ABOUT: Final = re.compile(
    r"\b(?:plan|tasks?|work|progress|steps?|everything|it|aufgabe|schritte?|fortschritt|alles"
    r"|tâche|étapes|avancement|tout|tarea|pasos|progreso|todo)\b|计划|任务|步骤|进度|完成度"
)
_OF: Final = re.compile(r"\b(?:of|von|der|aus|sur|des?)(?: (?:the|all|den|les|los|las|l[oa]s))? $")
_OF_PLAN: Final = re.compile(
    r" (?:of (?:the|all|your)|der|des|du|del?(?: los)?) (?:plan|steps|tasks|work|schritte|aufgabe"
    r"|étapes|pasos|tareas)"
)
_OTHER: Final = re.compile(
    r"\b(?:fail\w*|block\w*|open|pending|remain\w*|replac\w*|skip\w*|start\w*|attempt\w*|tried"
    r"|\w*fehl\w*|blockier\w*|offen\w*|ersetzt|échou\w*|bloqu\w*|fall\w*)\b|失败|阻|剩|跳过"
)
_STATUS: Final = re.compile(
    r"\W*(?:(?:progress|status|result|steps|fortschritt|stand|progression|progreso|estado|进度)\W*)?"
)


@dataclass(frozen=True, slots=True)
class _Count:
    """The counts of one plan, those of former versions within `totals`."""

    totals: range
    done: int
    checked: int
    others: frozenset[int]

    @classmethod
    def of(cls, report: PlanReport) -> "_Count":
        counts, total = report["counts"], report["counts"]["total"]
        changed = report["replaced"] or report["replans"]
        return cls(
            totals=range(1, 10_000) if changed else range(total, total + 1),
            done=counts["completed"],
            checked=sum(step["verified"] for step in report["steps"]),
            others=frozenset(counts.values()),
        )


def has_false_number(sentence: str, report: PlanReport) -> bool:
    """Whether it says that more steps are done than are, or names a wrong number of all steps."""
    plans = [_Count.of(inner) for inner in _nested(report)]
    if any(_is_false_pair(pair, sentence, plans) for pair in _pairs(sentence)):
        return True
    for pair in _pairs(sentence):
        sentence = sentence.replace(pair[0], " ")
    return any(
        _is_false_count(match, sentence, plans, words)
        for words in LANGUAGES
        for pattern in (_counted(words), _all_of(words))
        for match in pattern.finditer(sentence)
    )


def gives_numbers(sentence: str) -> bool:
    """Whether it names a part of the steps, as in "2 of 3" and "66 %"."""
    return bool(_pairs(sentence) or _LESS.search(sentence))


def _pairs(sentence: str) -> list[re.Match[str]]:
    return [*_PAIR.finditer(sentence), *_CHINESE_PAIR.finditer(sentence)]


def _nested(report: PlanReport) -> Iterator[PlanReport]:
    """The report and those of all plans within the plan."""
    yield report
    for step in report["steps"]:
        if "sub_plan" in step:
            yield from _nested(step["sub_plan"])


def _number(text: str) -> int:
    return NUMBERS[text] if text in NUMBERS else int(text)


def _clause(sentence: str, place: int) -> str:
    """What stands between the commas around a place."""
    start = max(sentence.rfind(sign, 0, place) for sign in ",;:")
    ends = [end for sign in ",;" if (end := sentence.find(sign, place)) >= 0]
    return sentence[start + 1 : min(ends, default=len(sentence))]


def _is_negative(clause: str) -> bool:
    return any(
        re.search(f"{words.edge}(?:{words.unless}|{words.condition}){words.edge}", clause)
        for words in LANGUAGES
    ) or bool(_OTHER.search(clause))


def _is_false_pair(pair: re.Match[str], sentence: str, plans: list[_Count]) -> bool:
    """Whether "5 of 5" is said of the steps, of what is done, and no plan has it so."""
    before, after = sentence[: pair.start()], sentence[pair.end() :]
    part, total = _number(pair["n"]), _number(pair["m"])
    clause = _clause(sentence, pair.start())
    if _ELSE.match(after) or part > total or _is_negative(clause):
        return False
    done, checked = (bool(_word(kind).search(clause)) for kind in ("done", "checked"))
    of_steps = pair["of_steps"] or re.search(_STEPS, pair[0])
    alone = _STATUS.fullmatch(before) and not re.search(r"\w", after)
    if not alone and not (of_steps and (done or checked or part == total)):
        return False
    return not any(
        total in plan.totals and part <= (plan.done if done or not checked else plan.checked)
        for plan in plans
    )


@cache
def _word(kind: str) -> re.Pattern[str]:
    """A word of any language for done, or for checked."""
    states = (
        f"{words.edge}(?:{words.done if kind == 'done' else words.checked}){words.edge}"
        for words in LANGUAGES
    )
    return re.compile("|".join(states))


def _is_false_count(match: re.Match[str], sentence: str, plans: list[_Count], words: Words) -> bool:
    number = _number(match["n"])
    if match["all"]:
        is_false = all(number not in (*p.others, p.checked) for p in plans) and not any(
            number in plan.totals for plan in plans
        )
    else:
        is_false = number > sum(plan.done for plan in plans)
        is_false = is_false and not _OF.search(sentence[: match.start()])
    other = _ELSE.match(sentence[match.end() :])
    return is_false and not other and stands(match, sentence, words)


@cache
def _counted(words: Words) -> re.Pattern[str]:
    """Five steps were completed."""
    gap, edge = words.gap, words.edge
    between = f"(?:{gap}(?:{words.link}|{words.filler})){{0,6}}"
    return re.compile(
        f"{edge}(?P<all>)(?P<n>{NUMBER}){gap}(?:{words.steps}){between}{gap}(?:{words.done}){edge}"
    )


@cache
def _all_of(words: Words) -> re.Pattern[str]:
    """All five steps."""
    gap, edge = words.gap, words.edge
    every = r"all|alle|tou(?:te)?s les|les|tod[oa]s l[oa]s|所有|全部"
    return re.compile(f"{edge}(?P<all>{every}){gap}(?P<n>{NUMBER}){gap}(?:{words.steps}){edge}")


def says_hundred(sentence: str) -> bool:
    """Whether it says of the plan that a hundred percent are done."""
    for match in _HUNDRED.finditer(sentence):
        clause = _clause(sentence, match.start())
        rest = sentence[match.end() :]
        of_plan = _ABOUT.search(clause) or _STATUS.fullmatch(sentence[: match.start()])
        ends = (
            not re.match(r"\s*[^\W\d_]", rest)
            or _word("done").match(rest.lstrip())
            or _OF_PLAN.match(rest)
        )
        if of_plan and ends and not _is_negative(clause):
            return True
    return False
