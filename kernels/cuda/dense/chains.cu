// All products of sequences of small matrices. A sequence is cut into chunks, which groups of GROUP threads compute side by
// side: `totals` multiplies the matrices of each chunk, and `prefixes` begins with what is before it and keeps every product.
//
//     P ← P A_t     a line is a row of P, and depends on the same row of P before
//     P ← A_t P     with REVERSE: a line is a column of P, and depends on the same column
//
// A matrix lies in shared memory, for all threads of its group; so do the lines of P, of which a thread computes WIDTH elements
// at once. The group's next matrix is on its way from memory meanwhile. Lines and rows have an odd pitch of runs, so that
// threads that read theirs at once meet different banks.
//
// Over log-sum-exp (POWERS) lines hold logarithms. The maxima of a line, and of the matrix's columns (its rows with REVERSE),
// are taken out, and the rest is a product of powers, as in thin.cu: an entry far above all that may have underflowed is
// accepted, and another one is ⊕ of each term.
//
// Before this file the engine writes ops.cuh, the prelude of the algebra, then of the data, the numbers in capitals, found.cuh,
// runs.cuh, seen.cuh and memory.cuh. Leading dimensions and steps are in bytes.

using Values = Run<Value, VECTOR>;
using Givens = Run<Given, VECTOR>;

constexpr int RUNS = (N + VECTOR - 1) / VECTOR, PITCH = RUNS | 1, SIDE = PITCH * VECTOR;  // of a line
constexpr int GROUPS = THREADS / GROUP, BLOCKS = (N + WIDTH - 1) / WIDTH;
constexpr bool WHOLE = N % VECTOR == 0;
constexpr int ROOM = (N + 2 * LINES) * PITCH | 1;  // runs of a matrix and of two products
constexpr int SHARE = (N * N + VECTOR - 1) / VECTOR;
constexpr int PER_THREAD = (SHARE + GROUP - 1) / GROUP * VECTOR;  // elements of a matrix that a thread takes
constexpr int MOST_HELD = sizeof(Given) < 4 ? 32 : 128 / (int)sizeof(Given), LIMIT = MOST_HELD > VECTOR ? MOST_HELD / VECTOR * VECTOR : VECTOR;
constexpr int ACROSS = LINES >= VECTOR ? LINES / VECTOR : 1;  // runs of a row with REVERSE
constexpr int HELD = PER_THREAD < LIMIT ? PER_THREAD : LIMIT;
constexpr int ROUNDS = (PER_THREAD + HELD - 1) / HELD;

DEVICE unsigned lane() { return threadIdx.x % GROUP; }

DEVICE void meet() {
    if constexpr (GROUP > 32) __syncthreads();
    else __syncwarp();
}

// Some of a matrix's elements, those of one round: by runs, or one by one.
template <int RUN> DEVICE void ask(Given (&x)[HELD], const char* from, long long ld, int round) {
#pragma unroll
    for (int u = 0; u < HELD / RUN; u++) {
        const unsigned e = (round * (HELD / RUN) + u) * GROUP + lane();
        if (e >= N * N / RUN) break;
        const Run<Given, RUN> run = *(const Run<Given, RUN>*)(from + e / (N / RUN) * ld + e % (N / RUN) * (RUN * (unsigned)sizeof(Given)));
#pragma unroll
        for (int v = 0; v < RUN; v++) x[u * RUN + v] = run.at[v];
    }
}

// The same into shared memory, in rows, or with TURNED in columns.
template <int RUN, bool TURNED> DEVICE void put(const Given (&x)[HELD], Values* to, int round, bool looks, Seen& seen) {
#pragma unroll
    for (int u = 0; u < HELD / RUN; u++) {
        const unsigned e = (round * (HELD / RUN) + u) * GROUP + lane();
        if (e >= N * N / RUN) break;
        const unsigned row = e / (N / RUN), column = e % (N / RUN) * RUN;
        Run<Value, RUN> y;
#pragma unroll
        for (int v = 0; v < RUN; v++) {
            if (looks) seen.look(x[u * RUN + v]);
            y.at[v] = encode(x[u * RUN + v]);
        }
        if constexpr (TURNED) {
#pragma unroll
            for (int v = 0; v < RUN; v++) ((Value*)to)[(column + v) * SIDE + row] = y.at[v];
        } else if constexpr (RUN == VECTOR) to[row * PITCH + column / VECTOR] = y;
        else {
#pragma unroll
            for (int v = 0; v < RUN; v++) ((Value*)to)[row * SIDE + column + v] = y.at[v];
        }
    }
}

