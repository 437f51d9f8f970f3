// Products whose time is that of reading memory: of stacks of small matrices, and of a matrix and a vector. Each element is
// read once, looked at, encoded and used; so a product of data is one launch, or two where it is split along k.
//
// A block of `stack` takes several matrices of A and B into shared memory, and a thread ROWS × VECTOR elements of an answer.
// Over log-sum-exp (POWERS) the maxima of A's rows and B's columns are taken out there, and the rest is a product of powers:
//
//     r_i = max_k a_ik    c_j = max_k b_kj    g_ij = Σ_k exp(a_ik − r_i) exp(b_kj − c_j)    answer_ij = r_i + c_j + log g_ij
//
// where g_ij is far above all that may have underflowed; other entries are ⊕ of each term.
//
// `rows` multiplies a matrix whose rows lie in memory one after the other with a vector, a warp for ROWS rows; `columns`
// multiplies a vector with such a matrix, a thread for a run of columns. MATRIX_LEFT says which one is the left factor.
// Over log-sum-exp their sums are pairs: the greatest term so far, and the sum of the powers of the others' distances.
//
// Before this file the engine writes ops.cuh, the prelude of the algebra, then of the data, the numbers in capitals, found.cuh,
// runs.cuh, seen.cuh and memory.cuh. Leading dimensions and steps are in bytes.

#ifdef STACK

// Quotients of numbers below 2^16 by a number d, by a product.
struct Divisor {
    unsigned d, factor;
    DEVICE Divisor(int d) : d(d), factor(0xffffffffu / d + 1) {}
    DEVICE int quotient(int x) const { return factor ? (unsigned long long)x * factor >> 32 : x; }
};

using Values = Run<Value, VECTOR>;
DEVICE int runs(int count) { return (count + VECTOR - 1) / VECTOR; }

// Some matrices on their way into shared memory, each row in `pitch` runs and each matrix in `size` of them; from one run of
// memory or not. A thread asks memory for the first LOADS runs before it waits for them.
struct Fetch {
    using Givens = Run<Given, VECTOR>;
    Values* const to;
    const int pitch, size, rows, columns, total, lead, whole;  // elements before the first run; runs
    const char* const from;
    const Divisor by_rows, by_columns;
    Givens first[LOADS];

    DEVICE Fetch(Values* to, int pitch, int size, const char* from, int count, int rows, int columns, bool dense)
        : to(to), pitch(pitch), size(size), rows(rows), columns(columns), total(count * rows * columns),
          lead(dense ? min(before(from), total) : total), whole((total - lead) / VECTOR), from(from), by_rows(rows), by_columns(columns) {
        ask(first, threadIdx.x);
    }
    DEVICE static int before(const char* from) {
        return int(-(long long)from & alignof(Givens) - 1) / (int)sizeof(Given);
    }
    DEVICE void ask(Givens (&x)[LOADS], int start) {
        const Givens* const runs = (const Givens*)(from + lead * (long long)sizeof(Given));
#pragma unroll
        for (int u = 0; u < LOADS; u++)
            if (start + u * THREADS < whole) x[u] = runs[start + u * THREADS];
    }
    DEVICE void put(const Givens (&x)[LOADS], int start, Seen& seen) {
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            const int e = start + u * THREADS;
            if (e >= whole) break;
            Values y;
#pragma unroll
            for (int v = 0; v < VECTOR; v++) seen.look(x[u].at[v]), y.at[v] = encode(x[u].at[v]);
            const int place = lead + e * VECTOR;
            int row = by_columns.quotient(place), column = place - row * columns, matrix = by_rows.quotient(row);
            Values* line = to + matrix * size + (row - matrix * rows) * pitch;
            if (columns % VECTOR == 0 && lead == 0) line[column / VECTOR] = y;
            else
#pragma unroll
                for (int v = 0; v < VECTOR; v++) {
                    ((Value*)line)[column] = y.at[v];
                    if (++column == columns) {
                        column = 0, row++, matrix = by_rows.quotient(row);
                        line = to + matrix * size + (row - matrix * rows) * pitch;
                    }
                }
        }
    }
    DEVICE void finish(long long ld, long long next, Seen& seen) {
        put(first, threadIdx.x, seen);
#pragma unroll 1
        for (int e = threadIdx.x + LOADS * THREADS; e < whole; e += LOADS * THREADS) ask(first, e), put(first, e, seen);
#pragma unroll 4
        for (int f = threadIdx.x; f < total - whole * VECTOR; f += THREADS) {
            const int e = f < lead ? f : f + whole * VECTOR;
            const int row = by_columns.quotient(e), column = e - row * columns, matrix = by_rows.quotient(row);
            const int i = row - matrix * rows;
            const Given x = *(const Given*)(from + matrix * next + i * ld + column * (long long)sizeof(Given));
            seen.look(x);
            ((Value*)(to + matrix * size + i * pitch))[column] = encode(x);
        }
    }
};

