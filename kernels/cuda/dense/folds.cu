// ⊕ or ⊗ of many elements along an axis, in one pass over memory: each element is read once, looked at, encoded and folded.
//
//     fold_lines    the terms lie side by side: `lanes` threads for a line, which join their parts in order
//     fold_rows     the terms are rows: VECTOR columns for a thread, and rows of threads that share the terms
//     join_rows     the same of parts that these left
//     fold_runs     lines of any lengths, one after the other
//
// A launch leaves elements of the answer, or parts that another launch joins in their order. If ∘ is not known to commute
// (ORDERED), the terms of a thread are neighbours.
//
// Before this file the engine writes folds.cuh, and what stands before that, and memory.cuh. Strides are in bytes. `how`: 1,
// whole runs of elements are read; 2, parts are left.

// Sums of neighbouring threads, joined in order: `lanes` of them, a power of two, into the first one's. All threads call it.
template <int WIDTH> DEVICE void join_lanes(Sum (&c)[WIDTH], int lane, int lanes, int apart, Seen& seen) {
    __shared__ __align__(16) char memory[THREADS * VECTOR * sizeof(Part)];
    __shared__ bool some[THREADS];
    Part* const own = (Part*)memory + threadIdx.x;
#pragma unroll
    for (int w = 0; w < WIDTH; w++)
        if (c[w].some) own[w * THREADS] = c[w].part;
    some[threadIdx.x] = c[0].some;
#pragma unroll 1
    for (int step = 1; step < lanes; step *= 2) {
        __syncthreads();
        if (lane % (2 * step) == 0 && lane + step < lanes && some[threadIdx.x + step * apart]) {
#pragma unroll
            for (int w = 0; w < WIDTH; w++) c[w].take(own[w * THREADS + step * apart], seen), own[w * THREADS] = c[w].part;
            some[threadIdx.x] = true;
        }
    }
}

// The terms of a lane of a line, WIDTH at once: of `first` to `last`.
template <int WIDTH>
DEVICE void fold_line(Sum& c, const char* line, long long step, long long first, long long last, int lane, int lanes, Seen& seen) {
    using Givens = Run<Given, WIDTH>;
    constexpr int AHEAD = ITEMS / WIDTH;
    const long long run = ((last - first + lanes - 1) / lanes + WIDTH - 1) / WIDTH * WIDTH;
    const long long gap = ORDERED ? WIDTH : lanes * WIDTH, end = ORDERED ? min(first + (lane + 1) * run, last) : last;
    long long p = first + lane * (ORDERED ? run : WIDTH);
#pragma unroll 1
    for (; p + (AHEAD - 1) * gap + WIDTH <= end; p += AHEAD * gap) {
        Givens x[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) x[u] = *(const Givens*)(line + (p + u * gap) * step);
        Value v[ITEMS];
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
#pragma unroll
            for (int w = 0; w < WIDTH; w++) seen.look(x[u].at[w]), v[u * WIDTH + w] = encode(x[u].at[w]);
        c.take(folded(v, seen), seen);
    }
#pragma unroll 2
    for (; p + WIDTH <= end; p += gap) {
        const Givens x = *(const Givens*)(line + p * step);
        Value v[WIDTH];
#pragma unroll
        for (int w = 0; w < WIDTH; w++) seen.look(x.at[w]), v[w] = encode(x.at[w]);
        c.take(folded(v, seen), seen);
    }
    if (WIDTH == 1) return;
    if (!ORDERED) p = first + (last - first) / WIDTH * WIDTH + lane;
#pragma unroll 1
    for (; p < end; p += ORDERED ? 1 : lanes) {
        const Given x = *(const Given*)(line + p * step);
        seen.look(x), c.take(part_of(encode(x)), seen);
    }
}

// out ← the folds of lines, of `chunk` terms each, or parts of them: part s of line i at s · lines + i. A line's place is that
// of i = (i₂ n₁ + i₁) n₀ + i₀.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) fold_lines(
    const char* x, long long step, long long terms, long long chunk, long long lines, long long n_0, long long s_0,
    long long n_1, long long s_1, long long s_2, long long many, char* out, long long how, REPORT) {
    Seen seen;
    const int lanes = (int)many, lane = threadIdx.x % lanes, together = THREADS / lanes;
    const long long blocks = (lines + together - 1) / together, part = blockIdx.x / blocks;
    const long long i = (blockIdx.x - part * blocks) * together + threadIdx.x / lanes;
    const long long first = part * chunk, last = min(first + chunk, terms);
    Sum c[1];
    if (i < lines) {
        const long long over = n_0 == lines ? 0 : i / n_0, above = n_1 ? over / n_1 : 0;
        const char* const line = x + (i - over * n_0) * s_0 + (over - above * n_1) * s_1 + above * s_2;
        if (how & 1) fold_line<VECTOR>(c[0], line, step, first, last, lane, lanes, seen);
        else fold_line<1>(c[0], line, step, first, last, lane, lanes, seen);
    }
    join_lanes(c, lane, lanes, 1, seen);
    if (lane == 0 && i < lines) {
        if (how & 2) ((Part*)out)[part * lines + i] = c[0].part;
        else ((Given*)out)[i] = seen.judged(value_of(c[0].part));
    }
    seen.tell(report);
}

