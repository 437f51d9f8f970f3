// Closures: A ← A* by Gauss–Jordan elimination with the star at every pivot.
//
//     [ X C X ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
//     [ R D R ]
//     [ X C X ]     The pivot block D is ORDER × ORDER, closed in the registers of SIDE × SIDE threads.
//
// A thread holds PER × PER elements, in runs of GROUP. The kernels are `close_stack` for matrices of one block each,
// `close_powers` for those over log-sum-exp, and `panels`, `strips` and `rest` for a step on a larger matrix.
//
// Before this file the engine writes ops.cuh, `Value`, `zero`, `one`, `times`, `plus`, `relax`, `star`, `defined`,
// UNIT_PIVOTS, the numbers in capitals, and memory.cuh.

constexpr int PER = ORDER / SIDE;
constexpr int TEAM = SIDE * SIDE;  // threads of a matrix
#ifndef LOOKS  // else it stands before found.cuh
constexpr int THREADS = TEAM * MATRICES;
#endif
constexpr int VECTOR = SIZE <= 8 ? (16 / SIZE < 8 ? 16 / SIZE : 8) : 1;
constexpr int PITCH = (ORDER * SIZE + 31) / 16 * 16;  // bytes from row to row of a block in shared memory
constexpr int BLOCK = ORDER * PITCH;
static_assert(ORDER % SIDE == 0 && PER % GROUP == 0 && GROUP % 2 == 0 && ORDER % VECTOR == 0);

template <int LENGTH> struct alignas(SIZE <= 8 && LENGTH * SIZE <= 16 && !(SIZE & SIZE - 1) ? LENGTH * SIZE : alignof(Value)) Run {
    Value at[LENGTH];
};
struct alignas(VECTOR > 1 ? VECTOR * SIZE : alignof(Value)) Vector {
    Value at[VECTOR];
};

DEVICE int thread_row() { return threadIdx.x % TEAM / SIDE; }
DEVICE int thread_column() { return threadIdx.x % SIDE; }
// Where the i-th of a thread's COUNT rows (or columns) lies, for a thread that is the `place`-th of its side.
template <int COUNT> constexpr int run = COUNT < GROUP ? COUNT : GROUP;
template <int COUNT> DEVICE int position(int place, int i) {
    return i / run<COUNT> * (run<COUNT> * SIDE) + place * run<COUNT> + i % run<COUNT>;
}

// Whether a block can be read and written by runs.
template <int LENGTH> DEVICE bool in_runs(const char* block, long long ld) {
    return ((unsigned long long)block | (unsigned long long)ld) % alignof(Run<LENGTH>) == 0;
}

// A thread's I × J elements of a block of I · SIDE rows and J · SIDE columns, of which `rows` × `columns` exist.
template <int I, int J> DEVICE void load(Value (&c)[I][J], const char* block, long long ld, int rows, int columns) {
    constexpr int G = run<J>;
    const int y = thread_row(), x = thread_column();
    if (rows >= I * SIDE && columns >= J * SIDE && in_runs<G>(block, ld)) {
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j += G) {
                Run<G> part = *(const Run<G>*)(block + position<I>(y, i) * ld + position<J>(x, j) * SIZE);
#pragma unroll
                for (int u = 0; u < G; u++) c[i][j + u] = part.at[u];
            }
        return;
    }
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++) {
            int row = position<I>(y, i), column = position<J>(x, j);
            c[i][j] = row < rows && column < columns ? *(const Value*)(block + row * ld + column * SIZE) : zero();
        }
}

