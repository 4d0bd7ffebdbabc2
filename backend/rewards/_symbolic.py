"""Whether two expressions are equal, by math-verify. Runs only in a child that can be killed: any of this may hang.

What math-verify would let pass is refused here: it rounds decimals to six places and calls two equations without a
solution equal. Its own time limits are off: they need the main thread, and cannot stop what holds the interpreter.
Text never reaches Python's eval: only the LaTeX grammar is used, not the parser for plain expressions.
"""

from __future__ import annotations

import functools
import logging
import re
from typing import Any

import sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, NormalizationConfig, latex2sympy, normalize_latex
from math_verify import verify

from backend.rewards._answer import read
from backend.rewards._compare import compare

logging.getLogger("math_verify").setLevel(logging.CRITICAL)

NORMAL = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="none", equations=False
)
CONVERSION = ConversionConfig(lowercase_symbols=False)
FUNCTION = re.compile(
    r"(?<![\\A-Za-z])(arcsin|arccos|arctan|asin|acos|atan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|pi|"
    r"theta|alpha|beta|infty|infinity|inf|oo|abs)(?![A-Za-z])"
)
SPELLED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "infinity": "infty", "inf": "infty", "oo": "infty"}
ROOT = re.compile(r"\\sqrt\s*\(([^()]*)\)")
EXPONENT = re.compile(r"\^\s*(?:\(([^()]*)\)|(-?\d+(?:\.\d+)?))")
POINTS = (sympy.Rational(7, 5), sympy.Rational(13, 11), sympy.Rational(29, 17), sympy.Rational(37, 31))
EXACT = 50  # decimal places to which a claim of equality is checked


def agree(golds: list[str], answer: str) -> dict[str, Any]:
    """What a child is asked: {"equal": whether the answer is any of the golds, "why": words}."""
    said = [_agree(gold, answer) for gold in golds]
    return next((one for one in said if one["equal"]), said[0])


def _agree(gold: str, answer: str) -> dict[str, Any]:
    unread: list[str] = []

    def equal(wanted: str, given: str) -> bool:
        try:
            return _equal(wanted, given)
        except MemoryError:
            raise
        except Exception as error:  # whatever sympy makes of such a text, it is not equal: no way out of a 0
            unread.append(str(error)[:80] if isinstance(error, Unreadable) else given[:80])
            return False

    wanted, given = read(gold, gold=True), read(answer)
    if wanted is None or given is None:
        return {"equal": False, "why": "not equal to the ground truth"}
    if compare(wanted, given, equal):
        return {"equal": True, "why": "equal, by algebra"}
    return {
        "equal": False,
        "why": f"cannot be read as mathematics: {unread[0]}" if unread else "not equal to the ground truth",
    }


class Unreadable(Exception):
    """LaTeX that the grammar does not know; says which."""


def warm() -> None:
    """Done once before any limit counts: the first use builds tables."""
    for gold, answer in ((r"\frac{x}{2}", "0.5x"), (r"\sqrt{8}", r"2\sqrt{2}"), ("x>1", "x<1"), ("x^2=1", "x=y")):
        agree([gold], answer)


@functools.lru_cache(256)
def expression(latex: str) -> Any:
    """What sympy makes of it, with exact numbers. Unreadable where the grammar does not know it."""
    text = FUNCTION.sub(lambda found: "\\" + SPELLED.get(found[1], found[1]) + " ", latex.replace("\n", " "))
    text = EXPONENT.sub(r"^{\1\2}", ROOT.sub(r"\\sqrt{\1}", text))
    text = re.sub(r"\\abs\s*\(([^()]*)\)", r"|\1|", text).replace("*", r"\cdot ").replace("°", r"^{\circ}")
    normal = normalize_latex(text, NORMAL)
    try:
        found = latex2sympy(
            normal,
            is_real=True,
            convert_degrees=True,
            normalization_config=None,
            conversion_config=CONVERSION,
        )
        return _exact(found)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise Unreadable(latex[:80]) from error


def _exact(found: Any) -> Any:
    """Decimals as the fractions that they say, and i as the imaginary unit."""
    if isinstance(found, sympy.MatrixBase):
        return found.applyfunc(_exact)
    if isinstance(found, sympy.Basic):
        numbers: dict[Any, Any] = {number: sympy.Rational(str(number)) for number in found.atoms(sympy.Float)}
        return found.xreplace(numbers | {one: sympy.I for one in found.free_symbols if str(one) == "i"})
    raise TypeError(f"{type(found).__name__} is no expression")


def _equal(wanted: str, given: str) -> bool:
    gold, answer = expression(wanted), expression(given)
    if isinstance(gold, sympy.Eq) and isinstance(answer, sympy.Eq):
        return _same_equation(gold, answer)
    if isinstance(gold, sympy.Eq) or isinstance(answer, sympy.Eq):
        return False
    if _differ(gold, answer):
        return False
    if _plainly_equal(gold, answer):
        return True
    same = verify(
        gold,
        answer,
        float_rounding=EXACT,
        numeric_precision=EXACT,
        strict=True,
        allow_set_relation_comp=True,
        timeout_seconds=None,
    )
    return bool(same)


def _plainly_equal(gold: Any, answer: Any) -> bool:
    """Equal once multiplied out: cheap, and enough for most."""
    if not isinstance(gold, sympy.Expr) or not isinstance(answer, sympy.Expr):
        return False
    return gold == answer or bool(sympy.expand(gold - answer) == 0)


def _same_equation(gold: Any, answer: Any) -> bool:
    """Both sides brought to one: the same but for a factor that is a number other than 0."""
    ratio = sympy.simplify((gold.lhs - gold.rhs) / (answer.lhs - answer.rhs))
    return bool(ratio.is_number and ratio.is_finite and ratio.is_nonzero)


def _differ(gold: Any, answer: Any) -> bool:
    """Whether two expressions are seen to differ at one of a few points, to 50 places.

    Asked before math-verify: cheaper for wrong answers, and a difference too small for math-verify to see counts too.
    """
    if not isinstance(gold, sympy.Expr) or not isinstance(answer, sympy.Expr):
        return False
    symbols: list[Any] = sorted(gold.free_symbols | answer.free_symbols, key=str)
    for shift in range(len(POINTS) if symbols else 1):
        point: Any = {symbol: POINTS[(place + shift) % len(POINTS)] + place for place, symbol in enumerate(symbols)}
        try:
            value, size = sympy.N((gold - answer).subs(point), EXACT + 10), sympy.N(gold.subs(point), 20)
            if value.is_number and value.is_finite and abs(value) > abs(size) * sympy.Float(10) ** -EXACT:
                return True
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            continue
    return False
