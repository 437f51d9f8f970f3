// Trees of best walks from their values, where ⊕ selects; `semiring.algorithms.trees` has the rule. Before this file the
// engine writes ops.cuh, `Value`, `zero`, `one`, `plus`, `times`, `same`, and BACKWARDS.
//
// A line is what belongs to one root. Lines lie side by side: element (v, j) of x and p is at v · lines + j. Edges are
// those into each vertex (or out of it, if BACKWARDS, when walks lead to the roots), tails ascending.
//
// While p is made it holds, besides predecessors and NONE, OPEN where one is looked for, and below that what a round has
// found: FOUND − 2 u − (the round's parity). What a round finds counts as found from the next round on.

constexpr int THREADS = 256;
constexpr int PER = 8;  // lines of a thread, so that it waits for as many values at once
constexpr int WARP = 32;
constexpr int ROUNDS = 4;  // vertices of a warp, one after the other
constexpr int BLOCKS = 4;  // of a multiprocessor: as many as their registers allow
constexpr int NONE = -1, OPEN = -2, FOUND = -3;
constexpr unsigned ANY_OPEN = 1, ANY_FOUND = 2;  // flags, of a line or of all

DEVICE bool better(Value t, Value x) { return !same(plus(x, t), x); }
DEVICE Value extend(Value x, Value a) { return BACKWARDS ? times(a, x) : times(x, a); }

DEVICE int found(int u, int parity) { return FOUND - 2 * u - parity; }
DEVICE bool was_found(int p, int parity) { return p <= FOUND && ((FOUND - p) & 1) == parity; }
DEVICE bool is_done(int p, int u, long long root, int parity) { return p >= 0 || u == root || was_found(p, parity); }

// flag ← 1 where an element is better than one.
extern "C" __global__ void __launch_bounds__(THREADS) improves(const Value* values, long long count, int* flag) {
    const long long step = (long long)gridDim.x * THREADS;
    bool any = false;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) any |= better(values[i], one());
    if (any) *flag = 1;
}

