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
  const names = (
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε eta η theta θ lambda λ mu μ nu ν " +
    "pi π sigma σ tau τ varphi φ phi φ chi χ omega ω Delta Δ Theta Θ Lambda Λ Pi Π Sigma Σ " +
    "sqrt √ le ≤ leq ≤ ge ≥ geq ≥ cdot · times × in ∈ sum ∑ to → infty ∞ ldots … dots … sim ~ " +
    "approx ≈ pm ± transpose ᵀ R ℝ E 𝔼 P ℙ Normal N norm ‖ abs | max max min min log log exp exp"
  ).split(" ");
  const sign = Object.fromEntries(names.map((n, i) => [n, names[i + 1]]).filter((_, i) => i % 2 === 0));
  const withoutTeX = (text) =>
    text.replace(/\\[()[\]]/g, "")
      .replace(/\\([a-zA-Z]+)/g, (_, name) => sign[name] ?? "")
      .replace(/[{}\\]/g, "");
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
    const place = anchor ? page.getElementById(decodeURIComponent(anchor.slice(1))) : null;
    const said = place?.closest("dt") && place.closest("dl")?.querySelector("#" +
      CSS.escape(place.id) + " ~ dd"); // a term of the glossary and what it means
    if (said) place.append(" ", said.textContent);
    const text = wholeText(page.documentElement.outerHTML, anchor);
    return text.replace(/\s+/g, " ");
  };
});