// A matrix on its way into shared memory.
struct Next {
    Given first[HELD];
    DEVICE void come(const char* from, long long ld, bool whole) {
        if (WHOLE && whole) ask<WHOLE ? VECTOR : 1>(first, from, ld, 0);
        else ask<1>(first, from, ld, 0);
    }
    template <bool TURNED> DEVICE void arrive(Values* to, const char* from, long long ld, bool whole, bool looks, Seen& seen) {
        if (WHOLE && whole) put_all<WHOLE ? VECTOR : 1, TURNED>(to, from, ld, looks, seen);
        else put_all<1, TURNED>(to, from, ld, looks, seen);
    }
    template <int RUN, bool TURNED> DEVICE void put_all(Values* to, const char* from, long long ld, bool looks, Seen& seen) {
        put<RUN, TURNED>(first, to, 0, looks, seen);
#pragma unroll 1
        for (int round = 1; round < ROUNDS; round++) {
            ask<RUN>(first, from, ld, round);
            put<RUN, TURNED>(first, to, round, looks, seen);
        }
    }
};

#ifdef POWERS

DEVICE Value step(Value c, Value a, Value b) { return ops::multiply_add(a, b, c); }
DEVICE Value start() { return 0; }
DEVICE bool is_low(Value x) { return x < 0 && x - x != 0; }  // −∞

// Of logarithms, with the sign of those whose powers are added.
DEVICE Value positive(Value x) { return NEGATED ? -x : x; }
DEVICE Value within(Value top) { return is_low(top) ? Value(0) : top; }

// Powers in place of logarithms, the greatest of each column (row with REVERSE) out.
DEVICE void take_out(Values* a, Value* tops) {
    constexpr int STEP = REVERSE ? 1 : SIDE, BESIDE = REVERSE ? SIDE : 1, AHEAD = N <= 32 ? N : 8;
#pragma unroll 1
    for (unsigned j = lane(); j < N; j += GROUP) {
        Value *const at = (Value*)a + j * BESIDE, x[AHEAD];
        Value top = positive(at[0]);
        if constexpr (AHEAD == N) {
#pragma unroll
            for (int k = 0; k < N; k++) x[k] = positive(at[k * STEP]), top = ops::maximum(top, x[k]);
            tops[j] = top = within(top);
#pragma unroll
            for (int k = 0; k < N; k++) at[k * STEP] = power(x[k] - top);
        } else {
#pragma unroll 8
            for (int k = 1; k < N; k++) top = ops::maximum(top, positive(at[k * STEP]));
            tops[j] = top = within(top);
#pragma unroll 8
            for (int k = 0; k < N; k++) at[k * STEP] = power(positive(at[k * STEP]) - top);
        }
    }
}

// An entry by ⊕ of each term that is there: of a line, and of a matrix's column (row with REVERSE) in memory.
__noinline__ __device__ Value by_terms(const Value* line, const char* column, long long step) {
    Value value = zero();
#pragma unroll 1
    for (int k = 0; k < N; k++) {
        const Value a = encode(*(const Given*)(column + k * step)), s = line[k];
        if (!is_absent(a) && !is_absent(s)) value = REVERSE ? relax(value, a, s) : relax(value, s, a);
    }
    return value;
}

#else

DEVICE Value step(Value c, Value a, Value b) { return REVERSE ? relax(c, b, a) : relax(c, a, b); }
DEVICE Value start() { return zero(); }

#endif

