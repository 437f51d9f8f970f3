// What every page needs: elements of the page, its theme, and its height within another page.

const $ = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function put(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

// Parts of an equation: strings, or [text, class, all of it].
function texts(node, parts) {
  node.replaceChildren(...parts.map(part => Array.isArray(part)
    ? element("span", {class: part[1] || null, title: part[2] === part[0] ? null : part[2]}, part[0]) : part));
}

// Themes: the reader's choice, else what a page around this one says or shows (a site, JupyterLab), else the system's.

const isDark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = theme => { document.documentElement.dataset.theme = theme; };
const around = (() => {
  try {
    return parent === window ? null : parent.document;
  } catch {
    return null;  // of another origin
  }
})();
function follow() {
  const theme = around?.documentElement.dataset.theme, light = around?.body?.dataset.jpThemeLight;
  setTheme(["light", "dark"].includes(theme) ? theme : light ? (light === "true" ? "light" : "dark") : isDark.matches ? "dark" : "light");
}
follow();
isDark.addEventListener("change", follow);
for (const node of [around?.documentElement, around?.body].filter(Boolean))
  new MutationObserver(follow).observe(node, {attributeFilter: ["data-theme", "data-jp-theme-light"]});
addEventListener("message", event => ["light", "dark"].includes(event.data?.theme) && setTheme(event.data.theme));

$("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
if (around) {
  document.documentElement.classList.add("framed");
  new ResizeObserver(() => { frameElement.style.height = `${Math.ceil(document.body.getBoundingClientRect().height)}px`; }).observe(document.body);
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => { part.open = true; }));
new ResizeObserver(() => document.documentElement.style.setProperty("--dock", `${$("dock").offsetHeight + 8}px`)).observe($("dock"));
