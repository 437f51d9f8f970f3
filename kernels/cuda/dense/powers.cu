// Products over log-sum-exp by powers, around an ordinary product: powers of the operands, with the maxima of rows or of columns
// taken out, whether entries are to be believed, and logarithms. Before this file the engine writes ops.cuh, the types `Given`
// of data and `Held` of powers, NEGATED, BINARY, the numbers TINY, EPSILON, NORMAL and LARGEST, and `infinite`.
// Leading dimensions are in bytes.

constexpr int THREADS = 256, WIDE = 32, LEVELS = THREADS / WIDE;
constexpr Held UNIT = BINARY ? Held(0.69314718055994530942) : Held(1);

DEVICE float power(float x) { return BINARY ? exp2f(x) : expf(x); }
DEVICE double power(double x) { return BINARY ? exp2(x) : exp(x); }
DEVICE float logarithm(float x) { return BINARY ? log2f(x) : logf(x); }
DEVICE double logarithm(double x) { return BINARY ? log2(x) : log(x); }
DEVICE float logarithm_of_next(float x) { return log1pf(x); }
DEVICE double logarithm_of_next(double x) { return log1p(x); }

DEVICE Held turned(Given x) { return NEGATED ? -Held(x) : Held(x); }
DEVICE bool is_infinite(Held x) { return x - x != 0 && x == x; }

// The greatest element, NaN if there is one, and the least one above −∞.
struct Ends {
    Held most, least;

    DEVICE void take(Held x) { *this = joined({x, is_infinite(x) && x < 0 ? -x : x}); }
    DEVICE Ends joined(Ends other) const {
        return {most != most || other.most <= most ? most : other.most, other.least < least ? other.least : least};
    }
    DEVICE Held top() const { return is_infinite(most) && most < 0 ? Held(0) : most; }
    DEVICE Held spread() const { return top() - least; }
};

DEVICE Ends nothing() { return {-infinite(), infinite()}; }

DEVICE Held lifted(Given x, Held top, Held scale) {
    const Held p = power(turned(x) - top);
    return p >= TINY ? p * scale : p != p ? p : Held(0);
}

// A block of threads for each row of each matrix.
extern "C" __global__ void __launch_bounds__(THREADS) rows_to_powers(
    const char* X, long long ld, long long next, long long rows, long long k, long long lift,
    Held* powers, Held* top, Held* spread) {
    __shared__ __align__(16) char memory[THREADS * sizeof(Ends)];
    Ends* const held = (Ends*)memory;
    const long long line = blockIdx.x;
    const Given* const x = (const Given*)(X + line / rows * next + line % rows * ld);
    Ends ends = nothing();
#pragma unroll 4
    for (long long j = threadIdx.x; j < k; j += THREADS) ends.take(turned(x[j]));
    held[threadIdx.x] = ends;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) held[threadIdx.x] = held[threadIdx.x].joined(held[threadIdx.x + half]);
    }
    __syncthreads();
    ends = held[0];
    if (threadIdx.x == 0) top[line] = ends.top(), spread[line] = ends.spread();
    const Held scale = ldexp(Held(1), (int)lift);
#pragma unroll 4
    for (long long j = threadIdx.x; j < k; j += THREADS) powers[line * k + j] = lifted(x[j], ends.top(), scale);
}

