// Elimination front by front, and solutions by the factors. Before this file the engine writes ops.cuh, `Value`, `zero`,
// `one`, `plus`, `times`, `relax`, `star`, `defined`, the numbers in capitals, BY_COLUMNS, and memory.cuh.
//
// Supernode a eliminates the s vertices from first[a] on and touches u later ones, boundary[pointer[a] …]. Its front is
// the matrix over both, of order n = s + u. Elimination leaves two panels of it:
//
//     top, s × n    [ S*            S* ⊗ F[S, U] ]
//     low, u × s    [ F[U, S] ⊗ S* ]
//
// Right-hand sides stand side by side, `width` of them: element (v, r) of W and X is at v · width + r, vertices in the
// order of elimination. On the way up W takes what comes from below, and X what leaves the supernodes: for rows of the
// closure W[U] ← W[U] ⊕ W[S] ⊗ top[U] and X[S] ← W[S] ⊗ top[S]; on the way down X[S] ← X[S] ⊕ X[U] ⊗ low. For columns
// (BY_COLUMNS) the panels stand on the left, low on the way up and top on the way down.
//
// A thread holds LANES right-hand sides of TILE vertices, so that it alone reads what it has written; only panels go
// through shared memory. A piece of work is a supernode and the first of the TILE vertices of its front.

constexpr int LONGEST = 128;  // threads of a block, at most, where they share right-hand sides
constexpr int MOST = 512;     // threads that eliminate a front, at most
constexpr int SQUARE = 256;   // threads that turn a tile round
constexpr int SIDE = 16;
constexpr int TOGETHER = 8;  // pivots of a front that are eliminated together
constexpr int DOWN = sizeof(Value) <= 8 ? 4 : 1;  // rows of a front that a thread updates together

struct alignas(LANES * sizeof(Value) <= 16 ? LANES * sizeof(Value) : alignof(Value)) Run {
    Value at[LANES];
};
struct Piece {
    int front, column;
};
// Where the right-hand sides of a supernode and of those below it begin and end; the same number twice where none is.
struct Span {
    int head, tail;
};

DEVICE Value term(Value c, Value x, Value m) { return BY_COLUMNS ? relax(c, m, x) : relax(c, x, m); }

// F ⊕ what the children of front a left, one child after the other; F has `pitch` elements a row. An Index counts the
// elements of what a child left: fronts that fit in shared memory need no 64 bits, which are slow to divide.
template <typename Index>
DEVICE void add_children(
    Value* F, long long pitch, int a, const int* child, const int* sibling, const long long* pointer,
    const int* position, const long long* update_at, const Value* updates) {
    for (int c = child[a]; c >= 0; c = sibling[c]) {
        __syncthreads();
        const long long begin = pointer[c];
        const Index u = (Index)(pointer[c + 1] - begin);
        const Value* const left = updates + update_at[c];
        for (Index e = threadIdx.x; e < u * u; e += blockDim.x) {
            Value* const f = F + position[begin + e / u] * pitch + position[begin + e % u];
            *f = plus(*f, left[e]);
        }
    }
}

DEVICE void add_entries(
    Value* F, long long pitch, int a, const long long* entry_pointer, const int* entry, const int* entry_row,
    const int* entry_column, const Value* weights) {
    for (long long q = entry_pointer[a] + threadIdx.x; q < entry_pointer[a + 1]; q += blockDim.x)
        F[entry_row[q] * pitch + entry_column[q]] = weights[entry[q]];
}

// A front that was closed into its panels, and what its parent takes over.
DEVICE void keep(
    const Value* F, long long pitch, int s, int u, Value* top, Value* low, Value* update) {
    const int n = s + u;
    for (int e = threadIdx.x; e < s * n; e += blockDim.x) top[e] = F[e / n * pitch + e % n];
    for (int e = threadIdx.x; e < u * s; e += blockDim.x) low[e] = F[(s + e / s) * pitch + e % s];
    for (int e = threadIdx.x; e < u * u; e += blockDim.x) update[e] = F[(s + e / u) * pitch + s + e % u];
}