#ifdef POWERS

DEVICE Value step(Value c, Value a, Value b) { return ops::multiply_add(a, b, c); }
DEVICE Value start() { return 0; }
DEVICE bool is_low(Value x) { return x < 0 && x - x != 0; }  // −∞

// Of logarithms, with the sign of those whose powers are added.
DEVICE Value positive(Value x) { return NEGATED ? -x : x; }

// Powers in place of logarithms, the greatest of each row of `a` and of each column of `b` out: to tops, and to tops_b by runs.
DEVICE void take_out(Values* a, int pitch, int size, int count, int m, Values* b, int across, int size_b, int count_b, int k,
                     Value* tops, Values* tops_b) {
    const Divisor by_rows(m), by_across(across), by_terms(k);
    for (int e = threadIdx.x; e < count * m; e += THREADS) {
        const int matrix = by_rows.quotient(e);
        const Values* const line = a + matrix * size + (e - matrix * m) * pitch;
        Value top = positive(line[0].at[0]);
#pragma unroll 2
        for (int p = 0; p < k / VECTOR; p++) {
            const Values x = line[p];
#pragma unroll
            for (int v = 0; v < VECTOR; v++) top = ops::maximum(top, positive(x.at[v]));
        }
        for (int p = k / VECTOR * VECTOR; p < k; p++) top = ops::maximum(top, positive(((const Value*)line)[p]));
        tops[e] = is_low(top) ? Value(0) : top;
    }
    for (int e = THREADS - 1 - threadIdx.x; e < count_b * across; e += THREADS) {  // by other threads, where there are few
        const int matrix = by_across.quotient(e);
        const Values* const column = b + matrix * size_b + (e - matrix * across);
        Values top = column[0];
#pragma unroll
        for (int v = 0; v < VECTOR; v++) top.at[v] = positive(top.at[v]);
#pragma unroll 4
        for (int p = 1; p < k; p++) {
            const Values x = column[p * across];
#pragma unroll
            for (int v = 0; v < VECTOR; v++) top.at[v] = ops::maximum(top.at[v], positive(x.at[v]));
        }
#pragma unroll
        for (int v = 0; v < VECTOR; v++) top.at[v] = is_low(top.at[v]) ? Value(0) : top.at[v];
        tops_b[e] = top;
    }
    __syncthreads();
    const int deep = runs(k);
    const Divisor by_deep(deep);
    for (int e = threadIdx.x; e < count * m * deep; e += THREADS) {
        const int row = by_deep.quotient(e), matrix = by_rows.quotient(row);
        Values* const x = a + matrix * size + (row - matrix * m) * pitch + (e - row * deep);
        const Value top = tops[row];
        Values y = *x;
#pragma unroll
        for (int v = 0; v < VECTOR; v++) y.at[v] = power(positive(y.at[v]) - top);
        *x = y;
    }
    for (int e = threadIdx.x; e < count_b * k * across; e += THREADS) {
        const int row = by_across.quotient(e), matrix = by_terms.quotient(row), column = e - row * across;
        Values* const x = b + matrix * size_b + (row - matrix * k) * across + column;
        const Values top = tops_b[matrix * across + column];
        Values y = *x;
#pragma unroll
        for (int v = 0; v < VECTOR; v++) y.at[v] = power(positive(y.at[v]) - top.at[v]);
        *x = y;
    }
}