// The worst of each vertex's values: a warp a vertex.
extern "C" __global__ void __launch_bounds__(THREADS) worst_of_each(
    const Value* x, long long n, long long lines, Value* worst) {
    __shared__ Value all[THREADS];
    const int lane = threadIdx.x % 32;
    const long long v = ((long long)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (v >= n) return;
    Value w = x[v * lines];
    for (long long j = lane; j < lines; j += 32) {
        const Value t = x[v * lines + j];
        if (better(w, t)) w = t;
    }
    all[threadIdx.x] = w;
    for (int half = 16; half; half /= 2) {
        __syncwarp();
        if (lane < half && better(all[threadIdx.x], all[threadIdx.x + half])) all[threadIdx.x] = all[threadIdx.x + half];
    }
    if (lane == 0) worst[v] = all[threadIdx.x];
}

// Whether the edge from u to v may be one of a best walk: it is no worse than each of them to v (`worst`, if there is), and
// where lines are those of all vertices (`all_pairs`) and a best walk's edges are best walks, than the walk from u.
DEVICE bool is_kept(
    const Value* A, const Value* x, const Value* worst, long long all_pairs, long long n, long long v, long long u) {
    const Value a = A[v * n + u];
    if (u == v || same(a, zero())) return false;
    if (worst && better(worst[v], a)) return false;
    return !all_pairs || !better(x[v * n + u], a);
}

// Element (v, u) of A is the edge from u to v. How many edges of each vertex are kept: a warp a vertex.
extern "C" __global__ void __launch_bounds__(THREADS) count_edges(
    const Value* A, const Value* x, const Value* worst, long long all_pairs, long long n, long long* counts) {
    const int lane = threadIdx.x % 32;
    const long long v = ((long long)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (v >= n) return;
    int count = 0;
    for (long long u = lane; u < n; u += 32) count += is_kept(A, x, worst, all_pairs, n, v, u);
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) counts[v] = count;
}

// These edges, by their heads.
extern "C" __global__ void __launch_bounds__(THREADS) keep_edges(
    const Value* A, const Value* x, const Value* worst, long long all_pairs, long long n, const long long* offsets,
    int* tails, Value* weights) {
    const int lane = threadIdx.x % 32;
    const long long v = ((long long)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (v >= n) return;
    long long next = offsets[v];
    for (long long first = 0; first < n; first += 32) {
        const long long u = first + lane;
        const bool kept = u < n && is_kept(A, x, worst, all_pairs, n, v, u);
        const unsigned all = __ballot_sync(~0u, kept);
        if (kept) {
            const long long place = next + __popc(all & ((1u << lane) - 1));
            tails[place] = int(u);
            weights[place] = A[v * n + u];
        }
        next += __popc(all);
    }
}

// The first of some vertices that is better than x_v in line j.
DEVICE int first_better(
    const Value* x, const int* tails, long long count, long long lines, long long j, const Value& x_v) {
    for (long long e = 0; e < count; e++)
        if (better(x[tails[e] * lines + j], x_v)) return tails[e];
    return NONE;
}

// In the lines of a thread, the first of which is `first`: of the edges into v the best one from a vertex that is better
// than v, if no other one is better; OPEN where that leaves the choice, which is returned. If edges may be better than one
// (not `bounded`) it always does; else products with zero are no better than zero, and need no test. Lanes of a warp whose
// edges win and lose go the same way: what does not count is zero. WHOLE says that no line is beyond the last.
template <bool WHOLE> DEVICE bool look_back(
    const Value* x, int* p, int* lost, const long long* roots, const long long* offsets, const int* tails,
    const Value* weights, long long v, long long first, long long lines, bool bounded) {
    const long long count = offsets[v + 1] - offsets[v];
    tails += offsets[v], weights += offsets[v];
    Value x_v[PER], best[PER], all[PER];  // the best of these edges, and of all
    int tail[PER];
#pragma unroll
    for (int i = 0; i < PER; i++) {
        x_v[i] = WHOLE || first + i * WARP < lines ? x[v * lines + first + i * WARP] : zero();
        best[i] = all[i] = zero();
        tail[i] = NONE;
    }
#pragma unroll 1
    for (long long e = 0; bounded && e < count; e++) {
        const int u = tails[e];
        if (u == v) continue;
        const Value a = weights[e];
        const Value* from = x + (u * lines + first);
        Value x_u[PER];
#pragma unroll
        for (int i = 0; i < PER; i++) x_u[i] = WHOLE || first + i * WARP < lines ? from[i * WARP] : zero();
#pragma unroll
        for (int i = 0; i < PER; i++) {
            const Value c = extend(x_u[i], a), counted = better(x_u[i], x_v[i]) ? c : zero();
            const Value now = plus(best[i], counted);
            tail[i] = same(now, best[i]) ? tail[i] : u;
            best[i] = now;
            all[i] = plus(all[i], c);
        }
    }
    int* to = p + (v * lines + first);
    bool clear = WHOLE && bounded;
#pragma unroll
    for (int i = 0; i < PER; i++) clear = clear && tail[i] >= 0 && !better(all[i], best[i]) && !same(x_v[i], zero());
    if (clear) {
#pragma unroll
        for (int i = 0; i < PER; i++) __stcs(to + i * WARP, tail[i]);
        return false;
    }
    bool open = false;
#pragma unroll
    for (int i = 0; i < PER; i++) {
        const long long j = first + i * WARP;
        if (!WHOLE && j >= lines) continue;
        int result = tail[i];
        if (same(x_v[i], zero())) {
            if (first_better(x, tails, count, lines, j, x_v[i]) != NONE) atomicMin(lost + j, int(v));
            result = NONE;
        } else if (!bounded || result == NONE || better(all[i], best[i])) {
            result = NONE;
            if (v != roots[j]) {
                if (bounded && same(all[i], zero())) result = first_better(x, tails, count, lines, j, x_v[i]);
                if (result == NONE) result = OPEN, open = true;
            }
        }
        __stcs(to + i * WARP, result);
    }
    return open;
}

// Predecessors by single edges. `lost` takes of each line the first vertex whose value is zero though one before it is not.
// A warp has some lines of a vertex after the other, which follow each other in `order` (if there is one): where these are
// neighbours, most values come from a cache. The blocks of a column of the grid go through all vertices.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) grow(
    const Value* x, int* p, int* lost, const long long* roots, const long long* offsets, const int* tails,
    const Value* weights, const int* order, long long n, long long lines, long long bounded, unsigned* flags) {
    const long long begin = (long long)blockIdx.y * (WARP * PER);
    bool open = false;
    for (int round = 0; round < ROUNDS; round++) {
        const long long k = ((long long)blockIdx.x * ROUNDS + round) * (THREADS / WARP) + threadIdx.x / WARP;
        if (k >= n) break;
        const long long v = order ? order[k] : k, first = begin + threadIdx.x % WARP;
        if (begin + WARP * PER <= lines) {
            open |= look_back<true>(x, p, lost, roots, offsets, tails, weights, v, first, lines, bounded);
        } else {
            open |= look_back<false>(x, p, lost, roots, offsets, tails, weights, v, first, lines, bounded);
        }
    }
    if (open) *flags = ANY_OPEN;
}

// A round: each open vertex takes the least tail of its best edges that is done, if there is one. `states` has the flags
// of each line, and `flags` those of all of them.
extern "C" __global__ void __launch_bounds__(THREADS) take_tails(
    const Value* x, int* p, const long long* roots, const long long* offsets, const int* tails, const Value* weights,
    long long n, long long lines, long long parity, unsigned* states, unsigned* flags) {
    const long long step = (long long)gridDim.x * THREADS;
    const int before = 1 - int(parity);
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n * lines; i += step) {
        const int now = p[i];
        if (now >= NONE) continue;
        if (was_found(now, before)) {
            p[i] = (FOUND - now) / 2;
            continue;
        }
        const long long v = i / lines, j = i % lines, end = offsets[v + 1];
        Value best = zero();
        bool some = false;
        int tail = NONE;
        for (long long e = offsets[v]; e < end; e++) {
            const int u = tails[e];
            const Value x_u = x[u * lines + j];
            if (u == v || same(x_u, zero())) continue;
            const Value c = extend(x_u, weights[e]);
            if (!some || better(c, best)) best = c, some = true, tail = NONE;
            if (tail == NONE && !better(best, c) && is_done(__ldcg(p + u * lines + j), u, roots[j], before)) tail = u;
        }
        const unsigned state = tail == NONE ? ANY_OPEN : ANY_FOUND;
        if (tail != NONE) p[i] = found(tail, int(parity));
        if (!(__ldcg(states + j) & state)) atomicOr(states + j, state);
        if (!(__ldcg(flags) & state)) atomicOr(flags, state);
    }
}

