/* Rest on a link to a term, a formula, a work or a theorem, by pointer or by keyboard,
   and read it without leaving. On a touch screen the first tap shows it, with a link
   that leads there. The data come with the first such rest (tools/hovers.py). Escape,
   or going elsewhere, closes it. */
"use strict";
(() => {
  const PLACES =
    /#(equation-|term-|(thm|lem|prop|cor|def|ass|alg|rem)-)|bibliography\.html#id\d+$/;
  const LINKS = ".bd-article a[href*='#']:not(.headerlink)";
  const REST = 250; // milliseconds until it opens, and until it goes
  const root = new URL(document.documentElement.dataset.content_root || "./", location);
  let data = null, box = null, shownFor = null, timer = 0, touch = false;

  const keyOf = (link) => link.href.slice(root.href.length);
  const fits = (link) =>
    link && link.href.startsWith(root.href) && PLACES.test(link.href);
  const linkAt = (event) => {
    const link = event.target.closest && event.target.closest(LINKS);
    return fits(link) ? link : null;
  };

  const load = () => {
    data ??= new Promise((resolve, reject) => {
      window.wsbnbHovers = resolve;
      const script = document.createElement("script");
      script.src = new URL("_static/hover-data.js", root).href;
      script.onerror = reject;
      document.head.append(script);
    });
    return data;
  };

  const hide = () => {
    clearTimeout(timer);
    if (!shownFor) return;
    shownFor.removeAttribute("aria-describedby");
    box.remove();
    shownFor = box = null;
  };

  const place = (link) => {
    const at = link.getClientRects()[0] || link.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, wide - box.offsetWidth - 8));
    const below = at.bottom + box.offsetHeight + 8 < window.innerHeight;
    const top = below ? at.bottom + 4 : Math.max(8, at.top - box.offsetHeight - 4);
    box.style.left = `${left}px`;
    box.style.top = `${top}px`;
  };

  const show = async (link) => {
    const text = (await load())[keyOf(link)];
    if (!text) return false;
    hide();
    shownFor = link;
    box = document.createElement("div");
    box.id = "wsbnb-hover";
    box.setAttribute("role", "tooltip");
    box.innerHTML = text;
    if (touch) {
      const there = document.createElement("a");
      there.href = link.href;
      there.textContent = "Go there";
      box.append(there);
    }
    link.closest(".bd-article").append(box);
    link.setAttribute("aria-describedby", box.id);
    place(link);
    if (window.MathJax && MathJax.typesetPromise) await MathJax.typesetPromise([box]);
    else // a page without formulas carries no MathJax
      for (const formula of box.querySelectorAll(".math"))
        formula.textContent = formula.textContent.replace(/\\[()[\]]|[\\{}]/g, "");
    if (shownFor === link) place(link);
    return true;
  };

  const soon = (action) => {
    clearTimeout(timer);
    timer = setTimeout(action, REST);
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = linkAt(event);
    if (link && link === shownFor) clearTimeout(timer);
    else if (link) soon(() => show(link));
    else if (box && box.contains(event.target)) clearTimeout(timer);
    else if (shownFor) soon(hide);
    else clearTimeout(timer);
  });
  document.addEventListener("focusin", (event) => {
    const link = linkAt(event);
    if (link && link.matches(":focus-visible")) show(link);
    else if (!(box && box.contains(event.target))) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("pointerdown", (event) => {
    touch = event.pointerType === "touch";
    if (box && !box.contains(event.target) && linkAt(event) !== shownFor) hide();
  });
  document.addEventListener("click", (event) => {
    const link = linkAt(event);
    if (!link || (box && box.contains(link))) return;
    if (touch && link !== shownFor) {
      event.preventDefault();
      const follow = () => location.assign(link.href);
      show(link).then((shown) => shown || follow(), follow);
    } else hide();
  });
})();
