// Bits from bytes and bytes from bits, transposition, counts, and what is done to single entries. Before this file the
// engine writes bits.cuh. Matrices of bits have whole pairs of words a row; a grid goes over rows, or over blocks of 256 × 256.

constexpr int THREADS = 256;

// The lowest bit of each of 16 bytes that are not 0, and 16 bytes from 16 bits.
DEVICE unsigned gathered(unsigned four) {
    const unsigned some = ((four & 0x7f7f7f7fu) + 0x7f7f7f7fu | four) >> 7 & 0x01010101u;
    return some * 0x10204080u >> 28;
}
DEVICE unsigned spread(unsigned four) { return (four * 0x00204081u) & 0x01010101u; }

// to ← where bytes are not 0, 16 a thread, in rows that begin on 16 bytes; zeros up to the end of a row of `words` pairs.
extern "C" __global__ void __launch_bounds__(THREADS) pack_bytes(
    const char* from, long long ld, char* to, long long ldt, long long rows, long long columns, long long words) {
    for (long long i = blockIdx.y; i < rows; i += gridDim.y) {
        const long long j = ((long long)blockIdx.x * THREADS + threadIdx.x) * 16;
        if (j >= words * 64) return;
        const char* const source = from + i * ld + j;
        unsigned bits = 0;
        if (j + 16 <= columns) {
            const uint4 v = *(const uint4*)source;
            bits = gathered(v.x) | gathered(v.y) << 4 | gathered(v.z) << 8 | gathered(v.w) << 12;
        } else
            for (int x = 0; x < 16 && j + x < columns; x++) bits |= (unsigned)(source[x] != 0) << x;
        *(unsigned short*)(to + i * ldt + j / 8) = bits;
    }
}

// to ← zeros and ones, bytes in rows that begin on 16 bytes.
extern "C" __global__ void __launch_bounds__(THREADS) unpack_bytes(
    const char* from, long long ld, char* to, long long ldt, long long rows, long long columns) {
    for (long long i = blockIdx.y; i < rows; i += gridDim.y) {
        const long long j = ((long long)blockIdx.x * THREADS + threadIdx.x) * 16;
        if (j >= columns) return;
        const unsigned bits = *(const unsigned short*)(from + i * ld + j / 8);
        char* const target = to + i * ldt + j;
        if (j + 16 <= columns)
            *(uint4*)target =
                make_uint4(spread(bits & 15), spread(bits >> 4 & 15), spread(bits >> 8 & 15), spread(bits >> 12));
        else
            for (int x = 0; x < 16 && j + x < columns; x++) target[x] = bits >> x & 1;
    }
}

// to ← from transposed: 256 × 256 entries by a block, 32 rows by a warp.
extern "C" __global__ void __launch_bounds__(THREADS) transpose(
    const char* from, long long ld, char* to, long long ldt, long long rows, long long columns) {
    __shared__ Word side[256 * 9];  // rows of 9 words: threads of a warp meet 32 banks
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const long long row = blockIdx.y * 256ll + 32 * warp + lane, column = blockIdx.x * 256ll;
#pragma unroll
    for (int x = 0; x < 4; x++) {
        uint2 pair = make_uint2(0, 0);
        if (row < rows && column + 64 * x < columns) pair = *(const uint2*)(from + row * ld + column / 8 + 8 * x);
        side[(64 * x + lane) * 9 + warp] = transposed(pair.x, lane);
        side[(64 * x + 32 + lane) * 9 + warp] = transposed(pair.y, lane);
    }
    __syncthreads();
    const long long of = column + threadIdx.x;
    if (of >= columns) return;
#pragma unroll
    for (int x = 0; x < 4; x++)
        if (blockIdx.y * 256ll + 64 * x < rows)
            *(uint2*)(to + of * ldt + blockIdx.y * 32ll + 8 * x) =
                make_uint2(side[threadIdx.x * 9 + 2 * x], side[threadIdx.x * 9 + 2 * x + 1]);
}

// A ← 0: a block for each row.
extern "C" __global__ void __launch_bounds__(THREADS) clear(char* A, long long ld, long long words) {
    Pair* const a = (Pair*)(A + blockIdx.x * ld);
    for (long long j = threadIdx.x; j < words; j += THREADS) a[j] = 0;
}

