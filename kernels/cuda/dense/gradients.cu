// Derivatives of products. Before this file the engine writes ops.cuh, `Value`, `zero`, `times`, `same`,
// and `scale`.

constexpr int SIDE = 64;  // rows and columns of the answer that a block computes
constexpr int THREADS = 256;
constexpr int PER = 4;  // rows, and columns, of the answer that a thread holds
constexpr int ACROSS = SIDE / PER;  // threads along a side
constexpr int TERMS = 128 / SIZE;  // that are read at once
constexpr int PITCH = SIDE + 16 / SIZE;  // elements from term to term in shared memory
static_assert(ACROSS * ACROSS == THREADS && SIDE * TERMS % THREADS == 0);

// How far the powers of a row or a column may lie apart, as logarithms, and how large a power may be: products of two
// do not underflow then, and no sum of them overflows.
constexpr Value RANGE = SIZE == 4 ? 30 : 300, LARGEST = SIZE == 4 ? 80 : 700;
constexpr Value HUGE = SIZE == 4 ? 0x1p100f : 0x1p100;  // whose reciprocal is a normal number

// Of x below 0 and in single precision off by |x| / 2^23 of itself, about, which is what rounding x does.
DEVICE float exponential(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
    return y;
}
DEVICE double exponential(double x) { return exp(x); }
DEVICE bool is_finite(Value x) { return x - x == Value(0); }
DEVICE Value absent() { return -Value(__int_as_float(0x7f800000)); }  // of logarithms to base e, whatever zero is

// A column of elements in shared memory, of which a thread uses PER, as one load.
struct alignas(16) Few {
    Value at[PER];
};

// Where in a tile of SIDE rows and TERMS columns a thread's e-th element lies, and that of the memory side by side.
struct Spot {
    int row, term;
    DEVICE Spot(int e, bool by_rows)
        : row(by_rows ? e % SIDE : e / TERMS), term(by_rows ? e / SIDE : e % TERMS) {}
};

