// The few operations on single elements: diagonals, comparisons, copies. Before this file the engine writes ops.cuh, `Value`,
// `zero`, `one`, `plus`, `relax`, `same`, and memory.cuh for SIZE. Leading dimensions are in bytes.

constexpr int THREADS = 128;

// out_i ← ⊕_k a_ik ⊗ d_ki, a block of threads for each i.
extern "C" __global__ void __launch_bounds__(THREADS) diagonal(
    const char* A, long long lda, const char* D, long long ldd, Value* out, long long k) {
    __shared__ __align__(16) char memory[THREADS * SIZE];
    Value* const partial = (Value*)memory;
    const int tid = threadIdx.x;
    Value sum = zero();
    for (long long i = tid; i < k; i += THREADS)
        sum = relax(sum, *(const Value*)(A + blockIdx.x * lda + i * SIZE), *(const Value*)(D + i * ldd + blockIdx.x * SIZE));
    partial[tid] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (tid < half) partial[tid] = plus(partial[tid], partial[tid + half]);
    }
    if (tid == 0) out[blockIdx.x] = partial[0];
}

// a_ii ← the values, or 1 ⊕ a_ii where there are none.
extern "C" __global__ void __launch_bounds__(THREADS) set_diagonal(char* A, long long ld, long long n, const Value* values) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Value* const a = (Value*)(A + i * (ld + SIZE));
    *a = values ? values[i] : plus(one(), *a);
}

// differ ← 1 where an element of A is not the one of B.
extern "C" __global__ void __launch_bounds__(THREADS) compare(
    const char* A, long long lda, const char* B, long long ldb, long long columns, int* differ) {
    for (long long j = threadIdx.x; j < columns; j += THREADS)
        if (!same(*(const Value*)(A + blockIdx.x * lda + j * SIZE), *(const Value*)(B + blockIdx.x * ldb + j * SIZE)))
            *differ = 1;
}

struct alignas(16) Run {
    int at[4];
};

// T[s] ← A[s], zero to the right of it and below it; a block of threads for each row of T. Rows are copied by 16 bytes where
// all begin at multiples of these.
extern "C" __global__ void __launch_bounds__(THREADS) place(
    const char* A, long long lda, long long next_a, long long rows, long long columns,
    char* T, long long ld, long long next, long long wide) {
    constexpr int HELD = SIZE < 16 && 16 % SIZE == 0 ? 16 / SIZE : 0;  // elements of a run
    const bool inside = blockIdx.x < rows;
    const char* const from = A + blockIdx.y * next_a + blockIdx.x * lda;
    char* const to = T + blockIdx.y * next + blockIdx.x * ld;
    long long done = 0;
    if (HELD && inside && !(((long long)A | lda | next_a | (long long)T | ld | next) % 16)) {
        const long long runs = min(columns, wide) / max(HELD, 1);
#pragma unroll 4
        for (long long r = threadIdx.x; r < runs; r += THREADS) ((Run*)to)[r] = ((const Run*)from)[r];
        done = runs * HELD;
    }
    for (long long j = done + threadIdx.x; j < wide; j += THREADS)
        *(Value*)(to + j * SIZE) = inside && j < columns ? *(const Value*)(from + j * SIZE) : zero();
}

// T[s] ← the transpose of A[s], a block for 32 × 32 elements of it.
extern "C" __global__ void __launch_bounds__(THREADS) turn(
    const char* A, long long lda, long long next_a, long long rows, long long columns, char* T, long long ld, long long next) {
    constexpr int SIDE = 32;
    __shared__ __align__(16) char memory[SIDE * (SIDE + 1) * SIZE];
    Value* const tile = (Value*)memory;
    const long long across = (columns + SIDE - 1) / SIDE, i_0 = blockIdx.x / across * SIDE, j_0 = blockIdx.x % across * SIDE;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
#pragma unroll
    for (int i = y; i < SIDE; i += THREADS / SIDE)
        if (i_0 + i < rows && j_0 + x < columns)
            tile[i * (SIDE + 1) + x] = *(const Value*)(A + blockIdx.y * next_a + (i_0 + i) * lda + (j_0 + x) * SIZE);
    __syncthreads();
#pragma unroll
    for (int j = y; j < SIDE; j += THREADS / SIDE)
        if (i_0 + x < rows && j_0 + j < columns)
            *(Value*)(T + blockIdx.y * next + (j_0 + j) * ld + (i_0 + x) * SIZE) = tile[x * (SIDE + 1) + j];
}

// out_i ← the element at places_i.
extern "C" __global__ void __launch_bounds__(THREADS) pick(
    const Value* from, const long long* places, long long count, Value* out) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) out[i] = from[places[i]];
}
