// Expressions that a reader types: numbers, a and b, operators, and some functions. Parsed by recursive descent.

const FUNCTIONS = {
  min: Math.min, max: Math.max, abs: Math.abs, exp: Math.exp, log: Math.log, log1p: Math.log1p, sqrt: Math.sqrt,
  floor: Math.floor, ceil: Math.ceil, logaddexp: R.logaddexp, gcd: R.gcd, lcm: R.lcm,
  where: (condition, x, y) => condition ? x : y,
};
const ARGUMENTS = {min: 2, max: 2, logaddexp: 2, gcd: 2, lcm: 2, where: 3};
const OPERATORS = [  // of less and less precedence from the end; a row is of one
  {"||": (x, y) => x || y, "or": (x, y) => x || y},
  {"&&": (x, y) => x && y, "and": (x, y) => x && y},
  {"<": (x, y) => x < y, "<=": (x, y) => x <= y, ">": (x, y) => x > y, ">=": (x, y) => x >= y,
    "==": (x, y) => x === y, "!=": (x, y) => x !== y},
  {"+": (x, y) => x + y, "-": (x, y) => x - y},
  {"*": (x, y) => x * y, "/": (x, y) => x / y, "%": (x, y) => R.remainder_of_floats(x, y)},
];
const TOKENS = /\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[A-Za-z_]\w*|∞|<=|>=|==|!=|&&|\|\||\*\*|[-+*/%()<>?:,!])/y;
const SPELLINGS = {"−": "-", "×": "*", "·": "*", "≤": "<=", "≥": ">=", "≠": "!=", "÷": "/"};

// The function of the named operands. Throws what is wrong with the text.
function parsed(text, names) {
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
  function choice() {
    const condition = level(0);
    if (!take("?")) return condition;
    const yes = choice();
    need(":");
    const no = choice();
    return e => condition(e) ? yes(e) : no(e);
  }
  function level(i) {
    if (i === OPERATORS.length) return signed();
    let left = level(i + 1);
    while (Object.hasOwn(OPERATORS[i], tokens[at])) {
      const operation = OPERATORS[i][tokens[at++]], first = left, second = level(i + 1);
      left = e => operation(first(e), second(e));
    }
    return left;
  }
  function signed() {
    if (take("+")) return signed();
    if (take("-")) {
      const operand = signed();
      return e => -operand(e);
    }
    if (take("!") || take("not")) {
      const operand = signed();
      return e => !operand(e);
    }
    const base = atom();
    if (!take("**")) return base;
    const exponent = signed();
    return e => R.float_power(base(e), exponent(e));
  }
  function atom() {
    const token = tokens[at++];
    if (token === undefined) throw Error(tokens.length ? "something is missing at the end" : "nothing is written here");
    if (token === "(") {
      const inner = choice();
      need(")");
      return inner;
    }
    if (/^[\d.]/.test(token)) return () => Number(token);
    if (/^(∞|inf)$/.test(token)) return () => Infinity;
    if (names.includes(token)) return e => e[token];
    if (!Object.hasOwn(FUNCTIONS, token)) {
      const known = [...names, "∞", "numbers", ...Object.keys(FUNCTIONS)].join(", ");
      throw Error(`“${token}” is not known here; there are ${known}`);
    }
    need("(");
    const operands = [choice()];
    while (take(",")) operands.push(choice());
    need(")");
    const wanted = ARGUMENTS[token] ?? 1, many = token === "min" || token === "max";
    if (operands.length < wanted || (operands.length > wanted && !many))
      throw Error(`${token} takes ${wanted} operands, not ${operands.length}`);
    return e => FUNCTIONS[token](...operands.map(operand => operand(e)));
  }
  const result = choice();
  if (at < tokens.length) throw Error(`“${tokens[at]}” was not expected`);
  return result;
}
