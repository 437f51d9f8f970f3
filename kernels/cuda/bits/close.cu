// D ← D⁺ for a block of at most 512 bits a side, by one block of threads: Warshall, 32 pivots at a time.
//
//        [ · W · ]       W: the word of each row that holds the pivots' columns, w its 32 × 32 among the pivots' rows P
//    D = [ · w · ] P     w ← w*,   P ← w P,   every row ← itself ⊕ W P
//
// A thread holds two rows, 256 apart, in registers. Warp by warp one row of each thread is a pivot, and later the other;
// the two change places then. While rows absorb P, the warp with the next pivots is done with those first and closes
// their w. Before this file the engine writes bits.cuh.

constexpr int ORDER = 512;
constexpr int WORDS = ORDER / 32;
constexpr int THREADS = ORDER / 2;
constexpr int SIDE_BY_SIDE = 4;  // pivots taken at once

using Row = Word[WORDS];

// Row `lane` of w*, the identity included, from row `lane` of w.
DEVICE Word closed(Word row, int lane) {
#pragma unroll
    for (int k = 0; k < 32; k += SIDE_BY_SIDE) {
        Word pivot[SIDE_BY_SIDE];
#pragma unroll
        for (int a = 0; a < SIDE_BY_SIDE; a++) pivot[a] = __shfl_sync(EVERY_LANE, row, k + a);
#pragma unroll
        for (int a = 0; a < SIDE_BY_SIDE; a++)
#pragma unroll
            for (int b = 0; b < SIDE_BY_SIDE; b++)
                if (a != b && pivot[b] >> (k + a) & 1) pivot[b] |= pivot[a];
        const Word chosen = row >> k;
#pragma unroll
        for (int a = 0; a < SIDE_BY_SIDE; a++)
            if (chosen >> a & 1) row |= pivot[a];
    }
    return row | 1u << lane;
}

DEVICE Word word_of(const Row& row, int at) {
    Word word = 0;
#pragma unroll
    for (int i = 0; i < WORDS; i++) word = i == at ? row[i] : word;
    return word;
}

// Each row ← itself ⊕ the pivots' rows that its word chooses.
template <int COUNT> DEVICE void absorb(Row (&rows)[COUNT], const Word (&chosen)[COUNT], const uint4 (*pivots)[WORDS / 4]) {
    Word some = chosen[0];
    if (COUNT == 2) some |= chosen[COUNT - 1];
#pragma unroll 1
    for (int j = 0; j < 32; j += SIDE_BY_SIDE) {
        if (!__any_sync(EVERY_LANE, some >> j & ((1u << SIDE_BY_SIDE) - 1))) continue;
#pragma unroll
        for (int a = 0; a < SIDE_BY_SIDE; a++) {
            Word mask[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; i++) mask[i] = -(chosen[i] >> (j + a) & 1);
#pragma unroll
            for (int x = 0; x < WORDS / 4; x++) {
                const uint4 p = pivots[j + a][x];
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    rows[i][4 * x] |= p.x & mask[i];
                    rows[i][4 * x + 1] |= p.y & mask[i];
                    rows[i][4 * x + 2] |= p.z & mask[i];
                    rows[i][4 * x + 3] |= p.w & mask[i];
                }
            }
        }
    }
}

// D is on a multiple of 16 bytes, and so is `ld`; `words` of 32 bits in a row.
extern "C" __global__ void __launch_bounds__(THREADS) close_bits(char* D, long long ld, long long order, long long words) {
    __shared__ Word among[2][32];                    // w*
    __shared__ uint4 given[2][32][WORDS / 4];        // P before, by turns
    __shared__ uint4 scaled[32][WORDS / 4];          // P after
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    Row rows[2] = {};
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int r = threadIdx.x + THREADS * i;
#pragma unroll
        for (int x = 0; x < WORDS; x += 4) {
            Word four[4] = {0, 0, 0, 0};
            if (r < order) load_four(four, (const Word*)(D + r * ld), x, (int)words, true);
#pragma unroll
            for (int y = 0; y < 4; y++) rows[i][x + y] = four[y];
        }
    }
    const auto publish = [&](int group) {  // rows[0] of this warp are the pivots
        among[group & 1][lane] = closed(word_of(rows[0], group), lane);
#pragma unroll
        for (int x = 0; x < WORDS / 4; x++)
            given[group & 1][lane][x] =
                make_uint4(rows[0][4 * x], rows[0][4 * x + 1], rows[0][4 * x + 2], rows[0][4 * x + 3]);
    };
    const int groups = (int(order) + 31) / 32;
    if (warp == 0) publish(0);
    __syncthreads();
#pragma unroll 1
    for (int group = 0; group < groups; group++) {
        {
            const int i = threadIdx.x / 8, x = threadIdx.x % 8;
            const Word chosen = among[group & 1][i];
            const uint2(*from)[WORDS / 2] = (const uint2(*)[WORDS / 2])given[group & 1];
            uint2 sum = make_uint2(0, 0);
#pragma unroll 8
            for (int j = 0; j < 32; j++) {
                const Word mask = -(chosen >> j & 1);
                const uint2 p = from[j][x];
                sum.x |= p.x & mask;
                sum.y |= p.y & mask;
            }
            ((uint2(*)[WORDS / 2])scaled)[i][x] = sum;
        }
        __syncthreads();
        const int next = group + 1;
        Word chosen[2] = {word_of(rows[0], group), word_of(rows[1], group)};
        if (next == WORDS / 2) {
            const Word c = chosen[0];
            chosen[0] = chosen[1], chosen[1] = c;
#pragma unroll
            for (int i = 0; i < WORDS; i++) {
                const Word r = rows[0][i];
                rows[0][i] = rows[1][i], rows[1][i] = r;
            }
        }
        if (next < groups && warp == next % (WORDS / 2)) {
            absorb<1>(reinterpret_cast<Row(&)[1]>(rows[0]), {chosen[0]}, scaled);
            publish(next);
            absorb<1>(reinterpret_cast<Row(&)[1]>(rows[1]), {chosen[1]}, scaled);
        } else {
            absorb<2>(rows, chosen, scaled);
        }
        __syncthreads();
    }
    const bool changed_places = groups >= WORDS / 2;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int r = threadIdx.x + THREADS * (changed_places ? 1 - i : i);
#pragma unroll
        for (int x = 0; x < WORDS; x += 4) {
            const Word four[4] = {rows[i][x], rows[i][x + 1], rows[i][x + 2], rows[i][x + 3]};
            if (r < order) store_four(four, (Word*)(D + r * ld), x, (int)words, true);
        }
    }
}
