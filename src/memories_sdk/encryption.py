"""Texts sealed with a user's key: AES-256-GCM, each bound to the row it belongs to.

Keys are derived from the user's by HKDF and a salt of the store. Digests of texts are keyed too,
since a bare SHA-256 of a short text can be guessed; their key is a random one of the store, kept
under the user's, so that it outlives a change of that.
"""

from __future__ import annotations

import hmac
import os
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from memories_sdk.errors import InvalidInput, MissingExtra, WrongKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    _Aead: TypeAlias = AESGCM

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
_KEPT: Final = b"memories-sdk digest key"


class Cipher:
    """Seals and opens the texts of one store. Safe to share between threads.

    Attributes:
        salt: What the keys are derived with, beside the user's key.
        kept: The store's digest key, sealed; it opens with the right key alone.
    """

    def __init__(self, key: bytes, salt: bytes, digest_key: bytes, kept: bytes) -> None:
        self._aead = _aead(_derived(key, salt, b"memories-sdk texts"))
        self._digest_key = digest_key
        self.salt = salt
        self.kept = kept

    @classmethod
    def new(cls, key: bytes, digest_key: bytes | None = None) -> Self:
        """Return a cipher for a store that has none."""
        checked_key(key)
        salt = os.urandom(KEY_BYTES)
        digest_key = digest_key or os.urandom(KEY_BYTES)
        nonce = os.urandom(NONCE_BYTES)
        keeper = _aead(_derived(key, salt, _KEPT))
        return cls(key, salt, digest_key, nonce + keeper.encrypt(nonce, digest_key, _KEPT))

    @classmethod
    def of(cls, key: bytes, salt: bytes, kept: bytes) -> Self:
        """Return the cipher of a store.

        Raises:
            WrongKey: The key is not the store's.
        """
        checked_key(key)
        digest_key = _opened(_aead(_derived(key, salt, _KEPT)), kept, _KEPT)
        if digest_key is None:
            raise WrongKey(
                "The key does not open this store. Nothing was read or changed.",
                suggestion="Pass the key that the store was encrypted with.",
            )
        return cls(key, salt, digest_key, kept)

    def renewed(self, key: bytes) -> Cipher:
        """Return a cipher of the same store with another key."""
        return Cipher.new(key, self._digest_key)

    def __repr__(self) -> str:
        return "<Cipher>"

    def seal(self, text: str, *place: str) -> str:
        """Return a text that only this cipher opens, and only at that place."""
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._aead.encrypt(nonce, text.encode(), _bound(place))
        return b64encode(nonce + sealed).decode()

    def open(self, sealed: str, *place: str) -> str:
        """Return the text that was sealed at that place.

        Raises:
            WrongKey: It was sealed with another key, at another place, or altered.
        """
        try:
            text = _opened(self._aead, b64decode(sealed, validate=True), _bound(place))
        except ValueError:
            text = None
        if text is None:
            raise WrongKey(
                "A text of this store does not open: its key was changed, or the text was.",
                suggestion="Open it again with its present key; verify() names what is hurt.",
            )
        return text.decode()

    def keyed(self, digest: bytes) -> bytes:
        """Return a digest that nobody without the key can guess the text of."""
        return hmac.digest(self._digest_key, digest, "sha256")


def checked_key(key: object) -> bytes:
    """Return the key.

    Raises:
        InvalidInput: It is not 32 bytes.
    """
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise InvalidInput(
            f"key must be {KEY_BYTES} bytes.",
            field="key",
            suggestion="Make one with secrets.token_bytes(32) and keep it apart from the store.",
        )
    return key


def _bound(place: tuple[str, ...]) -> bytes:
    # No part holds a NUL: they are names of ours, keys of shelves, ids and numbers.
    return "\0".join(place).encode()


def _opened(aead: _Aead, sealed: bytes, bound: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- an optional extra

    try:
        return aead.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        return None


def _aead(key: bytes) -> _Aead:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("Encryption", "encryption") from error
    return AESGCM(key)


def _derived(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("Encryption", "encryption") from error
    return HKDF(SHA256(), KEY_BYTES, salt, purpose).derive(key)
