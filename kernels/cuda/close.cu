// Closures: A ← A* by Gauss–Jordan elimination with the star at every pivot.
//
//     [ X C X ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
//     [ R D R ]
//     [ X C X ]     The pivot block D is ORDER × ORDER, closed in the registers of SIDE × SIDE threads.
//
// A thread holds PER × PER elements, in runs of GROUP. The kernels are `close_stack` for matrices of one block each, and
// `panels` and `rest` for the two halves of a step on a larger matrix.
//
// Before this file the engine writes ops.cuh, `Value`, `zero`, `one`, `times`, `relax`, `star`, `defined`, SCALES, the
// numbers in capitals, and memory.cuh.

constexpr int PER = ORDER / SIDE;
constexpr int THREADS = SIDE * SIDE;
constexpr int VECTOR = SIZE <= 8 ? (16 / SIZE < 8 ? 16 / SIZE : 8) : 1;
constexpr int PITCH = (ORDER * SIZE + 31) / 16 * 16;  // bytes from row to row of a block in shared memory
constexpr int BLOCK = ORDER * PITCH;
static_assert(ORDER % SIDE == 0 && PER % GROUP == 0 && GROUP % 2 == 0 && ORDER % VECTOR == 0);

struct alignas(SIZE <= 8 && GROUP * SIZE <= 16 && !(SIZE & SIZE - 1) ? GROUP * SIZE : alignof(Value)) Run {
    Value at[GROUP];
};
struct alignas(VECTOR > 1 ? VECTOR * SIZE : alignof(Value)) Vector {
    Value at[VECTOR];
};

DEVICE int thread_row() { return threadIdx.x / SIDE; }
DEVICE int thread_column() { return threadIdx.x % SIDE; }
// Where the i-th of a thread's rows (or columns) lies, for a thread that is the `place`-th of its side.
DEVICE int position(int place, int i) { return i / GROUP * (GROUP * SIDE) + place * GROUP + i % GROUP; }

// Whether blocks can be read and written by runs.
DEVICE bool in_runs(const char* block, long long ld) {
    return ((unsigned long long)block | (unsigned long long)ld) % alignof(Run) == 0;
}

DEVICE void load(Value (&c)[PER][PER], const char* block, long long ld, int rows, int columns) {
    if (rows >= ORDER && columns >= ORDER && in_runs(block, ld)) {
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < PER; j += GROUP) {
                Run run = *(const Run*)(block + position(thread_row(), i) * ld + position(thread_column(), j) * SIZE);
#pragma unroll
                for (int u = 0; u < GROUP; u++) c[i][j + u] = run.at[u];
            }
        return;
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            int y = position(thread_row(), i), x = position(thread_column(), j);
            c[i][j] = y < rows && x < columns ? *(const Value*)(block + y * ld + x * SIZE) : zero();
        }
}

DEVICE void store(const Value (&c)[PER][PER], char* block, long long ld, int rows, int columns) {
    if (rows >= ORDER && columns >= ORDER && in_runs(block, ld)) {
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < PER; j += GROUP) {
                Run run;
#pragma unroll
                for (int u = 0; u < GROUP; u++) run.at[u] = c[i][j + u];
                *(Run*)(block + position(thread_row(), i) * ld + position(thread_column(), j) * SIZE) = run;
            }
        return;
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            int y = position(thread_row(), i), x = position(thread_column(), j);
            if (y < rows && x < columns) *(Value*)(block + y * ld + x * SIZE) = c[i][j];
        }
}

// A row or column that a thread shows to all, and what all read of it.
DEVICE void show(Value* to, int place, const Value (&own)[PER]) {
#pragma unroll
    for (int j = 0; j < PER; j += GROUP) {
        Run run;
#pragma unroll
        for (int v = 0; v < GROUP; v++) run.at[v] = own[j + v];
        *(Run*)(to + position(place, j)) = run;
    }
}
DEVICE void look(Value (&own)[PER], const Value* from, int place) {
#pragma unroll
    for (int j = 0; j < PER; j += GROUP) {
        Run run = *(const Run*)(from + position(place, j));
#pragma unroll
        for (int v = 0; v < GROUP; v++) own[j + v] = run.at[v];
    }
}
DEVICE void scale(Value (&row)[PER], Value s) {
    if constexpr (SCALES)
#pragma unroll
        for (int j = 0; j < PER; j++) row[j] = times(s, row[j]);
}

