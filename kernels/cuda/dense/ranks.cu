// Values replaced by their places in a sorted table, and back. Before this file the engine writes ops.cuh, `Given`, the
// type of a value, and `Rank`, that of a place: unsigned integers. The last place is always LAST, so that the least and the
// greatest value have ranks known beforehand.

constexpr int THREADS = 256;
constexpr Rank LAST = (Rank)~0u;

// ranks ← the rank of each of `count` elements of A; those that the table lacks are collected, as far as there is room.
extern "C" __global__ void __launch_bounds__(THREADS) rank(
    const Given* A, long long count, const Given* table, long long values, Rank* ranks,
    Given* missing, long long room, unsigned long long* lacking) {
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += (long long)gridDim.x * THREADS) {
        const Given x = A[i];
        int low = 0, high = (int)values - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (table[middle] < x) low = middle + 1;
            else high = middle;
        }
        if (table[low] == x) ranks[i] = low == values - 1 ? LAST : (Rank)low;
        else {
            const unsigned long long place = atomicAdd(lacking, 1ull);
            if (place < room) missing[place] = x;
        }
    }
}

// The same where every element has a place of its own: `order` says which of them is the i-th, and the table has one place
// before the first and one after the last. Equal values get different ranks, in any order, which lead back to the same.
extern "C" __global__ void __launch_bounds__(THREADS) spread(
    const Given* A, long long count, const long long* order, Rank* ranks, Given* table) {
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += (long long)gridDim.x * THREADS) {
        const long long place = order[i];
        ranks[place] = (Rank)(i + 1);
        table[i + 1] = A[place];
    }
}

// A ← the values of the ranks.
extern "C" __global__ void __launch_bounds__(THREADS) value(
    const Rank* ranks, long long count, const Given* table, long long values, Given* A) {
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += (long long)gridDim.x * THREADS) {
        const Rank rank = ranks[i];
        A[i] = table[rank == LAST ? values - 1 : rank];
    }
}
