r"""One way to write what people write in many: Unicode, LaTeX's dress, markdown, Korean endings.

The result keeps LaTeX for what is mathematics (`\frac{}{}`, `\sqrt{}`, `\pi`, `\times`, `\cdot`, `^{}`), with these
letters of our own: `°` for every degree sign, and TEXT around what stood in `\text{}`.
"""

from __future__ import annotations

import re
import unicodedata

TEXT = "\x02"
CURRENCY = "\x03"

CALCULATOR = re.compile(r"<<[^<>]*>>")
SIGNS = {
    **dict.fromkeys("−–﹣－‐‑‒➖", "-"),
    **dict.fromkeys("×✕⨯✖", r"\times "),
    **dict.fromkeys("·⋅∙", r"\cdot "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    "÷": r"\div ",
    "π": r"\pi ",
    "∞": r"\infty ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "≈": r"\approx ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    "∅": r"\emptyset ",
    "±": r"\pm ",
    "∓": r"\mp ",
    "٫": ".",
    "٬": ",",
    "⁄": "/",
    "∕": "/",
    "。": ".",
    "、": ",",
    "˚": "°",
    "º": "°",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
}
HIGH = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
LOW = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
SIGN = re.compile(f"[{re.escape(''.join(SIGNS))}]")
RAISED = re.compile(f"[{''.join(HIGH)}]+")
LOWERED = re.compile(f"[{''.join(LOW)}]+")

TEXT_LIKE = "text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mbox|hbox|emph|textup"
MATH_LIKE = r"mathbf|mathit|mathsf|mathtt|operatorname\*?|boldsymbol|bm|underline|boxed|fbox|pmb|vec|mathop|ensuremath"
WRAPPER = re.compile(rf"\\(?:(?P<text>{TEXT_LIKE})|(?:{MATH_LIKE}))\s*\{{")
BARE_TEXT = re.compile(rf"{TEXT}[\s.,;:]*{TEXT}")
BRACE = re.compile(r"\\.|[{}]", re.S)
FRAC = re.compile(r"\\(?:[dtc]?frac|nicefrac|sfrac)(?![A-Za-z])\s*")
ARGUMENT = re.compile(r"\s*(?:(?P<brace>\{)|(?P<one>\\[A-Za-z]+|[^\s{}\\]))")
DROPPED = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|rm|bf|it|mathstrut|strut"
    r"|tiny|small|normalsize|footnotesize|[lL]arge|LARGE|[hH]uge|hfill|centering)"
    r"(?![A-Za-z])\.?|(?<!\\)\\[!()\[\]]|\\color\{[a-z]+\}"
)
SPACE = re.compile(r"(?<!\\)\\(?:[,;: ]|q?quad|enspace(?![A-Za-z])|thinspace(?![A-Za-z]))|(?<!\d)~|~(?!\d)|&nbsp;")
NO_SPACE = re.compile(r"\\!\s*")
DOUBLED = re.compile(r"\\\\(?=[A-Za-z])")  # \\frac, from a text that was escaped twice
ARRAY = re.compile(r"[(\[]\s*\\begin\{array\}\s*\{[^{}]*\}(.*?)\\end\{array\}\s*[)\]]", re.S)
DEGREE = re.compile(
    r"\s*\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\})|\s*\\degree(?![A-Za-z])|(?<=\d)\s*\\circ(?![A-Za-z])"
)
ROOT = re.compile(r"√\s*(?:\(([^()]{1,80})\)|\{([^{}]{1,80})\}|(\d+(?:\.\d+)?|[A-Za-z]))")
PYTHON_POWER = re.compile(r"(?<=[\w)}\]])\s*\*\*\s*(?=[\w({\\-])")
RENAMED = {
    r"\leqslant": r"\le ",
    r"\leq": r"\le ",
    r"\geqslant": r"\ge ",
    r"\geq": r"\ge ",
    r"\neq": r"\ne ",
    r"\varnothing": r"\emptyset ",
    r"\ast": "*",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\colon": ":",
    r"\ldots": "...",
    r"\dots": "...",
    r"\cdots": "...",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\vert": "|",
    r"\infinity": r"\infty ",
    r"\langle": "(",
    r"\rangle": ")",
    ">=": r"\ge ",
    "<=": r"\le ",
    "!=": r"\ne ",
}
RENAME = re.compile("|".join(re.escape(name) + ("(?![A-Za-z])" if name[0] == "\\" else "") for name in RENAMED))
ESCAPED = re.compile(r"\\([%#&_])")
PAIRS = ("**", "__", "*", "_", "`", '"', "'", "“”", "‘’", "「」")
ENDING = re.compile(
    r"(?<=[^\s])\s*(?:(?:이|가)\s*)?(?:됩니다|된다|되었습니다|됨|입니다|이다|이에요|이예요|예요|에요|이야|임|이었다|였습니다|이었습니다"
    r"|랍니다|군요|네요|요|다)$"
)


