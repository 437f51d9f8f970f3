// C ⊕= A ⊗ B over bits, with ordinary logic instructions: 32 of k at once; B comes transposed.
//
// For devices without 1-bit matrix instructions, or on which these are emulated. A block of 256 threads computes 128 × 128
// of C; lane l of a warp has columns l, l + 32, l + 64 and l + 96 of 16 rows, so that a vote over the warp packs a word.
// Before this file the engine writes bits.cuh.

constexpr int BM = 128, BN = 128;
constexpr int BK = 16;             // words of a row of a slice
constexpr int PITCH = BK * 4 + 16; // its bytes in shared memory: 8 lanes that read 16 bytes each meet no bank twice
constexpr int THREADS = 256;
constexpr int EACH = THREADS / (BK / 4);  // rows apart that a thread copies runs of
constexpr int TM = 16, TN = 4;     // rows and columns of a thread

extern "C" __global__ void __launch_bounds__(THREADS, 2) multiply_bits(
    const char* A, long long lda, const char* T, long long ldt, char* C, long long ldc, char* CT, long long ldct,
    long long rows, long long words, long long t_rows, long long row_bytes, long long down, long long across,
    long long accumulate) {
    __shared__ __align__(16) char memory[2][(BM + BN) * PITCH];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    int tile_row, tile_column;
    place_of(blockIdx.x, (int)down, (int)across, tile_row, tile_column);
    const int row0 = tile_row * BM, column0 = tile_column * BN, slices = int((row_bytes + 4 * BK - 1) / (4 * BK));

    // This thread's run of 16 bytes of every slice, in each 64th row of the tiles of A and of T.
    const int first = threadIdx.x / (BK / 4), run = threadIdx.x % (BK / 4);
    const char *const a_from = A + (row0 + first) * lda + run * 16, *const t_from = T + (column0 + first) * ldt + run * 16;
    const auto order = [&](int slice) {
        const unsigned to = shared_address(memory[slice & 1] + first * PITCH + run * 16);
        const long long x = (long long)slice * BK * 4;
        const int bytes = (int)max(min(row_bytes - x - run * 16, 16ll), 0ll);  // zeros for the rest
#pragma unroll
        for (int i = 0; i < BM / EACH; i++) {
            const int size = row0 + first + i * EACH < rows ? bytes : 0;
            copy_run(to + i * EACH * PITCH, size ? a_from + i * EACH * lda + x : A, size);
        }
#pragma unroll
        for (int i = 0; i < BN / EACH; i++) {
            const int size = column0 + first + i * EACH < t_rows ? bytes : 0;
            copy_run(to + (BM + i * EACH) * PITCH, size ? t_from + i * EACH * ldt + x : T, size);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    Word common[TM][TN] = {};
    if (slices) order(0);
    for (int slice = 0; slice < slices; slice++) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        if (slice + 1 < slices) order(slice + 1);
        const char* const a_at = memory[slice & 1] + warp * TM * PITCH;
        const char* const t_at = memory[slice & 1] + (BM + lane) * PITCH;
#pragma unroll
        for (int run = 0; run < BK / 4; run++) {
            uint4 t[TN];
#pragma unroll
            for (int j = 0; j < TN; j++) t[j] = *(const uint4*)(t_at + 32 * j * PITCH + run * 16);
#pragma unroll
            for (int i = 0; i < TM; i++) {
                const uint4 a = *(const uint4*)(a_at + i * PITCH + run * 16);
#pragma unroll
                for (int j = 0; j < TN; j++) {
                    common[i][j] |= a.x & t[j].x;
                    common[i][j] |= a.y & t[j].y;
                    common[i][j] |= a.z & t[j].z;
                    common[i][j] |= a.w & t[j].w;
                }
            }
        }
    }

    const int top = row0 + warp * TM, at = column0 / 32;
    Word column[TN] = {};  // of each of the thread's columns, 16 rows
#pragma unroll
    for (int i = 0; i < TM; i++) {
#pragma unroll
        for (int j = 0; j < TN; j++) {
            Word value = __ballot_sync(EVERY_LANE, common[i][j] != 0);
            if (top + i < rows && at + j < words) {
                Word* const c = (Word*)(C + (top + i) * ldc) + at + j;
                if (accumulate) value |= *c;
                __syncwarp();
                if (lane == 0) *c = value;
            }
            column[j] |= (value >> lane & 1) << i;
        }
    }
    if (!CT || row0 + warp / 4 * 64 >= rows) return;  // words of CT are pairs: 64 rows of C
#pragma unroll
    for (int j = 0; j < TN; j++) {
        const int of = column0 + 32 * j + lane;  // the row of CT, if there is one
        if (of < 32 * words) *(unsigned short*)(CT + of * ldct + top / 8) = column[j];
    }
}
