// The history of a job: one tab stop, read run by run with arrows, by week with Page, or by pointing.
(function () {
  "use strict";
  var box = document.getElementById("history");
  if (!box) return;
  var runs = JSON.parse(document.getElementById("readings").textContent), reading = document.getElementById("reading");
  var still = reading.innerHTML, at = runs.length - 1;
  function picture() {
    return [].filter.call(box.querySelectorAll("svg"), function (svg) { return getComputedStyle(svg).display !== "none"; })[0];
  }
  function pick(to) {
    var svg = picture(), shown = +svg.dataset.runs, first = runs.length - shown;
    at = Math.max(first, Math.min(runs.length - 1, to));
    var x = +svg.dataset.left + (at - first) * svg.dataset.step, strong = document.createElement("b");
    strong.textContent = runs[at][0];
    reading.textContent = "";
    reading.append(strong, ": " + runs[at][1]);
    box.setAttribute("aria-valuenow", at + 1);
    box.setAttribute("aria-valuetext", runs[at].join(": "));
    svg.querySelector(".cursor").setAttribute("d", "M" + x + " 22V" + svg.dataset.bottom);
  }
  function leave() {
    reading.innerHTML = still;
    box.querySelectorAll(".cursor").forEach(function (line) { line.setAttribute("d", ""); });
  }
  box.addEventListener("keydown", function (event) {
    var by = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -7, PageDown: 7 }[event.key];
    if (by) pick(at + by);
    else if (event.key === "Home") pick(0);
    else if (event.key === "End") pick(runs.length);
    else return;
    event.preventDefault();
  });
  box.addEventListener("pointermove", function (event) {
    var svg = picture(), place = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / place.width;
    var x = (event.clientX - place.left) * scale, shown = +svg.dataset.runs;
    pick(runs.length - shown + Math.round((x - svg.dataset.left) / svg.dataset.step));
  });
  box.addEventListener("pointerleave", leave);
  box.addEventListener("blur", leave);
})();
