// What launches find out about the data that they read, and how the host hears of it. Before this file stand THREADS, and
// of the data `Given`, `Number`, IS_NUMBER, `contains` and `has_nan`. With FLAGS_ONLY only the names of the flags.

constexpr unsigned LOW_LIMIT = 1;     // −∞, or an integer's least value
constexpr unsigned HIGH_LIMIT = 2;    // +∞, or an integer's greatest value
constexpr unsigned NOT_A_NUMBER = 4;
constexpr unsigned OTHER = 8;         // neither the algebra's zero nor its one
constexpr unsigned OUTSIDE = 16;      // outside the carrier
constexpr unsigned IMPROVED = 32;     // 1 ⊕ a ≠ 1 on the diagonal of a result
constexpr unsigned LEAVES = 64;       // a result that the data's type does not hold
constexpr unsigned UNDEFINED = 128;   // a pivot had no star
constexpr unsigned ZERO = 256;        // the algebra's zero
constexpr unsigned TINY = 512;        // a float beside 0 that is smaller than the root of the least normal number

#ifndef FLAGS_ONLY

// What launches found so far; the host gives it `low` and `high` the wrong way round, and the rest 0.
struct Tally { long long low, high; unsigned long long flags, arrived; };

template <class T> DEVICE long long key(T x) {
    if constexpr (is_floating<T>) return ordered(double(x));
    else if constexpr (sizeof(T) == 8 && !is_signed<T>) return (long long)(x ^ 0x8000000000000000ull);
    else return (long long)x;
}

template <class T> DEVICE T from_key(long long key) {
    if constexpr (is_floating<T>) return T(from_ordered(key));
    else if constexpr (sizeof(T) == 8 && !is_signed<T>) return T(key) ^ T(0x8000000000000000ull);
    else return T(key);
}

// The flag of what is not a finite number, or 0.
template <class T> DEVICE unsigned limit(T x) {
    if constexpr (is_floating<T>) return x != x ? NOT_A_NUMBER : x - x == T(0) ? 0 : x > T(0) ? HIGH_LIMIT : LOW_LIMIT;
    else return x == most<T> ? HIGH_LIMIT : x == least<T> ? LOW_LIMIT : 0;
}

DEVICE bool is_tiny(float x) { return x != 0 && fabsf(x) < 0x1p-63f; }
DEVICE bool is_tiny(double x) { return x != 0 && fabs(x) < 0x1p-511; }
template <class T> DEVICE bool is_tiny(T) { return false; }

// The flags of all threads of a block.
DEVICE unsigned any_of(unsigned flags) {
    __shared__ unsigned all[THREADS / 32];
    flags = __reduce_or_sync(~0u, flags);
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32] = flags;
    __syncthreads();
    flags = 0;
    for (int w = 0; w < THREADS / 32; w++) flags |= all[w];
    return flags;
}

template <class T> DEVICE T beyond_all() {
    if constexpr (is_floating<T>) return T(__int_as_float(0x7f800000));
    else return most<T>;
}
template <class T> DEVICE T below_all() {
    if constexpr (is_floating<T>) return -beyond_all<T>();
    else return least<T>;
}
// The lesser and the greater; of −0 and 0 in single precision, −0 is the lesser.
DEVICE float lesser(float x, float y) { return fminf(x, y); }
DEVICE float greater(float x, float y) { return fmaxf(x, y); }
template <class T> DEVICE T lesser(T x, T y) { return y < x ? y : x; }
template <class T> DEVICE T greater(T x, T y) { return x < y ? y : x; }

// What a thread found.
struct Found {
    Number low = beyond_all<Number>(), high = below_all<Number>();
    unsigned flags = 0;

    template <class T> DEVICE void look_at(const T& x, Number zero_of_data, Number one_of_data) {
        if (!contains(x)) flags |= OUTSIDE;
        if constexpr (!IS_NUMBER) {
            if (has_nan(x)) flags |= NOT_A_NUMBER;
        } else {
            const Number number = x;
            if (number == zero_of_data) flags |= ZERO;
            else if (number != one_of_data) flags |= OTHER;
            if (is_tiny(number)) flags |= TINY;
            const unsigned kind = limit(number);
            flags |= kind;
            if (!kind) low = lesser(low, number), high = greater(high, number);
        }
    }

    // Adds what all threads of the block found; the last block of a last launch writes the sum where the host reads it.
    DEVICE void account(Tally* tally, long long* report) {
        __shared__ long long lows[THREADS / 32], highs[THREADS / 32];
        const unsigned block_flags = any_of(flags);
        const bool some = IS_NUMBER && low <= high;
        long long lesser_key = some ? key(low) : 0x7fffffffffffffffll, greater_key = some ? key(high) : -0x7fffffffffffffffll - 1;
        if constexpr (IS_NUMBER)
            for (int step = 16; step; step /= 2) {
                lesser_key = min(lesser_key, __shfl_xor_sync(~0u, lesser_key, step));
                greater_key = max(greater_key, __shfl_xor_sync(~0u, greater_key, step));
            }
        if (threadIdx.x % 32 == 0) lows[threadIdx.x / 32] = lesser_key, highs[threadIdx.x / 32] = greater_key;
        __syncthreads();
        if (threadIdx.x) return;
        if constexpr (IS_NUMBER) {
            for (int w = 1; w < THREADS / 32; w++)
                lesser_key = min(lesser_key, lows[w]), greater_key = max(greater_key, highs[w]);
            // most blocks find nothing new, and a look takes less time than an atomic operation
            if (lesser_key < ((volatile Tally*)tally)->low) atomicMin(&tally->low, lesser_key);
            if (greater_key > ((volatile Tally*)tally)->high) atomicMax(&tally->high, greater_key);
        }
        if (block_flags & ~((volatile Tally*)tally)->flags) atomicOr(&tally->flags, (unsigned long long)block_flags);
        if (!report) return;
        __threadfence();
        if (atomicAdd(&tally->arrived, 1ull) + 1 < (unsigned long long)gridDim.x * gridDim.y) return;
        __threadfence();
        report[0] = atomicExch((unsigned long long*)&tally->low, 0x7fffffffffffffffull);
        report[1] = atomicExch((unsigned long long*)&tally->high, 0x8000000000000000ull);
        report[2] = atomicExch(&tally->flags, 0ull);
        tally->arrived = 0;
        __threadfence_system();
    }
};

#endif
