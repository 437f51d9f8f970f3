/* The buttons that open a part of the navigation are named after it: the theme gives them a picture alone. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("nav.bd-docs-nav summary, .bd-sidebar-primary summary")) {
    const link = button.closest("li")?.querySelector("a");
    if (link && !button.textContent.trim()) button.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
});
