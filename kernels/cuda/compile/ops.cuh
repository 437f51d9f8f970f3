// Every operation an algebra may be written with, one function each, named as in semiring.algebra.expression.OPERATIONS.
//
// The answers are NumPy's at the edges: integers wrap, x // 0 = x mod 0 = 0 for integers, shifts by the width or more
// leave nothing but the sign. minimum and maximum of floats drop a NaN, which ∞ − ∞ makes and which is not an element.

#define DEVICE __device__ __forceinline__

template <class T> struct Unsigned { using type = T; };
template <> struct Unsigned<signed char> { using type = unsigned char; };
template <> struct Unsigned<short> { using type = unsigned short; };
template <> struct Unsigned<int> { using type = unsigned; };
template <> struct Unsigned<long long> { using type = unsigned long long; };

template <class T> constexpr bool is_floating = false;
template <> constexpr bool is_floating<float> = true;
template <> constexpr bool is_floating<double> = true;
template <class T> constexpr bool is_bool = false;
template <> constexpr bool is_bool<bool> = true;
template <class T> constexpr bool is_signed = !is_floating<T> && !is_bool<T> && T(-1) < T(0);
template <class T> constexpr T ones = T(~T(0));  // all bits set
template <class T>
constexpr T most = is_signed<T> ? T(typename Unsigned<T>::type(ones<typename Unsigned<T>::type>) >> 1) : ones<T>;
template <class T> constexpr T least = is_signed<T> ? T(-most<T> - 1) : T(0);

// A half in memory; arithmetic on it is a float's, rounded after every operation, as in NumPy.
struct Half {
    unsigned short bits;
    Half() = default;
    DEVICE Half(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    DEVICE operator float() const { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits)); return x; }
};
DEVICE float to_half(float x) { return float(Half(x)); }

