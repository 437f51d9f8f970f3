// C ⊕= A ⊗ B over bits, with the matrix instructions of compute capability 9.0; B comes transposed, T = B^T.
//
// The grid stays: a block computes one tile of BM × BN after another. Slices of BK columns of A and of T arrive in STAGES
// rounds of shared memory by the copy engine; each warpgroup multiplies 64 rows of A with the whole slice of T. A thread
// of the last one orders the next slice as soon as it has issued its own share, so no warps are spent on that, and says
// with the first slice of a tile which tile it is; tiles that cannot change C are passed over there.
//
//            T^T: BN = 256
//        A  [ C ]   64 rows, warpgroup 0     the counts of 64 × 256 fill 128 registers a thread
//        BM [ C ]   64 rows, warpgroup 1
//           [ C ]   64 rows, warpgroup 2
//
// Before this file the engine writes WARPGROUPS, STAGES, and bits.cuh.

constexpr int BM = SLAB * WARPGROUPS;  // a slab for each warpgroup
constexpr int BN = 256;
constexpr int BK = 1024;          // bits of a row of a slice: 128 bytes, which is what the copy engine swizzles
constexpr int THREADS = 128 * WARPGROUPS;
constexpr int ORDERING = 128 * (WARPGROUPS - 1);  // the thread that orders slices
constexpr int SLAB_BYTES = SLAB * BK / 8;
constexpr int STAGE_BYTES = (BM + BN) * BK / 8;
constexpr int SLICES_COUNTED = COUNTED / BK;
constexpr int PITCH = 48;         // bytes of a row of results on their way to the transposed matrix: no bank conflicts

struct alignas(64) TensorMap { unsigned long long words[16]; };