template <int I, int J> DEVICE void store(const Value (&c)[I][J], char* block, long long ld, int rows, int columns) {
    constexpr int G = run<J>;
    const int y = thread_row(), x = thread_column();
    if (rows >= I * SIDE && columns >= J * SIDE && in_runs<G>(block, ld)) {
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j += G) {
                Run<G> part;
#pragma unroll
                for (int u = 0; u < G; u++) part.at[u] = c[i][j + u];
                *(Run<G>*)(block + position<I>(y, i) * ld + position<J>(x, j) * SIZE) = part;
            }
        return;
    }
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++) {
            int row = position<I>(y, i), column = position<J>(x, j);
            if (row < rows && column < columns) *(Value*)(block + row * ld + column * SIZE) = c[i][j];
        }
}

// A row or column that a thread shows to all, and what all read of it.
DEVICE void show(Value* to, int place, const Value (&own)[PER]) {
#pragma unroll
    for (int j = 0; j < PER; j += GROUP) {
        Run<GROUP> part;
#pragma unroll
        for (int v = 0; v < GROUP; v++) part.at[v] = own[j + v];
        *(Run<GROUP>*)(to + position<PER>(place, j)) = part;
    }
}
DEVICE void look(Value (&own)[PER], const Value* from, int place) {
#pragma unroll
    for (int j = 0; j < PER; j += GROUP) {
        Run<GROUP> part = *(const Run<GROUP>*)(from + position<PER>(place, j));
#pragma unroll
        for (int v = 0; v < GROUP; v++) own[j + v] = part.at[v];
    }
}

// c ← c* in registers; returns the first pivot without a star, or −1. `n` rows and columns are more than isolated
// vertices. Two pivots are done at a time: their rows and columns are shown to all threads in `shown`, twice 4 · ORDER.
//
// With UNIT_PIVOTS every star is 1, or shows on the diagonal that there is no closure, and ⊕ is idempotent. Then, with
// ones on the diagonal, a pivot's work is c_ij ← c_ij ⊕ c_ip ⊗ c_pj for all i and j, the pivot's own row and column
// among them.
//
// Otherwise, with s = (c_pp)*, r_j = s ⊗ c_pj but r_p = s, and q_i = c_ip but q_p = 1, and with row and column p set to
// zero, it is c_ij ← c_ij ⊕ q_i ⊗ r_j. In both cases the second pivot's row and column are first brought up to date by
// the same equation; in the general one they are then left out of the first pivot's.
DEVICE int close_registers(Value (&c)[PER][PER], Value* shown, int n) {
    int failed = -1;
    const int y = thread_row(), x = thread_column();
    if (UNIT_PIVOTS && x == y) {
#pragma unroll
        for (int i = 0; i < PER; i++) c[i][i] = plus(one(), c[i][i]);
    }
#pragma unroll
    for (int group = 0; group < PER / GROUP; group++) {
#pragma unroll 1
        for (int owner = 0; owner < SIDE; owner++) {
            if ((group * SIDE + owner) * GROUP >= n) return failed;
#pragma unroll
            for (int u = 0; u < GROUP; u += 2) {
                const int own = group * GROUP + u;  // which of its owner's rows and columns the first pivot is
                const int p = (group * SIDE + owner) * GROUP + u;
                Value* const row_0 = shown + u / 2 % 2 * (4 * ORDER) + (GROUP == 2 ? owner % 2 * (4 * ORDER) : 0);
                Value *const row_1 = row_0 + ORDER, *const column_0 = row_1 + ORDER, *const column_1 = column_0 + ORDER;
                if (y == owner) {
                    show(row_0, x, c[own]);
                    show(row_1, x, c[own + 1]);
                }
                if (x == owner) {
                    Value first[PER], second[PER];
#pragma unroll
                    for (int i = 0; i < PER; i++) first[i] = c[i][own], second[i] = c[i][own + 1];
                    show(column_0, y, first);
                    show(column_1, y, second);
                }
                if constexpr (!UNIT_PIVOTS) {
#pragma unroll
                    for (int i = 0; i < PER; i++) {
                        if (x == owner) c[i][own] = c[i][own + 1] = zero();
                        if (y == owner) c[own][i] = c[own + 1][i] = zero();
                    }
                }
                __syncthreads();
                Value r_0[PER], r_1[PER], q_0[PER], q_1[PER];
                look(r_0, row_0, x);
                look(r_1, row_1, x);
                look(q_0, column_0, y);
                look(q_1, column_1, y);
                Value below = row_1[p], right = row_0[p + 1];  // c_qp and c_pq, where q = p + 1
                if constexpr (!UNIT_PIVOTS) {
                    const Value s = star(row_0[p]);
                    if (failed < 0 && !defined(row_0[p])) failed = p;
                    right = times(s, right);
#pragma unroll
                    for (int j = 0; j < PER; j++) r_0[j] = times(s, r_0[j]);
                    if (x == owner) r_0[own] = s, r_1[own] = zero();
                    if (y == owner) q_0[own] = one(), q_1[own] = zero();
                }
#pragma unroll
                for (int j = 0; j < PER; j++) r_1[j] = relax(r_1[j], below, r_0[j]);
#pragma unroll
                for (int i = 0; i < PER; i++) q_1[i] = relax(q_1[i], q_0[i], right);
                if constexpr (!UNIT_PIVOTS) {
                    const Value a = relax(row_1[p + 1], below, right), s = star(a);
                    if (failed < 0 && !defined(a)) failed = p + 1;
#pragma unroll
                    for (int j = 0; j < PER; j++) r_1[j] = times(s, r_1[j]);
                    if (x == owner) r_1[own + 1] = s, r_0[own + 1] = zero();
                    if (y == owner) q_1[own + 1] = one(), q_0[own + 1] = zero();
                }
#pragma unroll
                for (int i = 0; i < PER; i++)
#pragma unroll
                    for (int j = 0; j < PER; j++) c[i][j] = relax(relax(c[i][j], q_0[i], r_0[j]), q_1[i], r_1[j]);
            }
        }
    }
    return failed;
}

