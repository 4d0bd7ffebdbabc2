import asyncio
import json
import os
import urllib.request

URL = os.environ.get("JUDGE_URL", "http://127.0.0.1:8000/v1/chat/completions")
QUESTION = "Rate this answer from 0 to 10. Reply with the number alone.\n\nQuestion: {prompt}\n\nAnswer: {answer}"


async def judged(prompts, completions, model="judge", **kwargs):
    """A tenth of the mark that a judge behind HTTP gives; None where it gives none. All are asked side by side."""
    asked = [asyncio.to_thread(ask, text_of(p), text_of(c), model) for p, c in zip(prompts, completions, strict=True)]
    return await asyncio.gather(*asked)


def ask(prompt, answer, model):
    message = {"role": "user", "content": QUESTION.format(prompt=prompt, answer=answer)}
    body = json.dumps({"model": model, "messages": [message], "temperature": 0, "max_tokens": 8}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('JUDGE_KEY', '')}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(URL, body, headers), timeout=20) as reply:
            said = json.load(reply)["choices"][0]["message"]["content"]
        return min(10.0, max(0.0, float(said.strip()))) / 10
    except (OSError, ValueError, LookupError) as error:
        print(f"no mark: {error!r}")
        return None


def text_of(completion):
    """TRL gives a text where the prompt is a text, and a list of messages where it is one."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
