// Bits from elements and elements from bits. Before this file the engine writes bits.cuh and of which elements: they are
// NUMBERS numbers of SIZE bytes, two if they are complex. Matrices of bits have whole pairs of words a row; a grid goes
// over rows, and over runs of RUN entries. Elements of a row are `step` bytes apart.

constexpr int THREADS = 256;
[[maybe_unused]] constexpr int RUN = 32 * THREADS;  // entries of a row that a block takes: 32 words of 32 bits a warp

template <int BYTES> struct Sized;
template <> struct Sized<1> { using Type = unsigned char; };
template <> struct Sized<2> { using Type = unsigned short; };
template <> struct Sized<4> { using Type = Word; };
template <> struct Sized<8> { using Type = Pair; };
using Number = Sized<SIZE>::Type;

// What a number is by its bits: other than zero if one of `counted` is set; unclear if those of `looked_at` are one of
// two patterns, such as NaN and infinities.
struct Test {
    Number counted, looked_at, low, high;

    DEVICE Test(const Pair* pattern)
        : counted((Number)pattern[0]), looked_at((Number)pattern[1]), low((Number)pattern[2]), high((Number)pattern[3]) {}
    DEVICE bool is_there(Number bits) const { return bits & counted; }
    DEVICE bool is_unclear(Number bits) const {
        return looked_at && ((bits & looked_at) == low || (bits & looked_at) == high);
    }
};

// to ← where elements are not 0, and zeros up to the end of a row of `words` pairs.
extern "C" __global__ void __launch_bounds__(THREADS) pack(
    const char* from, long long ld, long long step, char* to, long long ldt, long long rows, long long columns,
    long long words, Pair counted, Pair looked_at, Pair low, Pair high, Word* unclear) {
    const Pair pattern[] = {counted, looked_at, low, high};
    const Test test(pattern);
    const int lane = threadIdx.x & 31;
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
                    const Number bits = element[x];
                    there = there || test.is_there(bits);
                    strange = strange || test.is_unclear(bits);
                }
            }
            const Word votes = __ballot_sync(EVERY_LANE, there);
            if (lane == w) mine = votes;
        }
        if (first / 32 + lane < 2 * words) ((Word*)(to + i * ldt))[first / 32 + lane] = mine;
    }
    if (strange) *unclear = 1;
}

// The same of adjacent numbers of 2 or 4 bytes, eight a thread, where rows begin on 16 bytes: votes would wait for so
// little memory that a warp reads at a time.
extern "C" __global__ void __launch_bounds__(THREADS) pack_eight(
    const char* from, long long ld, char* to, long long ldt, long long rows, long long columns, long long words,
    Pair counted, Pair looked_at, Pair low, Pair high, Word* unclear) {
    const Pair pattern[] = {counted, looked_at, low, high};
    const Test test(pattern);
    const long long j = ((long long)blockIdx.x * THREADS + threadIdx.x) * 8;
    if (j >= 64 * words) return;
    bool strange = false;
    for (long long i = blockIdx.y; i < rows; i += gridDim.y) {
        const Number* const source = (const Number*)(from + i * ld) + j;
        alignas(16) Number eight[8] = {};
        if (j + 8 <= columns) {
#pragma unroll
            for (int x = 0; x < SIZE / 2; x++) ((uint4*)eight)[x] = ((const uint4*)source)[x];
        } else {
#pragma unroll
            for (int x = 0; x < 8; x++)
                if (j + x < columns) eight[x] = source[x];
        }
        unsigned bits = 0;
#pragma unroll
        for (int x = 0; x < 8; x++) {
            bits |= (unsigned)test.is_there(eight[x]) << x;
            strange = strange || test.is_unclear(eight[x]);
        }
        *(unsigned char*)(to + i * ldt + j / 8) = (unsigned char)bits;
    }
    if (strange) *unclear = 1;
}

// to ← ones and zeros, elements that begin with the bits of one.
extern "C" __global__ void __launch_bounds__(THREADS) unpack(
    const char* from, long long ld, char* to, long long ldt, long long step, long long rows, long long columns, Pair one) {
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
