// Labels of vertices corrected along edges in compressed rows, a thread for each vertex. Before this file the engine writes
// ops.cuh, `Value`, `zero`, `one`, `plus`, `times`, `relax`, `same`, and memory.cuh for SIZE. Labels that several threads
// may improve at once are words of 4 or 8 bytes, which can be compared and swapped.

constexpr int THREADS = 256;

template <int BYTES> struct WordOf { using type = unsigned; };
template <> struct WordOf<8> { using type = unsigned long long; };
using Word = typename WordOf<SIZE>::type;
constexpr bool FITS = SIZE <= sizeof(Word);

DEVICE Word to_word(Value x) {
    Word word = 0;
    memcpy(&word, &x, FITS ? SIZE : sizeof(Word));
    return word;
}
DEVICE Value from_word(Word word) {
    Value x;
    memcpy(&x, &word, FITS ? SIZE : sizeof(Word));
    return x;
}

// *place ← *place ⊕ t, as one step that no other thread interrupts; whether that changed it.
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

DEVICE long long vertex() { return (long long)blockIdx.x * THREADS + threadIdx.x; }

// counts_i ← the entries of line i that are not zero. Elements of a line are `along` bytes apart, lines `across`.
extern "C" __global__ void __launch_bounds__(THREADS) count_edges(
    const char* A, long long across, long long along, long long n, long long* counts) {
    const long long i = vertex();
    if (i >= n) return;
    long long count = 0;
    for (long long j = 0; j < n; j++) count += !same(*(const Value*)(A + i * across + j * along), zero());
    counts[i] = count;
}

// The entries of line i, and where in the line they lie, from places_i on.
extern "C" __global__ void __launch_bounds__(THREADS) gather_edges(
    const char* A, long long across, long long along, long long n, const long long* places, int* heads, Value* weights) {
    const long long i = vertex();
    if (i >= n) return;
    long long p = places[i];
    for (long long j = 0; j < n; j++) {
        const Value a = *(const Value*)(A + i * across + j * along);
        if (!same(a, zero())) heads[p] = (int)j, weights[p++] = a;
    }
}

// Labels of the sources from `first` on, a row each: 1 at the source, 0 elsewhere. Only the sources are marked.
extern "C" __global__ void __launch_bounds__(THREADS) begin(
    Word* x, Word* y, int* marked, int* later, long long n, long long first) {
    const long long v = vertex(), place = blockIdx.y * n + v;
    if (v >= n) return;
    const bool is_source = v == first + blockIdx.y;
    x[place] = y[place] = to_word(is_source ? one() : zero());
    marked[place] = is_source;
    later[place] = 0;
}

// Harish and Narayanan's first kernel: u_w ← u_w ⊕ c_v ⊗ a_vw for all edges of the marked vertices v, which are then not
// marked any more. Labels c are read only, so that a round sees those of the round before.
extern "C" __global__ void __launch_bounds__(THREADS) relax_marked(
    const long long* offsets, const int* heads, const Value* weights, long long n, const Word* c, Word* u, int* marked) {
    const long long v = vertex();
    if (v >= n || !marked[v]) return;
    marked[v] = 0;
    const Value label = from_word(c[v]);
    for (long long e = offsets[v]; e < offsets[v + 1]; e++) improve(u + heads[e], times(label, weights[e]));
}

// Their second kernel: c_v ← c_v ⊕ u_v, and v is marked, where that improves c_v. `flag` ← 1 where any vertex is marked.
extern "C" __global__ void __launch_bounds__(THREADS) settle_labels(Word* c, Word* u, int* marked, long long n, int* flag) {
    const long long v = vertex();
    if (v >= n) return;
    const Value old = from_word(c[v]), best = plus(old, from_word(u[v]));
    if (!same(best, old)) {
        c[v] = to_word(best);
        marked[v] = 1;
        *flag = 1;
    }
    u[v] = c[v];
}

// Kemp's round: one array of labels, improved at once. Vertices whose label improves are marked for the next round; those
// that were are not, once they are done. Rows of blocks are sources.
extern "C" __global__ void __launch_bounds__(THREADS) relax_atomically(
    const long long* offsets, const int* heads, const Value* weights, long long n, Word* x, int* marked, int* later,
    int* flag) {
    const long long v = vertex(), source = blockIdx.y * n;
    if (v >= n || !marked[source + v]) return;
    marked[source + v] = 0;
    const Value label = from_word(__ldcg(x + source + v));
    bool changed = false;
    for (long long e = offsets[v]; e < offsets[v + 1]; e++) {
        const long long w = heads[e];
        if (improve(x + source + w, times(label, weights[e]))) {
            later[source + w] = 1;
            changed = true;
        }
    }
    if (changed) *flag = 1;
}

// D ← 1, a row of blocks for each row.
extern "C" __global__ void __launch_bounds__(THREADS) identity(Value* D, long long n, long long first) {
    const long long v = vertex();
    if (v < n) D[blockIdx.y * n + v] = v == first + blockIdx.y ? one() : zero();
}

// Tran's round: E ← D ⊕ D A for all sources at once, a thread for each pair of a source (a row of blocks) and a vertex,
// along the edges into the vertex. `flag` ← 1 where anything changed.
extern "C" __global__ void __launch_bounds__(THREADS) relax_pairs(
    const long long* offsets, const int* tails, const Value* weights, long long n, const Value* D, Value* E, int* flag) {
    const long long v = vertex();
    if (v >= n) return;
    const Value* const labels = D + (long long)blockIdx.y * n;
    const Value old = labels[v];
    Value c = old;
    for (long long e = offsets[v]; e < offsets[v + 1]; e++) c = relax(c, labels[tails[e]], weights[e]);
    E[(long long)blockIdx.y * n + v] = c;
    if (!same(c, old)) *flag = 1;
}

// The labels of some sources as rows of the answer.
extern "C" __global__ void __launch_bounds__(THREADS) write_rows(const Word* x, Value* D, long long n) {
    const long long v = vertex();
    if (v < n) D[(long long)blockIdx.y * n + v] = from_word(x[(long long)blockIdx.y * n + v]);
}
