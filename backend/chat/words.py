"""What the chat says of its own accord, in both languages."""

from __future__ import annotations

from backend.text import Text


def failure(error: BaseException, *, out_of_memory: bool) -> Text:
    """An error that nobody foresaw: its first line, or that the memory ran out."""
    if out_of_memory:
        return Text(
            en="The memory ran out while loading or answering; both models were let go. Ask one side only, or for "
            "fewer samples or shorter answers.",
            ko="모델을 올리거나 답하는 중 메모리가 부족해 두 모델을 모두 내렸습니다. 한쪽만 묻거나 샘플 수나 답변 "
            "길이를 줄이세요.",
        )
    said = (str(error).strip().splitlines() or [""])[0][:300]
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Text(
        en=f"The answer failed: {what}. The details are in logs/chat.log.",
        ko=f"답변에 실패했습니다: {what}. 자세한 내용은 logs/chat.log에 있습니다.",
    )


def not_loadable(name: str, why: str) -> Text:
    return Text(en=f"{name} could not be loaded: {why}", ko=f"{name}을(를) 불러오지 못했습니다: {why}")


def bad_checkpoint(checkpoint: str, run: str, why: str) -> Text:
    return Text(
        en=f"{checkpoint} of run {run} is not used: {why}. Only files that are as the run saved them are loaded.",
        ko=f"실행 {run}의 {checkpoint}을(를) 쓰지 않습니다({why}). 실행이 저장한 그대로인 파일만 불러옵니다.",
    )


NO_TEMPLATE = Text(
    en="this model has no chat template, so it cannot take messages or a system prompt: send the text as it is (raw)",
    ko="이 모델에는 대화 템플릿이 없어 메시지나 시스템 프롬프트를 쓸 수 없습니다. 텍스트를 그대로(raw) 보내세요",
)


def too_long(tokens: int, answer: int, context: int) -> Text:
    return Text(
        en=f"the prompt has {tokens} tokens, and with an answer of {answer} that is more than the model's {context}; "
        + (f"at most {context - tokens} fit" if context > tokens else "shorten the prompt"),
        ko=f"프롬프트가 {tokens}토큰이라 답변 {answer}토큰을 더하면 모델의 한도 {context}토큰을 넘습니다. "
        + (f"답변은 최대 {context - tokens}토큰까지 됩니다" if context > tokens else "프롬프트를 줄이세요"),
    )


IDENTICAL = Text(
    en="Both sides gave the very same answers, sample for sample, though they were sampled: is the adapter active, and "
    "did training change anything?",
    ko="샘플링했는데도 두 쪽의 답이 샘플마다 완전히 같습니다. 어댑터가 적용되었는지, 학습으로 바뀐 것이 있는지 "
    "확인하세요.",
)
NO_DIFFERENCE = Text(
    en="The logits of both sides are equal on this prompt (largest difference 0): other weights were loaded, but they "
    "change nothing. An adapter like this is not active or was never trained.",
    ko="이 프롬프트에서 두 쪽의 로짓이 완전히 같습니다(최대 차이 0). 다른 가중치를 불러왔지만 바뀌는 것이 없습니다. "
    "어댑터가 적용되지 않았거나 학습되지 않은 상태입니다.",
)
NOT_NUMBERS = Text(
    en="The logits of one side are not numbers (NaN or infinite): its weights are broken, its answers mean nothing.",
    ko="한쪽의 로짓이 숫자가 아닙니다(NaN 또는 무한대). 가중치가 망가진 상태라 답에 의미가 없습니다.",
)
OTHER_PROMPT = Text(
    en="The two sides read this prompt as different tokens (another tokenizer or template), so their answers are not "
    "to the same question, and their logits cannot be compared.",
    ko="두 쪽이 이 프롬프트를 서로 다른 토큰으로 읽습니다(토크나이저나 템플릿이 다름). 같은 질문에 대한 답이 아니며 "
    "로짓도 비교할 수 없습니다.",
)
BASE_CHANGED = Text(
    en="The base model is not the one that this run began from (its weights have another fingerprint).",
    ko="기준 모델이 이 실행이 시작할 때의 모델과 다릅니다(가중치 지문이 다름).",
)