#ifdef STACK

// D[s] ← A[s]* for matrices of up to ORDER rows, MATRICES of them a block; A may be D, and `failed` null. It keeps what it
// holds already: where the matrices are blocks of larger ones, that is an earlier pivot. Where `left` is given, only matrices
// for which it is not 0 are closed.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) close_stack(
    const char* A, long long lda, long long next_a, char* D, long long ld, long long next, long long n, long long batch,
    long long start, int* failed, const int* left) {
    const int team = threadIdx.x / TEAM;
    const long long s = (long long)blockIdx.x * MATRICES + team;
    const bool mine = s < batch && !(left && !left[s]);
    if (!(MATRICES > 1 ? __syncthreads_or(mine) : mine)) return;
    __shared__ __align__(16) char shown[MATRICES * 8 * ORDER * SIZE];
    Value c[PER][PER];
    const long long rows = mine ? n : 0;  // the others of the block wait for all
    load(c, A + s * next_a, lda, rows, rows);
    int pivot = close_registers(c, (Value*)shown + team * (8 * ORDER), n);
    if (!mine) return;
    if (failed && threadIdx.x % TEAM == 0 && pivot >= 0 && failed[s] < 0) failed[s] = start + pivot;
    store(c, D + s * next, ld, n, n);
}

#endif

#ifdef LOOKS

// The same for data that storage holds as they are: tells what they are, of pivots without a star, and of a diagonal that is
// better than 1. Before this file stand found.cuh and what it needs as well.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) close_data(
    const char* A, long long lda, long long next_a, char* D, long long ld, long long next, long long n, long long batch,
    long long zero_key, long long one_key, Tally* tally, long long* report) {
    const int team = threadIdx.x / TEAM, y = thread_row(), x = thread_column();
    const long long s = (long long)blockIdx.x * MATRICES + team, rows = s < batch ? n : 0;
    const Number zero_of_data = from_key<Number>(zero_key), one_of_data = from_key<Number>(one_key);
    __shared__ __align__(16) char shown[MATRICES * 8 * ORDER * SIZE];
    Found found;
    Value c[PER][PER];
    load(c, A + s * next_a, lda, rows, rows);
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++)
            if (position<PER>(y, i) < rows && position<PER>(x, j) < rows) found.look_at(c[i][j], zero_of_data, one_of_data);
    if (close_registers(c, (Value*)shown + team * (8 * ORDER), n) >= 0 && rows) found.flags |= UNDEFINED;
    if (x == y)
