"""What the words after a final phrase say: the answer without the words around it. Standard library only.

Precision before recall: words are dropped only where they say nothing else. A rest that denies, or that names a number
or an option that the answer before it does not, is kept, and the whole is then no one answer.
"""

from __future__ import annotations

import re
from fractions import Fraction

LEAD = re.compile(
    r"(?:(?:therefore|thus|hence|then|so|now|simply|clearly|obviously|evidently|actually|indeed|really|in fact"
    r"|of course|still|always|also|again|just|exactly|precisely|only|merely|finally|ultimately)\b,?|equal to"
    r"|equivalent to|given by|(?:found|seen|calculated|computed|determined) to be|(?:calculated|computed) as"
    r"|the (?:number|value|integer)|(?:바로|역시|결국|당연히|따라서|그러므로|그래서)(?![가-힣]),?)\s*:?\s+",
    re.I,
)
VALUE = r"(?:.{0,200}?(?:[\d)\]}$%°℃①-⑩*_`'\"’”A-Za-z]|\d\s?[가-힣]{1,3}?)|[가-차ㄱ-ㅊ])"
ENDS_A_VALUE = re.compile(r"[\dA-Za-z)}$%°①-⑩*가-힣]\Z")
SO = re.compile(
    r"(?:[,;(]|\s[–—-](?=\s)|(?=\s(?:and|but)\b))\s*(?:(?P<not>(?:and |but )?not)|(?P<word>so|thus|hence|therefore"
    r"|i\.?e\.?|that is|namely|meaning|done|as (?:desired|required)|qed|and (?:that|this|it|we|I|so)|검산|확인|이유"
    r"|풀이|즉|참고|왜냐하면))(?![A-Za-z])",
    re.I,
)
THING = r"[($\\'\"]*(?:[-+−]?\d[\d.,/]*|[A-Ja-j①-⑩])(?![A-Za-z\d])[\s$)'\".]*"
NOT_THAT = re.compile(rf"(?:(?:the )?option\s+)?{THING}(?:(?:or|nor)\s+{THING})?")
FINITE = r"(?:다|요|죠|지|음|함|임)"
COPULA = re.compile(
    rf"(?P<value>{VALUE})\s*(?:"
    rf"(?:이고|이며)(?P<and>(?:[\s,].*{FINITE}(?:\s?\([^()]*\))?)?)"
    r"|(?:이므로|이니까?|이라서|이기에)(?P<so>(?:[\s,]+(?:(?:정?답은\s)?\S*\d\S{0,6}|보기\s?\S{1,3}번\S{0,4}))?)"
    rf"|이?라고\s?(?:할|볼|말|답|생각|결론|판단|하겠|합니다|한다)(?P<call>.*)"
    r"|(?:이?라는\s(?:것|점|사실|결론|답)|인\s?것|임)[이을에으]?로?\s?(?:알|얻|나[오옵온왔]|보|확인|이르|도달|밝)(?P<that>.*)"
    r"|(?:이지요?|이?죠|지요|이겠습니다|이겠지요?|이겠죠|이네|이구나|이거든요)"
    r"|(?:이|가)\s*(?:맞(?:습니다|다|아요|네요)|나(?:옵니다|온다|와요|왔습니다|왔다)|되겠(?:습니다|다|네요)|될\s것(?:입니다|이다)"
    r"|됐(?:습니다|다)|(?:정답|답)(?:입니다|이다|이에요)?|옳(?:습니다|다)|남(?:습니다|는다|았습니다|았다|아요))"
    r"|으?로\s*(?:구해|구할|계산|나오|나[옵온왔타]|결정|정리|도출|정해|얻어)[가-힣]{0,4}\s?(?:[됩집옵납]?니다|[된진온난됐졌왔]다"
    r"|수\s?있(?:습니다|다))"
    r"|(?<=[개명권원장대마리살])[을를]\s*(?:샀|먹었|받았|썼|사용했|사용한|얻었|얻는|가진|가졌|팔았)(?:습니다|다|어요|아요)"
    r")$",
    re.S,
)
RATHER = re.compile(rf"{VALUE}\s*(?:이|가)?\s*아니라,?\s+")
DENIED = re.compile(
    r"없|않|안\s?[됩된되돼]|아니|아닙|못|틀|오답|거짓|어렵|의심|모르|잘못|지만|또는|혹은|아마|n't"
    r"|\b(?:or|not|no|never|nor|maybe|perhaps|probably|wrong|false|incorrect|untrue|unsure|unlikely|impossible|but|except)\b",
    re.I,
)
OTHERS_WRONG = re.compile(
    r"[\s,]*(?:나머지|다른\s(?:보기|선택지|답)|(?:보기\s?)?[($]*(?:\d+|[A-Ja-j①-⑩가-차])[)$]*\s?(?:번|개)?)\s*(?:들?[은는]|[이가도])?"
    r"\s*(?:모두\s|다\s)?(?:틀[^,]*|오답[^,]*|아니다|아닙니다|아니에요|정답이\s아[^,]*)"
)
CHECKED = re.compile(r"[\s,]*(?:검산|확인|이유|풀이|왜냐(?:하면)?|보기\s?\S{1,3}번)")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*|[①-⑩]|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z'’])|\\[A-Za-z]+")
WORDS = {
    word: str(value)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "영 하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 열하나 열둘",
    )
    for value, word in enumerate(words.split())
}
WORD = re.compile(
    rf"\b(?:{'|'.join(word for word in WORDS if word.isascii())})\b"
    rf"|(?<![가-힣])(?:{'|'.join(sorted((word for word in WORDS if not word.isascii()), reverse=True))})",
    re.I,
)
MORE_WORDS = re.compile(
    r"\b(?:thirteen|\w+teen|\w+ty|hundred|thousand|million|half|double|twice|square\w*|root|dozen|pi)\b"
    r"|(?<![가-힣])[일이삼사오육칠팔구]{1,3}(?:이다|입니다|이고|이며|$)|[십백천만억]|절반|두\s?배|제곱|(?:한|두|세|네)\s?(?:개|명|번|배)",
    re.I,
)
BRACKET = re.compile(
    r"(?P<value>.*?[\d}$*])(?P<space>\s*)[(（](?P<inside>[^()（）]{1,60})[)）]\s*(?P<tail>[가-힣]{0,8})", re.S
)
SUM = re.compile(r"[\d\s.+*/()=×÷−·-]*\d\s*[+*/×÷−·=-][\d\s.+*/=×÷−·-]*")
TERM = re.compile(r"\s*([-+*/×÷−·]?)\s*(\d{1,12}(?:\.\d{1,12})?)")


