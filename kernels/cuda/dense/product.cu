// C ← A ⊗ B and C ← C ⊕ A ⊗ B over any semiring, as a tiled product in shared memory and registers.
//
//          BN                     A block of threads computes BM × BN elements of C, in steps of BK along k. Its warps
//        ┌────┐                   stand WM × WN in that tile, its lanes LM × LN in a warp, and each thread holds
//     BK │ B  │                   TM × TN elements in registers. Rows of a thread are LM apart, so that the rows of a
//    BK  └────┘                   warp's lanes fall into different banks; columns come in runs of VECTOR.
//   ┌──┐ ┌────┐
//   │A │ │ C  │ BM                Tiles of A and B go from memory into shared memory asynchronously, STAGES − 1 steps
//   └──┘ └────┘                   ahead. A keeps its row order: a thread reads VECTOR steps of k of one row at once.
//
// Registers lie in two banks, those with even numbers and those with odd ones, and an instruction that reads two of one
// bank takes a cycle longer. A load of 16 bytes puts step k of A's row into a register that is even where k is, and
// element j of B's row into one that is even where j is: half of all pairs would be in one bank. Where ⊕ and ⊗ are so
// short that this counts (PAIRED), rows k and k + 1 of B's whole tiles, k even, lie in one another, the second one first:
// b[k+1][0], b[k][0], b[k+1][1], b[k][1], … Then what is multiplied is always in both banks.
//
// Before this file the engine writes ops.cuh, `Value`, `zero`, `relax`, the numbers in capitals, and memory.cuh.

constexpr int THREADS = 32 * WM * WN;
constexpr int A_ROW = BK * SIZE + 16;  // bytes from row to row of A's tile: 16 more than it holds, for the banks' sake
constexpr int B_ROW = BN * SIZE;
constexpr int A_TILE = BM * A_ROW;
constexpr int B_TILE = BK * B_ROW;
constexpr int PAIR = VECTOR > 1 ? 2 : 1;  // steps of k that are taken together, for three-operand ⊕
static_assert(LM * LN == 32 && BM == TM * LM * WM && BN == TN * LN * WN && TN % VECTOR == 0 && BK % VECTOR == 0);
static_assert(BK * SIZE % 16 == 0 && BN * SIZE % 16 == 0);

struct alignas(VECTOR > 1 ? VECTOR * SIZE : alignof(Value)) Vector {
    Value at[VECTOR];
};

// A thread's place: the first of its rows and columns within the tile of C.
DEVICE int first_row() { return threadIdx.x / 32 % WM * (TM * LM) + threadIdx.x % 32 / LN; }
DEVICE int first_column() { return threadIdx.x / 32 / WM * (TN * LN) + threadIdx.x % LN * VECTOR; }
DEVICE constexpr int row_of(int i) { return i * LM; }
DEVICE constexpr int column_of(int j) { return j / VECTOR * VECTOR * LN + j % VECTOR; }

// c ⊕= A B for the BK steps in shared memory, RUNS of VECTOR of them unrolled; A and B point at the thread's first row
// and column. Steps from `left` on hold zeros, which have to be left out only where 0 does not absorb. With PAIRS, rows of
// B lie in one another.
template <int RUNS, bool PAIRS>
DEVICE void multiply_tile(Value (&c)[TM][TN], const char* A, const char* B, int left = BK) {
    constexpr int LOADS = TN / VECTOR;  // of a row of B
    static_assert(!PAIRS || (PAIR == 2 && VECTOR == 4));
#pragma unroll RUNS
    for (int k = 0; k < BK; k += VECTOR) {
        Vector a[TM];
#pragma unroll
        for (int i = 0; i < TM; i++) a[i] = *(const Vector*)(A + row_of(i) * A_ROW + k * SIZE);
#pragma unroll
        for (int u = 0; u < VECTOR; u += PAIR) {
            Vector b[PAIR * LOADS];
#pragma unroll
            for (int j = 0; j < PAIR * LOADS; j++) {
                const int at = PAIRS ? column_of(j * 2) * 2 : j / LOADS * BN + column_of(j % LOADS * VECTOR);
                b[j] = *(const Vector*)(B + (k + u) * B_ROW + at * SIZE);
            }
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
#pragma unroll
                    for (int v = 0; v < PAIR; v++) {
                        const Value right = PAIRS ? b[j / 2].at[j % 2 * 2 + 1 - v] : b[v * LOADS + j / VECTOR].at[j % VECTOR];
                        if (ABSORBS || k + u + v < left) c[i][j] = relax(c[i][j], a[i].at[u + v], right);
                    }
        }
    }
}

