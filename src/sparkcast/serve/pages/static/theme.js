// Before anything is drawn: the theme that somebody chose, and that scripts run.
(function () {
  "use strict";
  document.documentElement.classList.add("js");
  try {
    var theme = localStorage.getItem("theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  } catch (error) { /* a browser that keeps nothing */ }
})();
