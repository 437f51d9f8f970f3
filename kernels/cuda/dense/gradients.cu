// Derivatives of products. Before this file the engine writes ops.cuh, `Value`, `zero`, `times`, `same`,
// and `scale`.

constexpr int SIDE = 32;  // rows and columns of the answer that a block computes, and terms that it reads at once
constexpr int THREADS = 256;
constexpr int PER = SIDE * SIDE / THREADS;  // rows of the answer that a thread holds

// Of x below 0 and in single precision off by |x| / 2^23 of itself, about, which is what rounding x does.
DEVICE float exponential(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
    return y;
}
DEVICE double exponential(double x) { return exp(x); }

// X_ik = Σ_j G_ij exp(scale · (a_ik + b_kj − c_ij)), terms in which c_ij is zero left out, in each matrix of a stack.
// No power exceeds 1 where c is the log-sum-exp of its terms. Strides let the same code go over transposed matrices.
extern "C" __global__ void __launch_bounds__(THREADS) weighted(
    Value* X, const Value* G, const Value* A, const Value* B, const Value* C, long long rows, long long depth,
    long long terms, long long gs, long long gr, long long gc, long long as, long long ar, long long ac, long long bs,
    long long br, long long bc, long long cs, long long cr, long long cc, long long xs, long long xr, long long xc) {
    __shared__ Value g[SIDE][SIDE + 1], c[SIDE][SIDE + 1], b[SIDE][SIDE + 1];
    const long long across = (depth + SIDE - 1) / SIDE, down = (rows + SIDE - 1) / SIDE;
    const long long matrix = blockIdx.x / (across * down), tile = blockIdx.x % (across * down);
    const long long first = tile / across * SIDE, left = tile % across * SIDE;
    const int lane = threadIdx.x % SIDE, warp = threadIdx.x / SIDE;
    const long long k = left + lane;
    Value a[PER], sum[PER];
    for (int p = 0; p < PER; p++) {
        const long long i = first + warp * PER + p;
        a[p] = i < rows && k < depth ? A[matrix * as + i * ar + k * ac] : zero();
        sum[p] = 0;
    }
    for (long long begin = 0; begin < terms; begin += SIDE) {
        __syncthreads();
        for (int p = 0; p < PER; p++) {
            const int r = warp * PER + p;
            const long long i = first + r, j = begin + lane, row = left + r;
            const bool there = i < rows && j < terms;
            const Value total = there ? C[matrix * cs + i * cr + j * cc] : zero();
            const bool counts = there && !same(total, zero());
            g[r][lane] = counts ? G[matrix * gs + i * gr + j * gc] : Value(0);
            c[r][lane] = counts ? total : Value(0);
            b[r][lane] = row < depth && j < terms ? B[matrix * bs + row * br + j * bc] : zero();
        }
        __syncthreads();
        for (int p = 0; p < PER; p++) {
            const int r = warp * PER + p;
            for (int j = 0; j < SIDE; j++) {
                if (g[r][j] == Value(0)) continue;  // the same for the whole warp; a power of no term may be infinite
                sum[p] += g[r][j] * exponential(scale() * (a[p] + b[lane][j] - c[r][j]));
            }
        }
    }
    for (int p = 0; p < PER; p++) {
        const long long i = first + warp * PER + p;
        if (i < rows && k < depth) X[matrix * xs + i * xr + k * xc] = sum[p];
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