// Tiles are visited in bands of 8 rows, so that blocks that run together share tiles of A and of B in the cache.
DEVICE void place(int tile, int down, int across, int& i, int& j) {
    constexpr int BAND = 8;
    int band = tile / (BAND * across), start = band * BAND, height = min(down - start, BAND);
    int within = tile % (BAND * across);
    i = start + within % height;
    j = within / height;
}

#ifdef TRACKS

// Where a thread notes for each of its elements the first step k of the tile of BK steps in which it changed last. With
// a ⊕ that selects, the step that won is in that tile; winners.cu finds it there. Elements from `rows` and `columns` on,
// which are counted from the thread's first, are beyond the edge.
struct Tracker {
    Value old[TM][TN];
    int* which;
    long long ld;
    int rows, columns;

    DEVICE Tracker(const Value (&c)[TM][TN], int* which, long long ld, int rows, int columns)
        : which(which), ld(ld), rows(rows), columns(columns) {
#pragma unroll
        for (int r = 0; r < TM; r++)
#pragma unroll
            for (int s = 0; s < TN; s++) old[r][s] = c[r][s];
    }

    DEVICE void note(const Value (&c)[TM][TN], int k) {
#pragma unroll
        for (int r = 0; r < TM; r++)
#pragma unroll
            for (int s = 0; s < TN; s++)
                if (!same(c[r][s], old[r][s])) {
                    old[r][s] = c[r][s];
                    if (row_of(r) < rows && column_of(s) < columns) which[row_of(r) * ld + column_of(s)] = k;
                }
    }
};

#endif

#ifdef WHOLE_TILES

// Whole tiles only: m, n and k are multiples of BM, BN and BK; every row starts on a multiple of 16 bytes.
// Leading dimensions are in bytes, and so are the steps from matrix to matrix of a stack. Rows from `row_gap_at` on
// are taken `row_gap` further down in A and C, and columns likewise in B and C: so a pivot is left out.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) product(
    const char* A, long long lda, long long next_A, const char* B, long long ldb, long long next_B,
    char* C, long long ldc, long long next_C, long long down, long long across, long long steps,
    long long row_gap_at, long long row_gap, long long column_gap_at, long long column_gap, long long accumulate
#ifdef TRACKS
    , int* W, long long ldw, long long next_W
#endif
) {
    constexpr int B_UNIT = PAIRED ? SIZE : 16;  // bytes of a copy: neighbours do not stay neighbours in a pair of rows
    constexpr int A_UNITS = BK * SIZE / 16, B_UNITS = BN * SIZE / B_UNIT;  // copies in a row of a tile
    constexpr int A_ROWS = THREADS / A_UNITS, B_ROWS = THREADS / B_UNITS;  // rows that all threads copy at once
    static_assert(THREADS % A_UNITS == 0 && THREADS % B_UNITS == 0 && BM % A_ROWS == 0 && BK % B_ROWS == 0);
    static_assert(!PAIRED || B_ROWS % 2 == 0);
    extern __shared__ __align__(16) char shared[];

    int i, j;
    place(blockIdx.x, down, across, i, j);
    long long row = i * BM, column = j * BN;
    if (row >= row_gap_at) row += row_gap;
    if (column >= column_gap_at) column += column_gap;
    const int tid = threadIdx.x;
    const char* a = A + blockIdx.y * next_A + (row + tid / A_UNITS) * lda + tid % A_UNITS * 16;
    const char* b = B + blockIdx.y * next_B + tid / B_UNITS * ldb + column * SIZE + tid % B_UNITS * B_UNIT;
    char* const a_to = shared + tid / A_UNITS * A_ROW + tid % A_UNITS * 16;
    const int y = tid / B_UNITS, x = tid % B_UNITS;
    char* const b_to = shared + STAGES * A_TILE
        + (PAIRED ? y / 2 * (2 * B_ROW) + (2 * x + 1 - y % 2) * SIZE : y * B_ROW + x * B_UNIT);
    auto fetch = [&](int stage) {
#pragma unroll
        for (int q = 0; q < BM / A_ROWS; q++) copy_async<16>(a_to + stage * A_TILE + q * A_ROWS * A_ROW, a + q * A_ROWS * lda);
#pragma unroll
        for (int q = 0; q < BK / B_ROWS; q++) copy_async<B_UNIT>(b_to + stage * B_TILE + q * B_ROWS * B_ROW, b + q * B_ROWS * ldb);
        a += BK * SIZE;
        b += BK * ldb;
    };

    const int todo = steps;
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < todo) fetch(s);
        commit();
    }
    char* const c_at = C + blockIdx.y * next_C + (row + first_row()) * ldc + (column + first_column()) * SIZE;
    Value c[TM][TN];
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s += VECTOR) {
            Vector old;
            if (accumulate) old = *(const Vector*)(c_at + row_of(r) * ldc + column_of(s) * SIZE);
#pragma unroll
            for (int v = 0; v < VECTOR; v++) c[r][s + v] = accumulate ? old.at[v] : zero();
        }

