/* A wide formula, table or output scrolls sideways by itself. Let the keyboard reach
   it: what overflows can take the focus, and then the arrow keys scroll it. */
"use strict";
(() => {
  const parts =
    ".bd-article mjx-container, .bd-article div.math, .bd-article table, .bd-article pre";
  const reach = () => {
    document.querySelectorAll(parts).forEach((part) => {
      const scrolls =
        part.scrollWidth > part.clientWidth + 1 &&
        ["auto", "scroll"].includes(getComputedStyle(part).overflowX);
      if (scrolls && !part.hasAttribute("tabindex")) {
        part.setAttribute("tabindex", "0");
        part.dataset.reachable = "";
      } else if (!scrolls && "reachable" in part.dataset) {
        part.removeAttribute("tabindex");
        delete part.dataset.reachable;
      }
    });
  };
  window.addEventListener("load", () => {
    const typeset = window.MathJax && MathJax.startup && MathJax.startup.promise;
    Promise.resolve(typeset).then(reach);
  });
  window.addEventListener("resize", reach);

  // The arrow that unfolds a part of the contents is a picture: give it a name.
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".has-children > details > summary").forEach((arrow) => {
      const chapter = arrow.closest(".has-children").querySelector("a");
      if (!arrow.hasAttribute("aria-label") && chapter)
        arrow.setAttribute("aria-label", `Pages below ${chapter.textContent.trim()}`);
    });
  });
})();
