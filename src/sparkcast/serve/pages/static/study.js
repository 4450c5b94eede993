// A study: sections that take a while are put in place when they are ready, and its progress is told as it happens.
(function () {
  "use strict";
  var get = function (id) { return document.getElementById(id); };
  var narrow = matchMedia("screen and (max-width: 900px)");
  var parts = [].slice.call(document.querySelectorAll("[data-part]"));
  function next() { // one after the other: the server computes one at a time
    var part = parts.shift();
    if (!part) { document.documentElement.dataset.ready = "yes"; return; }
    var told = part.querySelector(".wait") || document.createElement("p"), width = narrow.matches ? "narrow" : "wide";
    if (part.dataset.drawn === width) { next(); return; }
    var slow = setTimeout(function () { told.textContent = "Computing"; }, 300);
    fetch(part.dataset.part + "?width=" + width).then(function (reply) {
      if (!reply.ok) throw new Error(reply.status);
      return reply.text();
    }).then(function (text) {
      clearTimeout(slow);
      part.innerHTML = text; // what was there stays until then, also on paper
      part.dataset.drawn = width;
    }).catch(function () { clearTimeout(slow); told.textContent = "This could not be computed."; }).then(next);
  }
  next();
  narrow.addEventListener("change", function () { // drawn for another width; a page that is printed keeps what it has
    if (matchMedia("print").matches || parts.length) return;
    parts = [].slice.call(document.querySelectorAll("[data-drawn]"));
    next();
  });

  var live = document.querySelector("[data-events]");
  if (!live || !window.EventSource) return;
  var source = new EventSource(live.dataset.events), seen = null;
  source.onmessage = function (event) {
    var told = JSON.parse(event.data);
    get("progress-text").textContent = told.text;
    get("progress").value = told.done;
    if (seen !== null && told.done !== seen) rows();
    seen = told.done;
  };
  source.addEventListener("end", function () { source.close(); location.reload(); });
  function rows() { // the table of runs, without moving the page
    fetch(location.href).then(function (reply) { return reply.text(); }).then(function (text) {
      var fresh = new DOMParser().parseFromString(text, "text/html").getElementById("runs");
      if (fresh && get("runs")) get("runs").replaceWith(fresh);
      else if (fresh) location.reload();
    });
  }
})();
