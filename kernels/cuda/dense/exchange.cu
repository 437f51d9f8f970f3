// Data into storage and results out of it, with what has to be known about both, in one pass each. Before this file the
// engine writes ops.cuh, the prelude of the algebra (`Value`, `zero`, `one`, `plus`, `same`), then of the data: `Given`,
// its type in memory, `Number`, in registers, IS_NUMBER, `contains`, `has_nan`, `encode`, `decode`, `leaves`, and memory.cuh.
// Leading dimensions are in bytes; `next` leads from one matrix of a stack to the next.

constexpr int THREADS = 256;
constexpr int LOADS = 4;  // elements that a thread asks memory for before it looks at them

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
            if (lesser_key <= greater_key) atomicMin(&tally->low, lesser_key), atomicMax(&tally->high, greater_key);
        }
        if (block_flags) atomicOr(&tally->flags, (unsigned long long)block_flags);
        if (!report) return;
        __threadfence();
        if (atomicAdd(&tally->arrived, 1ull) + 1 < gridDim.x) return;
        __threadfence();
        report[0] = atomicExch((unsigned long long*)&tally->low, 0x7fffffffffffffffull);
        report[1] = atomicExch((unsigned long long*)&tally->high, 0x8000000000000000ull);
        report[2] = atomicExch(&tally->flags, 0ull);
        tally->arrived = 0;
        __threadfence_system();
    }
};

// target ← encode(source), zero beyond it; only a look where there is no target. `lanes` threads share a row.
extern "C" __global__ void __launch_bounds__(THREADS) take_in(
    const char* source, long long ld, long long next, long long rows, long long columns, long long batch,
    char* target, long long ld_target, long long next_target, long long tall, long long wide, int lanes,
    long long zero_key, long long one_key, Tally* tally, long long* report) {
    const Number zero_of_data = from_key<Number>(zero_key), one_of_data = from_key<Number>(one_key);
    Found found;
    const int lane = threadIdx.x % lanes, together = THREADS / lanes;
    for (long long r = (long long)blockIdx.x * together + threadIdx.x / lanes; r < batch * tall; r += (long long)gridDim.x * together) {
        const long long matrix = r / tall, i = r - matrix * tall;
        const char* const from = source + matrix * next + i * ld;
        char* const to = target + matrix * next_target + i * ld_target;
        for (long long start = lane; start < wide; start += LOADS * lanes) {
            Given x[LOADS];
#pragma unroll
            for (int u = 0; u < LOADS; u++) {
                const long long j = start + u * lanes;
                if (i < rows && j < columns) x[u] = *(const Given*)(from + j * sizeof(Given));
            }
#pragma unroll
            for (int u = 0; u < LOADS; u++) {
                const long long j = start + u * lanes;
                const bool inside = i < rows && j < columns;
                if (inside) found.look_at(x[u], zero_of_data, one_of_data);
                if (target && j < wide) *(Value*)(to + j * SIZE) = inside ? encode(x[u]) : zero();
            }
        }
    }
    found.account(tally, report);
}

// The flags of an element of a result.
DEVICE unsigned judge(const Value& y, bool on_diagonal) {
    return (leaves(y) ? LEAVES : 0) | (on_diagonal && !same(plus(one(), y), one()) ? IMPROVED : 0);
}
DEVICE unsigned undefined_in(const int* failed, long long batch) {
    unsigned flags = 0;
    if (failed && blockIdx.x == 0)
        for (long long m = threadIdx.x; m < batch; m += THREADS) flags |= failed[m] >= 0 ? UNDEFINED : 0;
    return flags;
}

// target ← decode(results), whose memory may be the same.
extern "C" __global__ void __launch_bounds__(THREADS) hand_out(
    const char* results, long long ld, long long next, long long rows, long long columns, long long batch,
    char* target, long long ld_target, long long next_target, int lanes, const int* failed, Tally* tally, long long* report) {
    Found found;
    found.flags = undefined_in(failed, batch);
    const int lane = threadIdx.x % lanes, together = THREADS / lanes;
    for (long long r = (long long)blockIdx.x * together + threadIdx.x / lanes; r < batch * rows; r += (long long)gridDim.x * together) {
        const long long matrix = r / rows, i = r - matrix * rows;
        for (long long start = lane; start < columns; start += LOADS * lanes) {
            Value y[LOADS];
#pragma unroll
            for (int u = 0; u < LOADS; u++) {
                const long long j = start + u * lanes;
                if (j < columns) y[u] = *(const Value*)(results + matrix * next + i * ld + j * SIZE);
            }
#pragma unroll
            for (int u = 0; u < LOADS; u++) {
                const long long j = start + u * lanes;
                if (j >= columns) continue;
                found.flags |= judge(y[u], i == j);
                *(Given*)(target + matrix * next_target + i * ld_target + j * sizeof(Given)) = decode(y[u]);
            }
        }
    }
    found.account(tally, report);
}

// The diagonals of results only.
extern "C" __global__ void __launch_bounds__(THREADS) inspect(
    const char* results, long long ld, long long next, long long rows, long long batch, const int* failed,
    Tally* tally, long long* report) {
    Found found;
    found.flags = undefined_in(failed, batch);
    for (long long r = (long long)blockIdx.x * THREADS + threadIdx.x; r < batch * rows; r += (long long)gridDim.x * THREADS) {
        const long long matrix = r / rows, i = r - matrix * rows;
        found.flags |= judge(*(const Value*)(results + matrix * next + i * (ld + SIZE)), true) & IMPROVED;
    }
    found.account(tally, report);
}
