// Data into storage and results out of it, with what has to be known about both, in one pass each. Before this file the
// engine writes ops.cuh, the prelude of the algebra (`Value`, `zero`, `one`, `plus`, `same`), then of the data: `Given`,
// its type in memory, `Number`, in registers, IS_NUMBER, `contains`, `has_nan`, `encode`, `decode`, `leaves`, then THREADS,
// found.cuh and memory.cuh.
// Leading dimensions are in bytes; `next` leads from one matrix of a stack to the next.

constexpr int LOADS = 4;  // elements that a thread asks memory for before it looks at them

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