DEVICE void barrier_init(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
DEVICE void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
DEVICE void expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void await(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}
// A box of 128 bytes × rows of the map, from (byte x, row y) on; zeros outside the matrix.
DEVICE void fetch(unsigned to, const TensorMap* map, int x, int y, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
// Rows of 128 bytes, swizzled, groups of 8 rows 1,024 bytes apart; 32 bytes, the 256 bits of an instruction, are +2.
DEVICE Pair descriptor(unsigned address) {
    return (Pair)(address >> 4 & 0x3fff) | (Pair)1 << 16 | (Pair)(1024 >> 4) << 32 | (Pair)1 << 62;
}
DEVICE void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int GROUPS> DEVICE void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory"); }

#define REGISTERS_8(i) \
    "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]),     \
        "+r"(d[i + 7])
#define REGISTERS_32(i) REGISTERS_8(i), REGISTERS_8(i + 8), REGISTERS_8(i + 16), REGISTERS_8(i + 24)
// d += how many of 256 bits are common, for 64 rows of A and 256 of T; d = that where nothing is kept.
DEVICE void count_common(int (&d)[128], Pair a, Pair t, int keep) {
    asm volatile(
        "{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, keep;\n}"
        : REGISTERS_32(0), REGISTERS_32(32), REGISTERS_32(64), REGISTERS_32(96)
        : "l"(a), "l"(t), "r"(keep));
}
DEVICE void settle(int (&d)[128]) {  // after a wait: the registers hold what the instructions wrote
#pragma unroll
    for (int i = 0; i < 128; i++) asm volatile("" : "+r"(d[i])::"memory");
}

// The shape of a product. Rows from gap_at on are gap_size further down in A and C.
struct Shape {
    int rows, words;           // rows of A and C, gap included; words of 32 bits in a row of C
    int gap_at, gap_size;
    int slices;                // of BK columns of A
    int down, across;          // tiles
};

// What is known of tiles, or nothing where a pointer is null: `full` 16 rows × 256 columns of C, column by column and
// `full_ld` apart, which is kept up to date; `settled` tiles, by number, which leave C as it is.
struct Known {
    unsigned char* full;
    long long full_ld;
    const unsigned char* settled;
};

// The order book: which slice of which tile comes next.
struct Orders {
    int tile, slice, count;
    bool done, skip;  // no tile is left; the next one need not be computed
    int row[WARPGROUPS], column;
};

DEVICE void order(
    Orders& o, const TensorMap* a, const TensorMap* t, const Shape& s, const Known& known, unsigned stages, unsigned arrived,
    unsigned taken, int* tile_of) {
    if (o.done) return;
    const int at = o.count % STAGES;
    await(taken + 8 * at, ((o.count / STAGES) & 1) ^ 1);
    if (o.slice == 0) {
        const int tiles = s.down * s.across;
        while (o.skip) {
            o.tile += gridDim.x;
            o.skip = o.tile < tiles && known.settled[o.tile];
        }
        tile_of[at] = o.tile < tiles ? o.tile : -1;
        if (o.tile >= tiles) {
            o.done = true;
            arrive(arrived + 8 * at);
            return;
        }
        int row, column;
        place_of(o.tile, s.down, s.across, row, column);
#pragma unroll
        for (int w = 0; w < WARPGROUPS; w++) o.row[w] = row_of_slab(row * WARPGROUPS + w, s.gap_at, s.gap_size);
        o.column = column * BN;
        // Asked for now and looked at when the next tile's turn comes, so that no wait for memory is needed then.
        const int next = o.tile + gridDim.x;
        o.skip = known.settled && next < tiles && known.settled[next];
    }
    const unsigned stage = stages + at * STAGE_BYTES, barrier = arrived + 8 * at;
    expect(barrier, STAGE_BYTES);
#pragma unroll
    for (int w = 0; w < WARPGROUPS; w++) fetch(stage + w * SLAB_BYTES, a, o.slice * (BK / 8), o.row[w], barrier);
    fetch(stage + BM * BK / 8, t, o.slice * (BK / 8), o.column, barrier);
    o.count++;
    if (++o.slice == s.slices) {
        o.slice = 0;
        o.tile += gridDim.x;
    }
}

// TRANSPOSED: the result is also written to CT, transposed. Without a gap then. Counters, of bits.cuh: FromZero for at most
// COUNTED / 2 of k, where registers need not be set before they count.
template <bool TRANSPOSED, class Counters>
DEVICE void multiply(
    const TensorMap* a, const TensorMap* t, char* C, long long ldc, char* CT, long long ldct, const Shape& s,
    const Known& known, bool accumulate) {
    constexpr bool FROM_ZERO = is_from_zero<Counters>;
    extern __shared__ unsigned char memory[];
    const unsigned stages = (shared_address(memory) + 1023) & ~1023u;
    unsigned char* const stage_memory = memory + (stages - shared_address(memory));
    const unsigned arrived = stages + STAGES * STAGE_BYTES, taken = arrived + 8 * STAGES;
    int* const tile_of = (int*)(stage_memory + STAGES * (STAGE_BYTES + 16));
    const int lane = threadIdx.x & 31, q = lane & 3, warp = threadIdx.x / 32 & 3;
    const int w = __shfl_sync(EVERY_LANE, threadIdx.x / 128, 0);
    const bool aligned = !(((long long)C | ldc) & 15);

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(arrived + 8 * i, 1);
            barrier_init(taken + 8 * i, 4 * WARPGROUPS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    Orders orders = {(int)blockIdx.x, 0, 0, false, known.settled && known.settled[blockIdx.x], {}, 0};
    const auto order_next = [&] { order(orders, a, t, s, known, stages, arrived, taken, tile_of); };
    if (threadIdx.x == ORDERING)
        for (int i = 0; i < STAGES - 1; i++) order_next();

    int d[128] = {};
    for (int round = 0;;) {
        await(arrived + 8 * (round % STAGES), (round / STAGES) & 1);
        const int tile = __shfl_sync(EVERY_LANE, tile_of[round % STAGES], 0);
        if (tile < 0) break;
        if (!FROM_ZERO)
#pragma unroll
            for (int i = 0; i < 128; i++) d[i] = -1;
        for (int first = 0; first < s.slices;) {
            // Counts begin at −1 at first, and perhaps at 0 later.
            const int last = min(first + SLICES_COUNTED - (first > 0), s.slices);
            for (int slice = first; slice < last; slice++, round++) {
                const int at = round % STAGES;
                await(arrived + 8 * at, (round / STAGES) & 1);
                const Pair da = descriptor(stages + at * STAGE_BYTES + w * SLAB_BYTES);
                const Pair dt = descriptor(stages + at * STAGE_BYTES + BM * BK / 8);
                fence();
#pragma unroll
                for (int i = 0; i < 4; i++) count_common(d, da + 2 * i, dt + 2 * i, !FROM_ZERO || slice || i);
                commit();
                wait<1>();  // the slice before this one is done with
                if (slice > 0 && lane == 0) arrive(taken + 8 * ((round - 1) % STAGES));
                if (threadIdx.x / 32 == ORDERING / 32) {
                    if (lane == 0) order_next();
                    __syncwarp();
                }
            }
            first = last;
            if (!FROM_ZERO && first < s.slices) {
                wait<0>();
                settle(d);
#pragma unroll
                for (int i = 0; i < 128; i++) d[i] >>= 31;  // −1 or 0 again
            }
        }
        int tile_row, tile_column;
        place_of(tile, s.down, s.across, tile_row, tile_column);
        const int slab = row_of_slab(tile_row * WARPGROUPS + w, s.gap_at, s.gap_size), column = tile_column * BN;
        const int row = slab + 16 * warp + (lane >> 2) + 8 * (q >> 1), at = column / 32 + 4 * (q & 1);
        Word* const c = (Word*)(C + row * ldc);
        Word old[4] = {0, 0, 0, 0};
        if (accumulate && row < s.rows) load_four(old, c, at, s.words, aligned);
        wait<0>();
        settle(d);
        const int final_stage = (round - 1) % STAGES;
        if (!TRANSPOSED && lane == 0) arrive(taken + 8 * final_stage);
        Word value[4];
        pack_counts<Counters, 8>(d, value, q);
#pragma unroll
        for (int i = 0; i < 4; i++) value[i] |= old[i];
        if (row < s.rows) store_four(value, c, at, s.words, aligned);
        if (known.full) {
            bool full = true;
#pragma unroll
            for (int i = 0; i < 4; i++) full = full && (row >= s.rows || at + i >= s.words || value[i] == ~0u);
            full = __all_sync(EVERY_LANE, full);
            if (lane == 0 && slab < s.rows) known.full[tile_column * known.full_ld + slab / 16 + warp] = full;
        }
        if (TRANSPOSED) {  // by way of this warpgroup's own slab of the last slice, which is free for the copy engine then
            unsigned char* const side = stage_memory + final_stage * STAGE_BYTES + w * SLAB_BYTES;
            asm volatile("bar.sync %0, 128;" ::"r"(1 + w) : "memory");
            *(uint4*)(side + (16 * warp + (lane >> 2) + 8 * (q >> 1)) * PITCH + 16 * (q & 1)) =
                make_uint4(value[0], value[1], value[2], value[3]);
            asm volatile("bar.sync %0, 128;" ::"r"(1 + w) : "memory");
            const uint2 upper = *(const uint2*)(side + lane * PITCH + 8 * warp);
            const uint2 lower = *(const uint2*)(side + (32 + lane) * PITCH + 8 * warp);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (lane == 0) arrive(taken + 8 * final_stage);
            const uint2 left = make_uint2(transposed(upper.x, lane), transposed(lower.x, lane));
            const uint2 right = make_uint2(transposed(upper.y, lane), transposed(lower.y, lane));
            const int of = column + 64 * warp + lane;  // the row of CT, if there is one
            char* const ct = CT + of * ldct + slab / 8;
            if (slab < s.rows && of < 32 * s.words) *(uint2*)ct = left;
            if (slab < s.rows && of + 32 < 32 * s.words) *(uint2*)(ct + 32 * ldct) = right;
        }
    }
}

#define ARGUMENTS                                                                                                          \
    const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap t, char *C, long long ldc, char *CT,            \
        long long ldct, long long rows, long long words, long long gap_at, long long gap_size, long long slices,           \
        long long down, long long across, unsigned char *full, long long full_ld, const unsigned char *settled,            \
        long long accumulate
#define SHAPE {(int)rows, (int)words, (int)gap_at, (int)gap_size, (int)slices, (int)down, (int)across}

extern "C" __global__ void __launch_bounds__(THREADS, 1) multiply_bits(ARGUMENTS) {
    multiply<false, FromMinusOne>(&a, &t, C, ldc, CT, ldct, SHAPE, {full, full_ld, settled}, accumulate);
}
extern "C" __global__ void __launch_bounds__(THREADS, 1) multiply_bits_short(ARGUMENTS) {
    multiply<false, FromZero>(&a, &t, C, ldc, CT, ldct, SHAPE, {full, full_ld, settled}, accumulate);
}
extern "C" __global__ void __launch_bounds__(THREADS, 1) multiply_bits_both(ARGUMENTS) {
    multiply<true, FromMinusOne>(&a, &t, C, ldc, CT, ldct, SHAPE, {full, full_ld, settled}, accumulate);
}
extern "C" __global__ void __launch_bounds__(THREADS, 1) multiply_bits_both_short(ARGUMENTS) {
    multiply<true, FromZero>(&a, &t, C, ldc, CT, ldct, SHAPE, {full, full_ld, settled}, accumulate);
}
