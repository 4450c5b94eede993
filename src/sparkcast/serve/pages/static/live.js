// A form that answers when something in it was changed: the page of the same address, put in place.
(function () {
  "use strict";
  var form = document.querySelector("[data-live]"), wait = form.querySelector("[data-wait]"), asking = null;
  function load() {
    if (asking) asking.abort();
    var mine = asking = new AbortController(), where = form.action + "?" + new URLSearchParams(new FormData(form));
    var slow = setTimeout(function () { wait.textContent = "Updating"; }, 300);
    fetch(where, { signal: mine.signal }).then(function (reply) { return reply.text(); }).then(function (text) {
      if (mine !== asking) return;
      var fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
      if (!fresh) { location.href = where; return; }
      document.getElementById("live").replaceWith(fresh);
      history.replaceState(null, "", where);
      wait.textContent = "";
      sparkcast.say(fresh.querySelector("h1").textContent);
    }).catch(function (error) {
      if (error.name !== "AbortError") wait.textContent = "Not updated since " + new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    }).then(function () { clearTimeout(slow); });
  }
  form.addEventListener("change", load);
  form.addEventListener("submit", function (event) { event.preventDefault(); load(); });
})();