#pragma unroll
        for (int i = 0; i < PER; i++)
            if (position<PER>(y, i) < rows && !same(plus(one(), c[i][i]), one())) found.flags |= IMPROVED;
    if (rows) store(c, D + s * next, ld, n, n);
    found.account(tally, report);
}

#endif

#ifdef POWERS

// D[s] ← A[s]* over log-sum-exp, by the closure of the powers over + and ×; `power`, `logarithm` and `is_absent` are its
// own, and ⊕, ⊗ and star those of positive numbers. left[s] is 1, and D[s] as it was, where that cannot be believed.
//
// Nothing here is subtracted but a pivot from 1, so each operation is off by one rounding of its result, as are those on
// logarithms. What underflows is less than TINY, the least number there is, at each of 2 n³ operations, and in an entry
// x_ij it becomes less than 2 n³ TINY (max X)². That is below a rounding of entries from LEAST on, if none is above MOST.
// Entries that are 0 are right if no walk leads there: if no edge leaves what the row reaches.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) close_powers(
    const char* A, long long lda, long long next_a, char* D, long long ld, long long next, long long n, long long batch,
    int* left) {
    constexpr Value MOST = 1 << 12, LEAST = Value(SIZE == 4 ? 0x1p-80 : 0x1p-950);
    constexpr int WORDS = (ORDER + 31) / 32;
    __shared__ __align__(16) char shown[MATRICES * 8 * ORDER * SIZE];
    __shared__ unsigned all_edges[MATRICES][ORDER][WORDS], all_reached[MATRICES][ORDER][WORDS];
    __shared__ int doubts[MATRICES];
    const int team = threadIdx.x / TEAM, place = threadIdx.x % TEAM;
    const long long s = (long long)blockIdx.x * MATRICES + team;
    const bool mine = s < batch;
    auto& edges = all_edges[team];
    auto& reached = all_reached[team];
    const char* const given = A + s * next_a;
    const int y = thread_row(), x = thread_column();
    Value c[PER][PER];
    const int rows = mine ? n : 0;
    load(c, given, lda, rows, rows);
    if (place == 0) doubts[team] = 0;
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const bool there = position<PER>(y, i) < rows && position<PER>(x, j) < rows;
            c[i][j] = there && !is_absent(c[i][j]) ? power(c[i][j]) : Value(0);
        }
    bool sure = close_registers(c, (Value*)shown + team * (8 * ORDER), n) < 0, every = true;
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const bool there = position<PER>(y, i) < rows && position<PER>(x, j) < rows, none = c[i][j] == Value(0);
            every &= !(there && none);
            sure &= !there || none || (c[i][j] >= LEAST && c[i][j] <= MOST);  // NaN is not
        }
    if (!__syncthreads_and(every)) {
        for (int e = place; e < ORDER * WORDS; e += TEAM) edges[e / WORDS][e % WORDS] = reached[e / WORDS][e % WORDS] = 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < PER; j++) {
                const int row = position<PER>(y, i), column = position<PER>(x, j);
                if (row >= rows || column >= rows) continue;
                if (c[i][j] != Value(0)) atomicOr(&reached[row][column / 32], 1u << column % 32);
                if (!is_absent(*(const Value*)(given + row * lda + column * SIZE)))
                    atomicOr(&edges[row][column / 32], 1u << column % 32);
            }
        __syncthreads();
        for (int row = place; row < rows; row += TEAM)
            for (int k = 0; k < rows; k++)
                if (reached[row][k / 32] >> k % 32 & 1)
