// Rounds of label correcting over compressed rows, for many sources at once. Before this file the engine writes ops.cuh,
// `Value`, `zero`, `one`, `plus`, `times`, `same`, and GROUP.
//
// Sources come in groups of GROUP, a power of two up to 32. Element (v, s) of x is a word at v · sources + s, so that a
// group's values of a vertex lie side by side. A frontier has a word for each group and vertex, a bit a source. The edges
// of a vertex are cut into chunks, and a warp looks at 32 chunks: of each whose vertex is in the frontier it relaxes the
// edges, 32 / GROUP at a time, a lane for each edge and source.

constexpr int THREADS = 256;

template <int BYTES> struct WordOf { using type = unsigned; };
template <> struct WordOf<8> { using type = unsigned long long; };
using Word = typename WordOf<sizeof(Value)>::type;  // what is compared and swapped; narrow elements have one of 32 bits
static_assert(sizeof(Value) <= sizeof(Word) && GROUP <= 32 && (GROUP & (GROUP - 1)) == 0, "no such element or group");

DEVICE Word to_word(Value x) {
    Word word = 0;
    memcpy(&word, &x, sizeof(Value));
    return word;
}
DEVICE Value from_word(Word word) {
    Value x;
    memcpy(&x, &word, sizeof(Value));
    return x;
}

// *place ← *place ⊕ t; whether that changed it.
DEVICE bool improve(Word* place, Value t) {
    Word old = __ldcg(place);
    while (true) {
        const Value x = from_word(old), best = plus(x, t);
        if (same(best, x)) return false;
        const Word seen = atomicCAS(place, old, to_word(best));
        if (seen == old) return true;
        old = seen;
    }
}

// x ← 0, and 1 where a source is its own vertex; frontiers empty but for the sources. `starts` holds `count` vertices.
extern "C" __global__ void __launch_bounds__(THREADS) begin(
    Word* x, unsigned* frontiers, const long long* starts, long long count, long long n, long long groups) {
    const long long step = (long long)gridDim.x * THREADS, first = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long sources = groups * GROUP;
    for (long long i = first; i < n * sources; i += step) {
        const long long s = i % sources;
        x[i] = to_word(s < count && starts[s] == i / sources ? one() : zero());
    }
    for (long long i = first; i < 3 * n * groups; i += step) {
        unsigned bits = 0;
        if (i < n * groups) {
            const long long v = i % n, group = i / n * GROUP;
            for (int s = 0; s < GROUP; s++)
                if (group + s < count && starts[group + s] == v) bits |= 1u << s;
        }
        frontiers[i] = bits;
    }
}

// One round. `later` is empty before, `spare` after it. Nothing is done if the round before, whose flag is `before`, found
// nothing to do; `flag` ← 1 where this one did.
extern "C" __global__ void __launch_bounds__(THREADS) relax_frontier(
    const int* chunk_vertex, const long long* chunk_first, long long chunks, const long long* offsets, const int* columns,
    const Value* values, long long n, long long groups, Word* x, const unsigned* now, unsigned* later, unsigned* spare,
    const int* before, int* flag) {
    constexpr int ABREAST = 32 / GROUP;  // edges at a time
    if (before && !*before) return;
    const long long group = blockIdx.y, sources = groups * GROUP;
    const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
    for (long long i = thread; i < n; i += (long long)gridDim.x * THREADS) spare[group * n + i] = 0;
    const int lane = threadIdx.x % 32, s = lane % GROUP, e = lane / GROUP;
    Word* const mine = x + group * GROUP + s;
    bool changed = false;
    const long long warps = (long long)gridDim.x * (THREADS / 32);
    for (long long base = thread / 32 * 32; base < chunks; base += warps * 32) {
        const long long c = base + lane;
        const int vertex = c < chunks ? chunk_vertex[c] : 0;
        const unsigned bits = c < chunks ? now[group * n + vertex] : 0;
        for (unsigned left = __ballot_sync(~0u, bits != 0); left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            const int u = __shfl_sync(~0u, vertex, k);
            if (!(__shfl_sync(~0u, bits, k) >> s & 1)) continue;
            const long long first = chunk_first[base + k], end = min(first + CHUNK, offsets[u + 1]);
            const Value x_u = from_word(__ldcg(mine + u * sources));
            for (long long p = first + e; p < end; p += ABREAST) {
                const int v = columns[p];
                if (improve(mine + v * sources, times(x_u, values[p]))) {
                    atomicOr(later + group * n + v, 1u << s);
                    changed = true;
                }
            }
        }
    }
    if (changed) *flag = 1;
}
