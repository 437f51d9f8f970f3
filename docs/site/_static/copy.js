/* A button on each block of code that copies it: of a session only what was typed, without prompts and output. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const status = document.createElement("div");
  status.setAttribute("role", "status");
  status.className = "visually-hidden";
  document.body.append(status);

  const typed = (text) => {
    const lines = text.replace(/\n$/, "").split("\n");
    if (!lines.some((line) => line.startsWith(">>> "))) return lines.join("\n");
    return lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4)).join("\n");
  };

  const put = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  };

  for (const block of document.querySelectorAll(".bd-content div.highlight")) {
    if (block.closest(".cell_output") || !block.querySelector("pre")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const text = typed(block.querySelector("pre").textContent);
      await put(text).then(() => "Copied", () => "Not copied").then((told) => {
        button.textContent = status.textContent = told;
        setTimeout(() => { button.textContent = "Copy"; status.textContent = ""; }, 1500);
      });
    });
    block.append(button);
  }
});