#pragma unroll
                    for (int w = 0; w < WORDS; w++) sure &= !(edges[k][w] & ~reached[row][w]);
    }
    __syncthreads();
    if (!sure) doubts[team] = 1;
    __syncthreads();
    sure = !doubts[team];
    if (!mine) return;
    if (place == 0) left[s] = !sure;
    if (!sure) return;
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) c[i][j] = logarithm(c[i][j]);
    store(c, D + s * next, ld, n, n);
}

#endif

#ifdef PANELS

// c ⊕= P Q for blocks in shared memory, ORDER steps of k.
template <int I, int J> DEVICE void multiply(Value (&c)[I][J], const char* P, const char* Q) {
    constexpr int PAIR = VECTOR > 1 ? 2 : 1, G = run<J>;
    const int y = thread_row(), x = thread_column();
#pragma unroll UNROLL
    for (int k = 0; k < ORDER; k += VECTOR) {
        Vector a[I];
#pragma unroll
        for (int i = 0; i < I; i++) a[i] = *(const Vector*)(P + position<I>(y, i) * PITCH + k * SIZE);
#pragma unroll
        for (int u = 0; u < VECTOR; u += PAIR) {
            Run<G> b[PAIR][J / G];
#pragma unroll
            for (int v = 0; v < PAIR; v++)
#pragma unroll
                for (int j = 0; j < J / G; j++)
                    b[v][j] = *(const Run<G>*)(Q + (k + u + v) * PITCH + position<J>(x, j * G) * SIZE);
#pragma unroll
            for (int i = 0; i < I; i++)
#pragma unroll
                for (int j = 0; j < J; j++)
#pragma unroll
                    for (int v = 0; v < PAIR; v++)
                        c[i][j] = relax(c[i][j], a[i].at[u + v], b[v][j / G].at[j % G]);
        }
    }
}

// A block of a matrix with `n` rows and columns: where it begins, and how much of it there is.
struct Place {
    char* at;
    int rows, columns;
    DEVICE Place(char* A, long long ld, int n, int i, int j)
        : at(A + (long long)i * ORDER * ld + (long long)j * ORDER * SIZE), rows(n - i * ORDER), columns(n - j * ORDER) {}
};

constexpr int HALF = PER / 2;  // panels and strips are done by half blocks: more of them, each sooner done

// R ← D* R, C ← C D*, where D is block k of the diagonal. Every block of threads closes D again for itself, which costs
// less than a launch, and the first one leaves D* in `side`: D itself stays as it was for the others to read.
// `which`: 0 both panels (right where D* D* = D*), 1 the rows only, 2 the columns only, with D* read from `side`. There
// are two blocks of threads for a block of a panel: rows are done by halves of their columns, and vice versa.
extern "C" __global__ void __launch_bounds__(THREADS) panels(
    char* A, long long ld, long long n, long long k, long long which, char* side, long long start, int* failed) {
    extern __shared__ __align__(16) char shared[];
    __shared__ __align__(16) char shown[8 * ORDER * SIZE];
    char *const pivot_block = shared, *const panel = shared + BLOCK;
    const int others = (int)((n + ORDER - 1) / ORDER) - 1, block = blockIdx.x / 2, half = blockIdx.x % 2 * (ORDER / 2);
    const bool is_row = which == 0 ? block < others : which == 1;
    int at = is_row || which == 2 ? block : block - others;
    if (at >= k) at++;
    const Place D(A, ld, n, k, k);
    Place T(A, ld, n, is_row ? k : at, is_row ? at : k);
    if (is_row) T.at += half * SIZE, T.columns -= half;
    else T.at += half * ld, T.rows -= half;
    if (is_row) fetch_tile<ORDER, ORDER / 2, THREADS>(panel, PITCH, T.at, ld, T.rows, T.columns);
    else fetch_tile<ORDER / 2, ORDER, THREADS>(panel, PITCH, T.at, ld, T.rows, T.columns);
    commit();
    Value c[PER][PER];
    if (which == 2) {
        load(c, side, ORDER * SIZE, ORDER, ORDER);
    } else {
        load(c, D.at, ld, D.rows, D.columns);
        int pivot = close_registers(c, (Value*)shown, D.rows);
        if (blockIdx.x == 0) {
            store(c, side, ORDER * SIZE, ORDER, ORDER);
            if (threadIdx.x == 0 && pivot >= 0 && *failed < 0) *failed = start + k * ORDER + pivot;
        }
    }
    store(c, pivot_block, PITCH, ORDER, ORDER);
    wait<0>();
    __syncthreads();
    if (is_row) {
        Value r[PER][HALF];
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < HALF; j++) r[i][j] = zero();
        multiply(r, pivot_block, panel);
        store(r, T.at, ld, T.rows, T.columns);
    } else {
        Value q[HALF][PER];
#pragma unroll
        for (int i = 0; i < HALF; i++)
#pragma unroll
            for (int j = 0; j < PER; j++) q[i][j] = zero();
        multiply(q, panel, pivot_block);
        store(q, T.at, ld, T.rows, T.columns);
    }
}

