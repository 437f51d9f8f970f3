// Convolutions over any semiring, of rows of a and rows of b, and the ⊕ of several of them:
//
//     c[z][x] = ⊕_r ⊕_t a[row(z, r)][x − t] ⊗ b[r][t]
//
// A thread holds RUN neighbours of a row of c in registers. For RUN steps of t they meet 2 RUN − 1 neighbours of a, which
// are registers too: those of one run of a and of the run before it, which is the upper one of the next RUN steps.
//
//     c    x0 … x0+15          t = 16 s … 16 s + 15:   a[x0 − 16 s − 15 … x0 − 16 s + 15]
//     a    ─ lower ─┼─ upper ─                         b[16 s … 16 s + 15], the same for all threads
//
// `wide` threads side by side hold a row of c, or a tile of it; the lines of a block are rows of c one after the other,
// which read the same row of b. Runs of a lie in shared memory with a gap behind each, for the banks' sake. Beyond the ends
// of a and b is the algebra's zero; where that does not absorb, terms with it are left out.
//
// In more than one dimension rows have places: row(z, r) is the row of a at the place of z less that of r, if there is one.
// The tables hold the places of b's rows, those of c's rows, and for each place the row of a there, or −1.
//
// A block may compute a part of the terms: `tall` steps of t, `deep` rows of b. `join` adds up the parts in their order.
//
// Before this file the engine writes ops.cuh, `Value`, `zero`, `plus`, `relax`, the numbers in capitals, and memory.cuh.

constexpr int PITCH = RUN + VECTOR;  // elements from run to run in shared memory
static_assert(RUN % VECTOR == 0 && DEPTH % RUN == 0);

struct alignas(VECTOR > 1 ? VECTOR * SIZE : alignof(Value)) Vector {
    Value at[VECTOR];
};

DEVICE Value step(Value c, Value a, Value b) { return EXCHANGED ? relax(c, b, a) : relax(c, a, b); }

DEVICE void read(Value (&to)[RUN], const Vector* run) {
#pragma unroll
    for (int i = 0; i < RUN; i += VECTOR) {
        const Vector v = run[i / VECTOR];
#pragma unroll
        for (int j = 0; j < VECTOR; j++) to[i + j] = v.at[j];
    }
}

// c ⊕= a b for `left` steps; `a` is the upper run of the first ones. If GUARDED, only the terms whose element of a is one
// of m elements, of which c[0] meets number `at` first.
template <bool GUARDED>
DEVICE void convolve_runs(Value (&c)[RUN], const Vector* a, const Vector* b, int left, long long at, long long m) {
    constexpr int PAIR = VECTOR > 1 ? 2 : 1;  // steps that are taken together, for three-operand ⊕
    Value upper[RUN], lower[RUN];
    read(upper, a);
#pragma unroll UNROLL
    for (int t = 0; t < left; t += RUN) {
        a -= PITCH / VECTOR;
        read(lower, a);
#pragma unroll
        for (int u = 0; u < RUN; u += VECTOR) {
            if (t + u < left) {
                const Vector y = b[(t + u) / VECTOR];
#pragma unroll
                for (int v = u; v < u + VECTOR; v += PAIR)
#pragma unroll
                    for (int q = 0; q < RUN; q++)
#pragma unroll
                        for (int w = v; w < v + PAIR; w++) {
                            const Value x = q >= w ? upper[(q - w + RUN) % RUN] : lower[(q - w + RUN) % RUN];
                            const long long i = at + q - t - w;
                            if (!GUARDED || (t + w < left && i >= 0 && i < m)) c[q] = step(c[q], x, y.at[w - u]);
                        }
            }
        }
#pragma unroll
        for (int q = 0; q < RUN; q++) upper[q] = lower[q];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) convolve(
    const Value* A, long long next_A, const Value* B, long long next_B, Value* C, long long m, long long n,
    long long first, long long count, const int* tables, long long rows_B, long long rows_C, long long positions,
    long long tall, long long deep, long long wide) {
    __shared__ Vector shared_a[2 * THREADS * PITCH / VECTOR], shared_b[DEPTH / VECTOR];
    const int across = (int)wide, lane = threadIdx.x % across, line = threadIdx.x / across, lines = THREADS / across;
    const int reach = across * RUN, depth = min(reach, DEPTH);
    const long long tiles = (count + reach - 1) / reach, groups = (rows_C + lines - 1) / lines;
    const long long parts = (n + tall - 1) / tall, tile = blockIdx.x % tiles, rest = blockIdx.x / tiles;
    const long long z = rest % groups * lines + line, part = rest / groups;
    const long long start = first + tile * reach;  // of the tile in the full convolution
    const long long begin = max(part % parts * tall, start - m + 1);
    const long long end = min(min(part % parts * tall + tall, n), start + reach);
    const int* const rows_A = tables + rows_B + rows_C;
    const int place = z < rows_C ? tables[rows_B + z] : -1;
    Vector* const my_a = shared_a + line * (across + depth / RUN) * (PITCH / VECTOR);
    Value c[RUN];
#pragma unroll
    for (int q = 0; q < RUN; q++) c[q] = zero();
    for (long long r = part / parts * deep; r < min(part / parts * deep + deep, rows_B); r++) {
        const int from = place - tables[r], row = place >= 0 && from >= 0 && from < positions ? rows_A[from] : -1;
        if (!__syncthreads_or(row >= 0)) continue;
        const Value* const a = A + blockIdx.y * next_A + row * m;
        const Value* const b = B + blockIdx.y * next_B + r * n;
        for (long long t = begin; t < end; t += depth) {
            const int left = (int)min(end - t, (long long)depth), runs = (left + RUN - 1) / RUN;
            const long long base = start - t - depth;  // number of the first element of a that has room
            __syncthreads();
            for (int e = depth - runs * RUN + lane; e < depth + reach; e += across) {
                const long long i = base + e;
                ((Value*)my_a)[e / RUN * PITCH + e % RUN] = row >= 0 && i >= 0 && i < m ? a[i] : zero();
            }
            for (int e = threadIdx.x; e < runs * RUN; e += THREADS) ((Value*)shared_b)[e] = e < left ? b[t + e] : zero();
            __syncthreads();
            if (row < 0) continue;
            const Vector* const upper = my_a + (depth / RUN + lane) * (PITCH / VECTOR);
            const bool inside = base + depth - runs * RUN >= 0 && base + depth + reach <= m && left == runs * RUN;
            if (ABSORBS || inside) convolve_runs<false>(c, upper, shared_b, left, 0, 0);
            else convolve_runs<true>(c, upper, shared_b, left, start - t + lane * RUN, m);
        }
    }
    if (z >= rows_C) return;
    Value* const to = C + ((part * gridDim.y + blockIdx.y) * rows_C + z) * count;
    const long long x = tile * reach + lane * RUN;
#pragma unroll
    for (int q = 0; q < RUN; q++)
        if (x + q < count) to[x + q] = c[q];
}

// C ← ⊕ of parts, which have `size` elements each.
extern "C" __global__ void __launch_bounds__(THREADS) join(const Value* parts, Value* C, long long size, long long count) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= size) return;
    Value sum = parts[i];
#pragma unroll 8
    for (long long k = 1; k < count; k++) sum = plus(sum, parts[k * size + i]);
    C[i] = sum;
}
