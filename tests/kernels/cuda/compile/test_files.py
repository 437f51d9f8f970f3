"""Every file of CUDA compiles in one variant, quickly and without a GPU; `make test-all` compiles all variants."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from gpu import nvrtc

import semiring as sr
from semiring.kernels.cuda.bits import entries
from semiring.kernels.cuda.bits.product import GEOMETRIES
from semiring.kernels.cuda.bits.words import CLOSE, WORDS
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.chains import chain_geometry, chain_source
from semiring.kernels.cuda.compile.convolution import convolution_source
from semiring.kernels.cuda.compile.folds import fold_geometry, fold_source
from semiring.kernels.cuda.compile.geometry import product_geometries
from semiring.kernels.cuda.compile.program import (
    OPTIONS,
    boolean_words,
    exchange_source,
    program,
    rank_source,
    word_filler,
)
from semiring.kernels.cuda.compile.steps import step_geometry, step_source
from semiring.kernels.cuda.compile.thin import thin_geometries, thin_source
from semiring.kernels.cuda.dense import gradients, logsum, outer
from semiring.kernels.cuda.history import blocks, edges, matrix
from semiring.kernels.cuda.sparse import front_code, masked, product, search, trees
from semiring.kernels.facts import DeviceFacts
from semiring.kernels.lowering.logsum import LogSum

FOLDER = Path(nvrtc.__file__).resolve().parents[2] / "kernels" / "cuda"
LAST_FILE = re.compile(r'^#line 1 "(.+\.cu)"$', re.MULTILINE)


def texts() -> list[str]:
    """A text for each file, with the elements of min-plus."""
    low = choose(sr.min_plus, np.dtype("f4"), DeviceFacts(largest=1, least=0), 2, in_place=False)
    general, text = general_on_device(sr.min_plus, np.dtype("f4")), program(low)
    g = product_geometries(text.size, text.weight)[0]
    words, folded = boolean_words(), fold_geometry(text.size, text.size, False)
    assert folded
    sequences = chain_geometry(text.size, text.weight, 5, 5, alone=False)
    chained = step_geometry(text.size, text.weight, 5)
    assert sequences and chained
    return [
        text.product(g, whole_tiles=False), text.panels(), text.elements(), text.winners(g),
        words.product(product_geometries(words.size, words.weight)[0], whole_tiles=False), exchange_source(low),
        thin_source(low, thin_geometries(text.size, text.weight, False)[0], "STACK", looks=True),
        *(fold_source(low, "add", folded, looks=True, ordered=False, file=name) for name in ("folds", "prefixes")),
        chain_source(low, sequences, looks=True, reverse=False), step_source(low, chained),
        outer.source(low), convolution_source(low, exchanged=False), masked.source(low),
        logsum.source(LogSum(), np.dtype("f4"), np.dtype("f8")),
        word_filler(np.dtype("?")), rank_source(np.dtype("f4"), np.dtype("u2")), gradients.source(general, -1.0),
        *(geometry.source() for geometry in (*GEOMETRIES.values(), WORDS, CLOSE, entries.geometry(1, 4))),
        blocks.source(general, blocks.KATZ_KIDER), edges.source(general), matrix.source(general),
        trees.source(low, True), front_code.source(general, False), search.source(low, 8),
        product.source(low, *product.lanes_of(64)),
    ]


@nvrtc.needs_compiler
def test_every_file_compiles() -> None:
    options = (*OPTIONS, "--gpu-architecture=compute_90a", "--device-debug")
    sources = texts()
    with ThreadPoolExecutor(2) as pool:
        said = dict(zip((LAST_FILE.findall(t)[-1] for t in sources),
                        pool.map(lambda t: nvrtc.complaint(t, *options), sources), strict=True))
    assert {name: complaint for name, complaint in said.items() if complaint} == {}
    assert set(said) == {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.cu")}