namespace ops {

// Unsigned arithmetic wraps in C++; signed overflow would be undefined.
#define WRAPPING(name, sign)                                                                        \
    template <class T> DEVICE T name(T x, T y) {                                                    \
        if constexpr (is_floating<T>) return x sign y;                                              \
        else {                                                                                      \
            using U = typename Unsigned<T>::type;                                                   \
            return T(U(U(x) sign U(y)));                                                            \
        }                                                                                           \
    }                                                                                               \
    DEVICE unsigned short name(unsigned short x, unsigned short y) {                                \
        return (unsigned short)(unsigned(x) sign unsigned(y));                                      \
    }                                                                                               \
    DEVICE short name(short x, short y) { return short((unsigned short)(unsigned(x) sign unsigned(y))); }
WRAPPING(add, +)
WRAPPING(subtract, -)
WRAPPING(multiply, *)
#undef WRAPPING
DEVICE bool add(bool x, bool y) { return x | y; }
DEVICE bool multiply(bool x, bool y) { return x & y; }

DEVICE float divide(float x, float y) { return x / y; }
DEVICE double divide(double x, double y) { return x / y; }

template <class T> DEVICE T negative(T x) {
    if constexpr (is_floating<T>) return -x;
    else return subtract(T(0), x);
}
template <class T> DEVICE T absolute(T x) {
    if constexpr (is_floating<T>) return fabs(x);
    else if constexpr (is_signed<T>) return x < T(0) ? negative(x) : x;
    else return x;
}

template <class T> DEVICE T remainder(T x, T y) {
    if constexpr (is_floating<T>) {
        T r = fmod(x, y);
        if (y == T(0)) return r;
        if (r != T(0)) return (y < T(0)) != (r < T(0)) ? r + y : r;
        return copysign(T(0), y);
    } else if constexpr (is_signed<T>) {
        if (y == T(0) || y == T(-1)) return T(0);
        T r = x % y;
        return r != T(0) && (r < T(0)) != (y < T(0)) ? T(r + y) : r;
    } else {
        return y == T(0) ? T(0) : T(x % y);
    }
}
template <class T> DEVICE T floor_divide(T x, T y) {
    if constexpr (is_floating<T>) {
        if (y == T(0)) return x / y;
        T r = fmod(x, y), q = (x - r) / y;
        if (r != T(0) && (y < T(0)) != (r < T(0))) q -= T(1);
        if (q == T(0)) return copysign(T(0), x / y);
        T down = floor(q);
        return q - down > T(0.5) ? down + T(1) : down;
    } else if constexpr (is_signed<T>) {
        if (y == T(0)) return T(0);
        if (y == T(-1)) return negative(x);
        T q = x / y;
        return x % y != T(0) && (x < T(0)) != (y < T(0)) ? T(q - 1) : q;
    } else {
        return y == T(0) ? T(0) : T(x / y);
    }
}
template <class T> DEVICE T power(T x, T y) {
    if constexpr (is_floating<T>) return pow(x, y);
    else {
        T result = T(1);
        for (; y > T(0); y = T(y >> 1), x = multiply(x, x))
            if (y & T(1)) result = multiply(result, x);
        return result;
    }
}

#define FLOATING(name, call_float, call_double)             \
    DEVICE float name(float x) { return call_float(x); }    \
    DEVICE double name(double x) { return call_double(x); }
FLOATING(sqrt, sqrtf, ::sqrt)
FLOATING(exp, expf, ::exp)
FLOATING(exp2, exp2f, ::exp2)
FLOATING(expm1, expm1f, ::expm1)
FLOATING(log, logf, ::log)
FLOATING(log2, log2f, ::log2)
FLOATING(log1p, log1pf, ::log1p)
FLOATING(log10, log10f, ::log10)
FLOATING(cbrt, cbrtf, ::cbrt)
FLOATING(sin, sinf, ::sin)
FLOATING(cos, cosf, ::cos)
FLOATING(tan, tanf, ::tan)
FLOATING(arcsin, asinf, ::asin)
FLOATING(arccos, acosf, ::acos)
FLOATING(arctan, atanf, ::atan)
FLOATING(sinh, sinhf, ::sinh)
FLOATING(cosh, coshf, ::cosh)
FLOATING(tanh, tanhf, ::tanh)
FLOATING(arcsinh, asinhf, ::asinh)
FLOATING(arccosh, acoshf, ::acosh)
FLOATING(arctanh, atanhf, ::atanh)
FLOATING(fabs, fabsf, ::fabs)
FLOATING(trunc, truncf, ::trunc)
FLOATING(floor, floorf, ::floor)
FLOATING(ceil, ceilf, ::ceil)
FLOATING(rint, rintf, ::rint)
#undef FLOATING
template <class T> DEVICE T floor(T x) { return x; }
template <class T> DEVICE T ceil(T x) { return x; }
template <class T> DEVICE T rint(T x) { return x; }
template <class T> DEVICE T trunc(T x) { return x; }

#define FLOATING(name, call_float, call_double)                              \
    DEVICE float name(float x, float y) { return call_float(x, y); }         \
    DEVICE double name(double x, double y) { return call_double(x, y); }
FLOATING(arctan2, atan2f, ::atan2)
FLOATING(copysign, copysignf, ::copysign)
FLOATING(fmod, fmodf, ::fmod)
#undef FLOATING
template <class T> DEVICE T fmod(T x, T y) {
    if constexpr (is_signed<T>) return y == T(0) || y == T(-1) ? T(0) : T(x % y);
    else return y == T(0) ? T(0) : T(x % y);
}
// The library's own overflows where one side is the largest number.
template <class T> DEVICE T hypot(T x, T y) {
    x = absolute(x), y = absolute(y);
    if (x == x && x - x != T(0)) return x;  // infinite, whatever the other is
    if (y == y && y - y != T(0)) return y;
    if (x != x || y != y) return x + y;
    const T large = x < y ? y : x, small = x < y ? x : y;
    if (large == T(0)) return large;
    const T ratio = small / large;
    return large * sqrt(T(1) + ratio * ratio);
}
DEVICE double float_power(double x, double y) { return pow(x, y); }
template <class T> DEVICE bool signbit(T x) { return copysign(T(1), x) < T(0); }
template <class T> DEVICE T sign(T x) {
    if constexpr (is_floating<T>)
        if (x != x) return x;
    if constexpr (!is_signed<T> && !is_floating<T>) return T(x != T(0));
    else return T((x > T(0)) - (x < T(0)));
}
template <class T> DEVICE T heaviside(T x, T middle) {
    return x != x ? x : x == T(0) ? middle : T(x > T(0));
}
template <class T> DEVICE T bitwise_count(T x) {
    using U = typename Unsigned<T>::type;
    return T(__popcll(U(absolute(x))));
}

DEVICE float minimum(float x, float y) { return fminf(x, y); }
DEVICE float maximum(float x, float y) { return fmaxf(x, y); }
// As a comparison and a selection, which take a third of the time of fmin on doubles.
DEVICE double minimum(double x, double y) { return y < x ? y : x; }
DEVICE double maximum(double x, double y) { return y > x ? y : x; }
template <class T> DEVICE T minimum(T x, T y) { return y < x ? y : x; }
template <class T> DEVICE T maximum(T x, T y) { return y > x ? y : x; }
DEVICE int minimum(int x, int y) { return min(x, y); }
DEVICE int maximum(int x, int y) { return max(x, y); }

// Floats that are not negative have the order of their bits as integers, +∞ included. Integers are compared and floats are
// selected: the instruction is the same as of min, and NVRTC's optimizer takes half as long for a chain of them.
DEVICE float minimum_of_bits(float x, float y) { return __float_as_int(x) < __float_as_int(y) ? x : y; }
DEVICE float maximum_of_bits(float x, float y) { return __float_as_int(x) > __float_as_int(y) ? x : y; }

template <class T> DEVICE T logaddexp(T x, T y) {
    const T far = x < y ? x - y : y - x;  // never above 0; NaN is handed on, by one way for all threads of a warp
    return x == y ? x + T(0.693147180559945309417232121458176568) : (x < y ? y : x) + log1p(exp(far));
}
template <class T> DEVICE T logaddexp2(T x, T y) {
    constexpr T log2_e = T(1.442695040888963407359924681001892137);
    const T far = x < y ? x - y : y - x;
    return x == y ? x + T(1) : (x < y ? y : x) + log1p(exp2(far)) * log2_e;
}

// Comparisons of a signed and an unsigned 64-bit integer are of the numbers, not of their bits.
template <class T, class S> DEVICE bool less(T x, S y) {
    if constexpr (is_signed<T> && !is_signed<S> && !is_floating<S>) return x < T(0) || typename Unsigned<T>::type(x) < y;
    else if constexpr (is_signed<S> && !is_signed<T> && !is_floating<T>) return y >= S(0) && x < typename Unsigned<S>::type(y);
    else return x < y;
}
template <class T, class S> DEVICE bool equal(T x, S y) {
    if constexpr (is_signed<T> && !is_signed<S> && !is_floating<S>) return x >= T(0) && typename Unsigned<T>::type(x) == y;
    else if constexpr (is_signed<S> && !is_signed<T> && !is_floating<T>) return equal(y, x);
    else return x == y;
}
template <class T, class S> DEVICE bool greater(T x, S y) { return less(y, x); }
template <class T, class S> DEVICE bool not_equal(T x, S y) { return !equal(x, y); }
template <class T, class S> DEVICE bool less_equal(T x, S y) { return less(x, y) || equal(x, y); }
template <class T, class S> DEVICE bool greater_equal(T x, S y) { return less(y, x) || equal(x, y); }

template <class T> DEVICE bool logical_and(T x, T y) { return (x != T(0)) & (y != T(0)); }
template <class T> DEVICE bool logical_or(T x, T y) { return (x != T(0)) | (y != T(0)); }
template <class T> DEVICE bool logical_xor(T x, T y) { return (x != T(0)) ^ (y != T(0)); }
template <class T> DEVICE bool logical_not(T x) { return x == T(0); }
template <class T> DEVICE T bitwise_and(T x, T y) { return T(x & y); }
template <class T> DEVICE T bitwise_or(T x, T y) { return T(x | y); }
template <class T> DEVICE T bitwise_xor(T x, T y) { return T(x ^ y); }
template <class T> DEVICE T invert(T x) { return T(~x); }
DEVICE bool invert(bool x) { return !x; }
// A negative count is as good as a large one.
template <class T> DEVICE T left_shift(T x, T y) {
    using U = typename Unsigned<T>::type;
    return U(y) < U(8 * sizeof(T)) ? T(U(U(x) << U(y))) : T(0);
}
template <class T> DEVICE T right_shift(T x, T y) {
    using U = typename Unsigned<T>::type;
    T nothing = T(0);
    if constexpr (is_signed<T>) nothing = T(x >> (8 * sizeof(T) - 1));
    return U(y) < U(8 * sizeof(T)) ? T(x >> y) : nothing;
}

template <class T> DEVICE T gcd(T x, T y) {
    using U = typename Unsigned<T>::type;
    U a = U(absolute(x)), b = U(absolute(y));
    while (b != U(0)) {
        U r = U(a % b);
        a = b;
        b = r;
    }
    return T(a);
}
template <class T> DEVICE T lcm(T x, T y) {
    using U = typename Unsigned<T>::type;
    U a = U(absolute(x)), b = U(absolute(y)), d = U(gcd(x, y));
    return d == U(0) ? T(0) : T(U(multiply(U(a / d), b)));
}

template <class T> DEVICE bool isnan(T x) { return x != x; }
template <class T> DEVICE bool isinf(T x) {
    if constexpr (is_floating<T>) return fabs(x) == T(__int_as_float(0x7f800000));
    else return false;
}
template <class T> DEVICE bool isfinite(T x) {
    if constexpr (is_floating<T>) return x - x == T(0);
    else return true;
}
// Complex numbers come as two components; what is left here are real ones.
template <class T> DEVICE T conjugate(T x) { return x; }
template <class T> DEVICE T real(T x) { return x; }
template <class T> DEVICE T imag(T x) { return T(0); }
template <class T> DEVICE T where(bool condition, T x, T y) { return condition ? x : y; }

template <class T> DEVICE T saturating_add(T x, T y) {
    if constexpr (is_floating<T>) return x + y;
    else if constexpr (is_signed<T>) {
        T total = add(x, y);
        return ((x ^ total) & (y ^ total)) < 0 ? (x < T(0) ? least<T> : most<T>) : total;
    } else {
        T total = add(x, y);
        return total < x ? most<T> : total;
    }
}
template <class T> DEVICE T saturating_multiply(T x, T y) {
    if constexpr (is_floating<T>) return x * y;
    else if constexpr (sizeof(T) < 4) {
        if constexpr (is_signed<T>) return T(min(max(int(x) * int(y), int(least<T>)), int(most<T>)));
        else return T(min(unsigned(x) * unsigned(y), unsigned(most<T>)));
    } else if constexpr (sizeof(T) == 4) {
        if constexpr (is_signed<T>) {
            long long product = (long long)x * y;
            return T(product < least<T> ? least<T> : product > most<T> ? most<T> : product);
        } else {
            unsigned long long product = (unsigned long long)x * y;
            return product > most<T> ? most<T> : T(product);
        }
    } else {
        T low = multiply(x, y);
        if constexpr (is_signed<T>) {
            bool fits = __mul64hi(x, y) == (low >> 63), negative = (x < T(0)) != (y < T(0));
            return fits ? low : negative ? least<T> : most<T>;
        } else {
            return __umul64hi(x, y) == 0 ? low : most<T>;
        }
    }
}

// x y + z, rounded once.
DEVICE float multiply_add(float x, float y, float z) { return __fmaf_rn(x, y, z); }
DEVICE double multiply_add(double x, double y, double z) { return __fma_rn(x, y, z); }

// The root to one unit in the last place.
DEVICE float near_sqrt(float x) { float y; asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE double near_sqrt(double x) { return ::sqrt(x); }
// 2^(y log2 x): off by 2^-22 of itself, and by as much for every unit of y log2 x, of which 128 are infinite. Whole
// exponents, and powers of numbers below zero, are the library's.
DEVICE float near_power(float x, float y) {
    if (y == truncf(y) || x < 0.0f) return powf(x, y);
    float logarithm, result;
    asm("lg2.approx.f32 %0, %1;" : "=f"(logarithm) : "f"(x));
    asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(y * logarithm));
    return result;
}
DEVICE double near_power(double x, double y) { return pow(x, y); }

}  // namespace ops