// X_ik = Σ_j G_ij exp(scale · (a_ik + b_kj − c_ij)), terms in which c_ij is zero left out, in each matrix of a stack.
// No power exceeds 1 where c is the log-sum-exp of its terms. Strides let the same code go over transposed matrices.
//
// So many terms at a time as are in shared memory, by ordinary products of powers,
//
//     exp(a_ik + β_k − γ_i) |G_i| Σ_j (G_ij / |G_i|) exp(γ_i − c_ij) · exp(b_kj − β_k),
//
// with γ_i the least c_ij, |G_i| the largest of a row of G, and β_k the largest b_kj, if no row and no column of these
// has a wider RANGE. What underflows then is below 2^-149 e^60 |G_i| of an entry, and 2^-1074 e^600 |G_i| in double
// precision. Otherwise term by term.
extern "C" __global__ void __launch_bounds__(THREADS, SIZE == 4 ? 2 : 1) weighted(
    Value* X, const Value* G, const Value* A, const Value* B, const Value* C, long long rows, long long depth,
    long long terms, long long gs, long long gr, long long gc, long long as, long long ar, long long ac, long long bs,
    long long br, long long bc, long long cs, long long cr, long long cc, long long xs, long long xr, long long xc) {
    __shared__ __align__(16) Value g[TERMS][PITCH], c[TERMS][PITCH], b[TERMS][PITCH];
    __shared__ __align__(16) Value weight[SIDE], share[SIDE], least[SIDE], most[SIDE];
    const long long across = (depth + SIDE - 1) / SIDE, down = (rows + SIDE - 1) / SIDE;
    const long long matrix = blockIdx.x / (across * down), tile = blockIdx.x % (across * down);
    const long long first = tile / across * SIDE, left = tile % across * SIDE;
    const int y = threadIdx.x / ACROSS * PER, x = threadIdx.x % ACROSS * PER;
    Value a[PER][PER], sum[PER][PER];
#pragma unroll
    for (int p = 0; p < PER; p++)
#pragma unroll
        for (int q = 0; q < PER; q++) {
            const long long i = first + y + p, k = left + x + q;
            const bool there = i < rows && k < depth;
            a[p][q] = there ? scale() * A[matrix * as + i * ar + k * ac] : absent();
            sum[p][q] = 0;
        }
    for (long long begin = 0; begin < terms; begin += TERMS) {
        __syncthreads();
#pragma unroll 2
        for (int e = threadIdx.x; e < SIDE * TERMS; e += THREADS) {
            const Spot at(e, cr == 1 && cc != 1);
            const long long i = first + at.row, j = begin + at.term;
            const bool there = i < rows && j < terms;
            const Value total = there ? C[matrix * cs + i * cr + j * cc] : zero();
            const bool counts = there && !same(total, zero());
            g[at.term][at.row] = counts ? G[matrix * gs + i * gr + j * gc] : Value(0);
            c[at.term][at.row] = counts ? scale() * total : Value(0);
        }
#pragma unroll 2
        for (int e = threadIdx.x; e < SIDE * TERMS; e += THREADS) {
            const Spot at(e, br == 1 && bc != 1);
            const long long k = left + at.row, j = begin + at.term;
            b[at.term][at.row] = k < depth && j < terms ? scale() * B[matrix * bs + k * br + j * bc] : absent();
        }
        __syncthreads();
        bool narrow = true;
        for (int r = threadIdx.x; r < 2 * SIDE; r += THREADS) {
            const bool is_row = r < SIDE;
            const int at = r % SIDE;
            Value low = -absent(), high = absent(), size = 0;
#pragma unroll 4
            for (int j = 0; j < TERMS; j++) {
                const Value v = is_row ? c[j][at] : b[j][at];
                if (is_row ? g[j][at] == Value(0) : v == absent()) continue;
                low = v < low ? v : low;
                high = v > high ? v : high;
                narrow &= is_finite(v);
                if (is_row) size = max(size, abs(g[j][at]));
            }
            const bool none = low > high;
            narrow &= none || high - low <= RANGE;
            if (is_row) {
                narrow &= size == Value(0) || (size >= 1 / HUGE && size <= HUGE);
                weight[at] = size == Value(0) ? Value(1) : size;
                share[at] = 1 / weight[at];
                least[at] = none ? Value(0) : low;
            } else {
                most[at] = none ? Value(0) : high;
            }
        }
        __syncthreads();
        const Few lows = *(const Few*)(least + y), highs = *(const Few*)(most + x), sizes = *(const Few*)(weight + y);
#pragma unroll
        for (int p = 0; p < PER; p++)
#pragma unroll
            for (int q = 0; q < PER; q++) narrow &= a[p][q] + (highs.at[q] - lows.at[p]) <= LARGEST;
        if (__syncthreads_and(narrow)) {
            const int r = threadIdx.x % SIDE;  // the same in each step
            const Value unit = share[r], low = least[r], high = most[r];
#pragma unroll 2
            for (int j = threadIdx.x / SIDE; j < TERMS; j += THREADS / SIDE) {
                g[j][r] *= unit * exponential(low - c[j][r]);
                b[j][r] = exponential(b[j][r] - high);
            }
            __syncthreads();
            Value part[PER][PER] = {};
#pragma unroll 4
            for (int j = 0; j < TERMS; j++) {
                const Few s = *(const Few*)(g[j] + y), t = *(const Few*)(b[j] + x);
#pragma unroll
                for (int p = 0; p < PER; p++)
#pragma unroll
                    for (int q = 0; q < PER; q++) part[p][q] = fma(s.at[p], t.at[q], part[p][q]);
            }
#pragma unroll
            for (int p = 0; p < PER; p++)
#pragma unroll
                for (int q = 0; q < PER; q++)
                    if (part[p][q] != Value(0))
                        sum[p][q] += part[p][q] * sizes.at[p] * exponential(a[p][q] + (highs.at[q] - lows.at[p]));
        } else {
#pragma unroll 1
            for (int j = 0; j < TERMS; j++) {
                const Few s = *(const Few*)(g[j] + y), t = *(const Few*)(b[j] + x), u = *(const Few*)(c[j] + y);
#pragma unroll
                for (int p = 0; p < PER; p++)
#pragma unroll
                    for (int q = 0; q < PER; q++)  // a power of no term may be infinite
                        if (s.at[p] != Value(0))
                            sum[p][q] += s.at[p] * exponential(a[p][q] + t.at[q] - u.at[p]);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < PER; p++)
#pragma unroll
        for (int q = 0; q < PER; q++) {
            const long long i = first + y + p, k = left + x + q;
            if (i < rows && k < depth) X[matrix * xs + i * xr + k * xc] = sum[p][q];
        }
}

// The least k of which the term a_ik ⊗ b_kj is c_ij; −1 where that is zero. All in C order.
extern "C" __global__ void __launch_bounds__(THREADS) winners(
    int* W, const Value* A, const Value* B, const Value* C, long long count, long long rows, long long depth,
    long long columns) {
    const long long step = (long long)gridDim.x * THREADS;
    for (long long e = (long long)blockIdx.x * THREADS + threadIdx.x; e < count; e += step) {
        const long long j = e % columns, i = e / columns, matrix = i / rows;
        const Value c = C[e];
        int found = -1;
        if (!same(c, zero()))
            for (long long k = 0; k < depth; k++)
                if (same(times(A[i * depth + k], B[(matrix * depth + k) * columns + j]), c)) {
                    found = (int)k;
                    break;
                }
        W[e] = found;
    }
}
