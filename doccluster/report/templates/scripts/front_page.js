"use strict";
// choose by words, outlet, language and day among all open stories; say when in the reader's own time; mark what is new since
// the last visit. The stories that the page does not list are plain data, and become lines when they are looked for.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const shownAtOnce = 200;

  const moments = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
  const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
  const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const zone = moments.resolvedOptions().timeZone;
  const tell = (part) => {
    for (const time of part.querySelectorAll("time")) {
      const when = new Date(time.dateTime);
      const minutes = Math.round((when - Date.now()) / 60000);
      const isToday = Math.abs(minutes) < 1440;
      time.textContent = !isToday ? moments.format(when) : Math.abs(minutes) < 60 ? ago.format(minutes, "minute") : ago.format(Math.round(minutes / 60), "hour");
      time.title = moments.format(when) + ", " + zone;
    }
    for (const span of part.querySelectorAll(".days")) span.textContent = days.formatRange(new Date(span.dataset.first), new Date(span.dataset.last));
  };
  tell(document);
  if (root.dataset.moment) document.title = "Front page, " + moments.format(new Date(root.dataset.moment));
  byId("zone").textContent = "Times are those of your zone, " + zone + ".";

  const dayOf = (moment) => {
    const when = new Date(moment);
    return new Date(when - when.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
  };
  const items = [...document.querySelectorAll("[data-updated]")].map((element) => ({
    element, text: plain(element.textContent), outlets: element.dataset.outlets.split("|"), language: element.dataset.language, day: dayOf(element.dataset.updated),
  }));
  const data = byId("rest-stories") ? JSON.parse(byId("rest-stories").textContent) : { outlets: [], stories: [] };
  const rest = data.stories.map((row) => {
    const [, language, headline, , articles] = row;
    const outlets = [...new Set(articles.map((article) => data.outlets[article[2]]))];
    const updated = 1000 * Math.max(...articles.map((article) => article[3]));
    return { row, outlets, language, updated, day: dayOf(updated), text: plain([headline, ...articles.map((article) => article[0]), ...outlets].join(" ")) };
  });

  const made = (name, given, ...children) => {
    const element = Object.assign(document.createElement(name), given);
    element.append(...children);
    return element;
  };
  const counted = (n, name) => n.toLocaleString("en") + " " + name + (n === 1 ? "" : "s");
  const titled = (title, link) => {
    const text = made("bdi", {}, title);
    return link ? made("a", { href: link }, text) : text;
  };
  const byline = ([, , outlet, moment]) => {
    const time = made("time", { dateTime: new Date(1000 * moment).toISOString() });
    return data.outlets[outlet] ? [made("bdi", {}, data.outlets[outlet]), ", ", time] : [time];
  };
  const lineOf = ({ row: [id, language, headline, n, articles], outlets, updated }) => {
    const meta = made("span", { className: "meta", lang: "en" }, ...byline(articles[0]));
    if (n > 1) {
      const list = articles.map((article) => made("li", {}, titled(article[0] || headline, article[1]), " ", made("small", {}, ...byline(article))));
      if (n > articles.length) list.push(made("li", { className: "rest", lang: "en" }, "and " + counted(n - articles.length, "more article") + ": `doccluster stream show " + id + "` lists all"));
      const nOutlets = outlets.filter(Boolean).length;
      const told = counted(n, "article") + (nOutlets ? ", " + counted(nOutlets, "outlet") : "");
      meta.append("; ", made("details", { className: "opens" }, made("summary", {}, told), made("ul", {}, ...list)));
    }
    const line = made("li", { className: "story-line", id, lang: language }, made("span", { className: "title" }, titled(headline, articles[0][1])), meta);
    line.dataset.updated = new Date(updated).toISOString();
    return line;
  };

  const [words, outlet, language, day] = ["words", "outlet", "language", "day"].map(byId);
  for (const one of [...new Set([...items, ...rest].map((item) => item.day))].sort().reverse()) day.append(new Option(days.format(new Date(one + "T12:00")), one));
  const fold = byId("rest");
  const apply = () => {
    const asked = plain(words.value).split(/\s+/).filter(Boolean);
    const fits = (item) => asked.every((word) => item.text.includes(word)) && (!outlet.value || item.outlets.includes(outlet.value))
      && (!language.value || item.language === language.value) && (!day.value || item.day === day.value);
    const isChosen = asked.length || outlet.value || language.value || day.value;
    let n = 0;
    for (const item of items) n += !(item.element.hidden = !fits(item));
    if (fold) {
      const fitting = rest.filter(fits);
      fold.querySelector("ul").replaceChildren(...(isChosen || fold.open ? fitting.slice(0, shownAtOnce).map(lineOf) : []));
      tell(fold);
      const left = fitting.length - shownAtOnce;
      byId("unshown").textContent = left > 0 ? "And " + left.toLocaleString("en") + " more; words in the search box choose among them." : "";
      fold.hidden = Boolean(isChosen) && !fitting.length;
      n += fitting.length;
    }
    for (const one of document.querySelectorAll("details.fold")) if (isChosen || one !== fold) one.open = Boolean(isChosen) && one.querySelector("[data-updated]:not([hidden])") !== null;
    for (const part of document.querySelectorAll("section.topic")) part.hidden = Boolean(isChosen) && !part.querySelector("[data-updated]:not([hidden])");
    byId("found").textContent = isChosen ? n.toLocaleString("en") + " found" : "";
  };
  for (const one of [words, outlet, language, day]) one.addEventListener("input", apply);
  if (fold) fold.addEventListener("toggle", () => { if (fold.open && !fold.querySelector("li")) apply(); });

  try {
    const key = "doccluster-visit-" + root.dataset.name;
    const last = localStorage.getItem(key);
    if (last) for (const { element } of items) element.classList.toggle("fresh", element.dataset.updated > last);
    localStorage.setItem(key, root.dataset.moment);
  } catch { /* a browser that keeps nothing shows the page all the same */ }
})();
