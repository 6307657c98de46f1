/* A place appears once among the results: Sphinx lists a page again for every entry of
   the index that fits. And readable snippets under them: Sphinx takes a page's whole text, including
   its buttons, a hidden table of contents for print, the code cells and the TeX of the formulas. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined" || !Search.htmlToText) return;
  const allPlaces = Search._performSearch;
  Search._performSearch = (...words) => {
    const seen = new Set();
    const isNew = ([page, title]) => !seen.has(page + title) && seen.add(page + title);
    return allPlaces(...words).reverse().filter(isNew).reverse(); // the best come last
  };
  const wholeText = Search.htmlToText;
  const withoutTeX = (text) =>
    text.replace(/\\[()[\]]/g, "").replace(/\\([a-zA-Z]+)/g, "$1 ").replace(/[{}\\]/g, "");
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const hidden = [
      "#jb-print-docs-body", ".bd-header-article", ".prev-next-footer", ".prev-next-area",
      ".cell_input", ".bd-sidebar-secondary", ".bd-toc", ".headerlink", "script", "style", "div.math",
    ];
    page.querySelectorAll(hidden.join(", ")).forEach((e) => e.remove());
    page.querySelectorAll(".math").forEach((e) => {
      e.textContent = withoutTeX(e.textContent);
    });
    const text = wholeText(page.documentElement.outerHTML, anchor);
    return text.replace(/\s+/g, " ");
  };
});
