// Values replaced by their places in a sorted table, and back. Before this file the engine writes ops.cuh and `Given`, the
// type of a value. The last place is always LAST, so that the least and the greatest value have ranks known beforehand.

constexpr int THREADS = 256;
constexpr unsigned LAST = 65535;

// ranks ← the rank of each of `count` elements of A; those that the table lacks are collected, as far as there is room.
extern "C" __global__ void __launch_bounds__(THREADS) rank(
    const Given* A, long long count, const Given* table, long long values, unsigned short* ranks,
    Given* missing, long long room, unsigned long long* lacking) {
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += (long long)gridDim.x * THREADS) {
        const Given x = A[i];
        int low = 0, high = (int)values - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (table[middle] < x) low = middle + 1;
            else high = middle;
        }
        if (table[low] == x) ranks[i] = (unsigned short)(low == values - 1 ? LAST : low);
        else {
            const unsigned long long place = atomicAdd(lacking, 1ull);
            if (place < room) missing[place] = x;
        }
    }
}

// A ← the values of the ranks.
extern "C" __global__ void __launch_bounds__(THREADS) value(
    const unsigned short* ranks, long long count, const Given* table, long long values, Given* A) {
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += (long long)gridDim.x * THREADS) {
        const unsigned rank = ranks[i];
        A[i] = table[rank == LAST ? values - 1 : rank];
    }
}
