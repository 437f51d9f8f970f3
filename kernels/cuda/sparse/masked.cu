// The wanted entries of A ⊗ B, one warp each: c ← ⊕_k a_ik ⊗ b_kj, where the lanes share k and then add up their sums.
//
// `dots` takes a row of A and a row of B's transpose. `pairs` takes rows in compressed form, whose columns ascend: lanes
// share the entries of the shorter one, and search for each in the other one.
//
// Before this file the engine writes ops.cuh, `Value`, `zero`, `plus`, `relax` and memory.cuh.

constexpr int THREADS = 128;

// ⊕ of the sums of a warp; lane 0 has it.
DEVICE Value together(Value sum) {
    __shared__ __align__(16) char memory[THREADS * SIZE];
    Value* const sums = (Value*)memory;
    const int lane = threadIdx.x % 32;
    __syncthreads();
    sums[threadIdx.x] = sum;
    for (int half = 16; half; half /= 2) {
        __syncthreads();
        if (lane < half) sums[threadIdx.x] = plus(sums[threadIdx.x], sums[threadIdx.x + half]);
    }
    return sums[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS) dots(
    const Value* A, const Value* B, const int* rows, const int* columns, Value* C, long long count, long long terms) {
    const int lane = threadIdx.x % 32;
    for (long long first = (long long)blockIdx.x * (THREADS / 32); first < count; first += (long long)gridDim.x * (THREADS / 32)) {
        const long long e = first + threadIdx.x / 32;
        Value sum = zero();
        if (e < count) {
            const Value* const a = A + rows[e] * terms;
            const Value* const b = B + columns[e] * terms;
#pragma unroll 4
            for (long long k = lane; k < terms; k += 32) sum = relax(sum, a[k], b[k]);
        }
        sum = together(sum);
        if (e < count && lane == 0) C[e] = sum;
    }
}

// The place of a column among those that ascend from `begin` to `end`, or `end`.
DEVICE long long place_of(const int* columns, long long begin, long long end, int column) {
    long long last = end;
    while (begin < last) {
        const long long middle = (begin + last) / 2;
        if (columns[middle] < column) begin = middle + 1;
        else last = middle;
    }
    return begin < end && columns[begin] == column ? begin : end;
}

extern "C" __global__ void __launch_bounds__(THREADS) pairs(
    const long long* offsets_a, const int* columns_a, const Value* A, const long long* offsets_b, const int* columns_b,
    const Value* B, const int* rows, const int* columns, Value* C, long long count) {
    const int lane = threadIdx.x % 32;
    for (long long first = (long long)blockIdx.x * (THREADS / 32); first < count; first += (long long)gridDim.x * (THREADS / 32)) {
        const long long e = first + threadIdx.x / 32;
        Value sum = zero();
        if (e < count) {
            const long long a = offsets_a[rows[e]], end_a = offsets_a[rows[e] + 1];
            const long long b = offsets_b[columns[e]], end_b = offsets_b[columns[e] + 1];
            if (end_a - a <= end_b - b) {
                for (long long p = a + lane; p < end_a; p += 32) {
                    const long long q = place_of(columns_b, b, end_b, columns_a[p]);
                    if (q < end_b) sum = relax(sum, A[p], B[q]);
                }
            } else {
                for (long long q = b + lane; q < end_b; q += 32) {
                    const long long p = place_of(columns_a, a, end_a, columns_b[q]);
                    if (p < end_a) sum = relax(sum, A[p], B[q]);
                }
            }
        }
        sum = together(sum);
        if (e < count && lane == 0) C[e] = sum;
    }
}
