// All prefixes along an axis: x₀, x₀ ∘ x₁, x₀ ∘ x₁ ∘ x₂, … Of a long line, or of few columns, the totals of chunks come first,
// by folds.cu; then the prefixes of these, and then those of each chunk, with what stands before it.
//
//     scan_lines    the terms lie side by side: `lanes` threads for a line, ITEMS neighbours for each; memory is read and written
//                   in turn by way of shared memory
//     scan_rows     the terms are rows: VECTOR columns for a thread
//     scan_parts    the prefixes of totals, in place
//
// Before this file the engine writes folds.cuh, and what stands before that, and memory.cuh. Strides are in bytes; the answer lies
// in one run of memory. `how`: 1, whole runs of elements are read and written.

// What neighbouring threads have, joined in order: for each one the part of all `lanes` up to it. All threads call it.
DEVICE void scan_lanes(Part* held, Sum& c, int lane, int lanes, int apart, Seen& seen) {
    if (c.some) held[threadIdx.x] = c.part;
#pragma unroll 1
    for (int step = 1; step < lanes; step *= 2) {
        __syncthreads();
        Part before;
        const bool some = lane >= step && c.some;  // those before it have some, too
        if (some) before = held[threadIdx.x - step * apart];
        __syncthreads();
        if (some) held[threadIdx.x] = c.part = joined(before, c.part, seen);
    }
    __syncthreads();
}

struct Tile {
    Value* const memory;  // a run of ITEMS elements for each lane, and one more, so that lanes use different banks
    DEVICE Value& operator[](int e) const { return memory[e + e / ITEMS]; }
};

template <int WIDTH>
DEVICE void scan_line(const char* line, long long step, char* out, long long first, long long last, Sum carry, int lane,
                      int lanes, bool inside, Value* memory, Part* held, Seen& seen) {
    using Givens = Run<Given, WIDTH>;
    const Tile tile{memory + (threadIdx.x - lane) * (ITEMS + 1)};
    const int size = lanes * ITEMS;
#pragma unroll 1
    for (long long p = first; p < last; p += size) {
        const int count = (int)min(last - p, (long long)size), whole = count / WIDTH * WIDTH;
        if (inside) {
#pragma unroll
            for (int u = 0; u < ITEMS / WIDTH; u++) {
                const int e = (u * lanes + lane) * WIDTH;
                if (e >= whole) continue;
                const Givens x = *(const Givens*)(line + (p + e) * step);
#pragma unroll
                for (int w = 0; w < WIDTH; w++) seen.look(x.at[w]), tile[e + w] = encode(x.at[w]);
            }
#pragma unroll 1
            for (int e = whole + lane; e < count; e += lanes) {
                const Given x = *(const Given*)(line + (p + e) * step);
                seen.look(x), tile[e] = encode(x);
            }
        }
        __syncthreads();
        const int own = min(max(count - lane * ITEMS, 0), ITEMS), active = (count + ITEMS - 1) / ITEMS;
        Part prefix[ITEMS];
        Sum total;
        if (inside)
#pragma unroll
            for (int i = 0; i < ITEMS; i++)
                if (i < own) {
                    total.take(part_of(tile[lane * ITEMS + i]), seen);
                    prefix[i] = total.part;
                }
        scan_lanes(held, total, lane, lanes, 1, seen);
        Sum before = carry;
        if (inside && own) {
            if (lane) before.take(held[threadIdx.x - 1], seen);
            carry.take(held[threadIdx.x - lane + active - 1], seen);
#pragma unroll
            for (int i = 0; i < ITEMS; i++)
                if (i < own) tile[lane * ITEMS + i] = value_of(before.some ? joined(before.part, prefix[i], seen) : prefix[i]);
        }
        __syncthreads();
        if (inside) {
#pragma unroll
            for (int u = 0; u < ITEMS / WIDTH; u++) {
                const int e = (u * lanes + lane) * WIDTH;
                if (e >= whole) continue;
                Givens y;
#pragma unroll
                for (int w = 0; w < WIDTH; w++) y.at[w] = seen.judged(tile[e + w]);
                *(Givens*)(out + (p + e) * (long long)sizeof(Given)) = y;
            }
#pragma unroll 1
            for (int e = whole + lane; e < count; e += lanes)
                *(Given*)(out + (p + e) * (long long)sizeof(Given)) = seen.judged(tile[e]);
        }
        __syncthreads();
    }
}

// out ← the prefixes of chunks of lines; those of totals, of part s and line i at s · lines + i, stand before the next chunk.
extern "C" __global__ void __launch_bounds__(THREADS) scan_lines(
    const char* x, long long step, long long terms, long long chunk, long long lines, long long n_0, long long s_0,
    long long n_1, long long s_1, long long s_2, long long many, char* out, const Part* parts, long long how, REPORT) {
    __shared__ __align__(16) char memory[THREADS * (ITEMS + 1) * sizeof(Value)];
    __shared__ __align__(16) char held[THREADS * sizeof(Part)];
    Seen seen;
    const int lanes = (int)many, lane = threadIdx.x % lanes, together = THREADS / lanes;
    const long long blocks = (lines + together - 1) / together, part = blockIdx.x / blocks;
    const long long i = (blockIdx.x - part * blocks) * together + threadIdx.x / lanes;
    const long long first = part * chunk, last = min(first + chunk, terms);
    const bool inside = i < lines;
    const long long over = n_0 == lines || !inside ? 0 : i / n_0, above = over / n_1;
    const char* const line = x + (i - over * n_0) * s_0 + (over - above * n_1) * s_1 + above * s_2;
    char* const to = out + i * terms * (long long)sizeof(Given);
    Sum carry;
    if (part && inside) carry.take(parts[(part - 1) * lines + i], seen);
    if (how & 1) scan_line<VECTOR>(line, step, to, first, last, carry, lane, lanes, inside, (Value*)memory, (Part*)held, seen);
    else scan_line<1>(line, step, to, first, last, carry, lane, lanes, inside, (Value*)memory, (Part*)held, seen);
    seen.tell(report);
}