def plain(text: str) -> str:
    """The text in the one way; see above."""
    text = _letters(CALCULATOR.sub("", text))
    if r"\begin" not in text:
        text = DOUBLED.sub(r"\\", text)
    text = SPACE.sub(" ", NO_SPACE.sub("", text.replace("{,}", ","))).strip()
    text = _dollars(_undressed(text))
    for _ in range(6):
        opened = _unwrapped(text)
        if opened == text:
            break
        text = BARE_TEXT.sub(" ", opened)
    text = RENAME.sub(lambda found: RENAMED[found[0]], _fractions(DROPPED.sub("", text)))
    text = ESCAPED.sub(r"\1", DEGREE.sub("°", ARRAY.sub(r"\\begin{bmatrix}\1\\end{bmatrix}", text)))
    text = PYTHON_POWER.sub("^", _undressed(text))
    return _ended(re.sub(r"[ \t\r]+", " ", text).strip())


def _letters(text: str) -> str:
    """ASCII digits, LaTeX for the signs, composed letters; superscripts and fractions kept from being flattened."""
    if text.isascii():
        return text
    text = RAISED.sub(lambda found: "^{" + "".join(HIGH[one] for one in found[0]) + "}", text)
    text = LOWERED.sub(lambda found: "_{" + "".join(LOW[one] for one in found[0]) + "}", text)
    text = ROOT.sub(lambda found: r"\sqrt{" + (found[1] or found[2] or found[3]) + "}", text)
    text = "".join(_letter(one) if one > "\x7f" else one for one in text)
    return SIGN.sub(lambda found: SIGNS[found[0]], unicodedata.normalize("NFKC", text))


def _letter(one: str) -> str:
    if one in SIGNS:
        return SIGNS[one]
    kind = unicodedata.category(one)
    if kind == "Nd":
        return str(unicodedata.decimal(one))
    if kind == "Zs":
        return " "
    if unicodedata.decomposition(one).startswith("<fraction>"):
        upper, _, lower = unicodedata.normalize("NFKC", one).partition("⁄")
        return rf"\frac{{{upper}}}{{{lower}}}" if lower else one
    return one


def _undressed(text: str) -> str:
    """Without emphasis or quotes around it, and without what only ends or begins a sentence."""
    for _ in range(8):
        before = text
        for pair in PAIRS:
            opening, closing = (pair[0], pair[1]) if len(set(pair)) == 2 else (pair, pair)
            if len(text) > len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing):
                text = text[len(opening) : -len(closing)].strip()
        text = text.removeprefix("**").removesuffix("**").strip()
        if not text.endswith("..."):
            text = re.sub(r"[.,;:?\s]+$|\\\\$", "", text)
        text = text.lstrip(":=,").lstrip()
        if text == before:
            return text
    return text


def _dollars(text: str) -> str:
    """`$` as a sign of currency where it is one: escaped, or alone before a number; else it only marks mathematics."""
    text = text.replace(r"\$", CURRENCY)
    if text.count("$") % 2:
        text = re.sub(r"\$(?=\s?[\d.])", CURRENCY, text, count=1)
    return text.replace("$", " ").replace(CURRENCY, "$").strip()


def _closing(text: str, opening: int) -> int:
    """Where the brace at `opening` closes; -1 where it never does."""
    depth = 0
    for brace in BRACE.finditer(text, opening):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return -1


def _unwrapped(text: str) -> str:
    pieces: list[str] = []
    at = 0
    for found in WRAPPER.finditer(text):
        if found.start() < at:
            continue
        end = _closing(text, found.end() - 1)
        if end < 0:
            continue
        inside = text[found.end() : end]
        worded = found["text"] and any(letter.isalpha() for letter in inside)
        mark = TEXT if worded else " " if found[0].startswith(r"\operatorname") else ""
        pieces += [text[at : found.start()], mark, inside, mark]
        at = end + 1
    return "".join(pieces) + text[at:]


def _fractions(text: str) -> str:
    r"""Every fraction as `\frac{}{}`: \dfrac12 and \tfrac{1}2 too."""
    pieces: list[str] = []
    at = 0
    while found := FRAC.search(text, at):
        pieces += [text[at : found.start()], r"\frac"]
        at = found.end()
        for _ in range(2):
            argument = ARGUMENT.match(text, at)
            if argument is None or argument["brace"]:
                end = _closing(text, argument.end() - 1) if argument else -1
                if end < 0 or FRAC.search(text, at, end):  # the inner ones are rewritten in their turn
                    break
                pieces.append(text[at : end + 1].strip())
                at = end + 1
            else:
                pieces.append("{" + argument["one"] + "}")
                at = argument.end()
    return "".join(pieces) + text[at:]


def _ended(text: str) -> str:
    """Without the Korean copula: 12입니다, 12개가 됩니다."""
    shorter = ENDING.sub("", text)
    return _undressed(shorter) if shorter else text
