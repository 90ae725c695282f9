// Filtering, keyboard, review and live updates. Every page can be read without it.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const isTyping = (target) => target.matches("input:not([type=radio]), textarea, select");

  function prepare(root) {
    for (const element of all("[data-needs-script]", root)) element.hidden = false;
    for (const input of all("[data-filter]", root)) filter(input);
  }

  // Filter: every word must occur in the row's words.
  function filter(input) {
    const rows = all("tr", document.getElementById(input.dataset.filter) ?? document.createElement("p"));
    const count = input.closest(".filter").querySelector("[data-filter-count]");
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => row.dataset.words.includes(word));
        if (!row.hidden) shown += 1;
      }
      count.textContent = words.length ? `${shown} of ${rows.length}` : "";
    };
    input.addEventListener("input", apply);
    apply();
  }

  // Keyboard: j and k move, / filters; on the page of review g, b, c and s.
  function move(step) {
    const places = all("[data-move]").filter((element) => element.offsetParent !== null);
    if (!places.length) return;
    const here = places.findIndex((element) => element.contains(document.activeElement));
    const next = places[Math.min(Math.max(here + step, 0), places.length - 1)];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping(event.target)) {
      const form = event.target.closest("form");
      event.target.blur();
      if (form) form.focus();
      return;
    }
    if (isTyping(event.target)) return;
    const form = event.target.closest(".review");
    const mark = (value) => {
      const input = form.querySelector(`[name=mark][value="${value}"]`);
      input.checked = true;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const action = {
      j: () => move(1),
      k: () => move(-1),
      "/": () => all("[data-filter]").find((input) => input.offsetParent !== null)?.focus(),
      g: form && (() => mark("good")),
      b: form && (() => mark("bad")),
      c: form && (() => form.querySelector("textarea").focus()),
      s: form && (() => form.requestSubmit?.()),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // An event or a run that is linked to may be folded away.
  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let element = target; element; element = element.parentElement) {
      if (element.matches("details")) element.open = true;
    }
    const inner = target.matches(".event") && target.querySelector("details");
    if (inner) inner.open = true;
    target.scrollIntoView({ block: "start" });
  }
  addEventListener("hashchange", unfold);

  // Review on the server: saved in place, so that nobody loses their position.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches(".review") || !document.body.dataset.live) return;
    event.preventDefault();
    const output = form.querySelector("output");
    output.textContent = "saving";
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        headers: { accept: "text/plain" },
      });
      output.textContent = answer.ok ? "saved" : `not saved: ${await answer.text()}`;
    } catch {
      output.textContent = "not saved: the server is gone";
    }
  });

  // Review in the one-file report: the reviews become a file.
  function reviews() {
    const box = document.getElementById("reviews");
    const feedback = JSON.parse(box.dataset.feedback);
    for (const form of all(".review", box)) {
      if (!form.dataset.changed) continue;
      const data = new FormData(form);
      const known = feedback.reviews.find((review) => review.run_id === form.dataset.run);
      const review = known ?? { run_id: form.dataset.run };
      review.feedback = data.get("comment") ?? "";
      review.timestamp = new Date().toISOString();
      delete review.mark;
      if (data.get("mark")) review.mark = data.get("mark");
      const verdicts = all(".decisions li", form).flatMap((item) => {
        const said = item.querySelector("select").value;
        return said ? [{ text: item.querySelector("[data-text]").dataset.text, passed: said === "passed" }] : [];
      });
      delete review.verdicts;
      if (verdicts.length) review.verdicts = verdicts;
      if (!known) feedback.reviews.push(review);
    }
    return `${JSON.stringify(feedback, null, 2)}\n`;
  }
  document.addEventListener("change", (event) => {
    const form = event.target.closest(".review");
    if (form) form.dataset.changed = "yes";
  });
  document.addEventListener("click", (event) => {
    if (!event.target.matches("[data-download-feedback]")) return;
    const link = document.createElement("a");
    link.download = "feedback.json";
    link.href = URL.createObjectURL(new Blob([reviews()], { type: "application/json" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });

  // In the one-file report the way to the current page is marked here; the server marks its own.
  function current() {
    const links = all(".report .pages a");
    const target = document.querySelector(":target");
    const page = target?.closest(".page")?.id ?? "overview";
    for (const link of links) {
      if (link.getAttribute("href") === `#${page}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
  addEventListener("hashchange", current);

  // Live: the page follows the journal of the iteration. The browser reconnects by itself and says where it was.
  function follow(address) {
    const bar = document.getElementById("live");
    const source = new EventSource(address);
    let timer;
    let events = 0;
    source.addEventListener("message", (event) => {
      events += 1;
      const entry = JSON.parse(event.data);
      const what = [entry.event, entry.run ?? entry.run_id ?? entry.id].filter((part) => typeof part === "string");
      bar.hidden = false;
      bar.textContent = `Live: ${what.join(" ") || "something happened"}`;
      bar.dataset.events = String(events);
      clearTimeout(timer);
      timer = setTimeout(refresh, 400);
    });
    source.addEventListener("error", () => {
      if (!bar.hidden) bar.textContent = "Live: connection lost, trying again";
    });
    // A page that was left may be kept for the way back, and its connection with it. A browser has six to one server, so
    // the seventh page would wait for a minute.
    addEventListener("pagehide", () => source.close(), { once: true });
    addEventListener("pageshow", (event) => event.persisted && follow(address), { once: true });
  }
  async function refresh() {
    // A page in which a person is typing stays as it is.
    if (isTyping(document.activeElement ?? document.body) || document.querySelector(".review[data-changed]")) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined);
    if (!answer?.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    const main = document.querySelector("main");
    const typed = main.querySelector("[data-filter]")?.value;
    main.replaceWith(fresh);
    const input = fresh.querySelector("[data-filter]");
    if (input && typed) input.value = typed;
    prepare(fresh);
  }

  prepare(document);
  unfold();
  current();
  if (document.body.dataset.live) follow(document.body.dataset.live);
})();
