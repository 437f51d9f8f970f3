// Expressions that a reader types: numbers, truth values and pairs. Parsed by recursive descent; each part is a
// function of the named operands, and knows its kind, so that what makes no sense is refused before it runs.

const KINDS = {number: "a number", truth: "a truth value", pair: "a pair"};
const isPair = x => Array.isArray(x);
// Pairs are compared by the first number, then by the second.
const before = (x, y) => isPair(x) ? x[0] < y[0] || (x[0] === y[0] && x[1] < y[1]) : x < y;
const alike = (x, y) => isPair(x) ? x.every((part, i) => part === y[i]) : +x === +y;
const whole = x => Number.isSafeInteger(x);
const bits = operation => (x, y) => whole(x) && whole(y) ? Number(operation(BigInt(x), BigInt(y))) : NaN;
function gcd(x, y) {
  if (!whole(x) || !whole(y)) return NaN;
  for ([x, y] = [Math.abs(x), Math.abs(y)]; y;) [x, y] = [y, x % y];
  return x;
}
const FUNCTIONS = {
  min: (...all) => all.reduce((x, y) => x !== x || before(x, y) ? x : y),
  max: (...all) => all.reduce((x, y) => x !== x || before(y, x) ? x : y),
  abs: Math.abs, exp: Math.exp, log: Math.log, log1p: Math.log1p, sqrt: Math.sqrt, floor: Math.floor, ceil: Math.ceil,
  logaddexp: R.logaddexp, gcd, lcm: (x, y) => x && y ? Math.abs(x / gcd(x, y) * y) : gcd(x, y) * 0,
  where: (condition, x, y) => condition ? x : y,
};
const ARGUMENTS = {min: 2, max: 2, logaddexp: 2, gcd: 2, lcm: 2, where: 3};
const OPERATORS = [  // a row is of one precedence, the loosest first
  {"||": (x, y) => x || y, "or": (x, y) => x || y},
  {"&&": (x, y) => x && y, "and": (x, y) => x && y},
  {"<": before, "<=": (x, y) => !before(y, x) && x === x && y === y, ">": (x, y) => before(y, x),
    ">=": (x, y) => !before(x, y) && x === x && y === y, "==": alike, "!=": (x, y) => !alike(x, y)},
  {"|": bits((x, y) => x | y)},
  {"^": bits((x, y) => x ^ y)},
  {"&": bits((x, y) => x & y)},
  {"+": (x, y) => x + y, "-": (x, y) => x - y},
  {"*": (x, y) => x * y, "/": (x, y) => x / y, "%": (x, y) => R.remainder_of_floats(x, y)},
];
const [OR, AND, COMPARED] = OPERATORS;
const TOKENS = /\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[A-Za-z_]\w*|∞|<=|>=|==|!=|&&|\|\||\*\*|[-+*/%()<>?:,![\]|^&])/y;
const SPELLINGS = {"−": "-", "×": "*", "·": "*", "≤": "<=", "≥": ">=", "≠": "!=", "÷": "/"};

