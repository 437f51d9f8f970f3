// The three phases of blocked Floyd–Warshall around block k of the diagonal, a thread for each element of a block:
//
//     [ X C X ]     close     D ← D*
//     [ R D R ]     panels    R ← D R,  C ← C D
//     [ X C X ]     rest      X ← X ⊕ C R
//
// Before this file the engine writes ops.cuh, `Value`, `zero`, `one`, `plus`, `times`, `relax`, `star`, `defined`, `same`,
// UNIT_PIVOTS, memory.cuh for SIZE, and
//
//     TILE     rows of a block
//     SHARED   whether blocks are brought to shared memory, or read from where they lie
//     PITCH    elements from row to row of a block in shared memory
//     DOWN     whether threads side by side take elements of a column, or of a row
//     HOPS     whether next hops are carried: where h_ij is the vertex after i on the best walk to j, an element that
//              improves through p takes the hop of its left factor. Right where ⊕ selects and no cycle weighs 1: the
//              pivot's block is closed before its row and column, so that round such a cycle a hop may lead back.
//
// The matrix A is n × n without gaps, and so is H.

constexpr int THREADS = TILE * TILE;

DEVICE int row() { return DOWN ? threadIdx.x % TILE : threadIdx.x / TILE; }
DEVICE int column() { return DOWN ? threadIdx.x / TILE : threadIdx.x % TILE; }

// A block in memory, and how much of it there is.
template <class T> struct Block {
    T* at;
    long long pitch;
    int rows, columns;
    DEVICE Block(T* A, long long n, long long i, long long j)
        : at(A + i * TILE * n + j * TILE), pitch(n), rows((int)min(n - i * TILE, (long long)TILE)),
          columns((int)min(n - j * TILE, (long long)TILE)) {}
    DEVICE bool holds(int y, int x) const { return y < rows && x < columns; }
};

// Where a block is read: in shared memory, to which it is brought row by row, or where it lies.
template <class T> struct Place {
    T* at;
    long long pitch;
    DEVICE T& operator()(int y, int x) const { return at[y * pitch + x]; }
};
template <class T> DEVICE Place<T> bring(const Block<T>& block, char* shared) {
    if constexpr (!SHARED) return {block.at, block.pitch};
    const int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    T* const to = (T*)shared;
    if (block.holds(y, x)) to[y * PITCH + x] = block.at[y * block.pitch + x];
    return {to, PITCH};
}
// … and where it goes when it is done.
template <class T> DEVICE void take_back(const Block<T>& block, const Place<T>& place) {
    if constexpr (!SHARED) return;
    const int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    if (block.holds(y, x)) block.at[y * block.pitch + x] = place(y, x);
}

constexpr int ROOM = SHARED ? TILE * PITCH : 1;  // elements of a block in shared memory
#define IN_SHARED_MEMORY(name, type) __shared__ __align__(16) char name[ROOM * sizeof(type)]

// D ← D*; `failed` ← the first pivot without a star.
extern "C" __global__ void __launch_bounds__(THREADS) close(Value* A, int* H, long long n, long long k, int* failed) {
    IN_SHARED_MEMORY(shared, Value);
    const Block<Value> D(A, n, k, k);
    const Place<Value> d = bring(D, shared);
#if HOPS
    IN_SHARED_MEMORY(shared_hops, int);
    const Block<int> G(H, n, k, k);
    const Place<int> g = bring(G, shared_hops);
#endif
    __syncthreads();
    const int y = row(), x = column();
    const bool inside = D.holds(y, x);
    Value c = inside ? d(y, x) : zero();
    if constexpr (UNIT_PIVOTS) {
        if (inside && x == y) {
            d(y, x) = c = plus(one(), c);
#if HOPS
            g(y, x) = (int)(k * TILE) + y;  // before, it may have been the way round a cycle
#endif
        }
        for (int p = 0; p < D.rows; p++) {
            __syncthreads();
            if (!inside || y == p || x == p) continue;  // the pivot's row and column stay as they are
            const Value next = relax(c, d(y, p), d(p, x));
#if HOPS
            if (!same(next, c)) g(y, x) = g(y, p);
#endif
            d(y, x) = c = next;
        }
    } else {
        for (int p = 0; p < D.rows; p++) {
            __syncthreads();
            Value next = c;
            if (inside) {
                const Value pivot = d(p, p), s = star(pivot);
                if (y == p && x == p) {
                    next = s;
                    if (*failed < 0 && !defined(pivot)) *failed = (int)(k * TILE + p);
                } else if (y == p) next = times(s, c);
                else if (x == p) next = times(c, s);
                else next = relax(c, d(y, p), times(s, d(p, x)));
            }
            __syncthreads();
            if (inside) d(y, x) = c = next;
        }
    }
    __syncthreads();
    take_back(D, d);
#if HOPS
    take_back(G, g);
#endif
}