// X ← X ⊕ C R for a block of I · SIDE rows and J · SIDE columns.
template <int I, int J> DEVICE void update(const Place& X, const Place& C, const Place& R, long long ld, char* shared) {
    fetch_tile<I * SIDE, ORDER, THREADS>(shared, PITCH, C.at, ld, C.rows, C.columns);
    fetch_tile<ORDER, J * SIDE, THREADS>(shared + BLOCK, PITCH, R.at, ld, R.rows, R.columns);
    commit();
    Value c[I][J];
    load(c, X.at, ld, X.rows, X.columns);
    wait<0>();
    __syncthreads();
    multiply(c, shared, shared + BLOCK);
    store(c, X.at, ld, X.rows, X.columns);
}

// X ← X ⊕ C R around block k of the diagonal; the last block of threads puts D* in its place. `skipped` is 1, or 2 to
// leave out the row and the column of block k + 1 as well.
extern "C" __global__ void __launch_bounds__(THREADS) rest(
    char* A, long long ld, long long n, long long k, long long skipped, const char* side) {
    extern __shared__ __align__(16) char shared[];
    const int across = (int)((n + ORDER - 1) / ORDER - skipped), block = blockIdx.x;
    if (block == across * across) {
        const Place D(A, ld, n, k, k);
        Value c[PER][PER];
        load(c, side, ORDER * SIZE, ORDER, ORDER);
        store(c, D.at, ld, D.rows, D.columns);
        return;
    }
    int i = block / across, j = block % across;
    if (i >= k) i += skipped;
    if (j >= k) j += skipped;
    update<PER, PER>(Place(A, ld, n, i, j), Place(A, ld, n, i, k), Place(A, ld, n, k, j), ld, shared);
}

// The same in the row and the column of block k + 1 only, so that it can be the next pivot soon; by half blocks.
extern "C" __global__ void __launch_bounds__(THREADS) strips(char* A, long long ld, long long n, long long k) {
    extern __shared__ __align__(16) char shared[];
    const int others = (int)((n + ORDER - 1) / ORDER) - 1, half = blockIdx.x % 2 * (ORDER / 2);
    int i = k + 1, j = blockIdx.x / 2;
    if (j < others) {
        if (j >= k) j++;
    } else {
        i = j - others, j = k + 1;
        if (i >= k) i += 2;
    }
    Place X(A, ld, n, i, j), R(A, ld, n, k, j);
    X.at += half * SIZE, X.columns -= half;
    R.at += half * SIZE, R.columns -= half;
    update<PER, HALF>(X, Place(A, ld, n, i, k), R, ld, shared);
}

#endif
