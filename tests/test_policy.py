"""The explicit-wish rule: what a user's prompt asks for, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk.policy import APPROVAL, KEYWORD, Request, Wish

REMEMBER = """
Please REMEMBER my tone
Remember this please
Remember: drafts only
Remember that I don't eat meat
I don't like long mails, remember that
Don\u2019t publish yet. Remember that I prefer drafts
Write the post and remember my tone
When writing posts remember to use British English
Can you remember that I like tea?
Could you please remember this for me?
I want you to remember my name
I'd like you to always remember that
Make sure to remember the deadline
You should remember this
memorize it
please memorise this
note this: drafts only
keep this in mind
keep my tone in mind
keep this as a rule
save this as a preference
Save my preferences
save it to your memory
save that preference
store this rule
Store this for later
Please store it in memory
store that I live in Berlin
Store my tone preference
Remember that it's Bob's, not Ann's
Remember the users' and the owners' names
Remember 'tabs' as my preference
"""
NO_REMEMBER = """
save the post
save the post about memory foam
make a note
Merke dir das
Update the online store page
go to the store and write about it
Open a store in Paris
Is there a store near you?
The app store rejected it
Store the images in S3
Save memory by using generators
How can I save memory in Python?
How do I store this in memory?
Why did you save this as a preference?
Did you save my preferences?
Implement a save preferences button
Add a remember me checkbox
Remembering names is nice
do you remember
Do you remember my tone?
Hey, do you remember my tone
What do you remember about me?
which preferences do you remember
Can you remember what I said last time?
We discussed this yesterday, remember?
remember when we met?
I remember it well
I can't remember my login
I want to remember to call mum
It is hard to remember
there is nothing to remember
don't remember this
Don\u2019t remember this
dont remember this
do not remember that
Never remember my address
I don't want you to remember this
I'd rather not have you remember this
you don't need to remember this
no need to memorize it
please stop, don't save this as a preference
Don't, under any circumstances, remember this
remember my name. no wait, don't remember it
Don't forget to update the page
Write a post titled "Remember the sea"
Say \u201cremember me\u201d in French
Translate: 'remember that I like tea'
Translate: \u2018remember that I like tea\u2019
Run `remember --all` and show the output
"""
FORGET = """
Forget the topic
forget it
Please forget that I like tea
Can you forget my address?
Forget my tone preference
delete the memory about tone
delete my old newsletter tone rule
remove that preference
remove those preferences
erase the memory
wipe my memory
Clear all memory
Forget everything
"""
NO_FORGET = """
Tidy up please
Remove the page
Delete the post about memory leaks
delete the memory card images
clear the memory cache
don't forget to publish
Don't forget my tone
never forget this
let's not forget the tags
without forgetting, publish
Do not delete the memory
I always forget my keys
I forget
You forget things
Did you forget my name?
How do I delete a preference?
an unforgettable day
"""
CLEAR = """
Clear all memory
Clear all memories
Clear memory
please clear the memory
wipe your memory
Could you wipe all my memories?
reset memory
delete all memories
Delete my entire memory
remove all of your memories
Forget everything
Forget everything you know about me
Erase everything you have stored
"""
NO_CLEAR = """
Start fresh
Forget my tone preference
forget it
forget everything about the blog
delete the memory about tone
clear the memory about tone
delete that memory
erase the memory
Delete all preferences
delete everything in the folder
Clear the memory cache
Clear the cache
reset the form
Don't clear all memory
never wipe your memory
How do I clear the memory?
should I clear all memories?
"""


def lines(*texts: tuple[Wish, str]) -> list[tuple[Wish, str]]:
    """Return each line with its wish."""
    return [(wish, line) for wish, text in texts for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("wish", "prompt"), lines(("remember", REMEMBER), ("forget", FORGET), ("clear", CLEAR))
)
def test_an_english_wish_opens(wish: Wish, prompt: str) -> None:
    """The user asked for it, so it may be done."""
    assert KEYWORD.judge(Request(wish, prompt)) == "allow"


@pytest.mark.parametrize(
    ("wish", "prompt"),
    lines(("remember", NO_REMEMBER), ("forget", NO_FORGET), ("clear", NO_CLEAR)),
)
def test_what_is_no_wish_does_not_open(wish: Wish, prompt: str) -> None:
    """Nouns, questions, negations, quotations, statements and other languages ask for nothing."""
    assert KEYWORD.judge(Request(wish, prompt)) == "refuse"


@pytest.mark.parametrize("wish", ["remember", "forget", "clear"])
@pytest.mark.parametrize("prompt", ["", " ", "\n", "?", "\0", "\ud800", "```"])
def test_no_words_are_no_wish(wish: Wish, prompt: str) -> None:
    """A host that does not know what the user said opens nothing."""
    assert KEYWORD.judge(Request(wish, prompt)) == "refuse"
    assert KEYWORD.judge(Request(wish)) == "refuse"


@pytest.mark.parametrize(("wish", "prompt"), lines(("remember", FORGET), ("clear", REMEMBER)))
def test_each_wish_has_words_of_its_own(wish: Wish, prompt: str) -> None:
    """To forget is not to remember, and neither is to clear."""
    assert KEYWORD.judge(Request(wish, prompt)) == "refuse"


@pytest.mark.parametrize(("wish", "prompt"), lines(("forget", CLEAR)))
def test_who_clears_all_may_forget_each(wish: Wish, prompt: str) -> None:
    """The larger wish holds the smaller one, and not the other way round."""
    assert KEYWORD.judge(Request(wish, prompt)) == "allow"


def test_the_ends_of_a_long_prompt_are_read() -> None:
    """A wish behind a pasted document counts; one in the middle of it is the document's."""
    text = "lorem ipsum " * 5_000
    assert KEYWORD.judge(Request("remember", f"{text}\nRemember this.")) == "allow"
    assert KEYWORD.judge(Request("remember", f"Remember this:\n{text}")) == "allow"
    assert KEYWORD.judge(Request("remember", f"{text}\nRemember this.\n{text}")) == "refuse"


@given(st.text(), st.sampled_from(["remember", "forget", "clear"]))
def test_any_text_gets_an_answer(prompt: str, wish: Wish) -> None:
    """Whatever stands in a prompt, the answer is one of two."""
    assert KEYWORD.judge(Request(wish, prompt)) in {"allow", "refuse"}


@pytest.mark.parametrize("wish", ["remember", "forget", "clear"])
def test_approval_asks_in_every_language(wish: Wish) -> None:
    """The user sees the write itself, so no word has to be understood."""
    for prompt in ("", "Merke dir das", "覚えておいて", "Remember this", "Don't remember this"):
        assert APPROVAL.judge(Request(wish, prompt)) == "ask"


def test_each_policy_brings_its_text_for_the_model() -> None:
    """A host puts it into the system prompt: when to call which tool, and on whose word."""
    texts = {KEYWORD.system_prompt, APPROVAL.system_prompt}
    assert len(texts) == 2
    for text in texts:
        for part in ("remember_memory", "forget_memory", "clear_memory", "own initiative"):
            assert part in text
        assert text.endswith("\n")