// Gauss–Jordan on `taken` pivots of F from p on. What each of them multiplies with is kept in `rows`, scaled by its star,
// and in `columns`: at once the pivots' own rows and columns are brought up to date, and the rest for all of them together,
// so that it is read and written once.
DEVICE void close_pivots(
    Value* F, int pitch, int n, int p, int taken, Value* rows, Value* columns, int* failed, int start) {
    for (int b = 0; b < taken; b++) {
        Value *const row = rows + b * n, *const column = columns + b * n;
        const int q = p + b;
        __syncthreads();
        const Value pivot = F[q * pitch + q], closed = star(pivot);
        if (threadIdx.x == 0 && !defined(pivot)) atomicMin(failed, start + q);
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            row[j] = j == q ? closed : times(closed, F[q * pitch + j]);
            column[j] = F[j * pitch + q];
        }
        __syncthreads();
        for (int other = threadIdx.x; other < n; other += blockDim.x) {
            const bool own = other >= p && other < p + taken;  // then it is done with the rows
            const Value r = row[other], c = column[other], out = times(c, closed);
            for (int line = p; line < p + taken; line++) {
                Value* const f = F + line * pitch + other;
                *f = line == q ? r : other == q ? times(column[line], closed) : relax(*f, column[line], r);
                if (own) continue;
                Value* const g = F + other * pitch + line;
                *g = line == q ? out : relax(*g, c, row[line]);
            }
        }
    }
    __syncthreads();
    const int down = blockDim.x / SIDE, x = threadIdx.x % SIDE;
    for (int first = threadIdx.x / SIDE; first < n; first += DOWN * down) {
        Value q[DOWN][TOGETHER];
        bool mine[DOWN];
#pragma unroll
        for (int d = 0; d < DOWN; d++) {
            const int i = first + d * down;
            mine[d] = i < n && !(i >= p && i < p + taken);
#pragma unroll
            for (int b = 0; b < TOGETHER; b++) q[d][b] = b < taken && mine[d] ? columns[b * n + i] : zero();
        }
        for (int j = x; j < n; j += SIDE) {
            if (j >= p && j < p + taken) continue;
            Value r[TOGETHER];
#pragma unroll
            for (int b = 0; b < TOGETHER; b++) r[b] = b < taken ? rows[b * n + j] : zero();
#pragma unroll
            for (int d = 0; d < DOWN; d++) {
                if (!mine[d]) continue;
                Value* const f = F + (first + d * down) * pitch + j;
                Value sum = *f;
#pragma unroll
                for (int b = 0; b < TOGETHER; b++)
                    if (ABSORBS || b < taken) sum = relax(sum, q[d][b], r[b]);
                *f = sum;
            }
        }
    }
}

// Fronts that fit in shared memory, a block each. `failed` takes the first vertex without a star.
extern "C" __global__ void __launch_bounds__(MOST) eliminate(
    const int* fronts, const int* first, const long long* pointer, const int* child, const int* sibling,
    const int* position, const long long* entry_pointer, const int* entry, const int* entry_row,
    const int* entry_column, const Value* weights, const long long* update_at, Value* updates,
    const long long* top_at, const long long* low_at, Value* panels, int* failed) {
    extern __shared__ __align__(16) char shared[];
    const int a = fronts[blockIdx.x], s = first[a + 1] - first[a], u = (int)(pointer[a + 1] - pointer[a]), n = s + u;
    const int pitch = n | 1;  // odd: rows begin in different banks
    Value *const F = (Value*)shared, *const rows = F + n * pitch, *const columns = rows + TOGETHER * n;
    for (int e = threadIdx.x; e < n * pitch; e += blockDim.x) F[e] = zero();
    __syncthreads();
    add_entries(F, pitch, a, entry_pointer, entry, entry_row, entry_column, weights);
    add_children<int>(F, pitch, a, child, sibling, pointer, position, update_at, updates);
    for (int p = 0; p < s; p += TOGETHER) close_pivots(F, pitch, n, p, min(TOGETHER, s - p), rows, columns, failed, first[a]);
    __syncthreads();
    keep(F, pitch, s, u, panels + top_at[a], panels + low_at[a], updates + update_at[a]);
}

// A larger front before it is closed, in memory that holds zeros: one block, which reads and writes each element once.
extern "C" __global__ void __launch_bounds__(1024) assemble(
    int a, Value* F, const int* first, const long long* pointer, const int* child, const int* sibling,
    const int* position, const long long* entry_pointer, const int* entry, const int* entry_row,
    const int* entry_column, const Value* weights, const long long* update_at, const Value* updates) {
    const long long n = first[a + 1] - first[a] + (pointer[a + 1] - pointer[a]);
    add_entries(F, n, a, entry_pointer, entry, entry_row, entry_column, weights);
    add_children<long long>(F, n, a, child, sibling, pointer, position, update_at, updates);
}