// a_ii ← the values, or 1 where there are none.
extern "C" __global__ void __launch_bounds__(THREADS) set_diagonal(char* A, long long ld, long long n, const char* values) {
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Word* const word = (Word*)(A + i * ld) + i / 32;
    const Word bit = 1u << (i & 31);
    *word = !values || values[i] ? *word | bit : *word & ~bit;
}

// out_i ← whether row i of A and row i of B have an entry in common.
extern "C" __global__ void __launch_bounds__(THREADS) meets(
    const char* A, long long lda, const char* B, long long ldb, long long words, char* out) {
    const Pair *a = (const Pair*)(A + blockIdx.x * lda), *b = (const Pair*)(B + blockIdx.x * ldb);
    bool found = false;
    for (long long j = threadIdx.x; j < words; j += THREADS) found = found || (a[j] & b[j]);
    found = __syncthreads_or(found);
    if (threadIdx.x == 0) out[blockIdx.x] = found;
}

// out_s ← whether anything is in slab s of A.
extern "C" __global__ void __launch_bounds__(THREADS) some(
    const char* A, long long ld, long long rows, long long words, unsigned char* out) {
    const long long first = blockIdx.x * (long long)SLAB, last = min(first + SLAB, rows);
    bool found = false;
    for (long long i = first + threadIdx.x / 32; i < last && !found; i += THREADS / 32) {
        Pair all = 0;
        for (long long j = threadIdx.x & 31; j < words; j += 32) all |= ((const Pair*)(A + i * ld))[j];
        found = all != 0;
    }
    found = __syncthreads_or(found);
    if (threadIdx.x == 0) out[blockIdx.x] = found;
}

// out_t ← whether tile t of a product leaves C as it is: of each of its `slabs` nothing is in A, or all is in C already,
// or nothing is in T. `full` is of 16 rows × 256 columns, column by column and full_ld apart.
extern "C" __global__ void __launch_bounds__(THREADS) settle(
    const unsigned char* full, long long full_ld, const unsigned char* some_a, const unsigned char* some_t, long long rows,
    long long t_rows, long long gap_at, long long gap_size, long long slabs, long long down, long long across,
    unsigned char* out) {
    const long long tile = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (tile >= down * across) return;
    int row, column;
    place_of((int)tile, (int)down, (int)across, row, column);
    bool nothing = true, settled = true;
    for (int s = 4 * column; s < 4 * column + 4 && s * SLAB < t_rows; s++) nothing = nothing && !some_t[s];
    for (int s = 0; s < slabs; s++) {
        const int r = row_of_slab(row * (int)slabs + s, (int)gap_at, (int)gap_size);
        if (r >= rows || !some_a[r / SLAB]) continue;
        settled = settled && *(const Word*)(full + column * full_ld + r / 16) == 0x01010101u;
    }
    out[tile] = nothing || settled;
}

// total += the number of entries of A that are 1.
extern "C" __global__ void __launch_bounds__(THREADS) count(
    const char* A, long long ld, long long rows, long long words, unsigned long long* total) {
    unsigned long long sum = 0;
    for (long long i = blockIdx.x; i < rows; i += gridDim.x)
        for (long long j = threadIdx.x; j < words; j += THREADS) sum += __popcll(((const Pair*)(A + i * ld))[j]);
#pragma unroll
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(EVERY_LANE, sum, s);
    if (!(threadIdx.x & 31)) atomicAdd(total, sum);
}

// differ ← 1 where a word of A is not the one of B.
extern "C" __global__ void __launch_bounds__(THREADS) compare(
    const char* A, long long lda, const char* B, long long ldb, long long words, int* differ) {
    const Pair *a = (const Pair*)(A + blockIdx.x * lda), *b = (const Pair*)(B + blockIdx.x * ldb);
    for (long long j = threadIdx.x; j < words; j += THREADS)
        if (a[j] != b[j]) *differ = 1;
}

// A ← A with entries at pairs of positions; several may be in a word.
extern "C" __global__ void __launch_bounds__(THREADS) set_entries(
    char* A, long long ld, const long long* rows, const long long* columns, long long count) {
    for (long long e = (long long)blockIdx.x * THREADS + threadIdx.x; e < count; e += (long long)gridDim.x * THREADS)
        atomicOr((Word*)(A + rows[e] * ld) + columns[e] / 32, 1u << (columns[e] & 31));
}