def answer_said(content: str) -> str:
    """The content without adverbs before the answer, and without what only explains it or says what it is not."""
    for _ in range(3):
        lead = LEAD.match(content)
        if lead is None or lead.end() == len(content):
            break
        content = content[lead.end() :]
    rather = RATHER.match(content)
    if rather and content[rather.end() :].strip():
        content = content[rather.end() :]
    return _without_copula(_without_restated(_without_rest(content)))


def _without_rest(content: str) -> str:
    """3, not 4 | 3, so we are done | 3 - done | A (not B) | 3 (검산: 1+2=3)"""
    for found in SO.finditer(content):
        value, rest = content[: found.start()].rstrip(), content[found.end() :].strip(" )")
        if not ENDS_A_VALUE.search(value):
            continue
        if found["not"]:
            explains = NOT_THAT.fullmatch(rest)
        else:
            explains = CHECKED.fullmatch(found["word"]) or _adds_nothing(rest, value)
        return value if explains else content
    return content


def _without_restated(content: str) -> str:
    """12 (twelve) | 3 (1+2) | 8(여덟)입니다"""
    found = BRACKET.fullmatch(content)
    if found is None:
        return content
    value, inside = found["value"], found["inside"].strip()
    last = re.findall(r"\d+(?:\.\d+)?", value.replace(",", ""))
    if not last:
        return content
    same = WORDS.get(inside.lower()) == last[-1]
    if SUM.fullmatch(inside) and found["space"]:
        same = _worked_out(inside.split("=")[0]) == Fraction(last[-1])
    return value + found["tail"] if same else content


def _without_copula(content: str) -> str:
    """8이고 검산도 맞습니다 | 8이라고 할 수 있습니다 | 8로 구해집니다 | 8이죠"""
    found = COPULA.match(content)
    if found is None:
        return content
    rest = next((found[name] for name in ("and", "so", "call", "that") if found[name]), "")
    harmless = CHECKED.match(rest) or OTHERS_WRONG.fullmatch(rest) or _adds_nothing(rest, found["value"])
    return found["value"] if harmless else content


def _adds_nothing(rest: str, value: str) -> bool:
    """Whether a rest neither denies the value nor names another number, letter or option."""
    if DENIED.search(rest) or MORE_WORDS.search(rest):
        return False
    known = set(NUMBER.findall(value))
    spelled = {WORDS[word.lower()] for word in WORD.findall(rest)}
    named = set(NUMBER.findall(rest)) - {"I", "a", "e", "i"}
    return named <= known and spelled <= known


def _worked_out(sum_: str) -> Fraction | None:
    """The value of a sum of products without brackets; None for anything else."""
    total, product, at = Fraction(0), None, 0
    while at < len(sum_.rstrip()):
        found = TERM.match(sum_, at)
        if found is None or (product is None) != (found[1] == ""):
            return None
        number, at = Fraction(found[2]), found.end()
        if product is None or found[1] in "+-−":
            total, product = total + (product or 0), number if found[1] in ("", "+") else -number
        elif found[1] in "*×·":
            product *= number
        elif number:
            product /= number
        else:
            return None
    return None if product is None else total + product
