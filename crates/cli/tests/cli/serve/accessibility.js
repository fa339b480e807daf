// What is wrong with a page for somebody who has no mouse, sees little or hears it read; empty when nothing is.
(() => {
  const found = [];
  const need = (is, what) => { if (!is) found.push(what); };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const seen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";

  need(document.documentElement.lang, "no language");
  need(document.title, "no title");
  need(all("main").length === 1, "not one main");
  need(all("h1").length === 1, "not one h1");
  need(all("header, nav, footer").length >= 3, "landmarks are missing");
  need(all("nav").every((nav) => nav.getAttribute("aria-label")), "a nav without a name");
  need(all("[aria-live]").length >= 1, "no live region");
  need(all("a.skip[href='#main']").length === 1, "no way past the header");

  let level = 1;
  for (const heading of all("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    need(next <= level + 1, "heading skips a level: " + heading.textContent);
    level = next;
  }
  for (const input of all("input:not([type=hidden]), select, textarea")) {
    need(input.closest("label") || input.getAttribute("aria-label"), "a field without a label: " + input.name);
  }
  for (const control of all("button, a")) {
    need((control.textContent || control.getAttribute("aria-label") || "").trim(), "a control without a name");
    need(control.tabIndex >= 0, "a control that no key reaches: " + control.textContent);
  }
  for (const image of all("svg, img")) {
    need(image.getAttribute("aria-label") || image.getAttribute("alt") !== null && image.tagName === "IMG", "a picture without words");
  }
  for (const section of all("[aria-labelledby]")) {
    need(document.getElementById(section.getAttribute("aria-labelledby")), "a section named by nothing");
  }
  const ids = all("[id]").map((element) => element.id);
  need(new Set(ids).size === ids.length, "an id twice");
  need(document.getAnimations().length === 0, "something moves");

  const numbers = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const element = text.parentElement;
    if (!text.textContent.trim() || !seen(element) || element.closest("script, .skip")) continue;
    const style = getComputedStyle(element);
    const color = numbers(element.closest("svg") ? style.fill : style.color);
    const ratio = contrast(color, behind(element));
    need(ratio >= 4.5, "contrast " + ratio.toFixed(2) + ": " + text.textContent.trim().slice(0, 40));
  }
  return [...new Set(found)].join("\n");
})()
