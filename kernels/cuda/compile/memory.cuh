// From memory into shared memory, asynchronously: whole runs of 16 bytes, single elements, and zero beyond the edge.

constexpr int SIZE = sizeof(Value);

template <int BYTES> DEVICE void copy_async(void* shared, const void* global) {
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(BYTES));
}
DEVICE void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int GROUPS> DEVICE void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory"); }

// An element into shared memory, asynchronously where its alignment allows.
DEVICE void copy_element(char* to, const char* from) {
    constexpr int UNIT = alignof(Value);
    if constexpr (UNIT >= 4) {
#pragma unroll
        for (int u = 0; u < SIZE; u += UNIT) copy_async<UNIT>(to + u, from + u);
    } else {
        *(Value*)to = *(const Value*)from;
    }
}

// A tile of ROWS × COLUMNS from a matrix of which `rows` × `columns` are left; the semiring's zero beyond. It has
// arrived after commit, wait and a barrier. `pitch` and `ld` are in bytes; `to` and `pitch` are multiples of 16.
template <int ROWS, int COLUMNS, int THREADS>
DEVICE void fetch_tile(char* to, int pitch, const char* from, long long ld, int rows, int columns) {
    constexpr bool DIVIDES = SIZE <= 16 && 16 % SIZE == 0;
    constexpr int RUN = DIVIDES ? 16 / SIZE : 1;  // elements of one copy
    const bool aligned = DIVIDES && ((unsigned long long)from | (unsigned long long)ld) % 16 == 0;
    if constexpr (DIVIDES && ROWS * COLUMNS / RUN % THREADS == 0) {
        if (aligned && rows >= ROWS && columns >= COLUMNS) {
#pragma unroll
            for (int q = 0; q < ROWS * COLUMNS / RUN / THREADS; q++) {
                int e = threadIdx.x + q * THREADS, r = e / (COLUMNS / RUN), c = e % (COLUMNS / RUN);
                copy_async<16>(to + r * pitch + c * 16, from + r * ld + c * 16);
            }
            return;
        }
    }
#pragma unroll 1
    for (int e = threadIdx.x; e < ROWS * COLUMNS / RUN; e += THREADS) {
        int r = e / (COLUMNS / RUN), c = e % (COLUMNS / RUN) * RUN;
        char* target = to + r * pitch + c * SIZE;
        const char* source = from + r * ld + c * SIZE;
        if (aligned && r < rows && c + RUN <= columns) {
            copy_async<16>(target, source);
            continue;
        }
#pragma unroll 1
        for (int u = 0; u < RUN; u++) {
            if (r < rows && c + u < columns) copy_element(target + u * SIZE, source + u * SIZE);
            else *(Value*)(target + u * SIZE) = zero();
        }
    }
}