// Integers of the same order: of a double, those below zero have their lower bits flipped.
DEVICE long long ordered(double x) {
    const long long bits = __double_as_longlong(x);
    return bits ^ (bits >> 63 & 0x7fffffffffffffffll);
}
DEVICE double from_ordered(long long key) { return __longlong_as_double(key ^ (key >> 63 & 0x7fffffffffffffffll)); }
DEVICE int ordered(float x) {
    const int bits = __float_as_int(x);
    return bits ^ (bits >> 31 & 0x7fffffff);
}
DEVICE float from_ordered(int key) { return __int_as_float(key ^ (key >> 31 & 0x7fffffff)); }
DEVICE short ordered(Half x) { return short(short(x.bits) ^ (short(x.bits) >> 15 & 0x7fff)); }
DEVICE Half from_ordered(short key) {
    Half x;
    x.bits = (unsigned short)(key ^ (key >> 15 & 0x7fff));
    return x;
}

// Pairs of halves. The lesser and the greater of a NaN and a number is the number.
#define OF_HALVES(name, instruction)                                                    \
    DEVICE unsigned name(unsigned x, unsigned y) {                                      \
        unsigned z;                                                                     \
        asm(instruction ".f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));               \
        return z;                                                                       \
    }
OF_HALVES(sums_of_halves, "add")
OF_HALVES(least_of_halves, "min")
OF_HALVES(greatest_of_halves, "max")
#undef OF_HALVES