// The lines of a product from those of the one before, and a matrix in shared memory; `step` gets an element of a line first.
DEVICE void advance(const Values* a, const Value* tops, const Values* from, Values* to, int lines, const char* matrix, long long ld) {
#pragma unroll 1
    for (unsigned task = lane(); task < LINES * BLOCKS; task += GROUP) {
        const int line = task % LINES, first = task / LINES * WIDTH;
        if (line >= lines) continue;
        const Values* const s = from + line * PITCH;
        Value c[WIDTH];
#pragma unroll
        for (int v = 0; v < WIDTH; v++) c[v] = start();
#ifdef POWERS
        Value top = positive(s[0].at[0]);
#pragma unroll
        for (int p = 0; p < N / VECTOR; p++) {
            const Values x = s[p];
#pragma unroll
            for (int v = 0; v < VECTOR; v++) top = ops::maximum(top, positive(x.at[v]));
        }
#pragma unroll
        for (int k = N / VECTOR * VECTOR; k < N; k++) top = ops::maximum(top, positive(((const Value*)s)[k]));
        top = within(top);
#endif
#pragma unroll 2
        for (int p = 0; p < N / VECTOR; p++) {
            Values x = s[p];
#ifdef POWERS
#pragma unroll
            for (int w = 0; w < VECTOR; w++) x.at[w] = power(positive(x.at[w]) - top);
#endif
            if constexpr (REVERSE) {
#pragma unroll
                for (int v = 0; v < WIDTH; v++) {
                    const Values y = a[(first + v) * PITCH + p];
#pragma unroll
                    for (int w = 0; w < VECTOR; w++) c[v] = step(c[v], x.at[w], y.at[w]);
                }
            } else {
#pragma unroll
                for (int w = 0; w < VECTOR; w++)
#pragma unroll
                    for (int u = 0; u < WIDTH / VECTOR; u++) {
                        const Values y = a[(p * VECTOR + w) * PITCH + first / VECTOR + u];
#pragma unroll
                        for (int v = 0; v < VECTOR; v++) c[u * VECTOR + v] = step(c[u * VECTOR + v], x.at[w], y.at[v]);
                    }
            }
        }
#pragma unroll 1
        for (int k = N / VECTOR * VECTOR; k < N; k++) {
            Value x = ((const Value*)s)[k];
#ifdef POWERS
            x = power(positive(x) - top);
#endif
#pragma unroll
            for (int v = 0; v < WIDTH; v++) {
                const int j = first + v;
                c[v] = step(c[v], x, ((const Value*)a)[REVERSE ? j * SIDE + k : k * SIDE + j]);
            }
        }
        Value* const result = (Value*)(to + line * PITCH) + first;
#ifdef POWERS
        constexpr Value LEAST = Value(SIZE == 4 ? 0x1p-126f * 0x1p23f * 8 : 0x1p-1022 * 0x1p52 * 8) * N;
        constexpr Value MOST = Value(SIZE == 4 ? 0x1p126f : 0x1p1022);
        constexpr int AT = sizeof(Given);
#pragma unroll
        for (int v = 0; v < WIDTH; v++) {
            const int j = first + v;
            if (j >= N) break;
            const Value out = tops[j];
            c[v] = c[v] >= LEAST && fabs(top) < MOST && fabs(out) < MOST
                ? positive(top + out + logarithm(c[v]))
                : by_terms((const Value*)s, matrix + (REVERSE ? j * ld : (long long)j * AT), REVERSE ? AT : ld);
        }
#endif
        if (WHOLE || first + WIDTH <= N) {
#pragma unroll
            for (int u = 0; u < WIDTH / VECTOR; u++) {
                if (first + u * VECTOR >= N) break;
                Values y;
#pragma unroll
                for (int v = 0; v < VECTOR; v++) y.at[v] = c[u * VECTOR + v];
                ((Values*)result)[u] = y;
            }
        } else {
#pragma unroll
            for (int v = 0; v < WIDTH; v++)
                if (first + v < N) result[v] = c[v];
        }
    }
}

// The lines of a product to memory, as rows of N elements, or with REVERSE as columns; each element once by `store`.
template <class T, class F> DEVICE void hand_out(const Values* from, char* to, int lines, bool whole, F store) {
    using Stored = Run<T, VECTOR>;
    if constexpr (!REVERSE && WHOLE) {
        if (whole) {
#pragma unroll 4
            for (unsigned e = lane(); e < unsigned(lines * RUNS); e += GROUP) {
                const Values y = from[e / RUNS * PITCH + e % RUNS];
                Stored x;
#pragma unroll
                for (int v = 0; v < VECTOR; v++) x.at[v] = store(y.at[v]);
                ((Stored*)to)[e] = x;
            }
            return;
        }
    }
    if constexpr (REVERSE && LINES % VECTOR == 0) {
        if (whole) {
#pragma unroll 4
            for (unsigned e = lane(); e < N * ACROSS; e += GROUP) {
                const int i = e / ACROSS, j = e % ACROSS * VECTOR;
                if (j >= lines) continue;
                Stored x;
#pragma unroll
                for (int v = 0; v < VECTOR; v++) x.at[v] = store(((const Value*)from)[(j + v) * SIDE + i]);
                *(Stored*)((T*)to + i * lines + j) = x;
            }
            return;
        }
    }
#pragma unroll 4
    for (unsigned e = lane(); e < N * LINES; e += GROUP) {
        const int i = REVERSE ? e / LINES : e / N, j = REVERSE ? e % LINES : e % N;
        if ((REVERSE ? j : i) >= lines) continue;
        const Value y = ((const Value*)from)[REVERSE ? j * SIDE + i : i * SIDE + j];
        ((T*)to)[REVERSE ? i * lines + j : e] = store(y);
    }
}

// Bits of `how`: matrices are read by runs; answers are written by runs; matrices are looked at.
constexpr int READS_RUNS = 1, WRITES_RUNS = 2, LOOKS_AT = 4;

