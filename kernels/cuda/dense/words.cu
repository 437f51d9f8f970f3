// Elements of A for products whose words hold several elements of B and C: each filled into a word of its own. Before
// this file the engine writes ops.cuh and `Narrow`, the type of an element: 16 bits twice, or a truth value 32 times.

template <class T> DEVICE unsigned filled(T x) {
    if constexpr (is_bool<T>) return x ? ~0u : 0u;
    else return 0x10001u * (unsigned short)x;
}

// to[i, j] ← the word of A[i, j]; `ld` and `next` of A in bytes, `to` without gaps.
extern "C" __global__ void __launch_bounds__(256) fill_words(
    const char* A, long long ld, long long next, unsigned* to, long long rows, long long columns) {
    const char* const row = A + blockIdx.y * next + blockIdx.x * ld;
    unsigned* const out = to + (blockIdx.y * rows + blockIdx.x) * columns;
    for (long long j = threadIdx.x; j < columns; j += 256) out[j] = filled(*(const Narrow*)(row + j * sizeof(Narrow)));
}