// W[S] ← 0 for the supernodes in `fronts`, and 1 where a right-hand side r begins: at sources[r].
extern "C" __global__ void __launch_bounds__(LONGEST) begin(
    const int* fronts, const int* first, const int* sources, int count, Value* W, long long width) {
    const int a = fronts[blockIdx.x], r = (blockIdx.y * blockDim.x + threadIdx.x) * LANES;
    int source[LANES];
#pragma unroll
    for (int l = 0; l < LANES; l++) source[l] = r + l < count ? sources[r + l] : -1;
    for (int v = first[a]; v < first[a + 1]; v++) {
        Run x;
#pragma unroll
        for (int l = 0; l < LANES; l++) x.at[l] = source[l] == v ? one() : zero();
        *(Run*)(W + v * width + r) = x;
    }
}

// c[t] ⊕= the products of `steps` vertices, those of a boundary or those from `from` on, with the panel's elements at
// k · down + t · across. `exist` of the tile's vertices do. A panel of DEPTH steps is fetched the first time only.
DEVICE void multiply(
    Value (&c)[TILE][LANES], const Value* X, long long width, int r, int steps, const int* boundary, int from,
    const Value* panel, long long down, long long across, int exist, bool again) {
    __shared__ __align__(16) Value part[DEPTH][TILE];
    __shared__ int number[DEPTH];
    for (int begin = 0; begin < steps; begin += DEPTH) {
        const int depth = min(DEPTH, steps - begin);
        if (!again || steps > DEPTH) {
            __syncthreads();
            for (int e = threadIdx.x; e < depth * TILE; e += blockDim.x) {
                const int k = BY_COLUMNS ? e % depth : e / TILE, t = BY_COLUMNS ? e / depth : e % TILE;
                part[k][t] = t < exist ? panel[(begin + k) * down + t * across] : zero();
            }
            for (int k = threadIdx.x; k < depth; k += blockDim.x)
                number[k] = boundary ? boundary[begin + k] : from + begin + k;
            __syncthreads();
        }
#pragma unroll 8
        for (int k = 0; k < depth; k++) {
            const Run x = *(const Run*)(X + number[k] * width + r);
#pragma unroll
            for (int t = 0; t < TILE; t++)
#pragma unroll
                for (int l = 0; l < LANES; l++) c[t][l] = term(c[t][l], x.at[l], part[k][t]);
        }
    }
}

// W[S] ⊕= what the children of supernodes left for S, and Y[U] ← what they left for U.
extern "C" __global__ void __launch_bounds__(LONGEST) collect(
    const int* fronts, const int* first, const long long* pointer, const int* child, const int* sibling,
    const int* position, Value* W, Value* Y, long long width) {
    const int a = fronts[blockIdx.x], S = first[a], s = first[a + 1] - S;
    const long long begin = pointer[a], r = (long long)blockIdx.y * blockDim.x + threadIdx.x;
    for (long long q = begin; q < pointer[a + 1]; q++) Y[q * width + r] = zero();
    for (int c = child[a]; c >= 0; c = sibling[c])
        for (long long q = pointer[c]; q < pointer[c + 1]; q++) {
            const int at = position[q];
            Value* const target = at < s ? W + (S + at) * width + r : Y + (begin + at - s) * width + r;
            *target = plus(*target, Y[q * width + r]);
        }
}

