// What folds and prefixes share: a look at elements, and parts of sums, which are joined in their order. Before this file stand
// ops.cuh, the algebra (`Value`, `operate`), of the data what exchange.cu says, `strange` (this form is not right for an
// element) and `slips` (a result left its type), the numbers in capitals, found.cuh and runs.cuh.
//
// Over log-sum-exp (POWERS) a part is the greatest logarithm m of its terms, and Σ exp(x − m), which takes a power for each
// element instead of a logarithm.

#define REPORT long long* report

struct Seen {
    unsigned flags = 0;
    DEVICE void look(const Given& x) {
        if constexpr (LOOKS)
            flags |= (contains(x) ? 0 : OUTSIDE) | (is_nan(x) ? NOT_A_NUMBER : 0) | (strange(x) ? LEAVES : 0);
    }
    DEVICE Given judged(const Value& y) {
        if (LOOKS && leaves(y)) flags |= LEAVES;
        const Given x = decode(y);
        if (LOOKS && is_nan(x)) flags |= NOT_A_NUMBER;
        return x;
    }
    DEVICE void tell(long long* report) {
        if (LOOKS && flags) ((volatile long long*)report)[2] = flags;  // whichever thread comes last: none should come
    }
};

#ifdef POWERS

struct Part {
    Value top, sum;
};
DEVICE Value positive(Value x) { return NEGATED ? -x : x; }
DEVICE Value relative(Value x, Value top) { return x == top ? Value(1) : power(x - top); }
DEVICE Part joined(const Part& c, const Part& d, Seen&) {
    const Value top = ops::maximum(c.top, d.top);
    return {top, ops::multiply_add(c.sum, relative(c.top, top), d.sum * relative(d.top, top))};
}
DEVICE Value value_of(const Part& c) { return positive(c.top - c.top == 0 ? c.top + logarithm(c.sum) : c.top); }
DEVICE Part part_of(const Value& x) { return {positive(x), Value(1)}; }
template <int N> DEVICE Part folded(Value (&v)[N], Seen&) {
    Value top = v[0] = positive(v[0]);
#pragma unroll
    for (int i = 1; i < N; i++) v[i] = positive(v[i]), top = ops::maximum(top, v[i]);
    Part c{top, relative(v[0], top)};
#pragma unroll
    for (int i = 1; i < N; i++) c.sum += relative(v[i], top);
    return c;
}

#else

using Part = Value;
DEVICE Part joined(const Part& c, const Part& d, Seen& seen) {
    const Part both = operate(c, d);
    if (LOOKS && slips(c, d, both)) seen.flags |= LEAVES;
    return both;
}
DEVICE Value value_of(const Part& c) { return c; }
DEVICE Part part_of(const Value& x) { return x; }
template <int N> DEVICE Part folded(Value (&v)[N], Seen& seen) {
#pragma unroll
    for (int step = 1; step < N; step *= 2)
#pragma unroll
        for (int i = 0; i + step < N; i += 2 * step) v[i] = joined(v[i], v[i + step], seen);
    return v[0];
}

#endif

// What a thread has folded: nothing at first.
struct Sum {
    Part part;
    bool some = false;
    DEVICE void take(const Part& d, Seen& seen) {
        part = some ? joined(part, d, seen) : d;
        some = true;
    }
};
