// CUDA's words for a C++ compiler: a thread is a fiber, a barrier hands over to the next one.

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

struct Dimensions { unsigned x, y, z; };
static Dimensions threadIdx, blockIdx, gridDim;

namespace fibers {

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    bool done;
};
static std::vector<Fiber> all;
static ucontext_t scheduler;
static unsigned current;
static void (*kernel)(long long, long long, long long, long long, long long, long long, long long, long long, long long,
                      long long, long long, long long, long long, long long, long long, long long);
static const long long* arguments;

inline void begin() {
    const long long* a = arguments;
    kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
    all[current].done = true;
    swapcontext(&all[current].context, &scheduler);
}

}  // namespace fibers

inline void __syncthreads() {
    const unsigned self = fibers::current;
    swapcontext(&fibers::all[self].context, &fibers::scheduler);
}

// A warp's barrier is one of all threads: they all come to as many.
inline void __syncwarp() { __syncthreads(); }

inline int __syncthreads_or(int x) {
    static int any;
    __syncthreads();
    any = 0;
    __syncthreads();
    any |= x;
    __syncthreads();
    return any;
}
inline int __syncthreads_and(int x) { return !__syncthreads_or(!x); }

extern "C" void run_kernel(void* kernel, long long across, long long down, long long threads, long long seed,
                           const long long* arguments) {
    using namespace fibers;
    fibers::kernel = (decltype(fibers::kernel))kernel;
    fibers::arguments = arguments;
    std::mt19937 random((unsigned)seed);
    std::vector<unsigned> order(threads);
    if ((long long)all.size() < threads) all.resize(threads);
    gridDim = {(unsigned)across, (unsigned)down, 1};
    for (unsigned by = 0; by < down; by++)
        for (unsigned bx = 0; bx < across; bx++) {
            blockIdx = {bx, by, 0};
            for (unsigned t = 0; t < threads; t++) {
                Fiber& f = all[t];
                f.stack.resize(1 << 15);
                f.done = false;
                getcontext(&f.context);
                f.context.uc_stack.ss_sp = f.stack.data();
                f.context.uc_stack.ss_size = f.stack.size();
                f.context.uc_link = nullptr;
                makecontext(&f.context, begin, 0);
                order[t] = t;
            }
            for (bool left = true; left;) {
                left = false;
                std::shuffle(order.begin(), order.end(), random);
                for (unsigned t : order)
                    if (!all[t].done) {
                        current = t;
                        threadIdx = {t, 0, 0};
                        swapcontext(&scheduler, &all[t].context);
                        left |= !all[t].done;
                    }
            }
        }
}

using std::max;
using std::min;

template <class T> T __ldcg(const T* p) { return *p; }
template <class T> T atomicCAS(T* place, T compare, T value) {
    T old = *place;
    if (old == compare) *place = value;
    return old;
}
inline unsigned atomicOr(unsigned* place, unsigned bits) { return *place |= bits; }
inline int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
inline float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
inline long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
inline double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline unsigned __cvta_generic_to_shared(const void*) { return 0; }
