// Bits from elements and elements from bits, and single entries that are set. Before this file the engine writes
// bits.cuh. Matrices of bits have whole pairs of words a row; a grid goes over rows, and over runs of RUN entries.
// Elements of a row are `step` bytes apart. An element is one number or, if it is complex, two.

constexpr int THREADS = 256;
constexpr int RUN = 32 * THREADS;  // entries of a row that a block of threads takes: 32 words of 32 bits a warp

// What a number is by its bits: other than zero if one of `counted` is set; unclear if those of `looked_at` are one of
// two patterns, such as NaN and infinities.
struct Test {
    Pair counted, looked_at, low, high;
};

template <class Number, int NUMBERS>
DEVICE void pack(const char* from, long long ld, long long step, char* to, long long ldt, long long rows, long long columns,
                 long long words, Test test, Word* unclear) {
    const int lane = threadIdx.x & 31;
    const Number counted = (Number)test.counted, looked_at = (Number)test.looked_at;
    const Number low = (Number)test.low, high = (Number)test.high;
    const long long first = (blockIdx.x * (THREADS / 32ll) + threadIdx.x / 32) * 1024;
    if (first >= 64 * words) return;
    bool strange = false;
    for (long long i = blockIdx.y; i < rows; i += gridDim.y) {
        const char* const source = from + i * ld;
        Word mine = 0;
#pragma unroll 8
        for (int w = 0; w < 32; w++) {
            const long long j = first + 32 * w + lane;
            bool there = false;
            if (j < columns) {
                const Number* const element = (const Number*)(source + j * step);
#pragma unroll
                for (int x = 0; x < NUMBERS; x++) {
                    const Number bits = element[x], seen = bits & looked_at;
                    there = there || (bits & counted);
                    strange = strange || (looked_at && (seen == low || seen == high));
                }
            }
            const Word votes = __ballot_sync(EVERY_LANE, there);
            if (lane == w) mine = votes;
        }
        if (first / 32 + lane < 2 * words) ((Word*)(to + i * ldt))[first / 32 + lane] = mine;
    }
    if (strange) *unclear = 1;
}

template <class Number, int NUMBERS>
DEVICE void unpack(const char* from, long long ld, char* to, long long ldt, long long step, long long rows,
                   long long columns, Pair one) {
    const int lane = threadIdx.x & 31;
    const long long first = (blockIdx.x * (THREADS / 32ll) + threadIdx.x / 32) * 1024;
    if (first >= columns) return;
    for (long long i = blockIdx.y; i < rows; i += gridDim.y) {
        const Word* const row = (const Word*)(from + i * ld);
        char* const target = to + i * ldt;
        const Word mine = first + 32 * lane < columns ? row[first / 32 + lane] : 0;
#pragma unroll 8
        for (int w = 0; w < 32; w++) {
            const long long j = first + 32 * w + lane;
            const Word word = __shfl_sync(EVERY_LANE, mine, w);
            if (j >= columns) continue;
            Number* const element = (Number*)(target + j * step);
            element[0] = word >> lane & 1 ? (Number)one : (Number)0;
            if (NUMBERS == 2) element[1] = 0;
        }
    }
}

#define CONVERSIONS(NAME, NUMBER, NUMBERS)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS) pack_##NAME(                                                 \
        const char* from, long long ld, long long step, char* to, long long ldt, long long rows, long long columns,    \
        long long words, Pair counted, Pair looked_at, Pair low, Pair high, Word* unclear) {                           \
        pack<NUMBER, NUMBERS>(from, ld, step, to, ldt, rows, columns, words, {counted, looked_at, low, high}, unclear);\
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS) unpack_##NAME(                                               \
        const char* from, long long ld, char* to, long long ldt, long long step, long long rows, long long columns,    \
        Pair one) {                                                                                                    \
        unpack<NUMBER, NUMBERS>(from, ld, to, ldt, step, rows, columns, one);                                          \
    }

CONVERSIONS(1, unsigned char, 1)
CONVERSIONS(2, unsigned short, 1)
CONVERSIONS(4, Word, 1)
CONVERSIONS(8, Pair, 1)
CONVERSIONS(complex_8, Word, 2)
CONVERSIONS(complex_16, Pair, 2)

// The lowest bit of each of 16 bytes that are not 0, and 16 bytes from 16 bits.
DEVICE unsigned gathered(unsigned four) {
    const unsigned some = ((four & 0x7f7f7f7fu) + 0x7f7f7f7fu | four) >> 7 & 0x01010101u;
    return some * 0x10204080u >> 28;
}
DEVICE unsigned spread(unsigned four) { return (four * 0x00204081u) & 0x01010101u; }

// The same of adjacent bytes, 16 a thread, where rows begin on 16 bytes; zeros up to the end of a row of bits.
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

// A ← A with entries at pairs of positions; several may be in a word.
extern "C" __global__ void __launch_bounds__(THREADS) set_entries(
    char* A, long long ld, const long long* rows, const long long* columns, long long count) {
    for (long long e = (long long)blockIdx.x * THREADS + threadIdx.x; e < count; e += (long long)gridDim.x * THREADS)
        atomicOr((Word*)(A + rows[e] * ld) + columns[e] / 32, 1u << (columns[e] & 31));
}