// c ← c* in registers; returns the first pivot without a star, or −1. `n` rows and columns are more than isolated
// vertices. Two pivots are done at a time: their rows and columns are shown to all threads in `shown`, twice 4 · ORDER.
//
// One pivot: with s = (c_pp)*, r_j = s ⊗ c_pj but r_p = s, and q_i = c_ip but q_p = 1, and with row and column p set to
// zero, one equation does all the work: c_ij ← c_ij ⊕ q_i ⊗ r_j. The second pivot's row and column are first brought
// up to date by the same equation, and then left out of the first pivot's.
DEVICE int close_registers(Value (&c)[PER][PER], Value* shown, int n) {
    int failed = -1;
    const int y = thread_row(), x = thread_column();
#pragma unroll
    for (int group = 0; group < PER / GROUP; group++) {
#pragma unroll 1
        for (int owner = 0; owner < SIDE; owner++) {
            if ((group * SIDE + owner) * GROUP >= n) return failed;
#pragma unroll
            for (int u = 0; u < GROUP; u += 2) {
                const int own = group * GROUP + u;  // which of its owner's rows and columns the first pivot is
                const int p = (group * SIDE + owner) * GROUP + u;
                Value* const row_0 = shown + p / 2 % 2 * (4 * ORDER);
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
#pragma unroll
                    for (int i = 0; i < PER; i++) c[i][own] = c[i][own + 1] = zero();
                }
                if (y == owner) {
#pragma unroll
                    for (int j = 0; j < PER; j++) c[own][j] = c[own + 1][j] = zero();
                }
                __syncthreads();
                Value r_0[PER], r_1[PER], q_0[PER], q_1[PER];
                look(r_0, row_0, x);
                look(r_1, row_1, x);
                look(q_0, column_0, y);
                look(q_1, column_1, y);

                const Value a_0 = row_0[p], below = row_1[p];  // c_pp and c_qp, where q = p + 1
                const Value s_0 = star(a_0);
                if (failed < 0 && !defined(a_0)) failed = p;
                const Value right = SCALES ? times(s_0, row_0[p + 1]) : row_0[p + 1];
                scale(r_0, s_0);
                if (x == owner) r_0[own] = s_0, r_1[own] = zero();
                if (y == owner) q_0[own] = one(), q_1[own] = zero();
#pragma unroll
                for (int j = 0; j < PER; j++) r_1[j] = relax(r_1[j], below, r_0[j]);
#pragma unroll
                for (int i = 0; i < PER; i++) q_1[i] = relax(q_1[i], q_0[i], right);

                const Value a_1 = relax(row_1[p + 1], below, right);
                const Value s_1 = star(a_1);
                if (failed < 0 && !defined(a_1)) failed = p + 1;
                scale(r_1, s_1);
                if (x == owner) r_1[own + 1] = s_1, r_0[own + 1] = zero();
                if (y == owner) q_1[own + 1] = one(), q_0[own + 1] = zero();
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

// D[s] ← D[s]* for matrices of up to ORDER rows, one block of threads each; `failed` may be null.
extern "C" __global__ void __launch_bounds__(THREADS) close_stack(
    char* D, long long ld, long long next, long long n, long long start, int* failed) {
    __shared__ __align__(16) char shown[8 * ORDER * SIZE];
    char* const matrix = D + blockIdx.x * next;
    Value c[PER][PER];
    load(c, matrix, ld, n, n);
    int pivot = close_registers(c, (Value*)shown, n);
    if (failed && threadIdx.x == 0 && pivot >= 0) failed[blockIdx.x] = start + pivot;
    store(c, matrix, ld, n, n);
}

#endif

#ifdef PANELS

// c ⊕= P Q for blocks in shared memory.
DEVICE void multiply(Value (&c)[PER][PER], const char* P, const char* Q) {
    constexpr int PAIR = VECTOR > 1 ? 2 : 1;
#pragma unroll UNROLL
    for (int k = 0; k < ORDER; k += VECTOR) {
        Vector a[PER];
#pragma unroll
        for (int i = 0; i < PER; i++) a[i] = *(const Vector*)(P + position(thread_row(), i) * PITCH + k * SIZE);
#pragma unroll
        for (int u = 0; u < VECTOR; u += PAIR) {
            Run b[PAIR][PER / GROUP];
#pragma unroll
            for (int v = 0; v < PAIR; v++)
#pragma unroll
                for (int j = 0; j < PER / GROUP; j++)
                    b[v][j] = *(const Run*)(Q + (k + u + v) * PITCH + position(thread_column(), j * GROUP) * SIZE);
#pragma unroll
            for (int i = 0; i < PER; i++)
#pragma unroll
                for (int j = 0; j < PER; j++)
#pragma unroll
                    for (int v = 0; v < PAIR; v++)
                        c[i][j] = relax(c[i][j], a[i].at[u + v], b[v][j / GROUP].at[j % GROUP]);
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

// R ← D* R, C ← C D*, where D is block k of the diagonal. Every block of threads closes D again for itself, which costs
// less than a launch, and the first one leaves D* in `side`: D itself stays as it was for the others to read.
// `which`: 0 both panels (right where D* D* = D*), 1 the rows only, 2 the columns only, with D* read from `side`.
extern "C" __global__ void __launch_bounds__(THREADS) panels(
    char* A, long long ld, long long n, long long k, long long which, char* side, long long start, int* failed) {
    extern __shared__ __align__(16) char shared[];
    __shared__ __align__(16) char shown[8 * ORDER * SIZE];
    char *const pivot_block = shared, *const panel = shared + BLOCK;
    const int others = (int)((n + ORDER - 1) / ORDER) - 1;
    const bool is_row = which == 0 ? blockIdx.x < others : which == 1;
    int at = is_row || which == 2 ? blockIdx.x : blockIdx.x - others;
    if (at >= k) at++;
    const Place D(A, ld, n, k, k);
    const Place T(A, ld, n, is_row ? k : at, is_row ? at : k);
    fetch_tile<ORDER, ORDER, THREADS>(panel, PITCH, T.at, ld, T.rows, T.columns);
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
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) c[i][j] = zero();
    if (is_row) multiply(c, pivot_block, panel);
    else multiply(c, panel, pivot_block);
    store(c, T.at, ld, T.rows, T.columns);
}

// X ← X ⊕ C R around block k of the diagonal; the last block of threads puts D* in its place. `which`: 0 all of X; 1 the
// row and the column of block k + 1, so that it can be the next pivot soon; 2 all but those.
extern "C" __global__ void __launch_bounds__(THREADS) rest(
    char* A, long long ld, long long n, long long k, long long which, const char* side) {
    extern __shared__ __align__(16) char shared[];
    const int others = (int)((n + ORDER - 1) / ORDER) - 1, block = blockIdx.x, skipped = which == 2 ? 2 : 1;
    const int across = others + 1 - skipped;
    Value c[PER][PER];
    if (which != 1 && block == across * across) {
        const Place D(A, ld, n, k, k);
        load(c, side, ORDER * SIZE, ORDER, ORDER);
        store(c, D.at, ld, D.rows, D.columns);
        return;
    }
    int i, j;
    if (which != 1) {
        i = block / across, j = block % across;
        if (i >= k) i += skipped;
        if (j >= k) j += skipped;
    } else if (block < others) {
        i = k + 1, j = block;
        if (j >= k) j++;
    } else {
        i = block - others, j = k + 1;
        if (i >= k) i += 2;
    }
    const Place C(A, ld, n, i, k), R(A, ld, n, k, j), X(A, ld, n, i, j);
    fetch_tile<ORDER, ORDER, THREADS>(shared, PITCH, C.at, ld, C.rows, C.columns);
    fetch_tile<ORDER, ORDER, THREADS>(shared + BLOCK, PITCH, R.at, ld, R.rows, R.columns);
    commit();
    load(c, X.at, ld, X.rows, X.columns);
    wait<0>();
    __syncthreads();
    multiply(c, shared, shared + BLOCK);
    store(c, X.at, ld, X.rows, X.columns);
}

#endif
