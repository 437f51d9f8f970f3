// Whole matrices, a thread for each element: a pivot of Floyd–Warshall, and products without and with tiles in shared
// memory. Before this file the engine writes ops.cuh, `Value`, `zero`, `plus`, `times`, `relax`, `star`, `defined`,
// `same`, UNIT_PIVOTS, TILE, and memory.cuh for SIZE. A block of threads has TILE × TILE elements; those that lie side by
// side in a row belong to threads that do. Leading dimensions are in bytes.

constexpr int THREADS = TILE * TILE;

DEVICE const Value& at(const char* A, long long ld, long long i, long long j) {
    return *(const Value*)(A + i * ld + j * SIZE);
}
DEVICE long long row() { return (long long)blockIdx.y * TILE + threadIdx.x / TILE; }
DEVICE long long column() { return (long long)blockIdx.x * TILE + threadIdx.x % TILE; }

// B ← A after pivot k. Where every star is 1 and the diagonal of A holds ones, the pivot's row and column stay as they are,
// and B may be A. Otherwise B is another matrix, so that no thread reads what others have written.
extern "C" __global__ void __launch_bounds__(THREADS) pivot_step(
    const char* A, char* B, long long ld, long long n, long long k, int* failed) {
    const long long i = row(), j = column();
    if (i >= n || j >= n) return;
    const Value own = at(A, ld, i, j);
    Value* const to = (Value*)(B + i * ld + j * SIZE);
    if constexpr (UNIT_PIVOTS) {
        if (i != k && j != k) *to = relax(own, at(A, ld, i, k), at(A, ld, k, j));
    } else {
        const Value pivot = at(A, ld, k, k), s = star(pivot);
        if (i == k && j == k) {
            *to = s;
            if (*failed < 0 && !defined(pivot)) *failed = (int)k;
        } else if (i == k) *to = times(s, own);
        else if (j == k) *to = times(own, s);
        else *to = relax(own, at(A, ld, i, k), times(s, at(A, ld, k, j)));
    }
}

// C ← A B, or C ⊕ A B, an m × k and a k × n matrix: every operand of every step comes from memory.
extern "C" __global__ void __launch_bounds__(THREADS) naive_product(
    const char* A, long long lda, const char* B, long long ldb, char* C, long long ldc, long long m, long long n,
    long long k, long long accumulate) {
    const long long i = row(), j = column();
    if (i >= m || j >= n) return;
    Value* const to = (Value*)(C + i * ldc + j * SIZE);
    Value c = accumulate ? *to : zero();
    for (long long p = 0; p < k; p++) c = relax(c, at(A, lda, i, p), at(B, ldb, p, j));
    *to = c;
}

// The same with tiles of A and B in shared memory, each of whose elements is read TILE times there. Beyond the edge of A and
// B nothing is multiplied, so that zero need not absorb.
extern "C" __global__ void __launch_bounds__(THREADS) tiled_product(
    const char* A, long long lda, const char* B, long long ldb, char* C, long long ldc, long long m, long long n,
    long long k, long long accumulate) {
    __shared__ __align__(16) char memory_a[THREADS * SIZE];
    __shared__ __align__(16) char memory_b[THREADS * SIZE];
    Value *const a = (Value*)memory_a, *const b = (Value*)memory_b;
    const int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const long long i = row(), j = column();
    Value* const to = (Value*)(C + i * ldc + j * SIZE);
    const bool inside = i < m && j < n;
    Value c = accumulate && inside ? *to : zero();
    for (long long first = 0; first < k; first += TILE) {
        a[threadIdx.x] = i < m && first + x < k ? at(A, lda, i, first + x) : zero();
        b[threadIdx.x] = first + y < k && j < n ? at(B, ldb, first + y, j) : zero();
        __syncthreads();
        if (first + TILE <= k) {
#pragma unroll
            for (int p = 0; p < TILE; p++) c = relax(c, a[y * TILE + p], b[p * TILE + x]);
        } else {
            for (int p = 0; p < k - first; p++) c = relax(c, a[y * TILE + p], b[p * TILE + x]);
        }
        __syncthreads();
    }
    if (inside) *to = c;
}

// The worse of two elements, where ⊕ selects the better one; zero, which means that there is none, counts for nothing.
DEVICE Value worse(Value x, Value y) {
    if (same(x, zero())) return y;
    if (same(y, zero())) return x;
    return same(plus(x, y), x) ? y : x;
}

// out_i ← the worst element of row i, a block of threads for each; zero where the row has nothing else.
extern "C" __global__ void __launch_bounds__(THREADS) worst(const char* A, long long ld, long long n, Value* out) {
    __shared__ __align__(16) char memory[THREADS * SIZE];
    Value* const found = (Value*)memory;
    Value own = zero();
    for (long long j = threadIdx.x; j < n; j += THREADS) own = worse(own, at(A, ld, blockIdx.x, j));
    found[threadIdx.x] = own;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) found[threadIdx.x] = worse(found[threadIdx.x], found[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = found[0];
}
