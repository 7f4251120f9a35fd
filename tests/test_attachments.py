"""Pictures: kept once, for their shelf alone, and nothing but pictures."""

from __future__ import annotations

import struct

import pytest

from memories_sdk import NotFound
from memories_sdk.attachments import MAX_ATTACHMENT, referred_to
from memories_sdk.errors import InvalidInput, QuotaExceeded, TooLong
from memories_sdk.markdown import render_safe
from memories_sdk.quota import Quota

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR picture"
KINDS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0 picture",
    "image/gif": b"GIF89a picture",
    "image/webp": b"RIFF" + struct.pack("<I", 100) + b"WEBPVP8 picture",
}


@pytest.mark.parametrize("media_type", KINDS)
def test_the_first_bytes_say_what_it_is(shelf, media_type: str) -> None:
    """A name or a claim decides nothing; a wrong claim is refused."""
    head = shelf.attach(KINDS[media_type], name="x.svg")
    assert (head.media_type, head.size) == (media_type, len(KINDS[media_type]))
    assert shelf.attachment(head.id).content == KINDS[media_type]
    assert shelf.attach(KINDS[media_type], name="x", media_type=media_type).id == head.id
    with pytest.raises(InvalidInput):
        shelf.attach(KINDS[media_type], name="x", media_type="image/svg+xml")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<?xml version='1.0'?><svg/>",
        b"<html>",
        b"%PDF-1.7",
        b" " + PNG,
        b"GIF88a",
        b"BM picture",
        "text",
        None,
    ],
    ids=repr,
)
def test_what_is_no_picture_is_refused(shelf, content) -> None:
    """SVG above all: it is a program."""
    with pytest.raises(InvalidInput):
        shelf.attach(content, name="x.png")
    assert shelf.attachments() == ()


def test_a_picture_has_a_bound(shelf) -> None:
    """The error states size, limit and excess."""
    shelf.attach(PNG.ljust(MAX_ATTACHMENT), name="largest")
    with pytest.raises(TooLong) as caught:
        shelf.attach(PNG.ljust(MAX_ATTACHMENT + 1), name="larger")
    assert (caught.value.size, caught.value.limit) == (MAX_ATTACHMENT + 1, MAX_ATTACHMENT)


def test_the_same_picture_is_kept_once(shelf) -> None:
    """Its id comes from its bytes; the first name stays."""
    first = shelf.attach(PNG, name="first")
    assert shelf.attach(PNG, name="second") == first
    assert [each.name for each in shelf.attachments()] == ["first"]


def test_a_foreign_picture_looks_like_an_unknown_one(store, shelf, bob) -> None:
    """The id is no key to another shelf, and the same picture there is another's."""
    picture = shelf.attach(PNG, name="mine")
    hers = store.scope(acting_as=bob)
    errors = []
    for id in (picture.id, "0" * 32, "no id"):
        for verb in (hers.attachment, hers.detach):
            with pytest.raises(NotFound) as caught:
                verb(id)
            errors.append((caught.value.code, type(caught.value)))
    assert len(set(errors)) == 1
    hers.attach(PNG, name="hers")
    hers.detach(picture.id)
    assert shelf.attachment(picture.id).name == "mine"


def test_its_markdown_shows_it_whatever_its_name(shelf) -> None:
    """Brackets in a name do not end the label."""
    picture = shelf.attach(KINDS["image/png"], name=r"a [b] \c](x)")
    whole = shelf.attachment(picture.id)
    markup = render_safe(picture.markdown, attachments={str(picture.id): whole.data_url})
    assert f'src="{whole.data_url}"' in markup
    assert 'alt="a [b] \\c](x)"' in markup


def test_unused_ones_are_those_that_no_text_names(shelf) -> None:
    """Not even one that can be restored, or that nobody saved yet."""
    kept = {name: shelf.attach(PNG + name.encode(), name=name) for name in "abcd"}
    memory = shelf.create("n", "plan", kept["a"].markdown)
    gone = shelf.create("gone", "plan", kept["b"].markdown)
    shelf.delete_by_id(gone.id)
    shelf.keep_draft("k", type="plan", content=kept["c"].markdown)
    assert [each.name for each in shelf.attachments(unused=True)] == ["d"]
    shelf.update(memory.id, content="nothing")
    assert [each.name for each in shelf.attachments(unused=True)] == ["d"]
    shelf.drop_draft("k")
    assert [each.name for each in shelf.attachments(unused=True)] == ["c", "d"]
    shelf.detach(kept["d"].id)
    assert [each.name for each in shelf.attachments()] == ["a", "b", "c"]


def test_references_are_found_in_any_spelling(shelf) -> None:
    """Capital digits name the same picture."""
    picture = shelf.attach(PNG, name="x")
    assert referred_to([f"![](attachment:{str(picture.id).upper()})"]) == {picture.id}
    assert referred_to(["attachment:", "attachment:1234"]) == set()


def test_pictures_count_against_the_quota(make_store) -> None:
    """They are what fills a disk."""
    store = make_store(quota=Quota(bytes=100))
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.attach(PNG.ljust(60), name="a")
    shelf.attach(PNG.ljust(60), name="again")
    with pytest.raises(QuotaExceeded):
        shelf.attach(PNG.ljust(61), name="b")
    assert len(shelf.attachments()) == 1