// The products of a chunk, each of which `keep` gets.
template <bool BEGINS, class F>
DEVICE void fold(const char* A, long long ld, long long step, long long first, long long last, long long length,
                 const Value* before, int lines, int how, Seen& seen, F keep) {
    constexpr int SHARED_RUNS = GROUPS * ROOM + 2;
    __shared__ __align__(16) char memory[SHARED_RUNS * sizeof(Values) + GROUPS * (N + VECTOR) * sizeof(Value)];
    const int group = threadIdx.x / GROUP;
    Values* const a = (Values*)memory + group * ROOM;
    Values *now = a + N * PITCH, *other = now + LINES * PITCH;
    Value* const tops = (Value*)((Values*)memory + SHARED_RUNS) + group * (N + VECTOR);
    const bool whole = how & READS_RUNS, looks = how & LOOKS_AT, begins = BEGINS && before;
    Next next;
    const char* at = A + first * step;
    if (first < last) next.come(at, ld, whole);
    if (begins) {
#pragma unroll 4
        for (unsigned e = lane(); e < N * LINES; e += GROUP) {
            const int i = REVERSE ? e / LINES : e / N, j = REVERSE ? e % LINES : e % N;
            if ((REVERSE ? j : i) < lines)
                ((Value*)now)[REVERSE ? j * SIDE + i : i * SIDE + j] = before[REVERSE ? i * lines + j : e];
        }
    }
#pragma unroll 1
    for (long long i = 0; i < length; i++) {
        const bool live = first + i < last, multiplies = i > 0 || begins;
        if (live) {
            if (multiplies) next.template arrive<false>(a, at, ld, whole, looks, seen);
            else next.template arrive<REVERSE>(now, at, ld, whole, looks, seen);
            if (first + i + 1 < last) next.come(at + step, ld, whole);
        }
        meet();
#ifdef POWERS
        if (live && multiplies) take_out(a, tops);
        meet();
#endif
        if (live && multiplies) {
            advance(a, tops, now, other, lines, at, ld);
            Values* const swap = now;
            now = other, other = swap;
        }
        meet();
        if (live) keep(now, i);
        at += step;
    }
    if (!BEGINS && first < last) keep(now, -1);
}

// A chunk of a sequence for each group: `chunks` of `length` matrices of `steps` in each of `batch` sequences.
struct Chunk {
    long long sequence, number, first, last;
    DEVICE Chunk(long long steps, long long length, long long batch) {
        const long long chunks = (steps + length - 1) / length;
        const long long task = blockIdx.x * (long long)GROUPS + threadIdx.x / GROUP;
        sequence = task / chunks, number = task % chunks, first = number * length;
        last = sequence < batch ? min(first + length, steps) : first;
        if (sequence >= batch) sequence = 0;
    }
};

// sums ← the product of each chunk, in storage.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) totals(
    const char* A, long long ld, long long step, long long next, Value* sums, long long steps, long long length,
    long long batch, long long how, REPORT) {
    SEEN(seen);
    const Chunk chunk(steps, length, batch);
    const long long chunks = (steps + length - 1) / length;
    Value* const to = sums + (chunk.sequence * chunks + chunk.number) * N * N;
    fold<false>(A + chunk.sequence * next, ld, step, chunk.first, chunk.last, length, (const Value*)nullptr, N, (int)how, seen,
                [&](const Values* lines, long long i) {
                    if (i < 0) hand_out<Value>(lines, (char*)to, N, WHOLE, [](const Value& y) { return y; });
                });
    TELL(seen);
}

// P[t] ← every product, as data. What is before a chunk: of the first one `initial` of the sequence, if there is one, of
// others an element of `starts`, which has one for each chunk; products have `lines` lines.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) prefixes(
    const char* A, long long ld, long long step, long long next, char* P, long long step_p, long long next_p,
    const Value* starts, const Value* initial, long long next_initial, long long steps, long long length, long long batch,
    long long lines, long long how, REPORT) {
    SEEN(seen);
    const Chunk chunk(steps, length, batch);
    const long long chunks = (steps + length - 1) / length;
    const Value* const before = chunk.number ? starts + (chunk.sequence * chunks + chunk.number) * lines * N
        : initial ? initial + chunk.sequence * next_initial : nullptr;
    char* const to = P + chunk.sequence * next_p + chunk.first * step_p;
    fold<true>(A + chunk.sequence * next, ld, step, chunk.first, chunk.last, length, before, (int)lines, (int)how, seen,
               [&](const Values* all, long long i) {
                   hand_out<Given>(all, to + i * step_p, (int)lines, how & WRITES_RUNS, [&](const Value& y) { return seen.judged(y); });
               });
    TELL(seen);
}