// W[U] ← W[U] ⊕ W[S] ⊗ top[U] and X[S] ← W[S] ⊗ top[S] for supernodes of one level. A supernode has something in the
// right-hand sides of its span only; those of supernodes beside it are apart, and W is written for its own.
extern "C" __global__ void __launch_bounds__(LONGEST) up(
    const Piece* pieces, const int* first, const long long* pointer, const int* boundary, const long long* top_at,
    const long long* low_at, const Value* panels, Value* W, Value* X, Value* Y, long long width, const Span* spans) {
    const Piece piece = pieces[blockIdx.x];
    const int a = piece.front, S = first[a], s = first[a + 1] - S, u = (int)(pointer[a + 1] - pointer[a]), n = s + u;
    const Span span = spans[a];
    const bool is_own = piece.column < s;
    const int exist = min(TILE, (is_own ? s : n) - piece.column), across = blockDim.x * LANES;
    const long long beyond = pointer[a] + (piece.column - s);
    bool again = false;
    for (long long from = (long long)blockIdx.y * across; from < width; from += (long long)gridDim.y * across) {
        const int r = (int)from + threadIdx.x * LANES;
        const bool any = span.head < from + across && from < span.tail;
        if (!any && !is_own) continue;
        Value c[TILE][LANES];
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            Run x;
            if (!is_own && t < exist)
                x = *(const Run*)((BY_COLUMNS ? Y + (beyond + t) * width : W + boundary[beyond + t] * width) + r);
#pragma unroll
            for (int l = 0; l < LANES; l++) c[t][l] = is_own || t >= exist ? zero() : x.at[l];
        }
        if (any) {
            const long long line = piece.column;
            const Value* const panel = panels + (!BY_COLUMNS ? top_at[a] + line
                : is_own ? top_at[a] + line * n : low_at[a] + (line - s) * s);
            multiply(c, W, width, r, s, nullptr, S, panel, BY_COLUMNS ? 1 : n, !BY_COLUMNS ? 1 : is_own ? n : s, exist,
                     again);
            again = true;
        }
        const bool whole = span.head <= r && r + LANES <= span.tail;
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            if (t >= exist) break;
            Value* const target = is_own ? X + (S + piece.column + t) * width + r
                : BY_COLUMNS ? Y + (beyond + t) * width + r : W + boundary[beyond + t] * width + r;
            Run x;
#pragma unroll
            for (int l = 0; l < LANES; l++) x.at[l] = c[t][l];
            if (is_own || whole) {
                *(Run*)target = x;
            } else {
#pragma unroll
                for (int l = 0; l < LANES; l++)
                    if (span.head <= r + l && r + l < span.tail) target[l] = x.at[l];
            }
        }
    }
}

// X[S] ← X[S] ⊕ X[U] ⊗ low for supernodes of one level, with zero in place of X[S] where nothing came up.
extern "C" __global__ void __launch_bounds__(LONGEST) down(
    const Piece* pieces, const int* first, const long long* pointer, const int* boundary, const long long* top_at,
    const long long* low_at, const Value* panels, Value* X, long long width, const Span* spans) {
    const Piece piece = pieces[blockIdx.x];
    const int a = piece.front, S = first[a], s = first[a + 1] - S, u = (int)(pointer[a + 1] - pointer[a]), n = s + u;
    const int exist = min(TILE, s - piece.column), across = blockDim.x * LANES;
    const bool came = spans[a].head < spans[a].tail;
    const int* const beyond = boundary + pointer[a];
    bool again = false;
    for (long long from = (long long)blockIdx.y * across; from < width; from += (long long)gridDim.y * across) {
        const int r = (int)from + threadIdx.x * LANES;
        Value* const target = X + (S + piece.column) * width + r;
        Value c[TILE][LANES];
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            Run x;
            if (came && t < exist) x = *(const Run*)(target + t * width);
#pragma unroll
            for (int l = 0; l < LANES; l++) c[t][l] = came && t < exist ? x.at[l] : zero();
        }
        const long long line = piece.column;
        const Value* const panel = panels + (BY_COLUMNS ? top_at[a] + line * n + s : low_at[a] + line);
        multiply(c, X, width, r, u, beyond, 0, panel, BY_COLUMNS ? 1 : s, BY_COLUMNS ? n : 1, exist, again);
        again = true;
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            if (t >= exist) break;
            Run x;
#pragma unroll
            for (int l = 0; l < LANES; l++) x.at[l] = c[t][l];
            *(Run*)(target + t * width) = x;
        }
    }
}

// X[v, r] ← ⊕ over k of X[k, r] ⊗ A[k, v] for the source v of each right-hand side: the diagonal of A⁺. One thread each;
// the matrix is given by columns.
extern "C" __global__ void __launch_bounds__(LONGEST) cycles(
    const int* sources, int count, const long long* column_pointer, const int* row, const int* entry,
    const Value* weights, Value* X, long long width) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    const int v = sources[r];
    Value c = zero();
    for (long long q = column_pointer[v]; q < column_pointer[v + 1]; q++)
        c = relax(c, X[row[q] * width + r], weights[entry[q]]);
    X[v * width + r] = c;
}

