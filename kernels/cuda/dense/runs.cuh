// Elements that are loaded or stored at once, and whether one is NaN. Before this file stands the text of the data: `Given`,
// `Number`, IS_NUMBER and `has_nan`.

template <class T, int N> struct alignas(N > 1 ? N * sizeof(T) : alignof(T)) Run {
    T at[N];
};

template <class T> DEVICE bool is_nan(const T& x) {
    if constexpr (IS_NUMBER) {
        const Number number = x;
        return number != number;
    } else return has_nan(x);
}
