// C ⊕= A ⊗ B over bits, with the matrix instructions that compute capability 8.0 and later have; B comes transposed.
//
// A warp computes 64 × 64 of C, and DOWN × ACROSS warps are a block. Slices of BK bits of the rows of A and of T = B^T arrive
// asynchronously, STAGES − 1 ahead. Runs of 16 bytes lie at (run ^ row) mod 8, so that `ldmatrix` meets no bank twice.
// Before this file the engine writes DOWN, ACROSS, STAGES, and bits.cuh.

constexpr int BM = 64 * DOWN, BN = 64 * ACROSS;
constexpr int BK = 1024;           // bits of a row of a slice
constexpr int ROW = BK / 8;        // its bytes
constexpr int THREADS = 32 * DOWN * ACROSS;
constexpr int EACH = THREADS / (ROW / 16);  // rows apart that a thread copies runs of; a multiple of 8, as `place` wants
constexpr int STAGE_BYTES = (BM + BN) * ROW;
constexpr int SLICES_COUNTED = COUNTED / BK;

DEVICE unsigned place(int row, int run) { return row * ROW + ((run ^ (row & 7)) << 4); }

DEVICE void load_matrices(unsigned (&r)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address) : "memory");
}
// d += how many of 256 bits are common, for 16 rows of A and 8 of T.
DEVICE void count_common(int* d, const unsigned (&a)[4], unsigned t0, unsigned t1) {
    asm volatile(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(t0), "r"(t1));
}

extern "C" __global__ void __launch_bounds__(THREADS) multiply_bits(
    const char* A, long long lda, const char* T, long long ldt, char* C, long long ldc, char* CT, long long ldct,
    long long rows, long long words, long long t_rows, long long row_bytes, long long down, long long across,
    long long accumulate) {
    extern __shared__ __align__(128) unsigned char memory[];
    const unsigned base = shared_address(memory);
    const int lane = threadIdx.x & 31, q = lane & 3, warp = threadIdx.x / 32;
    const int wm = warp / ACROSS * 64, wn = warp % ACROSS * 64;
    int tile_row, tile_column;
    place_of(blockIdx.x, (int)down, (int)across, tile_row, tile_column);
    const int row0 = tile_row * BM, column0 = tile_column * BN, slices = int((row_bytes + ROW - 1) / ROW);

    // This thread's run of 16 bytes of every slice, in each 16th row of the tiles of A and of T.
    const int first = threadIdx.x / (ROW / 16), run = threadIdx.x % (ROW / 16);
    const char *const a_from = A + (row0 + first) * lda + run * 16, *const t_from = T + (column0 + first) * ldt + run * 16;
    const auto order = [&](int slice) {
        const unsigned to = base + slice % STAGES * STAGE_BYTES + place(first, run);
        const long long x = (long long)slice * ROW;
        const int bytes = (int)max(min(row_bytes - x - run * 16, 16ll), 0ll);  // zeros for the rest
#pragma unroll
        for (int i = 0; i < BM / EACH; i++) {
            const int size = row0 + first + i * EACH < rows ? bytes : 0;
            copy_run(to + i * EACH * ROW, size ? a_from + i * EACH * lda + x : A, size);
        }
#pragma unroll
        for (int i = 0; i < BN / EACH; i++) {
            const int size = column0 + first + i * EACH < t_rows ? bytes : 0;
            copy_run(to + (BM + i * EACH) * ROW, size ? t_from + i * EACH * ldt + x : T, size);
        }
    };
    const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

    int d[4][32];
#pragma unroll
    for (int i = 0; i < 128; i++) d[i / 32][i % 32] = -1;
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < slices) order(i);
        commit();
    }
    for (int slice = 0; slice < slices; slice++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (slice + STAGES - 1 < slices) order(slice + STAGES - 1);
        commit();
        const unsigned a_at = base + slice % STAGES * STAGE_BYTES, t_at = a_at + BM * ROW;
#pragma unroll
        for (int k = 0; k < BK / 256; k++) {
            unsigned a[4][4], t[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load_matrices(a[i], a_at + place(wm + 16 * i + (lane & 15), 2 * k + (lane >> 4)));
                load_matrices(t[i], t_at + place(wn + 16 * i + (lane & 7) + (lane >> 4) * 8, 2 * k + (lane >> 3 & 1)));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    count_common(d[i] + 4 * j, a[i], t[j / 2][2 * (j & 1)], t[j / 2][2 * (j & 1) + 1]);
        }
        if ((slice + 1) % SLICES_COUNTED == 0)
#pragma unroll
            for (int i = 0; i < 128; i++) d[i / 32][i % 32] >>= 31;  // −1 or 0 again
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();

    Word* const side = (Word*)memory + warp * 128;  // 64 × 64 bits of results on their way to the transposed matrix
#pragma unroll
    for (int i = 0; i < 4; i++) {
        Word value[1];
        pack_counts<FromMinusOne, 2>(d[i], value, q);
        const int r = 16 * i + (lane >> 2) + 8 * (q >> 1), row = row0 + wm + r, at = (column0 + wn) / 32 + (q & 1);
        if (row < rows && at < words) {
            Word* const c = (Word*)(C + row * ldc) + at;
            if (accumulate) value[0] |= *c;
            *c = value[0];
        }
        side[2 * r + (q & 1)] = value[0];
    }
    if (!CT) return;
    __syncwarp();
    const uint2 upper = *(const uint2*)(side + 2 * lane), lower = *(const uint2*)(side + 2 * (32 + lane));
    const uint2 left = make_uint2(transposed(upper.x, lane), transposed(lower.x, lane));
    const uint2 right = make_uint2(transposed(upper.y, lane), transposed(lower.y, lane));
    const int of = column0 + wn + lane;  // the row of CT, if there is one
    char* const ct = CT + of * ldct + (row0 + wm) / 8;
    if (row0 + wm < rows && of < 32 * words) *(uint2*)ct = left;
    if (row0 + wm < rows && of + 32 < 32 * words) *(uint2*)(ct + 32 * ldct) = right;
}