// An entry by ⊕ of each term, from the data.
__noinline__ __device__ Value by_terms(const char* a, const char* b, long long ldb, int k) {
    Value value = zero();
#pragma unroll 1
    for (int p = 0; p < k; p++)
        value = relax(value, encode(*(const Given*)(a + p * (long long)sizeof(Given))), encode(*(const Given*)(b + p * ldb)));
    return value;
}

__noinline__ __device__ Value joined(Value old, Value value) { return plus(old, value); }

#else

DEVICE Value step(Value c, Value a, Value b) { return relax(c, a, b); }
DEVICE Value start() { return zero(); }
DEVICE Value joined(Value old, Value value) { return plus(old, value); }

#endif

// C[s] ← A[s] B[s], or C[s] ⊕ A[s] B[s], for m × k and k × n matrices, `per_block` of them a block. Bits of `how`: A, and B, of
// a block is one run of memory; C takes runs; there is an old C.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) stack(
    const char* A, long long lda, long long next_a, const char* B, long long ldb, long long next_b,
    char* C, long long ldc, long long next_c, long long batch, long long all_rows, long long terms, long long all_columns,
    long long per_block, long long how, REPORT) {
    __shared__ __align__(16) char memory[SHARED];
    SEEN(seen);
    const int m = all_rows, k = terms, n = all_columns;
    const long long first = blockIdx.x * per_block;
    const int count = (int)min(per_block, batch - first), shared_b = next_b ? count : 1;
    const int pitch = runs(k) | 1, across = runs(n), size = m * pitch | 1, size_b = k * across | 1;
    A += first * next_a, B += first * next_b, C += first * next_c;
    Values* const a = (Values*)memory;
    Values* const b = a + (int)per_block * size;
    Fetch fetch_a(a, pitch, size, A, count, m, k, how & 1), fetch_b(b, across, size_b, B, shared_b, k, n, how & 2);
    fetch_a.finish(lda, next_a, seen);
    fetch_b.finish(ldb, next_b, seen);
    __syncthreads();
#ifdef POWERS
    constexpr Value LEAST = Value(SIZE == 4 ? 0x1p-126f * 0x1p23f * 8 : 0x1p-1022 * 0x1p52 * 8);
    constexpr Value MOST = Value(SIZE == 4 ? 0x1p126f : 0x1p1022);
    Values* const tops_b = b + (next_b ? (int)per_block : 1) * size_b;
    Value* const tops = (Value*)(tops_b + (next_b ? (int)per_block : 1) * across);
    take_out(a, pitch, size, count, m, b, across, size_b, shared_b, k, tops, tops_b);
    __syncthreads();
#endif
    const int down = (m + ROWS - 1) / ROWS, tasks = down * across;
    const Divisor by_tasks(tasks), by_across(across);
#pragma unroll 1
    for (int t = threadIdx.x; t < count * tasks; t += THREADS) {
        const int s = by_tasks.quotient(t), place = t - s * tasks;
        const int row = by_across.quotient(place), column = (place - row * across) * VECTOR;
        const Values *x[ROWS], *const y = b + (next_b ? s : 0) * size_b + column / VECTOR;
#pragma unroll
        for (int u = 0; u < ROWS; u++) x[u] = a + s * size + min(row + u * down, m - 1) * pitch;
        Value c[ROWS][VECTOR];
#pragma unroll
        for (int u = 0; u < ROWS; u++)
#pragma unroll
            for (int v = 0; v < VECTOR; v++) c[u][v] = start();
        int p = 0;
#pragma unroll 1
        for (; p + VECTOR <= k; p += VECTOR) {
            Values right[VECTOR];
#pragma unroll
            for (int w = 0; w < VECTOR; w++) right[w] = y[(p + w) * across];
#pragma unroll
            for (int u = 0; u < ROWS; u++) {
                const Values left = x[u][p / VECTOR];
#pragma unroll
                for (int v = 0; v < VECTOR; v++)
#pragma unroll
                    for (int w = 0; w < VECTOR; w++) c[u][v] = step(c[u][v], left.at[w], right[w].at[v]);
            }
        }
#pragma unroll 1
        for (; p < k; p++) {
            const Values right = y[p * across];
#pragma unroll
            for (int u = 0; u < ROWS; u++) {
                const Value left = ((const Value*)x[u])[p];
#pragma unroll
                for (int v = 0; v < VECTOR; v++) c[u][v] = step(c[u][v], left, right.at[v]);
            }
        }
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            const int i = row + u * down;
            if (i >= m) break;
            char* const to = C + s * next_c + i * ldc + column * (long long)sizeof(Given);
            Run<Given, VECTOR> result;
#pragma unroll
            for (int v = 0; v < VECTOR; v++) {
                const int j = column + v;
                if (j >= n) break;
                Value value = c[u][v];
#ifdef POWERS
                const Value top = tops[s * m + i], top_b = tops_b[(next_b ? s : 0) * across + column / VECTOR].at[v];
                value = value >= LEAST * k && fabs(top) < MOST && fabs(top_b) < MOST
                    ? positive(top + top_b + logarithm(value))
                    : by_terms(A + s * next_a + i * lda, B + s * next_b + j * (long long)sizeof(Given), ldb, k);
#endif
                if (how & 8) value = joined(encode(*(const Given*)(to + v * sizeof(Given))), value);
                result.at[v] = seen.judged(value);
                if (!(how & 4)) *(Given*)(to + v * sizeof(Given)) = result.at[v];
            }
            if (how & 4) *(Run<Given, VECTOR>*)to = result;
        }
    }
    TELL(seen);
}

