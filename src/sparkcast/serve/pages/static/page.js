// What all pages can do: theme, copying, keys. Pages work without it.
(function () {
  "use strict";
  var root = document.documentElement, get = function (id) { return document.getElementById(id); };
  function keep(name, value) { try { localStorage.setItem(name, value); } catch (error) { /* not kept */ } }
  function kept(name) { try { return localStorage.getItem(name); } catch (error) { return null; } }

  var theme = get("theme");
  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; }
  function nameTheme() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", "Switch to " + (isDark() ? "light" : "dark") + " theme");
  }
  theme.hidden = false;
  theme.addEventListener("click", function () { root.dataset.theme = isDark() ? "light" : "dark"; keep("theme", root.dataset.theme); nameTheme(); });
  nameTheme();

  function say(text) { get("said").textContent = text; }
  function copied(button, text) {
    var before = button.textContent;
    var done = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject();
    done.then(function () { return "Copied"; }, function () { return "Press Ctrl+C"; }).then(function (told) {
      button.textContent = told; say(told);
      setTimeout(function () { button.textContent = before; say(""); }, 1500);
    });
  }
  function show(where) { where.querySelectorAll("[data-copy], [data-link]").forEach(function (button) { button.hidden = false; }); }
  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest("[data-copy], [data-link]");
    if (!button) return;
    if (button.dataset.copy) copied(button, get(button.dataset.copy).textContent.replace(/ \\\n */g, " "));
    else copied(button, location.href);
  });
  show(document);

  var keys = get("keys");
  get("keys-off").addEventListener("click", function () { keep("keys", kept("keys") === "off" ? "on" : "off"); keys.close(); });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "?") {
      get("keys-off").textContent = kept("keys") === "off" ? "Turn keys on" : "Turn keys off";
      keys.showModal(); return;
    }
    if (kept("keys") === "off" || keys.open) return;
    if (event.key === "/") { var find = document.querySelector("input[type=search]"); if (find) { find.focus(); event.preventDefault(); } }
    if (event.key === "c") { var copy = document.querySelector("[data-copy]"); if (copy) copy.click(); }
    if (event.key === "j" || event.key === "k") {
      var rows = [].slice.call(document.querySelectorAll("[data-row], .options tbody tr:not([hidden]) button"));
      var at = rows.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
      if (rows.length) rows[Math.max(0, Math.min(rows.length - 1, at))].focus();
    }
  });
  window.sparkcast = { show: show, say: say, copy: copied };
})();
// A file that is dropped anywhere on the form, and a word while it is sent.
(function () {
  "use strict";
  var form = document.getElementById("log-form");
  if (!form) return;
  var file = form.querySelector("input[type=file]");
  document.addEventListener("dragover", function (event) { event.preventDefault(); });
  document.addEventListener("drop", function (event) {
    event.preventDefault();
    if (event.dataTransfer.files.length) { file.files = event.dataTransfer.files; file.focus(); }
  });
  form.addEventListener("submit", function () { form.querySelector("[data-sending]").textContent = "Reading the log"; });
})();
