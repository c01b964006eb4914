"use strict";
// Renews the page: asks for it again, and replaces the parts that differ. What is unfolded, focused or scrolled stays so.
(function () {
  const EVERY = 2000, WITHIN = 15000;
  const parts = document.getElementById("parts"), stale = document.getElementById("stale");
  const served = new Map();
  let answered = Date.now();
  for (const part of parts.children) served.set(part.id, part.outerHTML);

  // The part at the upper edge of the window, below the bar that stays there, and how far it is from the edge.
  function place() {
    for (const part of parts.children) {
      const box = part.getBoundingClientRect(), bar = parseFloat(getComputedStyle(part).scrollMarginTop) || 0;
      if (box.bottom > bar + 1) return { id: part.id, top: box.top };
    }
    return null;
  }
  function replace(old, part) {
    const open = [...old.querySelectorAll("details")].map((one) => one.open);
    const scrolled = [...old.querySelectorAll("*")].map((one) => one.scrollLeft);
    const held = [...old.querySelectorAll("*")].indexOf(document.activeElement);
    old.replaceWith(part);
    part.querySelectorAll("details").forEach((one, at) => { one.open = open[at] || false; });
    const all = part.querySelectorAll("*");
    all.forEach((one, at) => { if (scrolled[at]) one.scrollLeft = scrolled[at]; });
    if (held >= 0 && all[held]) all[held].focus({ preventScroll: true });
  }
  function take(text) {
    const page = new DOMParser().parseFromString(text, "text/html"), fresh = page.getElementById("parts");
    if (!fresh) throw new Error("not a page of triptime");
    const before = place(), left = window.scrollX;
    const ids = new Set();
    let after = null;
    for (const part of [...fresh.children]) {
      ids.add(part.id);
      const html = part.outerHTML, old = document.getElementById(part.id);
      if (!old) parts.insertBefore(part, after ? after.nextSibling : parts.firstChild);
      else if (served.get(part.id) !== html) replace(old, part);
      served.set(part.id, html);
      after = document.getElementById(part.id);
    }
    for (const part of [...parts.children]) if (!ids.has(part.id)) part.remove();
    document.title = page.title;
    const at = before && document.getElementById(before.id);
    if (at) window.scrollTo(left, window.scrollY + at.getBoundingClientRect().top - before.top);
  }
  function tell(error) {
    document.documentElement.classList.add("stale");
    stale.hidden = false;
    stale.textContent = "No answer for " + Math.round((Date.now() - answered) / 1000) + " s (" + error.message +
      "): these figures are old. The page of a run under way ends with the run; triptime report shows its result.";
  }
  async function look() {
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", signal: AbortSignal.timeout(WITHIN) });
      if (!answer.ok) throw new Error((await answer.text()).trim() || String(answer.status));
      take(await answer.text());
      answered = Date.now();
      document.documentElement.classList.remove("stale");
      stale.hidden = true;
    } catch (error) {
      tell(error);
    }
    document.documentElement.dataset.looks = Number(document.documentElement.dataset.looks || 0) + 1;
    setTimeout(look, EVERY);
  }
  setTimeout(look, EVERY);
})();