#endif

#ifdef VECTORS

#ifdef POWERS

// Of the logarithms of terms: the greatest, and the sum of powers of their distances from it; no term leaves a sum of 0.
struct Sum {
    Value top, sum;
};
DEVICE Sum start() { return {zero(), 0}; }
DEVICE Value distance(Value x, Value y) { return x == y ? Value(0) : -fabs(x - y); }
DEVICE bool beyond(Value x, Value y) { return NEGATED ? x < y : x > y; }
DEVICE void add(Sum& c, Value top, Value sum) {
    const Value scale = power(distance(top, c.top));
    const bool more = beyond(top, c.top);
    c.sum = more ? ops::multiply_add(c.sum, scale, sum) : ops::multiply_add(sum, scale, c.sum);
    c.top = more ? top : c.top;
}
DEVICE void add(Sum& c, Value matrix, Value vector, bool) {
    if (!is_absent(matrix) && !is_absent(vector)) add(c, matrix + vector, 1);
}
DEVICE void join(Sum& c, const Sum& d) {
    if (d.sum != 0) add(c, d.top, d.sum);
}
DEVICE Value value_of(const Sum& c) {
    return c.sum == 0 ? zero() : NEGATED ? c.top - logarithm(c.sum) : c.top + logarithm(c.sum);
}

#else

using Sum = Value;
DEVICE Sum start() { return zero(); }
DEVICE void add(Sum& c, const Value& matrix, const Value& vector, bool) {
    c = MATRIX_LEFT ? relax(c, matrix, vector) : relax(c, vector, matrix);
}
DEVICE void join(Sum& c, const Sum& d) { c = plus(c, d); }
DEVICE Value value_of(const Sum& c) { return c; }

#endif

DEVICE Given element(const char* at) { return *(const Given*)at; }

// Sums for ROWS rows of the terms that this lane takes: WIDTH at once, from `first` to `last`.
template <int WIDTH>
DEVICE void sum_rows(Sum (&c)[ROWS], const char* const (&row)[ROWS], const char* x, long long step, long long first,
                     long long last, bool looks_at_x, Seen& seen) {
    using Givens = Run<Given, WIDTH>;
    constexpr int AHEAD = ROWS > 1 ? 4 : 2, STRIDE = 32 * WIDTH;
    long long p = first + threadIdx.x % 32 * WIDTH;
#pragma unroll 1
    for (; p + (AHEAD - 1) * STRIDE + WIDTH <= last; p += AHEAD * STRIDE) {
        Givens a[AHEAD][ROWS];
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) a[u][r] = *(const Givens*)(row[r] + (p + u * STRIDE) * (long long)sizeof(Given));
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            Givens z;
            if (WIDTH > 1) z = *(const Givens*)(x + (p + u * STRIDE) * (long long)sizeof(Given));
            else z.at[0] = element(x + (p + u * STRIDE) * step);
#pragma unroll
            for (int w = 0; w < WIDTH; w++) {
                if (looks_at_x) seen.look(z.at[w]);
                const Value vector = encode(z.at[w]);
#pragma unroll
                for (int r = 0; r < ROWS; r++) seen.look(a[u][r].at[w]), add(c[r], encode(a[u][r].at[w]), vector, true);
            }
        }
    }