// In the lines in which a round found nothing: the open vertex that is best reached from one that is done, and where there
// is none, none of the open ones has a predecessor. Either is a guess, which `guessed` notes. A block a line.
extern "C" __global__ void __launch_bounds__(THREADS) take_nearest(
    const Value* x, int* p, const long long* roots, const long long* offsets, const int* tails, const Value* weights,
    long long n, long long lines, long long parity, const unsigned* states, unsigned char* guessed) {
    __shared__ Value values[THREADS];
    __shared__ int heads[THREADS], nearest[THREADS];
    const long long j = blockIdx.x;
    if (states[j] != ANY_OPEN) return;
    if (threadIdx.x == 0) guessed[j] = 1;
    Value best = zero();
    int head = NONE, before = NONE;
    for (long long v = threadIdx.x; v < n; v += THREADS) {
        if (p[v * lines + j] != OPEN) continue;
        Value least = zero();
        int tail = NONE;
        for (long long e = offsets[v]; e < offsets[v + 1]; e++) {
            const int u = tails[e];
            if (u == v || !is_done(p[u * lines + j], u, roots[j], 1 - int(parity))) continue;
            const Value c = extend(x[u * lines + j], weights[e]);
            if (tail == NONE || better(c, least)) least = c, tail = u;
        }
        if (tail != NONE && (head == NONE || better(least, best))) best = least, head = int(v), before = tail;
    }
    values[threadIdx.x] = best;
    heads[threadIdx.x] = head;
    nearest[threadIdx.x] = before;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        const int t = threadIdx.x, o = t + half;
        if (t >= half || heads[o] == NONE) continue;
        const bool wins = heads[t] == NONE || better(values[o], values[t])
            || (!better(values[t], values[o]) && heads[o] < heads[t]);
        if (wins) values[t] = values[o], heads[t] = heads[o], nearest[t] = nearest[o];
    }
    __syncthreads();
    if (heads[0] != NONE) {
        if (threadIdx.x == 0) p[heads[0] * lines + j] = found(nearest[0], int(parity));
        return;
    }
    for (long long v = threadIdx.x; v < n; v += THREADS)
        if (p[v * lines + j] == OPEN) p[v * lines + j] = NONE;
}

// What is worse than a limit becomes zero, and nothing comes before it.
extern "C" __global__ void __launch_bounds__(THREADS) cut_off(Value* x, int* p, long long count, const Value* limit) {
    const long long step = (long long)gridDim.x * THREADS;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        if (better(*limit, x[i])) x[i] = zero(), p[i] = NONE;
}
