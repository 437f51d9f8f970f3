// Chains of rows: x_0 = x ⊗ e_0, x_t = (x_{t−1} ⊗ A_t) ⊗ e_t, for many sequences side by side. A group of GROUP threads
// computes a sequence, each thread an element of a row. It holds its column of the matrix in registers: of one matrix for all
// steps it is read once. The row before lies in shared memory. Backwards is the same along transposed matrices, over the
// algebra with the operands of ⊗ exchanged, and a row comes out before its emissions join.
//
// Over log-sum-exp (POWERS) the maxima of the row and of the column are taken out, and the rest is a product of powers, as in
// thin.cu: an element far above all that may have underflowed is accepted, and another one is ⊕ of each term.
//
// Before this file the engine writes ops.cuh, the prelude of the algebra, then of the data, the numbers in capitals, found.cuh,
// runs.cuh, seen.cuh and memory.cuh. Rows, columns and steps are in bytes.

using Values = Run<Value, VECTOR>;
constexpr int RUNS = (N + VECTOR - 1) / VECTOR, GROUPS = THREADS / GROUP;

DEVICE void meet() {
    if constexpr (GROUP > 32) __syncthreads();
    else __syncwarp();
}

DEVICE Value read(const char* at, bool looks, Seen& seen) {
    const Given x = *(const Given*)at;
    if (looks) seen.look(x);
    return encode(x);
}

#ifdef POWERS

DEVICE bool is_low(Value x) { return x < 0 && x - x != 0; }  // −∞

// Of logarithms, with the sign of those whose powers are added.
DEVICE Value positive(Value x) { return NEGATED ? -x : x; }
DEVICE Value within(Value top) { return is_low(top) ? Value(0) : top; }
DEVICE Value scaled(Value x, Value e) { return is_absent(x) || is_absent(e) ? zero() : x + e; }

// An element by ⊕ of each term that is there, from a row and a column in memory.
__noinline__ __device__ Value by_terms(const Value* row, const char* column, long long step) {
    Value value = zero();
#pragma unroll 1
    for (int k = 0; k < N; k++) {
        const Value a = encode(*(const Given*)(column + k * step)), x = row[k];
        if (!is_absent(a) && !is_absent(x)) value = relax(value, x, a);
    }
    return value;
}

#else

DEVICE Value scaled(Value x, Value e) { return relax(zero(), x, e); }

#endif

// Of a sequence: addresses of its first row, matrix, emissions, answers and numbers of terms that won; and its rows.
struct Job {
    const char *x, *matrix, *emissions;
    char *out;
    unsigned char* back;
    long long rows;
};

// Bits of `how`: there are emissions; numbers of the terms that won are wanted; backwards; elements are looked at.
constexpr int EMITS = 1, WINS = 2, BACKWARDS = 4, LOOKS_AT = 8;

extern "C" __global__ void __launch_bounds__(THREADS) steps(
    const Job* jobs, long long count, long long x_column, long long a_step, long long a_row, long long a_column,
    long long e_row, long long e_column, long long out_row, long long out_column, long long back_row, long long how, REPORT) {
    __shared__ __align__(16) char memory[GROUPS * 3 * RUNS * sizeof(Values)];
    __shared__ long long lengths[GROUPS];
    SEEN(seen);
    const int group = threadIdx.x / GROUP, j = threadIdx.x % GROUP;
    const long long number = blockIdx.x * (long long)GROUPS + group;
    const bool looks = how & LOOKS_AT, emits = how & EMITS, wins = how & WINS, backwards = how & BACKWARDS;
    Job job = jobs[min(number, count - 1)];
    if (number >= count) job.rows = 0;
    lengths[group] = job.rows;
    __syncthreads();
    long long most = 0;  // of the sequences whose threads meet
    for (int g = 0; g < GROUPS; g++) most = max(most, lengths[g]);
    Values* now = (Values*)memory + group * 3 * RUNS;
    Values* other = now + RUNS;
    Value a[N];
    const bool mine = j < N;
#ifdef POWERS
    constexpr Value LEAST = Value(SIZE == 4 ? 0x1p-126f * 0x1p23f * 8 : 0x1p-1022 * 0x1p52 * 8) * N;
    constexpr Value MOST = Value(SIZE == 4 ? 0x1p126f : 0x1p1022);
    Values* const held = now + 2 * RUNS;
    Value out_of_column = 0;
#endif
#pragma unroll 1
    for (long long t = 0; t < most; t++) {
        const bool live = mine && t < job.rows;
        const char* const column = job.matrix + j * a_column;
        Value row = zero();
        int which = 0;
        if (t == 0) {
            if (live) row = read(job.x + j * x_column, looks, seen);
        } else {
            if (live && (t == 1 || a_step)) {
#pragma unroll
                for (int k = 0; k < N; k++) a[k] = read(column + k * a_row, looks, seen);
#ifdef POWERS
                out_of_column = positive(a[0]);
#pragma unroll
                for (int k = 1; k < N; k++) out_of_column = ops::maximum(out_of_column, positive(a[k]));
                out_of_column = within(out_of_column);
#pragma unroll
                for (int k = 0; k < N; k++) a[k] = power(positive(a[k]) - out_of_column);
#endif
            }
#ifdef POWERS
            Value top = positive(now[0].at[0]);
#pragma unroll
            for (int k = 1; k < N; k++) top = ops::maximum(top, positive(now[k / VECTOR].at[k % VECTOR]));
            top = within(top);
            if (mine) ((Value*)held)[j] = power(positive(((const Value*)now)[j]) - top);
            meet();
            Value sum = 0;
#pragma unroll
            for (int p = 0; p < RUNS; p++) {
                const Values x = held[p];
#pragma unroll
                for (int v = 0; v < VECTOR; v++)
                    if (p * VECTOR + v < N) sum = ops::multiply_add(x.at[v], a[p * VECTOR + v], sum);
            }
            if (live)
                row = sum >= LEAST && fabs(top) < MOST && fabs(out_of_column) < MOST
                    ? positive(top + out_of_column + logarithm(sum)) : by_terms((const Value*)now, column, a_row);
#else
#pragma unroll
            for (int p = 0; p < RUNS; p++) {
                const Values x = now[p];
#pragma unroll
                for (int v = 0; v < VECTOR; v++) {
                    if (p * VECTOR + v >= N) break;
                    const Value next = relax(row, x.at[v], a[p * VECTOR + v]);
                    if (wins && !same(next, row)) which = p * VECTOR + v;
                    row = next;
                }
            }
#endif
            job.matrix += a_step;
        }
        if (live) {
            Value state = row;
            if (emits) state = scaled(row, read(job.emissions + t * e_row + j * e_column, looks, seen));
            *(Given*)(job.out + t * out_row + j * out_column) = seen.judged(backwards ? row : state);
            if (wins) job.back[t * back_row + j] = which;
            ((Value*)other)[j] = state;
        }
        meet();
        Values* const swap = now;
        now = other, other = swap;
    }
    TELL(seen);
}