#ifdef TRACKS
    Tracker tracker(c, W + blockIdx.y * next_W + (row + first_row()) * ldw + column + first_column(), ldw, BM, BN);
#endif
    const char* const a_from = shared + first_row() * A_ROW;
    const char* const b_from = shared + STAGES * A_TILE + first_column() * (PAIRED ? 2 : 1) * SIZE;
    int reading = 0, writing = STAGES - 1;
#pragma unroll 1
    for (int step = 0; step < todo; step++) {
        wait<STAGES - 2>();
        __syncthreads();
        if (step + STAGES - 1 < todo) fetch(writing);
        commit();
        multiply_tile<UNROLL / VECTOR, PAIRED>(c, a_from + reading * A_TILE, b_from + reading * B_TILE);
#ifdef TRACKS
        tracker.note(c, step * BK);
#endif
        reading = reading == STAGES - 1 ? 0 : reading + 1;
        writing = writing == STAGES - 1 ? 0 : writing + 1;
    }
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s += VECTOR) {
            Vector now;
#pragma unroll
            for (int v = 0; v < VECTOR; v++) now.at[v] = c[r][s + v];
            *(Vector*)(c_at + row_of(r) * ldc + column_of(s) * SIZE) = now;
        }
}

#else

// The same for any shape, any leading dimension and any alignment of whole elements.
extern "C" __global__ void __launch_bounds__(THREADS, 1) product_edge(
    const char* A, long long lda, long long next_A, const char* B, long long ldb, long long next_B,
    char* C, long long ldc, long long next_C, long long m, long long n, long long k, long long accumulate
#ifdef TRACKS
    , int* W, long long ldw, long long next_W
#endif
) {
    extern __shared__ __align__(16) char shared[];
    int i, j;
    place(blockIdx.x, (int)((m + BM - 1) / BM), (int)((n + BN - 1) / BN), i, j);
    const long long row = (long long)i * BM, column = (long long)j * BN;
    const int rows = (int)min(m - row, (long long)BM), columns = (int)min(n - column, (long long)BN);
    const char* a = A + blockIdx.y * next_A + row * lda;
    const char* b = B + blockIdx.y * next_B + column * SIZE;
    char* const c_at = C + blockIdx.y * next_C + row * ldc + column * SIZE;
    const int todo = (int)((k + BK - 1) / BK);
    auto fetch = [&](int step) {
        int left = (int)min(k - (long long)step * BK, (long long)BK);
        fetch_tile<BM, BK, THREADS>(shared + step % STAGES * A_TILE, A_ROW, a, lda, rows, left);
        fetch_tile<BK, BN, THREADS>(shared + STAGES * A_TILE + step % STAGES * B_TILE, B_ROW, b, ldb, left, columns);
        a += BK * SIZE;
        b += BK * ldb;
    };
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < todo) fetch(s);
        commit();
    }
    Value c[TM][TN];
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++) {
            int y = first_row() + row_of(r), x = first_column() + column_of(s);
            c[r][s] = zero();
            if (accumulate && y < rows && x < columns) c[r][s] = *(const Value*)(c_at + y * ldc + x * SIZE);
        }
#ifdef TRACKS
    Tracker tracker(c, W + blockIdx.y * next_W + (row + first_row()) * ldw + column + first_column(), ldw,
                    rows - first_row(), columns - first_column());
#endif
#pragma unroll 1
    for (int step = 0; step < todo; step++) {
        wait<STAGES - 2>();
        __syncthreads();
        if (step + STAGES - 1 < todo) fetch(step + STAGES - 1);
        commit();
        multiply_tile<1, false>(c, shared + step % STAGES * A_TILE + first_row() * A_ROW,
                         shared + STAGES * A_TILE + step % STAGES * B_TILE + first_column() * SIZE,
                         (int)min(k - (long long)step * BK, (long long)BK));
#ifdef TRACKS
        tracker.note(c, step * BK);
#endif
    }
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++) {
            int y = first_row() + row_of(r), x = first_column() + column_of(s);
            if (y < rows && x < columns) *(Value*)(c_at + y * ldc + x * SIZE) = c[r][s];
        }
}

#endif