#pragma unroll 1
    for (; p < last; p += STRIDE)
#pragma unroll 1
        for (long long q = p; q < min(p + WIDTH, last); q++) {
            const Given z = element(x + q * step);
            if (looks_at_x) seen.look(z);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const Given a = element(row[r] + q * (long long)sizeof(Given));
                seen.look(a), add(c[r], encode(a), encode(z), true);
            }
        }
}

// y_i ← ⊕_p a_ip ⊗ x_p, or the ⊕ of that and y_i; a matrix of the stack for each blockIdx.y. Where `chunk` terms are a part,
// the sums of parts go to y: of part s of matrix b and row i to ((b · parts + s) · m + i). Bits of `how`: rows and x are read by
// runs; there are parts; there is an old y.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) rows(
    const char* A, long long ld, long long next, const char* x, long long step_x, long long next_x,
    char* y, long long step_y, long long next_y, long long m, long long k, long long chunk, long long blocks, long long how,
    REPORT) {
    constexpr int WARPS = THREADS / 32;
    __shared__ __align__(16) char memory[THREADS * ROWS * sizeof(Sum)];
    SEEN(seen);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long block = blockIdx.x % blocks, part = blockIdx.x / blocks, parts = gridDim.x / blocks;
    const long long first = part * chunk, last = min(first + chunk, k), top = (block * WARPS + warp) * ROWS;
    A += blockIdx.y * next, x += blockIdx.y * next_x;
    const char* row[ROWS];
    Sum c[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) row[r] = A + min(top + r, m - 1) * ld, c[r] = start();
    if (how & 1) sum_rows<VECTOR>(c, row, x, step_x, first, last, block == 0, seen);
    else sum_rows<1>(c, row, x, step_x, first, last, block == 0, seen);
    Sum* const held = (Sum*)memory + warp * ROWS * 32;
#pragma unroll
    for (int r = 0; r < ROWS; r++) held[r * 32 + lane] = c[r];
    for (int half = 16; half; half /= 2) {
        __syncthreads();
        if (lane < half)
#pragma unroll
            for (int r = 0; r < ROWS; r++) join(held[r * 32 + lane], held[r * 32 + lane + half]);
    }
    __syncthreads();
    const long long i = top + lane;
    if (lane < ROWS && i < m) {
        const Sum& sum = held[lane * 32];
        if (how & 2) ((Sum*)y)[(blockIdx.y * parts + part) * m + i] = sum;
        else {
            Given* const to = (Given*)(y + blockIdx.y * next_y + i * step_y);
            Value value = value_of(sum);
            if (how & 4) value = plus(encode(*to), value);
            *to = seen.judged(value);
        }
    }
    TELL(seen);
}

// Sums for WIDTH columns of the terms that this row of threads takes.
template <int WIDTH>
DEVICE void sum_columns(Sum (&c)[VECTOR], const char* a, long long ld, const char* x, long long step, long long first,
                        long long last, int down, bool looks_at_x, Seen& seen) {
    using Givens = Run<Given, WIDTH>;
    constexpr int AHEAD = 8;
    long long p = first;
#pragma unroll 1
    for (; p + (AHEAD - 1) * down < last; p += AHEAD * down) {
        Givens all[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) all[u] = *(const Givens*)(a + (p + u * down) * ld);
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const Given z = element(x + (p + u * down) * step);
            if (looks_at_x) seen.look(z);
            const Value vector = encode(z);
#pragma unroll
            for (int w = 0; w < WIDTH; w++) seen.look(all[u].at[w]), add(c[w], encode(all[u].at[w]), vector, true);
        }
    }
