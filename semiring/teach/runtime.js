// What the rows of the JavaScript rule table call: NumPy's operations where JavaScript's own differ, or there are none.
// Integers of 64 bits are BigInts, all others Numbers; results are wrapped by the caller.
const R = {
  zero: x => typeof x === "bigint" ? 0n : 0,
  one: x => typeof x === "bigint" ? 1n : 1,
  isinf: x => x == Infinity || x == -Infinity,
  isfinite: x => typeof x !== "number" || Number.isFinite(x),

  // From floats to integers, as C's conversions on the usual machines.
  whole: x => Number.isFinite(x) ? Math.trunc(x) : 0,
  big: x => Math.abs(x) < 2 ** 64 ? BigInt(Math.trunc(x)) : -(2n ** 63n),

  // Integers.
  multiply: (x, y) => typeof x === "bigint" ? x * y : Math.imul(x, y),
  absolute: x => x < 0 ? -x : x,
  sign: x => x > 0 ? R.one(x) : x < 0 ? -R.one(x) : R.zero(x),
  clamp: (x, low, high) => x < low ? low : x > high ? high : x,
  fmod: (x, y) => y == 0 ? y : x % y,
  remainder(x, y) {
    if (y == 0) return y;
    const r = x % y;
    return r != 0 && (r < 0) !== (y < 0) ? r + y : r;
  },
  floor_divide(x, y) {
    if (y == 0) return y;
    if (typeof x !== "bigint") return Math.floor(x / y);
    const q = x / y;
    return q * y !== x && (x < 0n) !== (y < 0n) ? q - 1n : q;
  },
  power(x, y, bits) {
    let result = 1n, base = BigInt(x);
    for (let left = BigInt(y); left > 0n; left >>= 1n) {
      if (left & 1n) result = BigInt.asUintN(bits, result * base);
      base = BigInt.asUintN(bits, base * base);
    }
    return typeof x === "bigint" ? result : Number(result);
  },
  left_shift: (x, count, bits) => count < 0 || count >= bits ? R.zero(x) : x << count,
  right_shift(x, count, bits) {
    if (count < 0 || count >= bits) return x < 0 ? -R.one(x) : R.zero(x);
    return typeof x === "bigint" || x < 0 ? x >> count : x >>> count;
  },
  gcd(x, y) {
    let a = R.absolute(x), b = R.absolute(y);
    while (b != 0) [a, b] = [b, a % b];
    return a;
  },
  lcm(x, y) {
    const divisor = R.gcd(x, y);
    return divisor == 0 ? divisor : R.multiply(R.absolute(x) / divisor, R.absolute(y));
  },
  bitwise_count(x) {
    let left = BigInt(R.absolute(x)), count = R.zero(x);
    for (; left > 0n; left &= left - 1n) count += R.one(x);
    return count;
  },

  // Floats.
  sign_of_float: x => x > 0 ? 1 : x < 0 ? -1 : x === 0 ? 0 : x,
  signbit: x => x < 0 || Object.is(x, -0),
  copysign: (x, y) => R.signbit(y) ? -Math.abs(x) : Math.abs(x),
  heaviside: (x, middle) => x !== x ? x : x === 0 ? middle : x > 0 ? 1 : 0,
  exp2: x => 2 ** x,
  float_power: (x, y) => x === 1 || (x === -1 && R.isinf(y)) ? 1 : x ** y,
  rint(x) {  // halves to even: beyond 2^52 there are no halves, and adding that leaves none
    if (!(Math.abs(x) < 2 ** 52)) return x;
    const far = R.copysign(2 ** 52, x);
    return R.copysign(x + far - far, x);
  },
  remainder_of_floats(x, y) {
    const r = x % y;
    return r !== r ? r : r === 0 ? R.copysign(0, y) : (r < 0) !== (y < 0) ? r + y : r;
  },
  floor_divide_floats(x, y) {
    if (y === 0) return x / y;
    let r = x % y;
    if (r !== r) return r;
    let quotient = (x - r) / y;
    if (r !== 0 && (r < 0) !== (y < 0)) quotient -= 1;
    if (quotient === 0) return R.copysign(0, x / y);
    const down = Math.floor(quotient);
    return quotient - down > 0.5 ? down + 1 : down;
  },
  logaddexp(x, y) {
    if (x === y) return x + Math.LN2;
    const apart = x - y;
    return apart > 0 ? x + Math.log1p(Math.exp(-apart)) : apart <= 0 ? y + Math.log1p(Math.exp(apart)) : apart;
  },
  logaddexp2(x, y) {
    if (x === y) return x + 1;
    const apart = x - y;
    return apart > 0 ? x + Math.LOG2E * Math.log1p(2 ** -apart)
      : apart <= 0 ? y + Math.LOG2E * Math.log1p(2 ** apart) : apart;
  },
};