// out[targets[r], j] ← X[ends[j], r], rows `stride` elements apart: tiles of SOURCES right-hand sides and ENDS ends.
// With `settled` 1 stands where a source is its own end.
extern "C" __global__ void __launch_bounds__(SQUARE) spread(
    const Value* X, long long width, const int* ends, long long count_ends, const int* sources,
    const long long* targets, int count, Value* out, long long stride, int settled) {
    __shared__ Value tile[ENDS][SOURCES + 1];
    __shared__ int source[SOURCES];
    __shared__ long long target[SOURCES];
    constexpr int RUNS = SOURCES / LANES, LINES = SQUARE / RUNS < ENDS ? SQUARE / RUNS : ENDS, STEP = SQUARE / ENDS;
    const long long j_0 = (long long)blockIdx.x * ENDS;
    const int r_0 = blockIdx.y * SOURCES;
    if (threadIdx.x < SOURCES && r_0 + threadIdx.x < count) {
        source[threadIdx.x] = sources[r_0 + threadIdx.x];
        target[threadIdx.x] = targets[r_0 + threadIdx.x] * stride + j_0;
    }
    __syncthreads();
    const int run = threadIdx.x % RUNS * LANES, down = threadIdx.x / RUNS;
#pragma unroll
    for (int j = down; j < ENDS && down < LINES; j += LINES) {
        if (j_0 + j >= count_ends || r_0 + run >= width) continue;
        const int v = ends[j_0 + j];
        const Run x = *(const Run*)(X + v * width + r_0 + run);
#pragma unroll
        for (int l = 0; l < LANES; l++) tile[j][run + l] = settled && source[run + l] == v ? one() : x.at[l];
    }
    __syncthreads();
    const int x = threadIdx.x % ENDS, y = threadIdx.x / ENDS;
#pragma unroll 8
    for (int r = y; r < SOURCES; r += STEP)
        if (r_0 + r < count && j_0 + x < count_ends) out[target[r] + x] = tile[x][r];
}

// W ← B in the order of elimination, where `order` names the vertices; zero beyond B's columns. And back.
extern "C" __global__ void __launch_bounds__(LONGEST) take_in(
    const int* order, const Value* B, long long stride, long long columns, Value* W, long long width) {
    const long long r = (long long)blockIdx.y * blockDim.x + threadIdx.x;
    if (r < width) W[blockIdx.x * width + r] = r < columns ? B[order[blockIdx.x] * stride + r] : zero();
}
extern "C" __global__ void __launch_bounds__(LONGEST) hand_out(
    const int* order, const Value* X, long long width, Value* B, long long stride, long long columns) {
    const long long r = (long long)blockIdx.y * blockDim.x + threadIdx.x;
    if (r < columns) B[order[blockIdx.x] * stride + r] = X[blockIdx.x * width + r];
}

#ifdef NUMBERS
// The total, number, least and most of what is not zero in X[v, r] for `rows` vertices from blockIdx.y · rows on, but for
// the sources themselves: four numbers for each r, at found[(4 · blockIdx.y + i) · width + r].
extern "C" __global__ void __launch_bounds__(LONGEST) summarise(
    const Value* X, long long n, long long width, const int* sources, int count, long long rows, double* found) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    double total = 0, number = 0, least = infinity, most = -infinity;
    const long long end = min(n, (blockIdx.y + 1) * rows);
    for (long long v = blockIdx.y * rows; v < end; v++) {
        const Value x = X[v * width + r];
        if (same(x, zero()) || v == sources[r]) continue;
        total += x, number += 1, least = fmin(least, (double)x), most = fmax(most, (double)x);
    }
    double* const target = found + 4 * blockIdx.y * width + r;
    target[0] = total, target[width] = number, target[2 * width] = least, target[3 * width] = most;
}

// The same over all `parts` of the vertices: result[4 · r + i].
extern "C" __global__ void __launch_bounds__(LONGEST) unite(
    const double* found, int parts, long long width, int count, double* result) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    double total = 0, number = 0, least = found[2 * width + r], most = found[3 * width + r];
    for (int part = 0; part < parts; part++) {
        const double* const own = found + 4 * part * width + r;
        total += own[0], number += own[width], least = fmin(least, own[2 * width]), most = fmax(most, own[3 * width]);
    }
    double* const target = result + 4ll * r;
    target[0] = total, target[1] = number, target[2] = least, target[3] = most;
}
#endif
