// A form that answers when something in it was changed: the page of the same address, put in place.
(function () {
  "use strict";
  var form = document.querySelector("[data-live]"), wait = form.querySelector("[data-wait]"), asking = null;
  function load() {
    if (asking) asking.abort();
    var pairs = new URLSearchParams(), mine = asking = new AbortController();
    new FormData(form).forEach(function (value, name) { if (value !== "") pairs.append(name, value); });
    var where = form.getAttribute("action") + "?" + pairs;
    var slow = setTimeout(function () { wait.textContent = "Updating"; }, 300);
    fetch(where, { signal: mine.signal }).then(function (reply) { return reply.text(); }).then(function (text) {
      if (mine !== asking) return;
      var fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
      if (!fresh) { location.href = where; return; }
      document.getElementById("live").replaceWith(fresh);
      history.replaceState(null, "", where);
      wait.textContent = "";
      sparkcast.say(fresh.querySelector("h1, h3").textContent);
    }).catch(function (error) {
      if (error.name !== "AbortError") wait.textContent = "Not updated since " + new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    }).then(function () { clearTimeout(slow); });
  }
  form.addEventListener("change", load);
  var find = form.querySelector("input[type=search]"), pause = 0;
  if (find) find.addEventListener("input", function () { clearTimeout(pause); pause = setTimeout(load, 150); });
  form.addEventListener("submit", function (event) { event.preventDefault(); load(); });
})();