// T ← L R, or T ⊕ L R; T may be L or R.
DEVICE void update(Value* A, int* H, long long n, long long i, long long j, long long k, bool accumulate) {
    IN_SHARED_MEMORY(shared_left, Value);
    IN_SHARED_MEMORY(shared_right, Value);
    IN_SHARED_MEMORY(shared_own, Value);
    const Block<Value> T(A, n, i, j), L(A, n, i, k), R(A, n, k, j);
    const Place<Value> l = bring(L, shared_left), r = bring(R, shared_right), t = bring(T, shared_own);
#if HOPS
    IN_SHARED_MEMORY(shared_left_hops, int);
    IN_SHARED_MEMORY(shared_own_hops, int);
    const Block<int> G(H, n, i, j);
    const Place<int> g = bring(Block<int>(H, n, i, k), shared_left_hops), own = bring(G, shared_own_hops);
    int hop = 0;
#endif
    __syncthreads();
    const int y = row(), x = column();
    const bool inside = T.holds(y, x);
    Value c = zero();
    if (inside) {
        if (accumulate) c = t(y, x);
#if HOPS
        hop = own(y, x);
        for (int p = 0; p < L.columns; p++) {
            const Value next = relax(c, l(y, p), r(p, x));
            if (!same(next, c)) hop = g(y, p);
            c = next;
        }
#else
        if (L.columns == TILE) {
#pragma unroll 8
            for (int p = 0; p < TILE; p++) c = relax(c, l(y, p), r(p, x));
        } else {
            for (int p = 0; p < L.columns; p++) c = relax(c, l(y, p), r(p, x));
        }
#endif
    }
    __syncthreads();  // where T is L or R, all have read it now
    if (inside) t(y, x) = c;
#if HOPS
    if (inside) own(y, x) = hop;
#endif
    __syncthreads();
    take_back(T, t);
#if HOPS
    take_back(G, own);
#endif
}

// R ← D R by blocks (0, b), C ← C D by blocks (1, b), from the `first` block on; `which`: 0 both, 1 the rows only, 2 the
// columns only. With next hops both accumulate: D holds ones, so that R ⊕ D R = D R.
extern "C" __global__ void __launch_bounds__(THREADS) panels(
    Value* A, int* H, long long n, long long k, long long which, long long first) {
    const bool is_row = which == 0 ? blockIdx.y == 0 : which == 1;
    const long long other = first + blockIdx.x, b = other + (other >= k);
    update(A, H, n, is_row ? k : b, is_row ? b : k, k, HOPS);
}

// X ← X ⊕ C R in rows of blocks from the `first` on, in all columns; the pivot's own are left out, and not counted.
extern "C" __global__ void __launch_bounds__(THREADS) rest(Value* A, int* H, long long n, long long k, long long first) {
    const long long i = first + blockIdx.y;
    update(A, H, n, i + (i >= k), blockIdx.x + (blockIdx.x >= k), k, true);
}

// h_ij ← j where there is an edge from i to j, i on the diagonal, and −1 where there is neither.
extern "C" __global__ void __launch_bounds__(THREADS) first_hops(const Value* A, int* H, long long n) {
    const long long i = (long long)blockIdx.y * TILE + row(), j = (long long)blockIdx.x * TILE + column();
    if (i < n && j < n) H[i * n + j] = i == j || !same(A[i * n + j], zero()) ? (int)j : -1;
}

// found ← 1 where an edge is on a cycle of weight 1: a_ij ⊗ d_ji = 1, D being the closure of A.
extern "C" __global__ void __launch_bounds__(THREADS) look_for_ones(const Value* A, const Value* D, long long n, int* found) {
    const long long i = (long long)blockIdx.y * TILE + row(), j = (long long)blockIdx.x * TILE + column();
    if (i >= n || j >= n || i == j) return;
    const Value a = A[i * n + j], back = D[j * n + i];
    if (!same(a, zero()) && !same(back, zero()) && same(times(a, back), one())) *found = 1;
}
