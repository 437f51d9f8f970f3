// C ← a ⊗ b by element, of arrays with any strides that broadcast. Before this file the engine writes ops.cuh, `Value`,
// `zero`, `relax` and memory.cuh.

constexpr int THREADS = 256;

// C lies in one run of memory. For each of its `count` axes the table has its size, and the bytes to the next element of A
// and of B; the last axis comes last.
extern "C" __global__ void __launch_bounds__(THREADS) outer(
    const char* A, const char* B, Value* C, long long size, const long long* axes, long long count) {
    for (long long e = (long long)blockIdx.x * THREADS + threadIdx.x; e < size; e += (long long)gridDim.x * THREADS) {
        long long rest = e, a = 0, b = 0;
        for (int d = (int)count - 1; d > 0; d--) {
            const long long n = axes[3 * d], quotient = (rest | n) >> 32 ? rest / n : (unsigned)rest / (unsigned)n;
            a += (rest - quotient * n) * axes[3 * d + 1];
            b += (rest - quotient * n) * axes[3 * d + 2];
            rest = quotient;
        }
        if (count) a += rest * axes[1], b += rest * axes[2];
        C[e] = relax(zero(), *(const Value*)(A + a), *(const Value*)(B + b));
    }
}
