"""Whether two answers say the same, by our policies; what only algebra can tell is asked of `symbolic`.

Three values: True, False, and None where the symbolic comparison would have to be asked and there is none. The parent
process compares without it (exact fractions, cheap and bounded); only what is left goes to a child that can be killed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from backend.rewards._answer import EQUALS, RELATION, Answer, Several
from backend.rewards._one import One, unknown_word
from backend.rewards._plain import TEXT

Symbolic = Callable[[str, str], bool]
"""(gold, answer) in LaTeX -> whether they are equal."""

SIDE_BY_SIDE = re.compile(r"\d\s+\d|\d\s*_")
ARITHMETIC = re.compile(r"(?:\\(?:frac|cdot|times|div)(?![A-Za-z])|[\d\s.+\-*/{}()!%'\"])*")
NEEDLESS = re.compile(r"(?<![0-9A-Za-z가-힣])\s+|\s+(?![0-9A-Za-z가-힣])|(?<=[가-힣])\s+(?=\d)|(?<=\d)\s+(?=[가-힣])")
LONGEST_ALGEBRA = 600  # characters
DEEPEST_ALGEBRA = 24  # brackets
MODULO = re.compile(r"\\[bp]?mod(?![A-Za-z])|(?<![A-Za-z])mod(?![A-Za-z])")
HUGE = re.compile(r"\^\s*\{?\s*[-+]?\s*\d{6}|\d{5}\)?\s*!|\^\s*\{?\s*\d+\s*\^\s*\{?\s*\w+\s*\^|!\s*\)\s*!")
CONSTANTS = frozenset("eiπ")
LETTER = re.compile(
    r"\\(?!pi\b|infty\b|[iI]math\b)(?:alpha|beta|gamma|delta|theta|lambda|mu|phi|omega|sigma|rho|tau)\b"
)


def compare(gold: Answer, answer: Answer, symbolic: Symbolic | None = None) -> bool | None:
    if gold.name and answer.name and gold.name != answer.name:
        return False
    if same_text(gold.text, answer.text):
        return True
    if isinstance(gold, One) and isinstance(answer, One):
        return _ones(gold, answer, symbolic)
    if isinstance(gold, Several) and isinstance(answer, Several):
        return _several(gold, answer, symbolic)
    if isinstance(gold, Several) and len(gold.items) == 1:
        return compare(gold.items[0], answer, symbolic)
    if isinstance(answer, Several) and len(answer.items) == 1:
        return compare(gold, answer.items[0], symbolic)
    one, several = (gold, answer) if isinstance(gold, One) else (answer, gold)
    if RELATION.search(one.text) and isinstance(several, Several) and _intervals(several):
        return _ask(symbolic, [(_latex(gold), _latex(answer))])  # 1 < x < 2 and (1, 2)
    return False


def same_text(one: str, other: str) -> bool:
    """The same text, but for white space that does not part two words or numbers."""
    return _tight(one) == _tight(other) != ""


def _tight(text: str) -> str:
    return NEEDLESS.sub("", text.replace(TEXT, " ").strip())


def _latex(answer: Answer) -> str:
    """As mathematics: of several, without the name before them."""
    text = answer.text if isinstance(answer, One) else EQUALS.split(answer.text)[-1]
    return text.replace(TEXT, " ")


def _intervals(several: Several) -> bool:
    if several.kind == "tuple":
        return len(several.items) == 2 and several.brackets != "::"
    return all(isinstance(item, Several) and _intervals(item) for item in several.items)


def _ask(symbolic: Symbolic | None, pairs: Sequence[tuple[str, str]]) -> bool | None:
    return None if symbolic is None else any(symbolic(gold, answer) for gold, answer in pairs)


def _ones(gold: One, answer: One, symbolic: Symbolic | None) -> bool | None:
    if gold.unit and answer.unit and gold.unit != answer.unit:
        return False
    if not gold.unit and any(name.startswith("base ") and name != "base 10" for name, _ in answer.unit):
        return False  # 10_2 is 2, not 10
    if gold.number and answer.number:
        if gold.number.worked_out and not answer.number.worked_out:
            return False
        return _same_number(gold.number.value, gold.percent, answer.number.value, answer.percent)
    if MODULO.search(answer.latex) and not MODULO.search(gold.latex):
        return False  # a remainder that was not worked out
    if not gold.latex or not answer.latex or unknown_word(answer.latex) or unknown_word(gold.latex):
        return False
    if (gold.name or answer.name) and ("=" in gold.latex or "=" in answer.latex):
        return _ask(symbolic, [(_latex(gold), _latex(answer))])  # y = 2x + 1 and 2x - y + 1 = 0
    if SIDE_BY_SIDE.search(answer.latex) or (gold.number and ARITHMETIC.fullmatch(answer.latex)):
        return False  # no one number; algebra would add, multiply or drop what stands there
    if (gold.number and _variables(answer.latex)) or (answer.number and _variables(gold.latex)):
        return False
    if gold.percent == answer.percent and same_text(gold.latex, answer.latex):
        return True
    if too_large(gold.latex) or too_large(answer.latex):
        return False
    if gold.percent == answer.percent:
        return _ask(symbolic, [(gold.latex, answer.latex)])
    if gold.percent:
        return _ask(symbolic, [(gold.latex, answer.latex), (_hundredth(gold.latex), answer.latex)])
    return _ask(symbolic, [(gold.latex, _hundredth(answer.latex))])


def _same_number(gold: Fraction, gold_percent: bool, answer: Fraction, answer_percent: bool) -> bool:
    """The policy: gold 28% takes 28, 28% and 0.28; gold 28 takes 28 and 28%; gold 0.28 takes 0.28 and 28%.

    A whole gold above 1 is no share of something: 2800% is not 28."""
    if gold_percent and not answer_percent:
        return answer in (gold, gold / 100)
    if answer_percent and not gold_percent:
        whole = gold.denominator == 1 and abs(gold) > 1
        return (answer / 100 == gold and not whole) or (answer == gold and not 0 < abs(gold) < 1)
    return gold == answer


def too_large(latex: str) -> bool:
    """Whether algebra would only burn its limit: longer or deeper than an answer is, or a number that fits nowhere."""
    depth = deepest = 0
    for letter in latex:
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(letter, 0)
        deepest = max(deepest, depth)
    return len(latex) > LONGEST_ALGEBRA or deepest > DEEPEST_ALGEBRA or HUGE.search(latex) is not None


def _hundredth(latex: str) -> str:
    return rf"\frac{{{latex}}}{{100}}"


def _variables(latex: str) -> set[str]:
    """The single letters in it that are no constants of mathematics; none where some may be bound by a sum."""
    if re.search(r"\\(?:sum|prod|int|lim)(?![A-Za-z])", latex):
        return set()
    without = re.sub(r"\\[A-Za-z]+|[A-Za-z]{2,}", " ", latex)
    return (set(re.findall(r"[^\W\d_]", without)) - CONSTANTS) | set(LETTER.findall(latex))


def _several(gold: Several, answer: Several, symbolic: Symbolic | None) -> bool | None:
    kinds = (gold.kind, answer.kind)
    if len(gold.items) != len(answer.items):
        return False
    if kinds == ("tuple", "tuple"):
        alike = gold.brackets == answer.brackets
        return _in_order(gold.items, answer.items, symbolic) if alike else False
    if kinds == ("tuple", "list"):
        bare = gold.brackets == "()" or (gold.brackets == "[]" and len(gold.items) > 2)
        return _in_order(gold.items, answer.items, symbolic) if bare else False
    if kinds in (("tuple", "set"), ("set", "tuple")) or (
        answer.kind == "tuple" and answer.brackets not in ("()", "[]")
    ):
        return False
    names = [item.name for item in gold.items]
    if len({*names} - {None}) == len(names) and not any(item.name for item in answer.items):
        return _in_order(gold.items, answer.items, symbolic)  # x = 1, y = 2 against 1, 2
    return _in_any_order(gold.items, answer.items, symbolic)


def _in_order(gold: Sequence[Answer], answer: Sequence[Answer], symbolic: Symbolic | None) -> bool | None:
    told: bool | None = True
    for wanted, given in zip(gold, answer, strict=True):
        equal = compare(wanted, given, symbolic)
        if equal is False:
            return False
        told = None if equal is None else told
    return told


def _in_any_order(gold: Sequence[Answer], answer: Sequence[Answer], symbolic: Symbolic | None) -> bool | None:
    """Whether the parts can be paired off; None where that hangs on what algebra would say."""
    equal = [[compare(wanted, given, symbolic) for given in answer] for wanted in gold]
    if _paired([[cell is True for cell in row] for row in equal]):
        return True
    return None if _paired([[cell is not False for cell in row] for row in equal]) else False


def _paired(fits: list[list[bool]]) -> bool:
    """A perfect matching, by augmenting paths."""
    partner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in seen:
                seen.add(column)
                if column not in partner or place(partner[column], seen):
                    partner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))
