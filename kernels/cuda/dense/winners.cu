// Which term of a product won, from the tile of steps in which it did: product.cu with TRACKS has noted those. Before this
// file the engine writes ops.cuh, `Value`, `zero`, `relax`, `same`, memory.cuh, and BK.
//
// Leading dimensions and steps from matrix to matrix are in bytes, those of T and W in elements.

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int TOGETHER = 32 / BK;  // elements that a warp looks at at once, a term a lane
static_assert(BK <= 32 && 32 % BK == 0);

// T ← the transposed of B, whose rows and columns these are: the steps of a column of B then lie side by side.
extern "C" __global__ void __launch_bounds__(THREADS) turn(
    const char* B, long long ldb, long long next_B, long long rows, long long columns, Value* T, long long next_T) {
    const long long j = blockIdx.x;
    const char* const from = B + blockIdx.y * next_B + j * SIZE;
    Value* const to = T + blockIdx.y * next_T + j * rows;
    for (long long k = threadIdx.x; k < rows; k += THREADS) to[k] = *(const Value*)(from + k * ldb);
}

// w_ij ← the least step k, of BK from w_ij on, whose term a_ik ⊗ b_kj is c_ij; −1 stays. B is transposed, without gaps.
// A warp takes 32 columns of a row.
extern "C" __global__ void __launch_bounds__(THREADS) settle(
    const char* A, long long lda, long long next_A, const Value* T, long long next_T, const char* C, long long ldc,
    long long next_C, int* W, long long ldw, long long next_W, long long columns, long long steps) {
    const int lane = threadIdx.x % 32, own = lane % BK;
    const long long i = blockIdx.x;
    const char* const a = A + blockIdx.y * next_A + i * lda;
    const char* const c = C + blockIdx.y * next_C + i * ldc;
    int* const which = W + blockIdx.y * next_W + i * ldw;
    T += blockIdx.y * next_T;
    for (long long first = threadIdx.x / 32 * 32; first < columns; first += 32 * WARPS) {
        const int began = first + lane < columns ? which[first + lane] : -1;
        int found = -1;
#pragma unroll 4
        for (int q = 0; q < BK; q++) {
            const int element = q * TOGETHER + lane / BK;
            const int start = __shfl_sync(~0u, began, element);
            bool won = false;
            if (start >= 0 && start + own < steps) {
                const Value term = relax(zero(), *(const Value*)(a + (start + own) * (long long)SIZE),
                                         T[(first + element) * steps + start + own]);
                won = same(term, *(const Value*)(c + (first + element) * SIZE));
            }
            const unsigned all = __ballot_sync(~0u, won);
            if (q == lane / TOGETHER && began >= 0) {
                const unsigned mine = all >> lane % TOGETHER * BK & (BK == 32 ? ~0u : (1u << BK % 32) - 1);
                found = began + __ffs(mine) - 1;
            }
        }
        if (first + lane < columns) which[first + lane] = found;
    }
}
