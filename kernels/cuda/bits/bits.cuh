// What the kernels over packed Boolean matrices share. Bit j % 32 of word j / 32 of a row is entry j; a matrix has
// whole pairs of words a row, and zeros beyond its last column. Leading dimensions are in bytes.

#define DEVICE __device__ __forceinline__

using Word = unsigned;
using Pair = unsigned long long;
constexpr unsigned EVERY_LANE = ~0u;
[[maybe_unused]] constexpr int COUNTED = 65536;  // entries of k that may be counted before the counts are made flags again

DEVICE unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Lane i has row i of a 32 × 32 matrix, bit j its column j; afterwards it has column i.
DEVICE Word transposed(Word x, int lane) {
#pragma unroll
    for (int s = 16; s > 0; s >>= 1) {
        const Word low = ~0u / ((1u << s) + 1);  // every other run of s bits
        const Word y = __shfl_xor_sync(EVERY_LANE, x, s);
        x = lane & s ? (x & ~low) | ((y & ~low) >> s) : (x & low) | ((y & low) << s);
    }
    return x;
}

// Four words of a row from word `at` on, as far as they exist; in one piece where rows begin on 16 bytes.
DEVICE void load_four(Word (&old)[4], const Word* row, int at, int words, bool aligned) {
    if (aligned && at + 4 <= words) {
        const uint4 v = *(const uint4*)(row + at);
        old[0] = v.x, old[1] = v.y, old[2] = v.z, old[3] = v.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i += 2)
        if (at + i < words) {
            const uint2 v = *(const uint2*)(row + at + i);
            old[i] = v.x, old[i + 1] = v.y;
        }
}
DEVICE void store_four(const Word (&value)[4], Word* row, int at, int words, bool aligned) {
    if (aligned && at + 4 <= words) *(uint4*)(row + at) = make_uint4(value[0], value[1], value[2], value[3]);
    else
#pragma unroll
        for (int i = 0; i < 4; i += 2)
            if (at + i < words) *(uint2*)(row + at + i) = make_uint2(value[i], value[i + 1]);
}

constexpr int TOGETHER = 8;  // rows of tiles: those computed at the same time share rows of A and of B^T

// 16 bytes into shared memory, asynchronously: `bytes` of them as they are, zeros for the rest.
DEVICE void copy_run(unsigned to, const char* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// The row and the column of tiles that a number stands for, down TOGETHER rows first.
DEVICE void place_of(int tile, int down, int across, int& row, int& column) {
    const int in_group = TOGETHER * across, group = tile / in_group, rest = tile - group * in_group;
    const int height = min(TOGETHER, down - group * TOGETHER);
    row = group * TOGETHER + rest % height;
    column = rest / height;
}

constexpr int SLAB = 64;  // rows

// The first row of a slab, counted without the gap_size rows from gap_at on; these are multiples of a slab.
DEVICE int row_of_slab(int slab, int gap_at, int gap_size) {
    const int row = slab * SLAB;
    return row + (row >= gap_at ? gap_size : 0);
}

// Bit by bit from a where the mask has ones, else from b.
DEVICE Word choose(Word mask, Word a, Word b) { return (a & mask) | (b & ~mask); }

// What tensor cores counted, as bits. Of the WORDS words of two rows, r and r + 8, thread 4 r + q of a warp has counters for
// columns 2 q and 2 q + 1 of every 8. Afterwards it has half of the words of one row, r + 8 (q / 2): the right half where q
// is odd. Counters become bits many at a time: one by one that would take as long as much of the counting.

// A counter begins at −1. After at most COUNTED of k its upper half is ones where nothing was counted, else zeros: any of
// these 16 bits tells. Of 8 counters a word whose every byte has columns 2 q and 2 q + 1 by turns; 1 means found.
struct FromMinusOne {
    static DEVICE Word found(const int* d) {
        Word pair[4];
#pragma unroll
        for (int j = 0; j < 4; j++) pair[j] = choose(0x55555555u, d[4 * j], d[4 * j + 1]);
        const Word left = choose(0x00ff00ffu, pair[0], pair[1]), right = choose(0x00ff00ffu, pair[2], pair[3]);
        return ~__byte_perm(left, right, 0x7632);
    }
};

// A counter begins at 0 and stays below 32,769, half of COUNTED: with 32,767 added, its bit 15 tells. Two in a register.
struct FromZero {
    static DEVICE Word found(const int* d) {
        Word columns[2];
#pragma unroll
        for (int b = 0; b < 2; b++) {
            const Word left = d[b] + ((Word)d[4 + b] << 16) + 0x7fff7fffu;
            const Word right = d[8 + b] + ((Word)d[12 + b] << 16) + 0x7fff7fffu;
            asm("prmt.b32 %0, %1, %2, 0xfdb9;" : "=r"(columns[b]) : "r"(left), "r"(right));  // each byte all of a bit 15
        }
        return choose(0x55555555u, columns[0], columns[1]);
    }
};

template <class Counters> constexpr bool is_from_zero = false;
template <> constexpr bool is_from_zero<FromZero> = true;

template <class Counters, int WORDS> DEVICE void pack_counts(const int (&counts)[16 * WORDS], Word (&packed)[WORDS / 2], int q) {
    const Word mine = 0x03030303u << (2 * q), ours = q & 1 ? 0xccccccccu : 0x33333333u;  // bits of q, of q and q ^ 2
    Word row[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const Word upper = Counters::found(counts + 16 * w), lower = Counters::found(counts + 16 * w + 2);
        const Word sent = q & 2 ? upper : lower, kept = q & 2 ? lower : upper;
        row[w] = choose(mine, kept, __shfl_xor_sync(EVERY_LANE, sent, 2));
    }
#pragma unroll
    for (int i = 0; i < WORDS / 2; i++) {
        const Word sent = q & 1 ? row[i] : row[WORDS / 2 + i], kept = q & 1 ? row[WORDS / 2 + i] : row[i];
        packed[i] = choose(ours, kept, __shfl_xor_sync(EVERY_LANE, sent, 1));
    }
}