// out_i ← the fold of run i, which has the elements from offsets_i to offsets_(i+1); zero if it has none.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) fold_runs(
    const char* x, const long long* offsets, long long runs, long long many, char* out, REPORT) {
    Seen seen;
    const int lanes = (int)many, lane = threadIdx.x % lanes;
    const long long i = (long long)blockIdx.x * (THREADS / lanes) + threadIdx.x / lanes;
    Sum c[1];
    if (i < runs) fold_line<1>(c[0], x, sizeof(Given), offsets[i], offsets[i + 1], lane, lanes, seen);
    join_lanes(c, lane, lanes, 1, seen);
    if (lane == 0 && i < runs) ((Given*)out)[i] = seen.judged(c[0].some ? value_of(c[0].part) : zero());
    seen.tell(report);
}

// Where a block of a fold of rows works: columns side by side, the axes above, a part of the terms.
struct Area {
    int place, level, down;
    long long column, above, part, first, last, gap;
    DEVICE Area(long long terms, long long chunk, long long columns, long long outer, int across, int width) {
        const long long wide = (long long)across * width, strips = (columns + wide - 1) / wide;
        const long long strip = blockIdx.x % strips, over = blockIdx.x / strips;
        place = threadIdx.x % across, level = threadIdx.x / across, down = THREADS / across;
        column = strip * wide + place * width, part = over / outer, above = over - part * outer;
        const long long begin = part * chunk, end = min(begin + chunk, terms), run = (end - begin + down - 1) / down;
        first = begin + level * (ORDERED ? run : 1), last = ORDERED ? min(first + run, end) : end;
        gap = ORDERED ? 1 : down;
    }
};

template <int WIDTH> DEVICE void rows_of(Sum (&c)[WIDTH], const char* x, long long step, const Area& area, Seen& seen) {
    using Givens = Run<Given, WIDTH>;
    constexpr int DEEP = ITEMS / WIDTH;
    long long p = area.first;
#pragma unroll 1
    for (; p + (DEEP - 1) * area.gap < area.last; p += DEEP * area.gap) {
        Givens all[DEEP];
#pragma unroll
        for (int u = 0; u < DEEP; u++) all[u] = *(const Givens*)(x + (p + u * area.gap) * step);
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            Value v[DEEP];
#pragma unroll
            for (int u = 0; u < DEEP; u++) seen.look(all[u].at[w]), v[u] = encode(all[u].at[w]);
            c[w].take(folded(v, seen), seen);
        }
    }
#pragma unroll 1
    for (; p < area.last; p += area.gap) {
        const Givens row = *(const Givens*)(x + p * step);
#pragma unroll
        for (int w = 0; w < WIDTH; w++) seen.look(row.at[w]), c[w].take(part_of(encode(row.at[w])), seen);
    }
}

template <int WIDTH>
DEVICE void finish_rows(Sum (&c)[WIDTH], const Area& area, long long columns, long long outer, int across, char* out,
                        bool parts, Seen& seen) {
    join_lanes(c, area.level, area.down, across, seen);
    if (area.level || area.column >= columns) return;
    const long long row = (parts ? area.part * outer + area.above : area.above) * columns + area.column;
#pragma unroll
    for (int w = 0; w < WIDTH; w++)
        if (parts) ((Part*)out)[row + w] = c[w].part;
        else ((Given*)out)[row + w] = seen.judged(value_of(c[w].part));
}

template <int WIDTH>
DEVICE void fold_columns(const char* x, long long step, long long terms, long long chunk, long long columns, long long s_0,
                         long long n_1, long long s_1, long long outer, long long s_2, int across, char* out, bool parts,
                         Seen& seen) {
    const Area area(terms, chunk, columns, outer, across, WIDTH);
    const long long over = area.above / n_1;
    Sum c[WIDTH];
    if (area.column < columns)
        rows_of(c, x + area.column * s_0 + (area.above - over * n_1) * s_1 + over * s_2, step, area, seen);
    finish_rows(c, area, columns, outer, across, out, parts, seen);
}

// out ← the folds of `terms` rows of so many columns, `outer` times, or parts of `chunk` rows each: of part s and place a at
// (s · outer + a) · columns. Whole runs: the columns are a multiple of VECTOR.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) fold_rows(
    const char* x, long long step, long long terms, long long chunk, long long columns, long long s_0, long long n_1,
    long long s_1, long long outer, long long s_2, long long across, char* out, long long how, REPORT) {
    Seen seen;
    if (how & 1) fold_columns<VECTOR>(x, step, terms, chunk, columns, s_0, n_1, s_1, outer, s_2, (int)across, out, how & 2, seen);
    else fold_columns<1>(x, step, terms, chunk, columns, s_0, n_1, s_1, outer, s_2, (int)across, out, how & 2, seen);
    seen.tell(report);
}

// The same of parts, (outer, terms, columns) of them one after the other.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) join_rows(
    const Part* x, long long terms, long long chunk, long long columns, long long outer, long long across, char* out,
    long long how, REPORT) {
    constexpr int DEEP = 4;
    Seen seen;
    const Area area(terms, chunk, columns, outer, (int)across, 1);
    Sum c[1];
    if (area.column < columns) {
        const Part* const from = x + area.above * terms * columns + area.column;
        long long p = area.first;
#pragma unroll 1
        for (; p + (DEEP - 1) * area.gap < area.last; p += DEEP * area.gap) {
            Part all[DEEP];
#pragma unroll
            for (int u = 0; u < DEEP; u++) all[u] = from[(p + u * area.gap) * columns];
#pragma unroll
            for (int u = 0; u < DEEP; u++) c[0].take(all[u], seen);
        }
#pragma unroll 1
        for (; p < area.last; p += area.gap) c[0].take(from[p * columns], seen);
    }
    finish_rows(c, area, columns, outer, (int)across, out, how & 2, seen);
    seen.tell(report);
}
