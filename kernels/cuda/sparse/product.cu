// C ← A ⊗ B, or C ⊕ A ⊗ B, with A in compressed rows. Before this file the engine writes ops.cuh, `Value`, `zero`, `relax`,
// and WIDE and PER.
//
// WIDE threads side by side compute a row of C, PER columns each, WIDE apart: they read the same entry of A and
// neighbours of a row of B. Rows of B and C have unit stride; the strides from row to row are in elements.

constexpr int THREADS = 256;

extern "C" __global__ void __launch_bounds__(THREADS) times_dense(
    const long long* offsets, const int* columns, const Value* values, long long rows, const Value* B, long long B_row,
    Value* C, long long C_row, long long width, long long accumulate) {
    const long long first = (long long)blockIdx.y * WIDE * PER + threadIdx.x % WIDE;
    const long long step = (long long)gridDim.x * (THREADS / WIDE);
    for (long long i = (long long)blockIdx.x * (THREADS / WIDE) + threadIdx.x / WIDE; i < rows; i += step) {
        Value sums[PER];
#pragma unroll
        for (int q = 0; q < PER; q++)
            sums[q] = accumulate && first + q * WIDE < width ? C[i * C_row + first + q * WIDE] : zero();
        const long long end = offsets[i + 1];
#pragma unroll 4
        for (long long p = offsets[i]; p < end; p++) {
            const Value a = values[p];
            const Value* const b = B + columns[p] * B_row + first;
#pragma unroll
            for (int q = 0; q < PER; q++)
                if (first + q * WIDE < width) sums[q] = relax(sums[q], a, b[q * WIDE]);
        }
#pragma unroll
        for (int q = 0; q < PER; q++)
            if (first + q * WIDE < width) C[i * C_row + first + q * WIDE] = sums[q];
    }
}