template <int WIDTH>
DEVICE void scan_columns(const char* x, long long step, char* out, long long columns, long long first, long long last,
                         Sum (&c)[WIDTH], Seen& seen) {
    using Givens = Run<Given, WIDTH>;
    constexpr int DEEP = ITEMS / WIDTH;
    const long long row = columns * (long long)sizeof(Given);
    long long p = first;
#pragma unroll 1
    for (; p < last; p += DEEP) {
        Givens all[DEEP];
#pragma unroll
        for (int u = 0; u < DEEP; u++)
            if (p + u < last) all[u] = *(const Givens*)(x + (p + u) * step);
        Sum tile[WIDTH];  // its prefixes join what stands before it, so that an element passes few operations
#pragma unroll
        for (int u = 0; u < DEEP; u++) {
            if (p + u >= last) break;
            Givens y;
#pragma unroll
            for (int w = 0; w < WIDTH; w++) {
                seen.look(all[u].at[w]), tile[w].take(part_of(encode(all[u].at[w])), seen);
                y.at[w] = seen.judged(value_of(c[w].some ? joined(c[w].part, tile[w].part, seen) : tile[w].part));
            }
            *(Givens*)(out + (p + u) * row) = y;
        }
#pragma unroll
        for (int w = 0; w < WIDTH; w++) c[w].take(tile[w].part, seen);
    }
}

template <int WIDTH>
DEVICE void scan_strip(const char* x, long long step, long long terms, long long chunk, long long columns, long long s_0,
                       long long n_1, long long s_1, long long outer, long long s_2, char* out, const Part* parts, Seen& seen) {
    const long long wide = THREADS * WIDTH, strips = (columns + wide - 1) / wide, over = blockIdx.x / strips;
    const long long column = (blockIdx.x - over * strips) * wide + threadIdx.x * WIDTH, part = over / outer;
    const long long above = over - part * outer, upper = above / n_1, first = part * chunk, last = min(first + chunk, terms);
    if (column >= columns) return;
    Sum c[WIDTH];
    if (part)
#pragma unroll
        for (int w = 0; w < WIDTH; w++) c[w].take(parts[((part - 1) * outer + above) * columns + column + w], seen);
    scan_columns<WIDTH>(x + column * s_0 + (above - upper * n_1) * s_1 + upper * s_2, step,
                        out + (above * terms * columns + column) * (long long)sizeof(Given), columns, first, last, c, seen);
}

// out ← the prefixes of chunks of rows; those of totals, of part s and place a at (s · outer + a) · columns, as above.
extern "C" __global__ void __launch_bounds__(THREADS) scan_rows(
    const char* x, long long step, long long terms, long long chunk, long long columns, long long s_0, long long n_1,
    long long s_1, long long outer, long long s_2, char* out, const Part* parts, long long how, REPORT) {
    Seen seen;
    if (how & 1) scan_strip<VECTOR>(x, step, terms, chunk, columns, s_0, n_1, s_1, outer, s_2, out, parts, seen);
    else scan_strip<1>(x, step, terms, chunk, columns, s_0, n_1, s_1, outer, s_2, out, parts, seen);
    seen.tell(report);
}

// parts ← the prefixes of `count` rows of so many columns; a block has `across` threads side by side, a power of two, and takes
// PER rows for each level of threads at once.
extern "C" __global__ void __launch_bounds__(THREADS) scan_parts(
    Part* parts, long long count, long long columns, long long many, REPORT) {
    constexpr int PER = 8;
    __shared__ __align__(16) char held[THREADS * sizeof(Part)];
    Seen seen;
    const int across = (int)many, level = threadIdx.x / across, down = THREADS / across, place = threadIdx.x % across;
    const long long column = (long long)blockIdx.x * across + place;
    Sum carry;
#pragma unroll 1
    for (long long base = 0; base < count; base += down * PER) {
        const long long first = base + level * PER;
        const int own = column < columns ? (int)min(max(count - first, 0ll), (long long)PER) : 0;
        const int active = (int)min((count - base + PER - 1) / PER, (long long)down);
        Part prefix[PER];
        Sum total, before = carry;
#pragma unroll
        for (int i = 0; i < PER; i++)
            if (i < own) prefix[i] = parts[(first + i) * columns + column];
#pragma unroll
        for (int i = 0; i < PER; i++)
            if (i < own) total.take(prefix[i], seen), prefix[i] = total.part;
        scan_lanes((Part*)held, total, level, down, across, seen);
        if (own) {
            if (level) before.take(((const Part*)held)[threadIdx.x - across], seen);
            carry.take(((const Part*)held)[place + (active - 1) * across], seen);
        }
#pragma unroll
        for (int i = 0; i < PER; i++)
            if (i < own) parts[(first + i) * columns + column] = before.some ? joined(before.part, prefix[i], seen) : prefix[i];
        __syncthreads();
    }
    seen.tell(report);
}
