// Frames have documents of their own, which do not see the theme of the page: it is sent to them.
"use strict";

function sendTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  for (const frame of document.querySelectorAll("iframe.semiring-explain")) {
    frame.contentWindow.postMessage({ theme }, "*");
  }
}

new MutationObserver(sendTheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
document.addEventListener("DOMContentLoaded", () => {
  for (const frame of document.querySelectorAll("iframe.semiring-explain")) frame.addEventListener("load", sendTheme);
  sendTheme();
});