// The function of the named operands, which are of a kind; its own kind is `wanted`. Throws what is wrong with the text.
function parsed(text, names, kind = "number", wanted = "number") {
  const tokens = [], plain = text.replace(/[−×·≤≥≠÷]/g, sign => SPELLINGS[sign]).trimEnd();
  for (TOKENS.lastIndex = 0; TOKENS.lastIndex < plain.length;) {
    const at = TOKENS.lastIndex, found = TOKENS.exec(plain);
    if (!found) throw Error(`“${plain.slice(at).trim()[0]}” cannot stand in an expression`);
    tokens.push(found[1]);
  }
  let at = 0;
  const take = token => tokens[at] === token && ++at > 0;
  const need = token => {
    if (!take(token)) throw Error(`“${token}” is missing ${at < tokens.length ? `before “${tokens[at]}”` : "at the end"}`);
  };
  // Operands of one sign or function: all pairs where that is allowed, or none.
  function kindOf(parts, sign, pairs = false) {
    const count = parts.filter(part => part.kind === "pair").length;
    if (count && !pairs) throw Error(`“${sign}” is of numbers, not of pairs: their numbers are a[0] and a[1]`);
    if (count && count < parts.length) throw Error(`“${sign}” needs operands that are all pairs, or none`);
    return count ? "pair" : parts.every(part => part.kind === "truth") ? "truth" : "number";
  }
  const part = (kind, of) => Object.assign(of, {kind});
  const truth = (inner, sign) => kindOf([inner], sign) && inner;
  const picked = (condition, yes, no, sign) =>
    part(kindOf([yes, no], sign, true), (truth(condition, sign), e => condition(e) ? yes(e) : no(e)));
  function choice() {
    const condition = level(0);
    if (!take("?")) return condition;
    const yes = choice();
    need(":");
    return picked(condition, yes, choice(), "? :");
  }
  function level(i) {
    if (i === OPERATORS.length) return signed();
    if (OPERATORS[i] === COMPARED && take("not")) {
      const operand = truth(level(i), "not");
      return part("truth", e => !operand(e));
    }
    if (OPERATORS[i] === COMPARED) return chain(i);
    let left = level(i + 1);
    while (Object.hasOwn(OPERATORS[i], tokens[at])) {
      const sign = tokens[at++], operation = OPERATORS[i][sign], x = left, y = level(i + 1), row = OPERATORS[i];
      const both = kindOf([x, y], sign);
      left = part(row === OR || row === AND ? both : "number", e => operation(x(e), y(e)));
    }
    return left;
  }
  // Comparisons in a row hold if each of them does, as in Python: 0 <= a <= 1.
  function chain(i) {
    const operands = [level(i + 1)], operations = [];
    while (Object.hasOwn(COMPARED, tokens[at])) {
      const sign = tokens[at++];
      operations.push(COMPARED[sign]);
      operands.push(level(i + 1));
      kindOf(operands.slice(-2), sign, true);
    }
    if (!operations.length) return operands[0];
    return part("truth", e => operations.every((holds, k) => holds(operands[k](e), operands[k + 1](e))));
  }
  function signed() {
    if (take("+")) return signed();
    if (take("-")) {
      const operand = truth(signed(), "-");
      return part("number", e => -operand(e));
    }
    if (take("!")) {
      const operand = truth(signed(), "!");
      return part("truth", e => !operand(e));
    }
    let base = atom();
    while (take("[")) {
      const pair = base, number = tokens[at++];
      if (pair.kind !== "pair") throw Error("“[” follows a pair, as in a[0] and a[1]");
      if (number !== "0" && number !== "1") throw Error("the numbers of a pair are [0] and [1]");
      need("]");
      base = part("number", e => pair(e)[number]);
    }
    if (!take("**")) return base;
    const exponent = signed();
    kindOf([base, exponent], "**");
    return part("number", e => R.float_power(base(e), exponent(e)));
  }
  function atom() {
    const token = tokens[at++];
    if (token === undefined) throw Error(tokens.length ? "something is missing at the end" : "nothing is written here");
    if (token === "(") {
      const inner = choice();
      if (take(",")) {
        const second = choice();
        need(")");
        kindOf([inner, second], "( , )");
        return part("pair", e => [+inner(e), +second(e)]);
      }
      need(")");
      return inner;
    }
    if (/^[\d.]/.test(token)) return part("number", () => Number(token));
    if (/^(∞|inf)$/.test(token)) return part("number", () => Infinity);
    if (/^(true|false)$/i.test(token)) return part("truth", () => token[0].toLowerCase() === "t");
    if (names.includes(token)) return part(kind, e => e[token]);
    if (!Object.hasOwn(FUNCTIONS, token)) {
      const known = [...names, "∞", "true", "false", "numbers", ...Object.keys(FUNCTIONS)].join(", ");
      throw Error(`“${token}” is not known here; there are ${known}`);
    }
    need("(");
    const operands = [choice()];
    while (take(",")) operands.push(choice());
    need(")");
    const count = ARGUMENTS[token] ?? 1, many = token === "min" || token === "max";
    if (operands.length < count || (operands.length > count && !many))
      throw Error(`${token} takes ${count} operands, not ${operands.length}`);
    if (token === "where") return picked(...operands, token);
    const found = kindOf(operands, token, many);
    return part(many ? found : "number", e => FUNCTIONS[token](...operands.map(operand => operand(e))));
  }
  const result = choice();
  if (at < tokens.length) throw Error(`“${tokens[at]}” was not expected`);
  if ((result.kind === "pair") !== (wanted === "pair"))
    throw Error(`this is ${KINDS[result.kind]}, and ${KINDS[wanted]} is needed${wanted === "pair" ? ", as in (0, 1)" : ""}`);
  return result;
}
