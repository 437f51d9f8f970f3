// Elements of the data that are looked at while they are used. Before this file stand LOOKS, MAY_BE_NAN, found.cuh and
// runs.cuh.

#ifdef FACTS
#define REPORT long long* report, long long zero_key, long long one_key, Tally* tally, long long ends
#else
#define REPORT long long* report
#endif

// What a thread found in the data, and in the answer.
struct Seen {
#ifdef FACTS
    Found found;
    Number zero_of_data, one_of_data;
    DEVICE Seen(REPORT) : zero_of_data(from_key<Number>(zero_key)), one_of_data(from_key<Number>(one_key)) {}
    DEVICE void look(const Given& x) { found.look_at(x, zero_of_data, one_of_data); }
    DEVICE void flag(unsigned flags) { found.flags |= flags; }
    DEVICE void tell(REPORT) { found.account(tally, ends ? report : nullptr); }
#define TELL(seen) seen.tell(report, zero_key, one_key, tally, ends)
#define SEEN(seen) Seen seen(report, zero_key, one_key, tally, ends)
#else
    unsigned flags = 0;
    DEVICE void look(const Given& x) {
        if constexpr (LOOKS) flags |= (contains(x) ? 0 : OUTSIDE) | (is_nan(x) ? NOT_A_NUMBER : 0);
    }
    DEVICE void flag(unsigned found) { flags |= found; }
    DEVICE void tell(long long* report) {
        if (LOOKS && flags) ((volatile long long*)report)[2] = flags;  // whichever thread comes last: none should come
    }
#define TELL(seen) seen.tell(report)
#define SEEN(seen) Seen seen
#endif
    DEVICE Given judged(const Value& y) {
        if (LOOKS && leaves(y)) flag(LEAVES);
        const Given x = decode(y);
        if (MAY_BE_NAN && is_nan(x)) flag(NOT_A_NUMBER);
        return x;
    }
};