// The ends of each column of `chunk` rows: of part s of matrix b and column j to ((b · parts + s) · n + j).
extern "C" __global__ void __launch_bounds__(THREADS) column_ends(
    const char* X, long long ld, long long next, long long k, long long n, long long parts, long long chunk, Ends* to) {
    __shared__ __align__(16) char memory[THREADS * sizeof(Ends)];
    Ends* const held = (Ends*)memory;
    const int lane = threadIdx.x % WIDE, level = threadIdx.x / WIDE;
    const long long blocks = (n + WIDE - 1) / WIDE, j = blockIdx.x % blocks * WIDE + lane, part = blockIdx.x / blocks;
    const long long first = part % parts * chunk, last = min(first + chunk, k);
    const char* const x = X + part / parts * next + j * (long long)sizeof(Given);
    Ends ends = nothing();
    if (j < n)
#pragma unroll 4
        for (long long p = first + level; p < last; p += LEVELS) ends.take(turned(*(const Given*)(x + p * ld)));
    held[threadIdx.x] = ends;
    for (int half = LEVELS / 2; half; half /= 2) {
        __syncthreads();
        if (level < half) held[threadIdx.x] = held[threadIdx.x].joined(held[threadIdx.x + half * WIDE]);
    }
    if (level == 0 && j < n) to[part * n + j] = held[lane];
}

// Powers of the same rows, with the maxima of all parts taken out.
extern "C" __global__ void __launch_bounds__(THREADS) columns_to_powers(
    const char* X, long long ld, long long next, long long k, long long n, long long parts, long long chunk, const Ends* of,
    long long lift, Held* powers, Held* top, Held* spread) {
    const int lane = threadIdx.x % WIDE, level = threadIdx.x / WIDE;
    const long long blocks = (n + WIDE - 1) / WIDE, j = blockIdx.x % blocks * WIDE + lane, part = blockIdx.x / blocks;
    const long long matrix = part / parts, first = part % parts * chunk, last = min(first + chunk, k);
    if (j >= n) return;
    Ends ends = nothing();
    for (long long s = 0; s < parts; s++) ends = ends.joined(of[(matrix * parts + s) * n + j]);
    if (first == 0 && level == 0) top[matrix * n + j] = ends.top(), spread[matrix * n + j] = ends.spread();
    const Held scale = ldexp(Held(1), (int)lift);
    const char* const x = X + matrix * next + j * (long long)sizeof(Given);
#pragma unroll 4
    for (long long p = first + level; p < last; p += LEVELS)
        powers[(matrix * k + p) * n + j] = lifted(*(const Given*)(x + p * ld), ends.top(), scale);
}

// Says so to the host if an entry is not to be believed; see semiring.kernels.numpy.logsum. A block for each row of G.
extern "C" __global__ void __launch_bounds__(THREADS) look(
    const Held* G, const Held* r, const Held* c, const Held* spread_r, const Held* spread_c,
    long long m, long long n, long long k, long long lift, unsigned long long* report) {
    const long long line = blockIdx.x, columns = line / m * n;
    const Held least = Held(ldexp(8.0 * double(k) * (double(TINY) / double(EPSILON)), 2 * (int)lift)), spread = spread_r[line];
    bool fine = fabs(r[line]) <= LARGEST;
    for (long long j = threadIdx.x; j < n; j += THREADS)
        fine &= (G[line * n + j] >= least || spread + spread_c[columns + j] <= NORMAL) && fabs(c[columns + j]) <= LARGEST;
    if (!fine) *(volatile unsigned long long*)(report + 2) = 1;
}

// C ← r + c + log G, or the sum of that and C. A block for each row of G.
extern "C" __global__ void __launch_bounds__(THREADS) take_logarithms(
    const Held* G, const Held* r, const Held* c, long long m, long long n, long long lift,
    char* C, long long step, long long ld, long long next, long long accumulate) {
    const long long line = blockIdx.x, matrix = line / m;
    const Held top = r[line], scale = ldexp(Held(1), -2 * (int)lift);
    char* const to = C + matrix * next + line % m * ld;
    for (long long j = threadIdx.x; j < n; j += THREADS) {
        Given* const out = (Given*)(to + j * step);
        Held x = logarithm(G[line * n + j] * scale) + (top + c[matrix * n + j]);
        if (accumulate) {
            const Held y = turned(*out), near = x == y ? Held(0) : -fabs(x - y);
            x = (x != x || y <= x ? x : y) + logarithm_of_next(power(near)) / UNIT;
        }
        *out = Given(NEGATED ? -x : x);
    }
}
