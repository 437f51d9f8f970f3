// Facts about a matrix in one pass. Before this file the engine writes ops.cuh, `Value`, `Number` (its type in
// registers) and memory.cuh for SIZE.

constexpr int LOW_LIMIT = 1;   // −∞, or an integer's least value
constexpr int HIGH_LIMIT = 2;  // +∞, or an integer's greatest value
constexpr int NOT_A_NUMBER = 4;
constexpr int OTHER = 8;  // neither the algebra's zero nor its one

// Integers of the same order: of a double, those below zero have their lower bits flipped.
DEVICE long long ordered(double x) {
    long long bits = __double_as_longlong(x);
    return bits ^ (bits >> 63 & 0x7fffffffffffffffll);
}
template <class T> DEVICE long long key(T x) {
    if constexpr (is_floating<T>) return ordered(double(x));
    else if constexpr (sizeof(T) == 8 && !is_signed<T>) return (long long)(x ^ 0x8000000000000000ull);
    else return (long long)x;
}
// The flag of what is no finite number, or 0.
template <class T> DEVICE int limit(T x) {
    if constexpr (is_floating<T>) return x != x ? NOT_A_NUMBER : x - x == T(0) ? 0 : x > T(0) ? HIGH_LIMIT : LOW_LIMIT;
    else return x == most<T> ? HIGH_LIMIT : x == least<T> ? LOW_LIMIT : 0;
}

// result: least and greatest finite number as keys, and the flags above.
extern "C" __global__ void __launch_bounds__(256) scan(
    const char* A, long long ld, long long rows, long long columns, long long zero_key, long long one_key, long long* result) {
    long long low = 0x7fffffffffffffffll, high = -low - 1;
    int flags = 0;
    for (long long i = blockIdx.x; i < rows; i += gridDim.x)
        for (long long j = threadIdx.x; j < columns; j += 256) {
            const Number x = *(const Value*)(A + i * ld + j * SIZE);
            const long long k = key(x);
            if (k != zero_key && k != one_key) flags |= OTHER;
            const int found = limit(x);
            flags |= found;
            if (!found) low = min(low, k), high = max(high, k);
        }
    for (int step = 16; step; step /= 2) {
        low = min(low, __shfl_xor_sync(~0u, low, step));
        high = max(high, __shfl_xor_sync(~0u, high, step));
        flags |= __shfl_xor_sync(~0u, flags, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(result, low);
        atomicMax(result + 1, high);
        if (flags) atomicOr((unsigned long long*)result + 2, (unsigned long long)flags);
    }
}