#pragma unroll 1
    for (; p < last; p += down) {
        const Givens run = *(const Givens*)(a + p * ld);
        const Given z = element(x + p * step);
        if (looks_at_x) seen.look(z);
#pragma unroll
        for (int w = 0; w < WIDTH; w++) seen.look(run.at[w]), add(c[w], encode(run.at[w]), encode(z), true);
    }
}

// y_j ← ⊕_p x_p ⊗ a_pj likewise, for n columns; a block has `across` threads side by side, a power of two. Bits of `how` as
// above; the first one says that n and rows are read by whole runs.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) columns(
    const char* A, long long ld, long long next, const char* x, long long step_x, long long next_x,
    char* y, long long step_y, long long next_y, long long n, long long k, long long chunk, long long blocks,
    long long how, long long across, REPORT) {
    __shared__ __align__(16) char memory[THREADS * VECTOR * sizeof(Sum)];
    SEEN(seen);
    const int wide = (int)across, down = THREADS / wide, width = how & 1 ? VECTOR : 1;
    const int place = threadIdx.x % wide, level = threadIdx.x / wide;
    const long long block = blockIdx.x % blocks, part = blockIdx.x / blocks, parts = gridDim.x / blocks;
    const long long first = part * chunk + level, last = min(part * chunk + chunk, k), j = (block * wide + place) * width;
    const char* const a = A + blockIdx.y * next + j * (long long)sizeof(Given);
    x += blockIdx.y * next_x;
    Sum c[VECTOR];
#pragma unroll
    for (int v = 0; v < VECTOR; v++) c[v] = start();
    if (j < n) {
        const bool looks_at_x = block == 0 && place == 0;
        if (how & 1) sum_columns<VECTOR>(c, a, ld, x, step_x, first, last, down, looks_at_x, seen);
        else sum_columns<1>(c, a, ld, x, step_x, first, last, down, looks_at_x, seen);
    }
    Sum* const held = (Sum*)memory + threadIdx.x * VECTOR;
#pragma unroll
    for (int v = 0; v < VECTOR; v++) held[v] = c[v];
    for (int half = down / 2; half; half /= 2) {
        __syncthreads();
        if (level < half)
#pragma unroll
            for (int v = 0; v < VECTOR; v++) join(held[v], held[half * wide * VECTOR + v]);
    }
    if (level == 0)
        for (int v = 0; v < width && j + v < n; v++) {
            if (how & 2) ((Sum*)y)[(blockIdx.y * parts + part) * n + j + v] = held[v];
            else {
                Given* const to = (Given*)(y + blockIdx.y * next_y + (j + v) * step_y);
                Value value = value_of(held[v]);
                if (how & 4) value = plus(encode(*to), value);
                *to = seen.judged(value);
            }
        }
    TELL(seen);
}

// y ← the ⊕ of parts, as `rows` and `columns` leave them, or of that and y: `across` entries a block, a power of two, whose
// other threads share the parts.
extern "C" __global__ void __launch_bounds__(THREADS) together(
    const Sum* parts, char* y, long long step_y, long long next_y, long long n, long long count, long long how,
    long long across, REPORT) {
    __shared__ __align__(16) char memory[THREADS * sizeof(Sum)];
    SEEN(seen);
    const int wide = (int)across, levels = THREADS / wide, level = threadIdx.x / wide;
    const long long j = (long long)blockIdx.x * wide + threadIdx.x % wide;
    Sum sum = start();
    if (j < n)
#pragma unroll 4
        for (long long s = level; s < count; s += levels) join(sum, parts[(blockIdx.y * count + s) * n + j]);
    Sum* const held = (Sum*)memory;
    held[threadIdx.x] = sum;
    __syncthreads();
    if (level == 0 && j < n) {
        for (int s = 1; s < levels; s++) join(sum, held[s * wide + threadIdx.x]);
        Given* const to = (Given*)(y + blockIdx.y * next_y + j * step_y);
        Value value = value_of(sum);
        if (how & 4) value = plus(encode(*to), value);
        *to = seen.judged(value);
    }
    TELL(seen);
}

#endif
